/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting, the largest elements and positions of what is not 0, against the host: rows of one part
 * and of several, equal elements, NaN, both zeros, the extremes of integers. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    double value;
    int64_t index;
};

static int order(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a > b) - (a < b);
}

static int ascending(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int by_value = order(x->value, y->value);
    return by_value ? by_value : (x->index > y->index) - (x->index < y->index);
}

static int descending(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int by_value = order(y->value, x->value);
    return by_value ? by_value : (x->index > y->index) - (x->index < y->index);
}

/* Element i of row `row` of a tensor whose rows go along dimension `dim` of two. */
static void *at(const struct rig_tensor *tensor, unsigned dim, int64_t row, int64_t i)
{
    return rig_tensor_at(tensor, dim ? row * tensor->dim[1] + i : i * tensor->dim[1] + row);
}

/* Many equal elements, and what is special of the type. */
static struct rig_tensor make(enum op_type type, const int64_t *dim)
{
    static const double special[] = {NAN, -0.0, 0.0, INFINITY, -INFINITY, -2147483648.0, 1e-40};
    struct rig_tensor tensor = rig_tensor_make(type, 2, dim, RIG_DENSE, 5);
    const bool is_float = type <= OP_TYPE_F64;
    uint64_t state = 7;
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        const uint64_t bits = rig_random(&state);
        if (is_float && bits % 16 == 0) {
            rig_put_d(rig_tensor_at(&tensor, i), type, special[bits / 16 % 7]);
        } else {
            const int64_t number = (int64_t)(bits / 16 % 2001) - 1000;
            rig_put_i(rig_tensor_at(&tensor, i), type,
                      bits % 16 == 1 ? number * (1 << 20) : number);
        }
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void expect_rows(const struct rig_tensor *in, struct rig_tensor *values,
                        struct rig_tensor *indices, unsigned dim, bool down)
{
    const int64_t length = in->dim[dim], keep = values->dim[dim];
    struct item *items = calloc((size_t)length, sizeof(*items));
    unsigned wrong = 0;
    rig_tensor_take(values);
    rig_tensor_take(indices);
    for (int64_t row = 0; row < in->dim[1 - dim]; row++) {
        for (int64_t i = 0; i < length; i++) {
            items[i] = (struct item){rig_get_d(at(in, dim, row, i), in->type), i};
        }
        qsort(items, (size_t)length, sizeof(*items), down ? descending : ascending);
        for (int64_t i = 0; i < keep; i++) {
            const void *value = at(values, dim, row, i), *index = at(indices, dim, row, i);
            wrong += rig_get_i(index, OP_TYPE_I64) != items[i].index ||
                     memcmp(value, at(in, dim, row, items[i].index), rig_type_bytes(in->type)) != 0;
        }
    }
    free(items);
    if (wrong) {
        fprintf(stderr, "%s [%lld, %lld] along %u: %u wrong\n", rig_type_name(in->type),
                (long long)in->dim[0], (long long)in->dim[1], dim, wrong);
        CU_FAIL("wrong order");
    }
}

static void sort(enum op_type type, const int64_t *dim, unsigned along, bool down)
{
    struct rig_tensor in = make(type, dim);
    struct rig_tensor values = rig_tensor_make(type, 2, dim, RIG_DENSE, 1),
                      indices = rig_tensor_make(OP_TYPE_I64, 2, dim, RIG_DENSE, 2);
    const union op_test_arg args[] = {{.tensor = in.acl},     {.integer = 1},
                                      {.integer = along},     {.integer = down},
                                      {.tensor = values.acl}, {.tensor = indices.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Sort"), args, true), 0);
    expect_rows(&in, &values, &indices, along, down);
    rig_tensor_free(&in);
    rig_tensor_free(&values);
    rig_tensor_free(&indices);
}

static void top(enum op_type type, const int64_t *dim, unsigned along, int64_t k, bool largest)
{
    int64_t kept[2] = {dim[0], dim[1]};
    kept[along] = k;
    struct rig_tensor in = make(type, dim);
    struct rig_tensor values = rig_tensor_make(type, 2, kept, RIG_DENSE, 1),
                      indices = rig_tensor_make(OP_TYPE_I64, 2, kept, RIG_DENSE, 2);
    const union op_test_arg args[] = {
        {.tensor = in.acl}, {.integer = k},         {.integer = along},     {.integer = largest},
        {.integer = 1},     {.tensor = values.acl}, {.tensor = indices.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Topk"), args, true), 0);
    expect_rows(&in, &values, &indices, along, largest);
    rig_tensor_free(&in);
    rig_tensor_free(&values);
    rig_tensor_free(&indices);
}

static void sort_of_every_type(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_I32, OP_TYPE_I16,
                                         OP_TYPE_I8,  OP_TYPE_U8,  OP_TYPE_I64, OP_TYPE_F64};
    static const int64_t shapes[][2] = {{1, 1}, {5, 17}, {3, 1031}, {40, 16}};
    for (unsigned t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (unsigned s = 0; s < 4; s++) {
            sort(types[t], shapes[s], s % 2, s / 2);
            sort(types[t], shapes[s], 1 - s % 2, 1 - s / 2);
        }
    }
}

static void sort_of_long_rows(void)
{
    static const int64_t shapes[][2] = {{1, 7168}, {1, 7169}, {2, 30011}};
    for (unsigned s = 0; s < 3; s++) {
        sort(OP_TYPE_F32, shapes[s], 1, s == 1);
    }
    sort(OP_TYPE_F16, shapes[2], 1, true);
    top(OP_TYPE_F32, shapes[2], 1, 100, true);
    if (rig_chip() == 1) { // by halves in the vector unit; elsewhere rows of every type are alike
        sort(OP_TYPE_I32, shapes[2], 1, true);
        top(OP_TYPE_I32, shapes[1], 1, 100, false);
        sort(OP_TYPE_I64, shapes[1], 1, false);
    }
}

/* Several rows a tile, rows of a tile and a bit. */
static void rows_of_every_length(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16,  OP_TYPE_I8,
                                         OP_TYPE_I16, OP_TYPE_BOOL, OP_TYPE_BF16};
    static const int64_t shapes[][2] = {{300, 3},  {700, 33}, {200, 130}, {61, 1000},
                                        {3, 1025}, {1, 8192}, {1, 8193}};
    const unsigned count = rig_chip() == 0 ? 5 : 6; // the first generation has no bf16
    for (unsigned t = 0; t < count; t++) {
        for (unsigned s = t % 2; s < sizeof(shapes) / sizeof(shapes[0]); s += 1 + t / 2) {
            sort(types[t], shapes[s], 1, (s + t) % 2);
            top(types[t], shapes[s], 1, 1 + shapes[s][1] / 3, (s + t) % 2 == 0);
        }
    }
}

/* Runs that are joined in one step and in two, parts that are merged two by two. */
static void rows_of_many_parts(void)
{
    static const int64_t shape[2] = {3, 40000}, one[2] = {1, 150001};
    top(OP_TYPE_F32, shape, 1, 2000, true);
    top(OP_TYPE_F32, shape, 1, 1050, true);
    top(OP_TYPE_F16, shape, 1, 37, false);
    top(OP_TYPE_F32, shape, 1, 5000, true);
    sort(OP_TYPE_F32, shape, 1, false);
    top(OP_TYPE_F16, one, 1, 900, true);
}

static void top_elements(void)
{
    static const int64_t dim[2] = {6, 301};
    top(OP_TYPE_F32, dim, 1, 5, true);
    top(OP_TYPE_F32, dim, 0, 3, false);
    top(OP_TYPE_F16, dim, 1, 301, false);
    top(OP_TYPE_I32, dim, 1, 1, true);
}

/* Results of shares of cores end anywhere in a line. */
static void positions_of_what_is_set(void)
{
    static const int64_t shapes[][2] = {{1, 1}, {3, 50}, {37, 1001}, {64, 4096}};
    for (unsigned s = 0; s < 4; s++) {
        struct rig_tensor in = rig_tensor_make(OP_TYPE_BOOL, 2, shapes[s], RIG_DENSE, s + 1);
        const int64_t count = rig_tensor_count(&in), room[2] = {count, 2};
        struct rig_tensor out = rig_tensor_make(OP_TYPE_I64, 2, room, RIG_DENSE, 9);
        const union op_test_arg args[] = {{.tensor = in.acl}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Nonzero"), args, true), 0);
        rig_tensor_take(&out);
        int64_t n = 0, wrong = 0;
        for (int64_t i = 0; i < count; i++) {
            if (rig_get_i(rig_tensor_at(&in, i), OP_TYPE_BOOL)) {
                const int64_t *is = rig_tensor_at(&out, 2 * n++);
                wrong += is[0] != i / shapes[s][1] || is[1] != i % shapes[s][1];
            }
        }
        CU_ASSERT_EQUAL(wrong, 0);
        rig_tensor_free(&in);
        rig_tensor_free(&out);
    }
}

/* A list, and its places: lengths that end within a part that is packed at a time. */
static void elements_of_what_is_set(void)
{
    static const int64_t lengths[] = {4096, 5001, 66000};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_I64, OP_TYPE_U8};
    for (unsigned s = 0; s < 3; s++) {
        struct rig_tensor mask = rig_tensor_make(OP_TYPE_BOOL, 1, &lengths[s], RIG_DENSE, s + 1);
        const int64_t room[2] = {lengths[s], 1};
        struct rig_tensor places = rig_tensor_make(OP_TYPE_I64, 2, room, RIG_DENSE, 9);
        const union op_test_arg list[] = {{.tensor = mask.acl}, {.tensor = places.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Nonzero"), list, true), 0);
        rig_tensor_take(&places);
        for (unsigned t = 0; t < 4; t++) {
            struct rig_tensor in = rig_tensor_make(types[t], 1, &lengths[s], RIG_DENSE, t + 3),
                              out = rig_tensor_make(types[t], 1, &lengths[s], RIG_DENSE, 7);
            const union op_test_arg args[] = {
                {.tensor = in.acl}, {.tensor = mask.acl}, {.tensor = out.acl}};
            CU_ASSERT_EQUAL(rig_run(rig_row("MaskedSelect"), args, true), 0);
            rig_tensor_take(&out);
            int64_t n = 0, wrong = 0;
            for (int64_t i = 0; i < lengths[s]; i++) {
                if (rig_get_i(rig_tensor_at(&mask, i), OP_TYPE_BOOL)) {
                    wrong += *(const int64_t *)rig_tensor_at(&places, n) != i;
                    wrong += memcmp(rig_tensor_at(&out, n++), rig_tensor_at(&in, i),
                                    rig_type_bytes(types[t])) != 0;
                }
            }
            CU_ASSERT(n > 0);
            CU_ASSERT_EQUAL(wrong, 0);
            rig_tensor_free(&in);
            rig_tensor_free(&out);
        }
        rig_tensor_free(&mask);
        rig_tensor_free(&places);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"sort_of_every_type", sort_of_every_type},
        {"sort_of_long_rows", sort_of_long_rows},
        {"rows_of_every_length", rows_of_every_length},
        {"rows_of_many_parts", rows_of_many_parts},
        {"top_elements", top_elements},
        {"positions_of_what_is_set", positions_of_what_is_set},
        {"elements_of_what_is_set", elements_of_what_is_set},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_sort", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
