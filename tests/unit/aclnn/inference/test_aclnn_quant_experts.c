/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of i8 with a gate, and with the sum for each token: against double on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>

enum { GROUPS = 3, ROWS = 11, K = 36, N = 12, TOKENS = 5, SHARED = 2 };

static const int64_t lengths[GROUPS] = {4, 0, 7};
static const struct rig_bound near = {.of_each = 4e-6, .of_largest = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

struct experts {
    struct rig_tensor x, weight, scale, row, list;
    int64_t columns;
};

static struct experts experts_make(int64_t columns, bool counts)
{
    const int64_t x[] = {ROWS, K}, w[] = {GROUPS, K, columns}, s[] = {GROUPS, columns},
                  r[] = {ROWS}, g[] = {GROUPS};
    struct experts e = {
        .x = rig_tensor_make(OP_TYPE_I8, 2, x, RIG_DENSE, 1),
        .weight = rig_tensor_make(OP_TYPE_I8, 3, w, RIG_PERMUTED, 2),
        .scale = rig_values_make(OP_TYPE_F32, 2, s, RIG_DENSE, 3),
        .row = rig_values_make(OP_TYPE_F32, 1, r, RIG_DENSE, 4),
        .list = rig_tensor_make(OP_TYPE_I64, 1, g, RIG_DENSE, 5),
        .columns = columns,
    };
    int64_t end = 0;
    for (int64_t i = 0; i < GROUPS; i++) {
        end += lengths[i];
        rig_put_i(rig_tensor_at(&e.list, i), OP_TYPE_I64, counts ? lengths[i] : end);
    }
    for (int64_t i = 0; i < GROUPS * columns; i++) { // keeps gates from saturating
        rig_put_f(rig_tensor_at(&e.scale, i), OP_TYPE_F32, (float)(i % 5 + 1) / 65536);
    }
    rig_tensor_put(&e.list);
    rig_tensor_put(&e.scale);
    return e;
}

static double made(const struct experts *e, int64_t row, int64_t column)
{
    const int64_t group = row < 4 ? 0 : 2;
    double sum = 0;
    for (int64_t k = 0; k < K; k++) {
        sum += rig_values_at(&e->x, row * K + k) *
               rig_values_at(&e->weight, (group * K + k) * e->columns + column);
    }
    return sum * rig_values_at(&e->scale, group * e->columns + column) *
           rig_values_at(&e->row, row);
}

static void experts_free(struct experts *e)
{
    rig_values_free((struct rig_tensor[]){e->x, e->weight, e->scale, e->row, e->list}, 5, NULL, 0);
}

static void gates_follow_products(void)
{
    const int64_t out_dim[] = {ROWS, N}, row_dim[] = {ROWS};
    for (int v2 = 0; is_here() && v2 < 2; v2++) {
        struct experts e = experts_make(2 * N, v2);
        struct rig_tensor out = rig_bytes_make(2, out_dim),
                          scales = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 6);
        double want[ROWS * N], want_scales[ROWS];
        for (int64_t i = 0; i < ROWS * N; i++) {
            const double a = made(&e, i / N, i % N), b = made(&e, i / N, N + i % N);
            want[i] = a / (1 + exp(-a)) * b;
        }
        rig_bytes_rows(ROWS, N, want, want_scales, NULL);
        aclTensorList *weights = rig_list_make(&e.weight, 1), *list = rig_list_make(&e.scale, 1);
        const struct rig_named first[] = {{"x", {.tensor = e.x.acl}},
                                          {"weight", {.tensor = e.weight.acl}},
                                          {"weightScale", {.tensor = e.scale.acl}},
                                          {"xScale", {.tensor = e.row.acl}},
                                          {"groupList", {.tensor = e.list.acl}},
                                          {"output", {.tensor = out.acl}},
                                          {"outputScale", {.tensor = scales.acl}}};
        const struct rig_named second[] = {{"x_wrapper", {.tensor = e.x.acl}},
                                           {"weight_wrapper", {.tensors = weights}},
                                           {"weight_scale_wrapper", {.tensors = list}},
                                           {"x_scale_wrapper", {.tensor = e.row.acl}},
                                           {"group_list", {.tensor = e.list.acl}},
                                           {"group_list_type_real", {.integer = 1}},
                                           {"output_wrapper", {.tensor = out.acl}},
                                           {"output_scale_wrapper", {.tensor = scales.acl}}};
        CU_ASSERT_EQUAL(v2 ? rig_run_named("GroupedMatmulSwigluQuantV2", second, 8, true)
                           : rig_run_named("GroupedMatmulSwigluQuantWeightNZ", first, 7, true),
                        0);
        rig_bytes_expect(&out, want, 1e-2, "gates of experts");
        rig_values_expect(&scales, want_scales, near, "their scales");
        rig_list_free(weights, &e.weight, 1);
        rig_list_free(list, &e.scale, 1);
        experts_free(&e);
        rig_values_free((struct rig_tensor[]){out, scales}, 2, NULL, 0);
    }
}

static void sums_follow_products(void)
{
    static const char *const ops[] = {"GroupedMatmulFinalizeRoutingV2",
                                      "GroupedMatmulFinalizeRoutingWeightNz"};
    const int64_t out_dim[] = {TOKENS, N}, row_dim[] = {ROWS}, shared_dim[] = {SHARED, N};
    for (int nz = 0; is_here() && nz < 2; nz++) {
        struct experts e = experts_make(N, true);
        struct rig_tensor logit = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 6),
                          row = rig_tensor_make(OP_TYPE_I64, 1, row_dim, RIG_DENSE, 7),
                          shared = rig_values_make(OP_TYPE_BF16, 2, shared_dim, RIG_DENSE, 8),
                          out = rig_values_make(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 9);
        double want[TOKENS * N] = {0};
        for (int64_t i = 0; i < ROWS * N; i++) {
            const int64_t r = i / N, token = r * 3 % TOKENS;
            rig_put_i(rig_tensor_at(&row, r), OP_TYPE_I64, token);
            want[token * N + i % N] += made(&e, r, i % N) * rig_values_at(&logit, r);
        }
        for (int64_t i = 0; i < SHARED * N; i++) {
            want[N + i] += 0.5 * rig_values_at(&shared, i);
        }
        rig_tensor_put(&row);
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED(
                ops[nz], true, {"x1", {.tensor = e.x.acl}}, {"x2", {.tensor = e.weight.acl}},
                {nz ? "scale" : "scaleOptional", {.tensor = e.scale.acl}},
                {"pertokenScaleOptional", {.tensor = e.row.acl}},
                {nz ? "groupList" : "groupListOptional", {.tensor = e.list.acl}},
                {nz ? "sharedInput" : "sharedInputOptional", {.tensor = shared.acl}},
                {nz ? "logit" : "logitOptional", {.tensor = logit.acl}},
                {nz ? "rowIndex" : "rowIndexOptional", {.tensor = row.acl}},
                {"sharedInputWeight", {.real = 0.5}}, {"sharedInputOffset", {.integer = 1}},
                {"groupListType", {.integer = 1}}, {"out", {.tensor = out.acl}}),
            0);
        rig_values_expect(&out, want, near, ops[nz]);
        experts_free(&e);
        rig_values_free((struct rig_tensor[]){logit, row, shared, out}, 4, NULL, 0);
    }
}

/* Two heads; each member of the batch from a place of its own on. */
static void updates_are_quantised(void)
{
    enum { BATCH = 3, HEADS = 2, SLOTS = 9, STEPS = 2, WIDTH = 10 };
    static const int64_t start[BATCH] = {0, 7, 3};
    const int64_t self_dim[] = {BATCH, HEADS, SLOTS, WIDTH},
                  new_dim[] = {BATCH, HEADS, STEPS, WIDTH}, list_dim[] = {BATCH},
                  scale_dim[] = {WIDTH};
    struct rig_tensor self = rig_bytes_make(4, self_dim),
                      updates = rig_values_make(OP_TYPE_F16, 4, new_dim, RIG_PERMUTED, 2),
                      index = rig_tensor_make(OP_TYPE_I64, 1, list_dim, RIG_DENSE, 3),
                      scale = rig_values_make(OP_TYPE_F32, 1, scale_dim, RIG_DENSE, 4),
                      zero = rig_tensor_make(OP_TYPE_I32, 1, scale_dim, RIG_DENSE, 5);
    double want[BATCH * HEADS * SLOTS * WIDTH];
    for (int64_t i = 0; i < WIDTH; i++) {
        rig_put_f(rig_tensor_at(&scale, i), OP_TYPE_F32, 0.03125f * (float)(i + 1));
        rig_put_i(rig_tensor_at(&zero, i), OP_TYPE_I32, i - 4);
        rig_put_i(rig_tensor_at(&index, i % BATCH), OP_TYPE_I64, start[i % BATCH]);
    }
    for (int64_t i = 0; i < BATCH * HEADS * SLOTS * WIDTH; i++) {
        const int64_t line = i / (SLOTS * WIDTH), c = i % WIDTH,
                      step = i / WIDTH % SLOTS - start[line / HEADS];
        want[i] = step >= 0 && step < STEPS
                      ? rig_values_at(&updates, (line * STEPS + step) * WIDTH + c) /
                                rig_values_at(&scale, c) +
                            (double)(c - 4)
                      : rig_values_at(&self, i);
    }
    rig_tensor_put(&scale);
    rig_tensor_put(&zero);
    rig_tensor_put(&index);
    const aclnnStatus code = RIG_RUN_NAMED(
        "InplaceQuantScatter", is_here(), {"selfRef", {.tensor = self.acl}},
        {"indices", {.tensor = index.acl}}, {"updates", {.tensor = updates.acl}},
        {"quantScales", {.tensor = scale.acl}}, {"quantZeroPoints", {.tensor = zero.acl}},
        {"axis", {.integer = -2}}, {"quantAxis", {.integer = -1}}, {"reduction", {.integer = 1}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_bytes_expect(&self, want, 1e-3, "quantised updates");
    }
    rig_values_free((struct rig_tensor[]){self, updates, index, scale, zero}, 5, NULL, 0);
}

// Without the lists that say where rows go; on the other chip, any call.
static void calls_without_rows_are_refused(void)
{
    const int64_t out_dim[] = {TOKENS, N};
    struct experts e = experts_make(N, true);
    struct rig_tensor out = rig_values_make(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 9);
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED("GroupedMatmulFinalizeRoutingV2", false, {"x1", {.tensor = e.x.acl}},
                      {"x2", {.tensor = e.weight.acl}}, {"scaleOptional", {.tensor = e.scale.acl}},
                      {"pertokenScaleOptional", {.tensor = e.row.acl}},
                      {"groupListOptional", {.tensor = e.list.acl}}, {"out", {.tensor = out.acl}}),
        0);
    experts_free(&e);
    rig_tensor_free(&out);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"gates_follow_products", gates_follow_products},
        {"sums_follow_products", sums_follow_products},
        {"updates_are_quantised", updates_are_quantised},
        {"calls_without_rows_are_refused", calls_without_rows_are_refused},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_quant_experts", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
