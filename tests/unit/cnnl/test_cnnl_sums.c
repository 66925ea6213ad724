/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, products of matrices, lists of tensors. */
#include "rig.h"

#include <math.h>

static void reductions_over_axes(void)
{
    const double in[] = {3, -1, 2, 0.5, 4, 1}; // 2 x 3
    static const struct {
        cnnlReduceOp_t op;
        int axis;
        double expected[3];
    } cases[] = {
        {CNNL_REDUCE_ADD, 1, {4, 5.5}},
        {CNNL_REDUCE_ADD, 0, {3.5, 3, 3}},
        {CNNL_REDUCE_AVG, 0, {1.75, 1.5, 1.5}},
        {CNNL_REDUCE_MAX, 1, {3, 4}},
        {CNNL_REDUCE_MIN, -1, {-1, 0.5}},
        {CNNL_REDUCE_MUL, 1, {-6, 2}},
        {CNNL_REDUCE_NORM1, 0, {3.5, 5, 3}},
        {CNNL_REDUCE_NORM2, 1, {3.7416573867739413, 4.153311931459037}},
    };
    struct rig rig = rig_begin();
    cnnlReduceDescriptor_t d;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, 2, 3);
    OK(cnnlCreateReduceDescriptor(&d));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t left = cases[i].axis == 0 ? 3 : 2;
        // Once with the dimension kept, once without.
        struct rig_tensor kept = cases[i].axis == 0 ? RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 3)
                                                    : RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 1),
                          flat = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, left);
        OK(cnnlSetReduceDescriptor_v2(d, &cases[i].axis, 1, cases[i].op, CNNL_DTYPE_FLOAT,
                                      CNNL_NOT_PROPAGATE_NAN, CNNL_REDUCE_NO_INDICES,
                                      CNNL_32BIT_INDICES, 2));
        OK(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(kept), NULL, NULL));
        NEAR(&rig, kept, cases[i].expected, 1e-6);
        OK(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(flat), NULL, NULL));
        NEAR(&rig, flat, cases[i].expected, 1e-6);
    }
    OK(cnnlDestroyReduceDescriptor(d));
    rig_end(&rig);
}

static void extremes_tell_where_they_are(void)
{
    const double in[] = {3, -1, 2, 0.5, 4, 1};
    const int axis = 1, both[] = {0, 1};
    struct rig rig = rig_begin();
    cnnlReduceDescriptor_t d;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, 2, 3),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2),
                      all = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1),
                      ti = RIG(&rig, CNNL_DTYPE_INT32, NULL, 2);
    OK(cnnlCreateReduceDescriptor(&d));
    OK(cnnlSetReduceDescriptor_v2(d, &axis, 1, CNNL_REDUCE_MAX, CNNL_DTYPE_FLOAT,
                                  CNNL_NOT_PROPAGATE_NAN, CNNL_REDUCE_FLATTENED_INDICES,
                                  CNNL_32BIT_INDICES, 0));
    OK(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(ty), T(ti)));
    NEAR(&rig, ty, ((double[]){3, 4}), 0);
    NEAR(&rig, ti, ((double[]){0, 1}), 0);
    OK(cnnlSetReduceDescriptor_v2(d, &axis, 1, CNNL_REDUCE_MIN, CNNL_DTYPE_FLOAT,
                                  CNNL_NOT_PROPAGATE_NAN, CNNL_REDUCE_ONLY_INDICES,
                                  CNNL_32BIT_INDICES, 0));
    OK(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, NULL, NULL, T(ti)));
    NEAR(&rig, ti, ((double[]){1, 0}), 0);
    OK(cnnlSetReduceDescriptor_v2(d, both, 2, CNNL_REDUCE_ADD, CNNL_DTYPE_FLOAT,
                                  CNNL_NOT_PROPAGATE_NAN, CNNL_REDUCE_NO_INDICES,
                                  CNNL_32BIT_INDICES, 0));
    OK(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(all), NULL, NULL));
    NEAR(&rig, all, ((double[]){9.5}), 1e-6);
    OK(cnnlSetReduceDescriptor_v2(d, both, 2, CNNL_REDUCE_SUMSQ, CNNL_DTYPE_FLOAT,
                                  CNNL_NOT_PROPAGATE_NAN, CNNL_REDUCE_NO_INDICES,
                                  CNNL_32BIT_INDICES, 0));
    EXPECT(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(all), NULL, NULL),
           CNNL_STATUS_NOT_SUPPORTED);
    EXPECT(cnnlReduce_v2(rig.handle, d, T(tx), NULL, NULL, NULL, 0, T(ty), NULL, NULL),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroyReduceDescriptor(d));
    rig_end(&rig);
}

static void deviations_and_variances(void)
{
    const double in[] = {1, 2, 3, 6}; // mean 3, squares 4 1 0 9
    int axis[] = {0};
    struct rig rig = rig_begin();
    cnnlStdVarMeanDescriptor_t d;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, 4),
                      ta = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlCreateStdVarMeanDescriptor(&d));
    OK(cnnlSetStdVarMeanDescriptor_v2(d, CNNL_VAR_MEAN, 1, axis, true));
    OK(cnnlStdVarMean(rig.handle, d, T(tx), NULL, 0, NULL, NULL, T(ta), T(tb)));
    NEAR(&rig, ta, ((double[]){14.0 / 3}), 1e-6);
    NEAR(&rig, tb, ((double[]){3}), 1e-6);
    OK(cnnlSetStdVarMeanDescriptor_v2(d, CNNL_STD, 1, axis, false));
    OK(cnnlStdVarMean(rig.handle, d, T(tx), NULL, 0, T(ta), NULL, NULL, NULL, NULL));
    NEAR(&rig, ta, ((double[]){sqrt(3.5)}), 1e-6);
    OK(cnnlDestroyStdVarMeanDescriptor(d));
    rig_end(&rig);
}

/* ---- products ---- */

enum { M = 5, K = 12, N = 7 };

static double a[M * K], b[K * N], c[M * N], sum[M * N], at[K * M], bt[N * K];

static void fill_products(void)
{
    rig_fill(a, M * K, 1, 1);
    rig_fill(b, K * N, 1, 2);
    rig_fill(c, M * N, 1, 3);
    for (int i = 0; i < M * N; i++) {
        sum[i] = 0.5 * c[i];
        for (int k = 0; k < K; k++) {
            sum[i] += 2 * a[i / N * K + k] * b[k * N + i % N];
        }
    }
    for (int i = 0; i < M * K; i++) {
        at[i % K * M + i / K] = a[i];
    }
    for (int i = 0; i < K * N; i++) {
        bt[i % N * K + i / N] = b[i];
    }
}

static void products_with_every_turn(void)
{
    static const cnnlDataType_t types[] = {CNNL_DTYPE_FLOAT, CNNL_DTYPE_HALF, CNNL_DTYPE_BFLOAT16};
    static const double bounds[] = {1e-6, 2e-3, 1e-2};
    const float alpha = 2, beta = 0.5F;
    struct rig rig = rig_begin();
    cnnlMatMulDescriptor_t d;
    cnnlMatMulAlgo_t algo;
    cnnlMatMulHeuristicResult_t result;
    int count = 0;
    size_t bytes = 0;
    fill_products();
    OK(cnnlCreateMatMulDescriptor(&d));
    OK(cnnlCreateMatMulAlgo(&algo));
    OK(cnnlCreateMatMulHeuristicResult(&result));
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (int turn = 0; turn < 4; turn++) {
            const int32_t turn_a = turn & 1, turn_b = turn >> 1;
            struct rig_tensor ta = turn_a ? RIG(&rig, types[t], at, K, M)
                                          : RIG(&rig, types[t], a, M, K),
                              tb = turn_b ? RIG(&rig, types[t], bt, N, K)
                                          : RIG(&rig, types[t], b, K, N),
                              tc = RIG(&rig, types[t], c, M, N),
                              ty = RIG(&rig, types[t], NULL, M, N);
            OK(cnnlSetMatMulDescAttr(d, CNNL_MATMUL_DESC_TRANSA, &turn_a, sizeof(turn_a)));
            OK(cnnlSetMatMulDescAttr(d, CNNL_MATMUL_DESC_TRANSB, &turn_b, sizeof(turn_b)));
            OK(cnnlGetMatMulAlgoHeuristic(rig.handle, d, ta.desc, tb.desc, tc.desc, ty.desc,
                                          CNNL_MATMUL_FASTEST, 1, &result, &count));
            OK(cnnlGetMatMulHeuristicResult(result, algo, &bytes));
            OK(cnnlMatMul_v2(rig.handle, d, algo, &alpha, T(ta), T(tb), &beta, T(tc), NULL, 0,
                             T(ty)));
            NEAR(&rig, ty, sum, bounds[t]);
        }
    }
    OK(cnnlDestroyMatMulHeuristicResult(result));
    OK(cnnlDestroyMatMulAlgo(algo));
    OK(cnnlDestroyMatMulDescriptor(d));
    rig_end(&rig);
}

static void batches_of_products_and_a_bias(void)
{
    enum { BATCH = 2 };
    double two_a[BATCH * M * K], two[BATCH * M * N], with_bias[M * N], line[N];
    const float alpha = 2, zero = 0;
    const int batch = BATCH;
    const int64_t stride_a = M * K, stride_b = 0, stride_y = M * N;
    struct rig rig = rig_begin();
    cnnlStrideBatchMatMulDescriptor_t d;
    cnnlMatMulExDescriptor_t ex;
    cnnlActivationDescriptor_t relu;
    const cnnlActivationMode_t mode = CNNL_ACTIVATION_RELU;
    const cnnlMatMulEpilogueType_t epilogue = CNNL_MATMUL_EPI_BIAS_SCALE_BN_ACTIVATION;
    fill_products();
    rig_fill(line, N, 1, 9);
    for (int i = 0; i < BATCH * M * K; i++) {
        two_a[i] = i < M * K ? a[i] : -a[i - M * K];
    }
    for (int i = 0; i < M * N; i++) {
        two[i] = sum[i] - 0.5 * c[i];
        two[i + M * N] = -two[i];
        with_bias[i] = fmax(0, two[i] + line[i % N]);
    }
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, two_a, BATCH, M, K),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, K, N),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, BATCH, M, N),
                      one = RIG(&rig, CNNL_DTYPE_FLOAT, a, M, K),
                      tl = RIG(&rig, CNNL_DTYPE_FLOAT, line, N),
                      tz = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, M, N);
    OK(cnnlCreateStrideBatchMatMulDescriptor(&d));
    OK(cnnlStrideBatchMatMul_v3(rig.handle, d, NULL, false, false, M, N, K, &batch, &alpha, T(ta),
                                K, &stride_a, T(tb), N, &stride_b, &zero, NULL, NULL, 0, NULL, NULL,
                                0, T(ty), N, &stride_y));
    NEAR(&rig, ty, two, 1e-6);
    EXPECT(cnnlStrideBatchMatMul_v3(rig.handle, d, NULL, false, false, M, N, K, &batch, &alpha,
                                    T(ta), K - 1, &stride_a, T(tb), N, &stride_b, &zero, NULL, NULL,
                                    0, NULL, NULL, 0, T(ty), N, &stride_y),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlCreateMatMulExDescriptor(&ex));
    OK(cnnlCreateActivationDescriptor(&relu));
    OK(cnnlSetActivationDescAttr(relu, CNNL_ACTIVATION_MODE, &mode, sizeof(mode)));
    OK(cnnlSetMatMulExDescAttr(ex, CNNL_MATMUL_EX_DESC_EPILOGUE_TYPE, &epilogue, sizeof(epilogue)));
    OK(cnnlSetMatMulExBiasScaleBNActive(ex, T(tl), NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0,
                                        0, relu));
    OK(cnnlMatMulEx_v2(rig.handle, ex, NULL, &alpha, T(one), T(tb), &zero, NULL, NULL, NULL, 0,
                       T(tz)));
    NEAR(&rig, tz, with_bias, 1e-6);
    OK(cnnlDestroyActivationDescriptor(relu));
    OK(cnnlDestroyMatMulExDescriptor(ex));
    OK(cnnlDestroyStrideBatchMatMulDescriptor(d));
    rig_end(&rig);
}

static void lists_of_tensors(void)
{
    const double one[] = {1, 4, 9}, two[] = {16, 25};
    const float alpha = 0.5F, norm = 2, numbers[] = {10, 100};
    struct rig rig = rig_begin();
    struct rig_tensor t1 = RIG(&rig, CNNL_DTYPE_FLOAT, one, 3),
                      t2 = RIG(&rig, CNNL_DTYPE_FLOAT, two, 2),
                      y1 = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3),
                      y2 = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2),
                      n1 = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1),
                      n2 = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    const cnnlTensorDescriptor_t xs_desc[] = {t1.desc, t2.desc}, ys_desc[] = {y1.desc, y2.desc};
    const cnnlTensorDescriptor_t ns_desc[] = {n1.desc, n2.desc};
    const void *const xs[] = {t1.ptr, t2.ptr};
    void *const ys[] = {y1.ptr, y2.ptr}, *const ns[] = {n1.ptr, n2.ptr};
    OK(cnnlForeachUnaryOp(rig.handle, CNNL_FOREACH_SQRT, 2, xs_desc, xs, NULL, 0, ys_desc, ys));
    NEAR(&rig, y1, ((double[]){1, 2, 3}), 0);
    NEAR(&rig, y2, ((double[]){4, 5}), 0);
    OK(cnnlForeachBinaryOp(rig.handle, CNNL_FOREACH_ADD, FOREACH_BINARY_TENSOR_LIST, 2, xs_desc, xs,
                           xs_desc, xs, NULL, NULL, &alpha, NULL, 0, ys_desc, ys));
    NEAR(&rig, y1, ((double[]){1.5, 6, 13.5}), 0);
    OK(cnnlForeachBinaryOp(rig.handle, CNNL_FOREACH_MUL, FOREACH_BINARY_SCALAR, 2, xs_desc, xs,
                           NULL, NULL, NULL, &alpha, NULL, NULL, 0, ys_desc, ys));
    NEAR(&rig, y2, ((double[]){8, 12.5}), 0);
    OK(cnnlForeachBinaryOp(rig.handle, CNNL_FOREACH_SUB, FOREACH_BINARY_SCALAR_LIST, 2, xs_desc, xs,
                           NULL, NULL, NULL, numbers, NULL, NULL, 0, ys_desc, ys));
    NEAR(&rig, y1, ((double[]){-9, -6, -1}), 0);
    NEAR(&rig, y2, ((double[]){-84, -75}), 0);
    OK(cnnlForeachPointwiseOp(rig.handle, CNNL_FOREACH_ADDCMUL, FOREACH_POINTWISE_SCALAR, 2,
                              xs_desc, xs, xs_desc, xs, xs_desc, xs, &alpha, ys_desc, ys));
    NEAR(&rig, y1, ((double[]){1.5, 12, 49.5}), 0);
    OK(cnnlForeachPointwiseOp(rig.handle, CNNL_FOREACH_ADDCDIV, FOREACH_POINTWISE_SCALAR_LIST, 2,
                              xs_desc, xs, xs_desc, xs, xs_desc, xs, numbers, ys_desc, ys));
    NEAR(&rig, y2, ((double[]){116, 125}), 0);
    const void *const weight[] = {&alpha};
    OK(cnnlForeachLerp(rig.handle, FOREACH_LERP_SCALAR, 2, xs_desc, xs, ys_desc,
                       (const void *const *)ys, NULL, weight, NULL, 0, ys_desc, ys));
    NEAR(&rig, y2, ((double[]){66, 75}), 0);
    OK(cnnlForeachNorm(rig.handle, 2, xs_desc, xs, &norm, NULL, 0, ns_desc, ns));
    NEAR(&rig, n1, ((double[]){sqrt(98)}), 1e-6);
    NEAR(&rig, n2, ((double[]){sqrt(881)}), 1e-6);
    OK(cnnlForeachUnaryOp(rig.handle, CNNL_FOREACH_ZERO, 2, ys_desc, (const void *const *)ys, NULL,
                          0, ys_desc, ys));
    NEAR(&rig, y1, ((double[]){0, 0, 0}), 0);
    EXPECT(cnnlForeachUnaryOp(rig.handle, CNNL_FOREACH_ADD, 2, xs_desc, xs, NULL, 0, ys_desc, ys),
           CNNL_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"reductions_over_axes", reductions_over_axes},
    {"extremes_tell_where_they_are", extremes_tell_where_they_are},
    {"deviations_and_variances", deviations_and_variances},
    {"products_with_every_turn", products_with_every_turn},
    {"batches_of_products_and_a_bias", batches_of_products_and_a_bias},
    {"lists_of_tensors", lists_of_tensors},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_sums", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
