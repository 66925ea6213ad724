/* SPDX-License-Identifier: Apache-2.0 */
/* RmsNorm of a sum, cast or quantised to 8 bits: against double on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>

enum { ROWS = 9, WIDTH = 20, COUNT = ROWS * WIDTH };

static const int64_t dim[] = {ROWS, WIDTH}, row_dim[] = {ROWS}, width_dim[] = {WIDTH};
static const struct rig_bound exact = {0}, near = {.of_each = 2e-6, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

struct norms {
    struct rig_tensor a, b, gamma, beta, sum, scale, zero, y1, y2, row1, row2, inverse;
    double norm[COUNT], deviation[ROWS], total[COUNT];
};

static struct norms norms_make(enum op_type type, bool of_sum)
{
    const int64_t rows[] = {ROWS, 1};
    struct norms n = {
        .a = rig_values_make(type, 2, dim, RIG_PERMUTED, 3),
        .b = rig_values_make(type, 2, dim, RIG_SLICED, 4),
        .gamma = rig_values_make(type, 1, width_dim, RIG_DENSE, 5),
        .beta = rig_values_make(type, 1, width_dim, RIG_DENSE, 6),
        .sum = rig_values_make(type, 2, dim, RIG_DENSE, 7),
        .scale = rig_values_make(OP_TYPE_F32, 1, width_dim, RIG_DENSE, 8),
        .zero = rig_tensor_make(OP_TYPE_I32, 1, width_dim, RIG_DENSE, 9),
        .y1 = rig_bytes_make(2, dim),
        .y2 = rig_bytes_make(2, dim),
        .row1 = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 1),
        .row2 = rig_values_make(OP_TYPE_F32, 1, row_dim, RIG_DENSE, 1),
        .inverse = rig_values_make(OP_TYPE_F32, 2, rows, RIG_DENSE, 1),
    };
    for (int64_t i = 0; i < WIDTH; i++) {
        rig_put_f(rig_tensor_at(&n.scale, i), OP_TYPE_F32, 0.02f + (float)i / 128);
        rig_put_i(rig_tensor_at(&n.zero, i), OP_TYPE_I32, i * 5 % 11 - 5);
    }
    rig_tensor_put(&n.scale);
    rig_tensor_put(&n.zero);
    for (int64_t r = 0; r < ROWS; r++) {
        double squares = 0;
        for (int64_t i = r * WIDTH; i < (r + 1) * WIDTH; i++) {
            n.total[i] = rig_values_at(&n.a, i) + (of_sum ? rig_values_at(&n.b, i) : 0);
            squares += n.total[i] * n.total[i];
        }
        n.deviation[r] = 1 / sqrt(squares / WIDTH + 1e-3);
        for (int64_t c = 0; c < WIDTH; c++) {
            n.norm[r * WIDTH + c] =
                n.total[r * WIDTH + c] * n.deviation[r] * rig_values_at(&n.gamma, c);
        }
    }
    return n;
}

static void norms_free(struct norms *n)
{
    struct rig_tensor *all[] = {&n->a,    &n->b,  &n->gamma, &n->beta, &n->sum,  &n->scale,
                                &n->zero, &n->y1, &n->y2,    &n->row1, &n->row2, &n->inverse};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

static void norms_are_cast(void)
{
    if (!is_here()) {
        return;
    }
    struct norms n = norms_make(OP_TYPE_F16, true);
    struct rig_tensor wide = rig_values_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                      narrow = rig_values_make(OP_TYPE_F16, 2, dim, RIG_PERMUTED, 1);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("AddRmsNormCast", true, {"x1", {.tensor = n.a.acl}},
                                  {"x2", {.tensor = n.b.acl}}, {"gamma", {.tensor = n.gamma.acl}},
                                  {"epsilon", {.real = 1e-3}}, {"y1Out", {.tensor = wide.acl}},
                                  {"y2Out", {.tensor = narrow.acl}},
                                  {"rstdOut", {.tensor = n.inverse.acl}},
                                  {"xOut", {.tensor = n.sum.acl}}),
                    0);
    rig_values_expect(&wide, n.norm, near, "norm in f32");
    rig_values_expect(&narrow, n.norm, near, "norm in f16");
    rig_values_expect(&n.inverse, n.deviation, near, "inverse deviations");
    rig_values_expect(&n.sum, n.total, exact, "sums");
    rig_values_free((struct rig_tensor[]){wide, narrow}, 2, NULL, 0);
    norms_free(&n);
}

static void norms_are_quantised(void)
{
    for (int divide = 0; is_here() && divide < 2; divide++) {
        struct norms n = norms_make(divide ? OP_TYPE_BF16 : OP_TYPE_F16, true);
        double plain[COUNT], with[COUNT];
        for (int64_t i = 0; i < COUNT; i++) {
            const double scale = rig_values_at(&n.scale, i % WIDTH) * (divide ? 1 : 100),
                         zero = rig_values_at(&n.zero, i % WIDTH);
            plain[i] = (divide ? n.norm[i] / scale : n.norm[i] * scale) + zero;
            const double y = n.norm[i] + rig_values_at(&n.beta, i % WIDTH);
            with[i] = divide ? y / scale : y * scale;
        }
        for (int64_t i = 0; i < WIDTH && !divide; i++) {
            rig_put_f(rig_tensor_at(&n.scale, i), OP_TYPE_F32,
                      100 * rig_get_f(rig_tensor_at(&n.scale, i), OP_TYPE_F32));
        }
        rig_tensor_put(&n.scale);
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("AddRmsNormQuant", true, {"x1", {.tensor = n.a.acl}},
                          {"x2", {.tensor = n.b.acl}}, {"gamma", {.tensor = n.gamma.acl}},
                          {"scales1", {.tensor = n.scale.acl}},
                          {"zeroPoints1Optional", {.tensor = n.zero.acl}},
                          {"axis", {.integer = -1}}, {"epsilon", {.real = 1e-3}},
                          {"divMode", {.integer = divide}}, {"y1Out", {.tensor = n.y1.acl}},
                          {"y2Out", {.tensor = n.y2.acl}}, {"xOut", {.tensor = n.sum.acl}}),
            0);
        rig_bytes_expect(&n.y1, plain, 1e-2, "a norm of a sum");
        rig_values_expect(&n.sum, n.total, exact, "sums");
        CU_ASSERT_EQUAL(
            RIG_RUN_NAMED("AddRmsNormQuantV2", true, {"x1", {.tensor = n.a.acl}},
                          {"x2", {.tensor = n.b.acl}}, {"gamma", {.tensor = n.gamma.acl}},
                          {"scales1", {.tensor = n.scale.acl}},
                          {"scales2Optional", {.tensor = n.scale.acl}},
                          {"zeroPoints1Optional", {.tensor = n.zero.acl}},
                          {"betaOptional", {.tensor = n.beta.acl}}, {"axis", {.integer = -1}},
                          {"epsilon", {.real = 1e-3}}, {"divMode", {.integer = divide}},
                          {"y1Out", {.tensor = n.y1.acl}}, {"y2Out", {.tensor = n.y2.acl}},
                          {"xOut", {.tensor = n.sum.acl}}),
            0);
        rig_bytes_expect(&n.y2, with, 1e-2, "a norm with beta");
        norms_free(&n);
    }
}

static void norms_have_scales_of_rows(void)
{
    if (!is_here()) {
        return;
    }
    struct norms n = norms_make(OP_TYPE_F16, true);
    double first[COUNT], second[COUNT], scales[ROWS];
    for (int64_t i = 0; i < COUNT; i++) {
        const double y = n.norm[i] + rig_values_at(&n.beta, i % WIDTH);
        first[i] = y * rig_values_at(&n.gamma, i % WIDTH);
        second[i] = y * rig_values_at(&n.beta, i % WIDTH);
    }
    rig_bytes_rows(ROWS, WIDTH, second, scales, NULL);
    rig_bytes_rows(ROWS, WIDTH, first, scales, NULL);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("AddRmsNormDynamicQuantV2", true, {"x1", {.tensor = n.a.acl}},
                                  {"x2", {.tensor = n.b.acl}}, {"gamma", {.tensor = n.gamma.acl}},
                                  {"smoothScale1Optional", {.tensor = n.gamma.acl}},
                                  {"smoothScale2Optional", {.tensor = n.beta.acl}},
                                  {"betaOptional", {.tensor = n.beta.acl}},
                                  {"epsilon", {.real = 1e-3}}, {"y1Out", {.tensor = n.y1.acl}},
                                  {"y2Out", {.tensor = n.y2.acl}}, {"xOut", {.tensor = n.sum.acl}},
                                  {"scale1Out", {.tensor = n.row1.acl}},
                                  {"scale2Out", {.tensor = n.row2.acl}}),
                    0);
    rig_bytes_expect(&n.y1, first, 1e-2, "the first smooth scale");
    rig_bytes_expect(&n.y2, second, 1e-2, "the second");
    rig_values_expect(&n.row1, scales, near, "scales of the first");
    norms_free(&n);
}

static void a_norm_is_quantised(void)
{
    static const int64_t one[] = {1};
    if (!is_here()) {
        return;
    }
    struct norms n = norms_make(OP_TYPE_F16, false);
    struct rig_tensor scale = rig_values_make(OP_TYPE_F16, 1, one, RIG_DENSE, 1),
                      zero = rig_bytes_make(1, one);
    double want[COUNT];
    rig_put_f(rig_tensor_at(&scale, 0), OP_TYPE_F16, 0.0625f);
    rig_put_i(rig_tensor_at(&zero, 0), OP_TYPE_I8, -7);
    rig_tensor_put(&scale);
    rig_tensor_put(&zero);
    for (int64_t i = 0; i < COUNT; i++) {
        want[i] = (n.norm[i] + rig_values_at(&n.beta, i % WIDTH)) / 0.0625 - 7;
    }
    CU_ASSERT_EQUAL(
        RIG_RUN_NAMED("RmsNormQuant", true, {"x", {.tensor = n.a.acl}},
                      {"gamma", {.tensor = n.gamma.acl}}, {"beta", {.tensor = n.beta.acl}},
                      {"scale", {.tensor = scale.acl}}, {"offset", {.tensor = zero.acl}},
                      {"epsilon", {.real = 1e-3}}, {"y", {.tensor = n.y1.acl}}),
        0);
    rig_bytes_expect(&n.y1, want, 1e-2, "a norm");
    rig_values_free((struct rig_tensor[]){scale, zero}, 2, NULL, 0);
    norms_free(&n);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"norms_are_cast", norms_are_cast},
        {"norms_are_quantised", norms_are_quantised},
        {"norms_have_scales_of_rows", norms_have_scales_of_rows},
        {"a_norm_is_quantised", a_norm_is_quantised},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_quantised_norms", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
