/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups against double on the host: tensors of their own, lists on the host, lists on
 * the device. */
#include "rig_named.h"
#include "rig_values.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, ROWS = 37, K = 40, N = 24, EXPERTS_MAX = 8 };

static const int64_t lengths[GROUPS] = {5, 0, 29, 3};
static const struct rig_bound near = {.of_largest = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

struct call {
    struct rig_tensor x, weight[GROUPS], y, bias, list;
    unsigned weights;
    int64_t type, list_type, split;
};

// [m, k] of x by [k, n] of the group's weight, plus its bias.
static double element(const struct call *c, int64_t group, int64_t row, int64_t column)
{
    const struct rig_tensor *weight = &c->weight[c->weights > 1 ? group : 0];
    double sum = c->bias.acl ? rig_values_at(&c->bias, group * N + column) : 0;
    for (int64_t k = 0; k < K; k++) {
        sum += rig_values_at(&c->x, row * K + k) *
               rig_values_at(weight, (c->weights > 1 ? 0 : group) * K * N + k * N + column);
    }
    return sum;
}

static struct rig_tensor list_of(bool counts)
{
    const int64_t dim[] = {GROUPS};
    struct rig_tensor list = rig_tensor_make(OP_TYPE_I64, 1, dim, RIG_DENSE, 1);
    int64_t end = 0;
    for (int64_t i = 0; i < GROUPS; i++) {
        end += lengths[i];
        rig_put_i(rig_tensor_at(&list, i), OP_TYPE_I64, counts ? lengths[i] : end);
    }
    rig_tensor_put(&list);
    return list;
}

static aclnnStatus run(struct call *c, const char *op, bool loud)
{
    aclTensorList *x = rig_list_make(&c->x, 1), *w = rig_list_make(c->weight, c->weights),
                  *y = rig_list_make(&c->y, 1), *none = aclCreateTensorList(NULL, 0),
                  *bias = c->bias.acl ? rig_list_make(&c->bias, 1) : NULL;
    const bool has_type = strcmp(op, "GroupedMatmulV3") != 0; // of lists
    const struct rig_named args[] = {
        {"x", {.tensors = x}},
        {"weight", {.tensors = w}},
        {has_type ? "out" : "y", {.tensors = y}},
        {"biasOptional", {.tensors = bias}},
        {"scaleOptional", {.tensors = none}},
        {"groupListOptional", {.tensor = c->list.acl}},
        {"groupType", {.integer = c->type}},
        {"splitItem", {.integer = c->split}},
        {has_type ? "groupListType" : "groupType", {.integer = has_type ? c->list_type : c->type}},
    };
    const aclnnStatus code = rig_run_named(op, args, sizeof(args) / sizeof(args[0]), loud);
    rig_list_free(x, &c->x, 1);
    rig_list_free(w, c->weight, c->weights);
    rig_list_free(y, &c->y, 1);
    rig_list_free(none, NULL, 0);
    if (bias) {
        rig_list_free(bias, &c->bias, 1);
    }
    return code;
}

static void free_call(struct call *c)
{
    rig_tensor_free(&c->x);
    rig_tensor_free(&c->y);
    rig_tensor_free(&c->list);
    for (unsigned i = 0; i < c->weights; i++) {
        rig_tensor_free(&c->weight[i]);
    }
}

// Rows of an expert each: one weight of three dimensions or several, lengths or ends.
static void rows_of_groups(enum op_type type, enum rig_layout layout, bool several, bool counts)
{
    const int64_t x_dim[] = {ROWS, K}, w_dim[] = {GROUPS, K, N}, y_dim[] = {ROWS, N},
                  bias_dim[] = {GROUPS, N};
    struct call c = {.x = rig_values_make(type, 2, x_dim, layout, 3),
                     .y = rig_values_make(type, 2, y_dim, layout, 4),
                     .list = list_of(counts),
                     .weights = several ? GROUPS : 1,
                     .list_type = counts,
                     .split = 3};
    for (unsigned i = 0; i < c.weights; i++) {
        c.weight[i] = several ? rig_values_make(type, 2, w_dim + 1, layout, 9 + i)
                              : rig_values_make(type, 3, w_dim, layout, 9);
    }
    struct rig_tensor bias = {0};
    if (!several) {
        bias = rig_values_make(type == OP_TYPE_BF16 ? OP_TYPE_F32 : type, 2, bias_dim, layout, 5);
        c.bias = bias;
    }
    double *want = rig_values_zeros(ROWS * N);
    int64_t row = 0;
    for (int64_t group = 0; group < GROUPS; group++) {
        for (const int64_t end = row + lengths[group]; row < end; row++) {
            for (int64_t column = 0; column < N; column++) {
                want[row * N + column] = element(&c, group, row, column);
            }
        }
    }
    CU_ASSERT_EQUAL(row, ROWS);
    CU_ASSERT_EQUAL(run(&c, counts ? "GroupedMatmulV4" : "GroupedMatmulV5", true), 0);
    rig_values_expect(&c.y, want, near, several ? "several weights" : "one weight");
    free(want);
    if (!several) {
        rig_tensor_free(&c.bias);
    }
    free_call(&c);
}

static void rows_go_to_their_weights(void)
{
    static const enum op_type types[] = {OP_TYPE_F16, OP_TYPE_BF16, OP_TYPE_F32};
    for (unsigned i = 0; is_here() && i < 3; i++) {
        for (int way = 0; way < 4; way++) {
            rows_of_groups(types[i], way == 3 ? RIG_PERMUTED : RIG_DENSE, way & 1, way & 2);
        }
    }
}

// x' by dy of each expert: groups of what both share; one is empty, its product is 0.
static void weights_have_gradients(void)
{
    const int64_t x_dim[] = {K, ROWS}, w_dim[] = {ROWS, N}, y_dim[] = {GROUPS, K, N};
    static const enum op_type types[] = {OP_TYPE_F16, OP_TYPE_F32};
    for (unsigned t = 0; is_here() && t < 4; t++) {
        const enum rig_layout layout = t & 2 ? RIG_PERMUTED : RIG_DENSE;
        struct call c = {.x = rig_values_make(types[t & 1], 2, x_dim, layout, 3),
                         .weight = {rig_values_make(types[t & 1], 2, w_dim, RIG_DENSE, 4)},
                         .y = rig_values_make(types[t & 1], 3, y_dim, layout, 5),
                         .list = list_of(false),
                         .weights = 1,
                         .type = 2,
                         .split = 3};
        double *want = rig_values_zeros(GROUPS * K * N);
        int64_t begin = 0;
        for (int64_t group = 0; group < GROUPS; group++) {
            for (int64_t i = 0; i < K * N; i++) {
                for (int64_t k = begin; k < begin + lengths[group]; k++) {
                    want[group * K * N + i] += rig_values_at(&c.x, i / N * ROWS + k) *
                                               rig_values_at(&c.weight[0], k * N + i % N);
                }
            }
            begin += lengths[group];
        }
        CU_ASSERT_EQUAL(run(&c, "GroupedMatmulV3", true), 0);
        rig_values_expect(&c.y, want, near, "gradients of weights");
        free(want);
        free_call(&c);
    }
}

// The same added to what is there, from x that is stored the other way.
static void gradients_are_added(void)
{
    const int64_t x_dim[] = {ROWS, K}, w_dim[] = {ROWS, N}, self_dim[] = {GROUPS * K, N};
    for (int counts = 0; is_here() && counts < 2; counts++) {
        struct rig_tensor x = rig_values_make(OP_TYPE_BF16, 2, x_dim, RIG_DENSE, 3),
                          w = rig_values_make(OP_TYPE_BF16, 2, w_dim, RIG_PERMUTED, 4),
                          self = rig_values_make(OP_TYPE_F32, 2, self_dim, RIG_PERMUTED, 5),
                          list = list_of(counts);
        double *want = rig_values_zeros(GROUPS * K * N);
        int64_t begin = 0;
        for (int64_t i = 0; i < GROUPS * K * N; i++) {
            want[i] = rig_values_at(&self, i);
        }
        for (int64_t group = 0; group < GROUPS; group++) {
            for (int64_t i = 0; i < K * N; i++) {
                for (int64_t k = begin; k < begin + lengths[group]; k++) {
                    want[group * K * N + i] +=
                        rig_values_at(&x, k * K + i / N) * rig_values_at(&w, k * N + i % N);
                }
            }
            begin += lengths[group];
        }
        const struct rig_named args[] = {
            {"x", {.tensor = x.acl}},
            {"weight", {.tensor = w.acl}},
            {"group_list", {.tensor = list.acl}},
            {"self", {.tensor = self.acl}},
            {"transpose_x", {.integer = 1}},
            {"group_type", {.integer = 2}},
            {"group_list_type_value", {.integer = 1}},
        };
        CU_ASSERT_EQUAL(rig_run_named(counts ? "GroupedMatmulAddV2" : "GroupedMatmulAdd", args,
                                      counts ? 7 : 6, true),
                        0);
        rig_values_expect(&self, want, near, "gradients that are added");
        rig_values_free((struct rig_tensor[]){x, w, self, list}, 4, &want, 1);
    }
}

// Pairs of tensors, and one x that a list of integers cuts.
static void the_host_knows_groups(void)
{
    const int64_t x_dim[] = {ROWS, K}, w_dim[] = {GROUPS, K, N}, y_dim[] = {ROWS, N};
    for (int pairs = 0; is_here() && pairs < 2; pairs++) {
        struct call c = {
            .x = rig_values_make(OP_TYPE_F16, 2, x_dim, RIG_DENSE, 3),
            .weight = {rig_values_make(OP_TYPE_F16, pairs ? 2 : 3, w_dim + pairs, RIG_PERMUTED, 4)},
            .y = rig_values_make(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 5),
            .list = list_of(false),
            .weights = 1};
        const int64_t ends[GROUPS] = {5, 5, 34, 37};
        aclTensorList *x = rig_list_make(&c.x, 1), *w = rig_list_make(c.weight, 1),
                      *y = rig_list_make(&c.y, 1);
        aclIntArray *list = pairs ? NULL : aclCreateIntArray(ends, GROUPS);
        double *want = rig_values_zeros(ROWS * N);
        int64_t group = 0;
        for (int64_t row = 0; row < ROWS; row++) {
            for (; !pairs && row >= ends[group];) {
                group++;
            }
            for (int64_t column = 0; column < N; column++) {
                want[row * N + column] = element(&c, group, row, column);
            }
        }
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED(pairs ? "GroupedMatmul" : "GroupedMatmulV2", true, {"x", {.tensors = x}},
                          {"weight", {.tensors = w}}, {"groupListOptional", {.ints = list}},
                          {"splitItem", {.integer = pairs ? 0 : 2}}, {"y", {.tensors = y}}),
            0);
        rig_values_expect(&c.y, want, near, pairs ? "a pair" : "a list on the host");
        CU_ASSERT_EQUAL(list ? aclDestroyIntArray(list) : 0, 0);
        rig_list_free(x, &c.x, 1);
        rig_list_free(w, c.weight, 1);
        rig_list_free(y, &c.y, 1);
        free(want);
        free_call(&c);
    }
}

/* Groups of i8, exact: into i32, or f16 with the scale of each group and of each row. */
static void groups_of_bytes(bool scaled, int64_t k)
{
    const int64_t x_dim[] = {ROWS, k}, w_dim[] = {GROUPS, k, N}, y_dim[] = {ROWS, N},
                  scale_dim[] = {GROUPS, N}, row_dim[] = {ROWS};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_I8, 2, x_dim, RIG_DENSE, 3),
                      w = rig_tensor_make(OP_TYPE_I8, 3, w_dim, RIG_PERMUTED, 4),
                      y = rig_tensor_make(scaled ? OP_TYPE_F16 : OP_TYPE_I32, 2, y_dim, RIG_DENSE,
                                          5),
                      scale = rig_values_make(OP_TYPE_F32, 2, scale_dim, RIG_DENSE, 6),
                      row = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 7),
                      list = list_of(true);
    for (int64_t i = 0; i < GROUPS * N; i++) { // keeps results in the range of f16
        rig_put_f(rig_tensor_at(&scale, i), OP_TYPE_F32, (float)(i % 7 + 1) / 65536);
    }
    rig_tensor_put(&scale);
    aclTensorList *xs = rig_list_make(&x, 1), *ws = rig_list_make(&w, 1),
                  *ys = rig_list_make(&y, 1), *scales = rig_list_make(&scale, 1),
                  *rows = rig_list_make(&row, 1);
    double *want = rig_values_zeros(ROWS * N);
    for (int64_t i = 0; i < ROWS * N; i++) {
        const int64_t r = i / N, group = r < 5 ? 0 : r < 34 ? 2 : 3;
        for (int64_t j = 0; j < k; j++) {
            want[i] +=
                rig_values_at(&x, r * k + j) * rig_values_at(&w, (group * k + j) * N + i % N);
        }
        want[i] *= scaled ? rig_values_at(&scale, group * N + i % N) * rig_values_at(&row, r) : 1;
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("GroupedMatmulV5", true, {"x", {.tensors = xs}}, {"weight", {.tensors = ws}},
                      {"scaleOptional", {.tensors = scaled ? scales : NULL}},
                      {"perTokenScaleOptional", {.tensors = scaled ? rows : NULL}},
                      {"groupListOptional", {.tensor = list.acl}}, {"splitItem", {.integer = 3}},
                      {"groupListType", {.integer = 1}}, {"out", {.tensors = ys}}),
        0);
    rig_values_expect(&y, want, scaled ? near : (struct rig_bound){0}, "groups of bytes");
    rig_list_free(xs, &x, 1);
    rig_list_free(ws, &w, 1);
    rig_list_free(ys, &y, 1);
    rig_list_free(scales, &scale, 1);
    rig_list_free(rows, &row, 1);
    rig_values_free((struct rig_tensor[]){x, w, y, scale, row, list}, 6, &want, 1);
}

static void bytes_go_to_their_weights(void)
{
    if (is_here()) {
        groups_of_bytes(true, 40);
        groups_of_bytes(false, 1040);
    }
}

static void wrong_groups_are_refused(void)
{
    const int64_t x_dim[] = {ROWS, K}, w_dim[] = {GROUPS, K, N}, y_dim[] = {ROWS, N};
    struct call c = {.x = rig_values_make(OP_TYPE_F16, 2, x_dim, RIG_DENSE, 3),
                     .weight = {rig_values_make(OP_TYPE_F16, 3, w_dim, RIG_DENSE, 4)},
                     .y = rig_values_make(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 5),
                     .list = list_of(false),
                     .weights = 1,
                     .list_type = 2};
    CU_ASSERT_NOT_EQUAL(run(&c, "GroupedMatmulV4", false), 0);
    free_call(&c);
}

static void a_list_beyond_the_rows_ends_the_kernel(void)
{
    const int64_t x_dim[] = {ROWS, K}, w_dim[] = {GROUPS, K, N}, y_dim[] = {ROWS, N};
    if (!is_here()) {
        return;
    }
    struct call c = {.x = rig_values_make(OP_TYPE_F16, 2, x_dim, RIG_DENSE, 3),
                     .weight = {rig_values_make(OP_TYPE_F16, 3, w_dim, RIG_DENSE, 4)},
                     .y = rig_values_make(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 5),
                     .list = list_of(false),
                     .weights = 1};
    rig_put_i(rig_tensor_at(&c.list, 2), OP_TYPE_I64, ROWS + 1);
    rig_tensor_put(&c.list);
    CU_ASSERT_NOT_EQUAL(run(&c, "GroupedMatmulV4", false), 0);
    rig_end_fault((struct rig_tensor[]){c.x, c.weight[0], c.y, c.list}, 4);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"rows_go_to_their_weights", rows_go_to_their_weights},
        {"weights_have_gradients", weights_have_gradients},
        {"gradients_are_added", gradients_are_added},
        {"the_host_knows_groups", the_host_knows_groups},
        {"bytes_go_to_their_weights", bytes_go_to_their_weights},
        {"wrong_groups_are_refused", wrong_groups_are_refused},
        {"a_list_beyond_the_rows_ends_the_kernel", a_list_beyond_the_rows_ends_the_kernel},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_grouped", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
