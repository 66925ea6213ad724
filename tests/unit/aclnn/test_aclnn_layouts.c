/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator, made from its row: the results do not depend on how tensors lie in memory. A call
 * on permuted, sliced (with an offset) and repeated (stride 0) tensors gives what the same call on
 * dense ones gives, over shapes that hurt, in every type, and writes nothing beside its results.
 * Integers and truth values have the same bits; floats may differ by the few units in the last
 * place that lie between the vector unit's functions and the scalar unit's. Cases with NaN,
 * infinities, -0 and denormals among the floats are taken in turn with those without. What a dense
 * call computes, the tests of the families say (docs/api/aclnn.md).
 *
 * Shapes are the same for all tensors of a call; calls that phase 1 refuses, or whose dense form
 * faults (an index out of range), are no case. A run takes a part of them (LEO_TEST_ALL: all;
 * LEO_TEST_ROW: those of one operator).
 */
#include "rig_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    unsigned rank;
    int64_t dim[8];
};

static const struct shape shapes[] = {
    {0, {0}},
    {1, {0}},
    {1, {1}},
    {1, {15}},
    {1, {16}},
    {1, {17}},
    {2, {7, 13}},
    {2, {16, 16}},
    {3, {3, 1, 37}},
    {4, {2, 4, 6, 6}},
    {5, {1, 2, 3, 4, 5}},
    {8, {2, 1, 2, 1, 3, 2, 1, 5}},
    {2, {67, 1031}},
};
enum {
    SHAPES = sizeof(shapes) / sizeof(shapes[0]),
    LARGE = SHAPES - 1, // several tiles and cores: the first type alone
    PART = 11,          // of the cases, one in so many is run
};

/* A call twice: on tensors of a layout, and on dense ones with the same elements. */
struct pair {
    union op_test_arg args[2][RIG_PARAMS + 1];
    struct rig_tensor tensors[2][RIG_PARAMS];
    bool is_tensor[RIG_PARAMS];
};

/* Floats from 1/4 to 2, or special ones between them; integers 0 and 1, or 0 alone where 1 is no
 * index. */
static void fill(struct rig_tensor *tensor, uint64_t seed, bool special)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY, -0.0, 0x1p-149, -0x1p-24};
    const int64_t count = rig_tensor_count(tensor);
    uint64_t most = 2;
    for (unsigned d = 0; d < tensor->rank; d++) {
        most = tensor->dim[d] == 1 ? 1 : most;
    }
    for (int64_t i = 0; i < count; i++) {
        const uint64_t random = rig_random(&seed);
        if (tensor->type <= OP_TYPE_F64) {
            const double value = special && random % 9 == 0 ? specials[random / 9 % 6]
                                                            : (double)(1 + random % 8) / 4;
            rig_put_d(rig_tensor_at(tensor, i), tensor->type, value);
        } else if (tensor->type < OP_TYPE_C64) {
            rig_put_i(rig_tensor_at(tensor, i), tensor->type, (int64_t)(random % most));
        }
    }
}

static void copy_elements(struct rig_tensor *to, const struct rig_tensor *from)
{
    const int64_t count = rig_tensor_count(from);
    for (int64_t i = 0; i < count; i++) {
        memcpy(rig_tensor_at(to, i), rig_tensor_at(from, i), rig_type_bytes(from->type));
    }
}

static void make_tensors(struct pair *pair, const struct op_test_param *param, unsigned at,
                         enum op_type type, const struct shape *shape, enum rig_layout layout,
                         bool special)
{
    const bool written = param->role != 'I';
    const enum op_type own = rig_types(param) >> type & 1 ? type : rig_first_type(param);
    const enum rig_layout lies = written && layout == RIG_EXPANDED ? RIG_SLICED : layout;
    for (unsigned k = 0; k < 2; k++) {
        pair->tensors[k][at] =
            rig_tensor_make(own, shape->rank, shape->dim, k ? RIG_DENSE : lies, at + 1);
    }
    fill(&pair->tensors[0][at], at + 1, special);
    copy_elements(&pair->tensors[1][at], &pair->tensors[0][at]);
    pair->is_tensor[at] = true;
    for (unsigned k = 0; k < 2; k++) {
        rig_tensor_put(&pair->tensors[k][at]);
        pair->args[k][at].tensor = pair->tensors[k][at].acl;
        if (param->code[1] == 'L') {
            const aclTensor *items[] = {pair->tensors[k][at].acl};
            pair->args[k][at].tensors = aclCreateTensorList(items, 1);
        }
    }
}

static void make_pair(struct pair *pair, const struct op_test_row *row, enum op_type type,
                      const struct shape *shape, enum rig_layout layout, bool special)
{
    static const struct rig_wish none = {.param = RIG_PARAMS};
    memset(pair, 0, sizeof(*pair));
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].code[0] == 'T') {
            make_tensors(pair, &row->params[i], i, type, shape, layout, special);
        } else {
            pair->args[0][i] = pair->args[1][i] = rig_arg_make(&row->params[i], i, &none);
        }
    }
}

static void free_pair(struct pair *pair, const struct op_test_row *row)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (!pair->is_tensor[i]) {
            rig_arg_free(&row->params[i], pair->args[0][i]);
            continue;
        }
        for (unsigned k = 0; k < 2; k++) {
            if (row->params[i].code[1] == 'L') {
                // The list owns its tensor.
                struct rig_tensor *made = &pair->tensors[k][i];
                CU_ASSERT_EQUAL(aclDestroyTensorList(pair->args[k][i].tensors), 0);
                CU_ASSERT_EQUAL(aclrtFree((void *)(uintptr_t)made->base), 0);
                free(made->host);
            } else {
                rig_tensor_free(&pair->tensors[k][i]);
            }
        }
    }
}

/* Whether phase 1 takes a call. */
static bool is_planned(const struct op_test_row *row, const union op_test_arg *args)
{
    uint64_t bytes;
    aclOpExecutor *executor = NULL;
    if (row->phase1(args, &bytes, &executor)) {
        return false;
    }
    CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    return true;
}

static bool is_near(const void *at, const void *want, enum op_type type)
{
    static const double step[] = {[OP_TYPE_F32] = 0x1p-19,
                                  [OP_TYPE_F16] = 0x1p-9,
                                  [OP_TYPE_BF16] = 0x1p-6,
                                  [OP_TYPE_F64] = 0x1p-45};
    if (memcmp(at, want, rig_type_bytes(type)) == 0) {
        return true;
    }
    if (type > OP_TYPE_F64) {
        return false;
    }
    const double a = rig_get_d(at, type), b = rig_get_d(want, type);
    return (isnan(a) && isnan(b)) || fabs(a - b) <= step[type] * fmax(fmax(fabs(a), fabs(b)), 1);
}

static void compare(struct pair *pair, const struct op_test_row *row, unsigned at,
                    const struct shape *shape, enum rig_layout layout)
{
    struct rig_tensor *a = &pair->tensors[0][at], *b = &pair->tensors[1][at];
    rig_tensor_take(a); // asserts that nothing beside it was written
    rig_tensor_take(b);
    for (int64_t i = 0; i < rig_tensor_count(a); i++) {
        if (!is_near(rig_tensor_at(a, i), rig_tensor_at(b, i), a->type)) {
            fprintf(stderr,
                    "%s, %s %s, shape of %u dimensions, layout %d: element %lld is %g, on dense "
                    "tensors %g\n",
                    row->name, row->params[at].name, rig_type_name(a->type), shape->rank,
                    (int)layout, (long long)i, rig_get_d(rig_tensor_at(a, i), a->type),
                    rig_get_d(rig_tensor_at(b, i), b->type));
            CU_FAIL("differs");
            return;
        }
    }
}

/* Returns whether it was a case. */
static bool run_case(const struct op_test_row *row, enum op_type type, const struct shape *shape,
                     enum rig_layout layout, bool special)
{
    static struct pair pair; // large
    make_pair(&pair, row, type, shape, layout, special);
    bool planned = is_planned(row, pair.args[1]) && is_planned(row, pair.args[0]);
    if (planned) {
        const aclnnStatus dense = rig_run(row, pair.args[1], false),
                          other = rig_run(row, pair.args[0], !dense);
        planned = !dense;
        CU_ASSERT_EQUAL(other, dense);
        for (unsigned i = 0; i < row->param_count && !dense && !other; i++) {
            if (pair.is_tensor[i] && row->params[i].role != 'I') {
                compare(&pair, row, i, shape, layout);
            }
        }
    }
    free_pair(&pair, row);
    return planned;
}

/* Types of the first tensor. */
static uint32_t types_of(const struct op_test_row *row)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].code[0] == 'T') {
            return rig_types(&row->params[i]);
        }
    }
    return 0;
}

static void results_are_those_of_dense_tensors(void)
{
    const bool all = getenv("LEO_TEST_ALL") != NULL;
    const char *only = getenv("LEO_TEST_ROW");
    unsigned cases = 0, rows = 0;
    uint64_t state = 1;
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        const uint32_t types = rig_row_is_here(row) ? types_of(row) : 0;
        unsigned here = 0;
        for (unsigned type = 0; type < OP_TYPES; type++) {
            for (unsigned s = 0; types >> type & 1 && s < SHAPES; s++) {
                for (unsigned layout = RIG_PERMUTED; layout < RIG_LAYOUTS; layout++) {
                    const bool first = type == (unsigned)__builtin_ctz(types);
                    const bool taken = rig_random(&state) % PART == 0;
                    if ((all || taken || only) &&
                        (s != LARGE || (first && layout == RIG_PERMUTED)) &&
                        (!only || strcmp(only, row->name) == 0)) {
                        const bool special = type <= OP_TYPE_F64 && (all || only || here % 2);
                        here += run_case(row, (enum op_type)type, &shapes[s],
                                         (enum rig_layout)layout, special);
                        if (all || only) {
                            here += run_case(row, (enum op_type)type, &shapes[s],
                                             (enum rig_layout)layout, false);
                        }
                    }
                }
            }
        }
        cases += here;
        rows += here > 0;
    }
    printf("%u cases of %u operators\n", cases, rows);
    CU_ASSERT_TRUE(only || rows > 100);
}

/* Parameter number of the first tensor of a role; -1: none. */
static int first_tensor(const struct op_test_row *row, char role)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (strcmp(row->params[i].code, "T") == 0 && row->params[i].role == role) {
            return (int)i;
        }
    }
    return -1;
}

/* The first result over the first input, or `ahead` elements behind it: as with memory of its own.
 */
static bool run_overlap(const struct op_test_row *row, enum op_type type, const struct shape *shape,
                        int64_t ahead)
{
    static struct pair pair; // large
    const int in = first_tensor(row, 'I'), out = first_tensor(row, 'O');
    make_pair(&pair, row, type, shape, RIG_DENSE, false);
    const struct rig_tensor *from = &pair.tensors[0][in], *to = &pair.tensors[0][out];
    const int64_t count = rig_tensor_count(from), storage[] = {count + ahead};
    struct rig_tensor both = rig_tensor_make(type, 1, storage, RIG_DENSE, 9);
    const unsigned unit = rig_type_bytes(type);
    bool planned = from->type == to->type && count > 0;
    if (planned) {
        int64_t stride[8] = {0}, next = 1;
        for (unsigned i = shape->rank; i-- > 0;) {
            stride[i] = next;
            next *= shape->dim[i];
        }
        for (int64_t i = 0; i < count; i++) {
            memcpy(rig_tensor_at(&both, i), rig_tensor_at(from, i), unit);
        }
        rig_tensor_put(&both);
        unsigned char *memory = (unsigned char *)(uintptr_t)both.base + RIG_GUARD;
        aclTensor *own[2] = {pair.args[0][in].tensor, pair.args[0][out].tensor};
        for (unsigned k = 0; k < 2; k++) {
            pair.args[0][k ? out : in].tensor =
                aclCreateTensor(shape->dim, shape->rank, rig_acl_type(type), stride, k ? ahead : 0,
                                ACL_FORMAT_ND, storage, 1, memory);
        }
        const aclnnStatus apart = rig_run(row, pair.args[1], false),
                          over = rig_run(row, pair.args[0], !apart);
        planned = !apart;
        CU_ASSERT_EQUAL(planned ? over : apart, apart);
        rig_tensor_take(&both);
        rig_tensor_take(&pair.tensors[1][out]);
        for (int64_t i = 0; planned && !over && i < count; i++) {
            if (!is_near(rig_tensor_at(&both, i + ahead), rig_tensor_at(&pair.tensors[1][out], i),
                         type)) {
                fprintf(stderr, "%s, %s, result %lld elements behind self: element %lld differs\n",
                        row->name, rig_type_name(type), (long long)ahead, (long long)i);
                CU_FAIL("differs");
                break;
            }
        }
        for (unsigned k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(aclDestroyTensor(pair.args[0][k ? out : in].tensor), 0);
            pair.args[0][k ? out : in].tensor = own[k];
        }
    }
    rig_tensor_free(&both);
    free_pair(&pair, row);
    return planned;
}

static void results_may_lie_over_inputs(void)
{
    static const struct shape over[] = {
        {1, {17}}, {2, {16, 16}}, {3, {3, 1, 37}}, {4, {2, 4, 6, 6}}};
    unsigned cases = 0;
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        if (!rig_row_is_here(row) || first_tensor(row, 'I') < 0 || first_tensor(row, 'O') < 0) {
            continue;
        }
        const enum op_type type = rig_first_type(&row->params[first_tensor(row, 'I')]);
        if (strcmp(row->name, "CoalesceSparse") == 0 || strcmp(row->name, "MaskedSelect") == 0) {
            continue; // they give as many elements as there are: the rest stays what it was
        }
        for (unsigned s = 0; s < sizeof(over) / sizeof(over[0]); s++) {
            cases += run_overlap(row, type, &over[s], 0);
            cases += run_overlap(row, type, &over[s], 1);
        }
    }
    printf("%u cases\n", cases);
    CU_ASSERT_TRUE(cases > 500);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"layouts_results_are_those_of_dense_tensors", results_are_those_of_dense_tensors},
        {"layouts_results_may_lie_over_inputs", results_may_lie_over_inputs},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_layouts", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
