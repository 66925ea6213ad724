/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as bytes, products of bytes with a gate or a sum behind them, products with thin weights:
 * against double on the host. */
#include "rig_bytes.h"
#include "rig_named.h"

#include <math.h>

static const struct rig_bound near = {.of_largest = 1e-5, .at_all = 1e-6, .roundings = 1};

static bool is_here(void)
{
    return rig_chip() == 1;
}

/* ---- blocks ---- */

static void block(enum op_type type, int64_t width, double least, bool second)
{
    enum { ROWS = 6, BLOCK = 128, MOST = 300 };
    const int64_t blocks = (width + BLOCK - 1) / BLOCK, dim[] = {2, ROWS / 2, width},
                  scale_dim[] = {2, ROWS / 2, blocks};
    struct rig_tensor x = rig_values_make(type, 3, dim, RIG_PERMUTED, 3),
                      y = rig_bytes_make(3, dim),
                      scale = rig_values_make(OP_TYPE_F32, 3, scale_dim, RIG_DENSE, 4);
    static double want[ROWS * MOST], want_scale[ROWS * 3];
    for (int64_t i = 0; i < BLOCK && i < width; i++) {
        rig_put_d(rig_tensor_at(&x, i), type, 0); // a block of nothing
    }
    rig_tensor_put(&x);
    for (int64_t b = 0; b < ROWS * blocks; b++) {
        const int64_t begin = b / blocks * width + b % blocks * BLOCK,
                      count = b % blocks + 1 < blocks ? BLOCK : width - (blocks - 1) * BLOCK;
        double most = 0;
        for (int64_t i = begin; i < begin + count; i++) {
            most = fmax(most, fabs(rig_values_at(&x, i)));
        }
        want_scale[b] = fmin(most / 127, least > 0 ? 1 / least : INFINITY);
        for (int64_t i = begin; i < begin + count; i++) {
            const double q = want_scale[b] == 0 ? 0 : rig_values_at(&x, i) / want_scale[b];
            want[i] = fmin(fmax(q, -128), 127);
        }
    }
    const struct rig_named args[] = {{"x", {.tensor = x.acl}},
                                     {"minScale", {.real = least}},
                                     {"dstType", {.integer = ACL_INT8}},
                                     {"rowBlockSize", {.integer = 1}},
                                     {"colBlockSize", {.integer = BLOCK}},
                                     {"yOut", {.tensor = y.acl}},
                                     {"scaleOut", {.tensor = scale.acl}}};
    const aclnnStatus code =
        rig_run_named(second ? "DynamicBlockQuantV2" : "DynamicBlockQuant", args, 7, is_here());
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_bytes_expect(&y, want, 1e-4, "blocks");
        rig_values_expect(&scale, want_scale, near, "scales");
    }
    CU_ASSERT_NOT_EQUAL(rig_run_named("DynamicBlockQuant", args, 4, false), 0);
    struct rig_tensor all[] = {x, y, scale};
    rig_values_free(all, 3, NULL, 0);
}

static void blocks_have_scales(void)
{
    block(OP_TYPE_F32, 300, 0, false);
    block(OP_TYPE_F16, 256, 100, true);
    block(OP_TYPE_BF16, 40, 0, false);
}

/* ---- products of bytes ---- */

static struct rig_tensor bytes_make(unsigned rank, const int64_t *dim, int64_t step)
{
    struct rig_tensor t = rig_tensor_make(OP_TYPE_I8, rank, dim, RIG_DENSE, 5);
    for (int64_t i = 0; i < rig_tensor_count(&t); i++) {
        rig_put_i(rig_tensor_at(&t, i), OP_TYPE_I8, i * step % 255 - 127);
    }
    rig_tensor_put(&t);
    return t;
}

enum { M = 5, K = 40, N = 12, BATCH = 3 };

static double product(const struct rig_tensor *a, int64_t row, const struct rig_tensor *b,
                      int64_t base, int64_t column)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) {
        sum += rig_values_at(a, row * K + k) * rig_values_at(b, base + k * N + column);
    }
    return sum;
}

static void gate(const char *kind, enum op_type type, enum op_type bias_type)
{
    const int64_t a_dim[] = {M, K}, b_dim[] = {K, N}, rows[] = {M}, columns[] = {N}, dim[] = {M, N};
    struct rig_tensor a = bytes_make(2, a_dim, 31), b = bytes_make(2, b_dim, 57),
                      row = rig_values_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 3),
                      column = rig_values_make(OP_TYPE_F32, 1, columns, RIG_DENSE, 4),
                      bias = rig_tensor_eighths(bias_type, 1, columns, RIG_DENSE, 5),
                      y = rig_values_make(type, 2, dim, RIG_DENSE, 6);
    char name[12] = "", wrong[] = "relu";
    double want[M * N];
    for (unsigned i = 0; kind[i]; i++) {
        name[i] = kind[i];
    }
    for (int64_t i = 0; i < M; i++) {
        rig_put_d(rig_tensor_at(&row, i), OP_TYPE_F32, (double)(i + 1) / 4096);
    }
    for (int64_t i = 0; bias_type == OP_TYPE_I32 && i < N; i++) {
        rig_put_i(rig_tensor_at(&bias, i), OP_TYPE_I32, i * 900 - 4000);
    }
    rig_tensor_put(&row);
    rig_tensor_put(&bias);
    for (int64_t i = 0; i < M * N; i++) {
        const double first = bias_type == OP_TYPE_I32 ? rig_values_at(&bias, i % N) : 0,
                     last = bias_type == OP_TYPE_I32 ? 0 : rig_values_at(&bias, i % N),
                     x = (product(&a, i / N, &b, 0, i % N) + first) *
                             rig_values_at(&column, i % N) * rig_values_at(&row, i / N) +
                         last;
        want[i] =
            kind[5] == 'e'
                ? 0.5 * x * erfc(-x / sqrt(2))
                : 0.5 * x *
                      (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    }
    for (int k = 0; k < 2; k++) {
        const aclnnStatus code = RIG_RUN_NAMED(
            k ? "FusedQuantMatmulWeightNz" : "FusedQuantMatmul", is_here(),
            {"x1", {.tensor = a.acl}}, {"x2", {.tensor = b.acl}}, {"x1Scale", {.tensor = row.acl}},
            {"x2Scale", {.tensor = column.acl}}, {"biasOptional", {.tensor = bias.acl}},
            {"fusedOpType", {.text = name}}, {"out", {.tensor = y.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here());
        if (is_here()) {
            rig_values_expect(&y, want, near, kind);
        }
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("FusedQuantMatmul", false, {"x1", {.tensor = a.acl}},
                                      {"x2", {.tensor = b.acl}}, {"x1Scale", {.tensor = row.acl}},
                                      {"x2Scale", {.tensor = column.acl}},
                                      {"fusedOpType", {.text = wrong}}, {"out", {.tensor = y.acl}}),
                        0);
    struct rig_tensor all[] = {a, b, row, column, bias, y};
    rig_values_free(all, 6, NULL, 0);
}

static void products_have_gates(void)
{
    gate("gelu_tanh", OP_TYPE_F16, OP_TYPE_I32);
    gate("gelu_erf", OP_TYPE_BF16, OP_TYPE_F32);
}

static void products_are_summed(void)
{
    const int64_t a_dim[] = {BATCH, M, K}, b_dim[] = {BATCH, K, N}, rows[] = {BATCH, M},
                  columns[] = {N}, dim[] = {M, N};
    struct rig_tensor a = bytes_make(3, a_dim, 31), b = bytes_make(3, b_dim, 57),
                      row = rig_values_make(OP_TYPE_F32, 2, rows, RIG_DENSE, 3),
                      column = rig_values_make(OP_TYPE_BF16, 1, columns, RIG_DENSE, 4),
                      y = rig_values_make(OP_TYPE_BF16, 2, dim, RIG_DENSE, 6);
    const int64_t zero = 0;
    aclIntArray *dims = aclCreateIntArray(&zero, 1);
    double want[M * N] = {0};
    for (int64_t i = 0; i < BATCH * M * N; i++) {
        const int64_t n = i % N, m = i / N % M, s = i / N / M;
        want[m * N + n] += product(&a, s * M + m, &b, s * K * N, n) *
                           rig_values_at(&row, s * M + m) * rig_values_at(&column, n);
    }
    for (int64_t turned = 0; turned < 2; turned++) {
        const aclnnStatus code = RIG_RUN_NAMED(
            "QuantMatmulReduceSumWeightNz", is_here() && !turned, {"x1", {.tensor = a.acl}},
            {"x2", {.tensor = b.acl}}, {"x1Scale", {.tensor = row.acl}},
            {"x2Scale", {.tensor = column.acl}}, {"transposeX2", {.integer = turned}},
            {"dims", {.ints = dims}}, {"out", {.tensor = y.acl}});
        CU_ASSERT_EQUAL(code == 0, is_here() && !turned);
    }
    if (is_here()) {
        rig_values_expect(&y, want, near, "sum of products");
    }
    (void)aclDestroyIntArray(dims);
    struct rig_tensor all[] = {a, b, row, column, y};
    rig_values_free(all, 5, NULL, 0);
}

/* ---- thin weights ---- */

static void lora(bool has_a, bool in_place)
{
    enum {
        ROWS = 6,
        H1 = 32,
        R = 16,
        H2 = 16,
        H3 = 48,
        WEIGHTS = 3,
        LAYERS = 2,
        LAYER = 1,
        AT = 16
    };
    const int64_t y_dim[] = {ROWS, H3}, x_dim[] = {ROWS, has_a ? H1 : R},
                  a_dim[] = {WEIGHTS, LAYERS, R, H1}, b_dim[] = {WEIGHTS, LAYERS, H2, R},
                  list_dim[] = {ROWS}, inner = has_a ? H1 : R;
    struct rig_tensor y = rig_tensor_eighths(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 1),
                      x = rig_tensor_eighths(OP_TYPE_F16, 2, x_dim, RIG_DENSE, 2),
                      a = rig_tensor_eighths(OP_TYPE_F16, 4, a_dim, RIG_DENSE, 3),
                      b = rig_tensor_eighths(OP_TYPE_F16, 4, b_dim, RIG_DENSE, 4),
                      list = rig_tensor_make(OP_TYPE_I32, 1, list_dim, RIG_DENSE, 5),
                      out = rig_tensor_eighths(OP_TYPE_F16, 2, y_dim, RIG_DENSE, 6);
    double want[ROWS * H3];
    for (int64_t r = 0; r < ROWS; r++) {
        rig_put_i(rig_tensor_at(&list, r), OP_TYPE_I32, r * 2 % (WEIGHTS + 1)); // 3: none
    }
    rig_tensor_put(&list);
    for (int64_t i = 0; i < ROWS * H3; i++) {
        const int64_t r = i / H3, c = i % H3 - AT, w = r * 2 % (WEIGHTS + 1) * LAYERS + LAYER;
        want[i] = rig_values_at(&y, i);
        for (int64_t k = 0; c >= 0 && c < H2 && w < WEIGHTS * LAYERS && k < R; k++) {
            double z = 0;
            for (int64_t h = 0; h < inner; h++) {
                z += has_a ? rig_values_at(&x, r * inner + h) *
                                 rig_values_at(&a, (w * R + k) * H1 + h)
                           : (h == k) * rig_values_at(&x, r * inner + h);
            }
            want[i] +=
                2 * rig_values_round(z, OP_TYPE_F16) * rig_values_at(&b, (w * H2 + c) * R + k);
        }
    }
    const aclnnStatus code = RIG_RUN_NAMED(
        "AddLora", is_here(), {"y", {.tensor = y.acl}}, {"x", {.tensor = x.acl}},
        {"weightB", {.tensor = b.acl}}, {"indices", {.tensor = list.acl}},
        {"weightAOptional", {.tensor = has_a ? a.acl : NULL}}, {"layerIdx", {.integer = LAYER}},
        {"scale", {.real = 2}}, {"yOffset", {.integer = AT}}, {"ySliceSize", {.integer = H2}},
        {"out", {.tensor = in_place ? y.acl : out.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    if (is_here()) {
        rig_values_expect(in_place ? &y : &out, want, near, "rows");
    }
    CU_ASSERT_NOT_EQUAL(
        RIG_RUN_NAMED("AddLora", false, {"y", {.tensor = y.acl}}, {"x", {.tensor = x.acl}},
                      {"weightB", {.tensor = b.acl}}, {"indices", {.tensor = list.acl}},
                      {"layerIdx", {.integer = LAYERS}}, {"ySliceSize", {.integer = H2}},
                      {"out", {.tensor = out.acl}}),
        0);
    struct rig_tensor all[] = {y, x, a, b, list, out};
    rig_values_free(all, 6, NULL, 0);
}

static void rows_choose_weights(void)
{
    lora(true, false);
    lora(true, true);
    lora(false, false);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"blocks_have_scales", blocks_have_scales},
        {"products_have_gates", products_have_gates},
        {"products_are_summed", products_are_summed},
        {"rows_choose_weights", rows_choose_weights},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_bytes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
