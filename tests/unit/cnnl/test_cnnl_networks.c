/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of networks against plain C in double. */
#include "rig.h"

#include <math.h>
#include <stdlib.h>

/* ---- convolution, NHWC ---- */

enum { N = 2, H = 7, W = 6, CI = 8, CO = 6, K = 3, STRIDE = 2, PAD = 1 };
enum { HO = (H + 2 * PAD - K) / STRIDE + 1, WO = (W + 2 * PAD - K) / STRIDE + 1 };

static double x[N * H * W * CI], w[CO * K * K * CI], bias[CO], dy[N * HO * WO * CI];
static double y[N * HO * WO * CO], dx[N * H * W * CI], dw[CO * K * K * CI], db[CO];

// All three directions at once.
static void convolve(void)
{
    for (int i = 0; i < N * HO * WO * CO; i++) {
        y[i] = bias[i % CO];
    }
    for (int i = 0; i < N * H * W * CI; i++) {
        dx[i] = 0;
    }
    for (int i = 0; i < CO * K * K * CI; i++) {
        dw[i] = 0;
    }
    for (int n = 0; n < N; n++) {
        for (int oh = 0; oh < HO; oh++) {
            for (int ow = 0; ow < WO; ow++) {
                for (int co = 0; co < CO; co++) {
                    for (int kh = 0; kh < K; kh++) {
                        for (int kw = 0; kw < K; kw++) {
                            const int ih = oh * STRIDE - PAD + kh, iw = ow * STRIDE - PAD + kw;
                            if (ih < 0 || ih >= H || iw < 0 || iw >= W) {
                                continue;
                            }
                            const int at = ((n * HO + oh) * WO + ow) * CO + co;
                            for (int ci = 0; ci < CI; ci++) {
                                const int from = ((n * H + ih) * W + iw) * CI + ci;
                                const int by = ((co * K + kh) * K + kw) * CI + ci;
                                y[at] += x[from] * w[by];
                                dx[from] += dy[at] * w[by];
                                dw[by] += dy[at] * x[from];
                            }
                        }
                    }
                }
            }
        }
    }
}

static cnnlConvolutionDescriptor_t convolution(int pad_after)
{
    cnnlConvolutionDescriptor_t d;
    const int pad[] = {PAD, pad_after, PAD, pad_after}, stride[] = {STRIDE, STRIDE};
    const int dilation[] = {1, 1};
    OK(cnnlCreateConvolutionDescriptor(&d));
    OK(cnnlSetConvolutionDescriptor(d, 4, pad, stride, dilation, 1, CNNL_DTYPE_FLOAT));
    return d;
}

static void convolutions_in_three_directions(void)
{
    static const cnnlDataType_t types[] = {CNNL_DTYPE_FLOAT, CNNL_DTYPE_HALF, CNNL_DTYPE_BFLOAT16};
    static const double bounds[] = {1e-6, 2e-3, 1e-2};
    struct rig rig = rig_begin();
    rig_fill(x, N * H * W * CI, 1, 1);
    rig_fill(w, CO * K * K * CI, 0.5, 2);
    rig_fill(bias, CO, 1, 3);
    rig_fill(dy, N * HO * WO * CO, 1, 4);
    convolve();
    for (int i = 0; i < N * HO * WO * CO; i++) {
        db[i % CO] += dy[i];
    }
    cnnlConvolutionDescriptor_t d = convolution(PAD), crooked = convolution(PAD + 1);
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        struct rig_tensor tx = RIG_NHWC(&rig, types[t], x, N, H, W, CI),
                          tw = RIG_NHWC(&rig, types[t], w, CO, K, K, CI),
                          tb = RIG(&rig, types[t], bias, CO),
                          tdy = RIG_NHWC(&rig, types[t], dy, N, HO, WO, CO),
                          ty = RIG_NHWC(&rig, types[t], NULL, N, HO, WO, CO),
                          tdx = RIG_NHWC(&rig, types[t], NULL, N, H, W, CI),
                          tdw = RIG_NHWC(&rig, types[t], NULL, CO, K, K, CI),
                          tdb = RIG(&rig, types[t], NULL, CO);
        cnnlConvolutionFwdAlgoPerf_t perf;
        int count = 0;
        OK(cnnlFindConvolutionForwardAlgo(rig.handle, d, NULL, T(tx), T(tw), T(tb), NULL, T(ty), 1,
                                          &count, &perf, NULL, 0));
        CU_ASSERT_EQUAL(count, 1);
        OK(cnnlConvolutionForward(rig.handle, d, perf.algo, NULL, T(tx), T(tw), T(tb), NULL, 0,
                                  NULL, T(ty)));
        NEAR(&rig, ty, y, bounds[t]);
        OK(cnnlConvolutionBackwardData(rig.handle, NULL, T(tw), T(tdy), d,
                                       CNNL_CONVOLUTION_BWD_DATA_ALGO_DIRECT, NULL, 0, NULL,
                                       T(tdx)));
        NEAR(&rig, tdx, dx, bounds[t]);
        OK(cnnlConvolutionBackwardFilter(rig.handle, NULL, T(tx), T(tdy), d,
                                         CNNL_CONVOLUTION_BWD_FILTER_ALGO_DIRECT, NULL, 0, NULL,
                                         T(tdw)));
        NEAR(&rig, tdw, dw, bounds[t]);
        OK(cnnlBiasAddBackward_v2(rig.handle, T(tdy), 3, T(tdb), NULL, 0));
        NEAR(&rig, tdb, db, bounds[t]);
        EXPECT(cnnlConvolutionForward(rig.handle, crooked, perf.algo, NULL, T(tx), T(tw), T(tb),
                                      NULL, 0, NULL, T(ty)),
               CNNL_STATUS_NOT_SUPPORTED);
        TEXT("they must be equal");
    }
    OK(cnnlDestroyConvolutionDescriptor(crooked));
    OK(cnnlDestroyConvolutionDescriptor(d));
    rig_end(&rig);
}

/* ---- pooling ---- */

enum { PH = 4, PW = 3, POOLED = N * PH * PW * CI };

static void pool(const double *from, double *max, double *place, double *mean, double *all)
{
    for (int at = 0; at < POOLED; at++) {
        const int c = at % CI, ow = at / CI % PW, oh = at / CI / PW % PH, n = at / CI / PW / PH;
        int count = 0;
        max[at] = -INFINITY;
        mean[at] = 0;
        for (int k = 0; k < 9; k++) {
            const int ih = oh * 2 - 1 + k / 3, iw = ow * 2 - 1 + k % 3;
            if (ih < 0 || ih >= H || iw < 0 || iw >= W) {
                continue;
            }
            const double value = from[((n * H + ih) * W + iw) * CI + c];
            count++;
            mean[at] += value;
            if (value > max[at]) {
                max[at] = value;
                place[at] = ih * W + iw;
            }
        }
        all[at] = mean[at] / 9;
        mean[at] /= count;
    }
}

// What each window gives back to the places it took from.
static void pool_back(const double *place, cnnlPoolingMode_t mode, double *gradient)
{
    for (int i = 0; i < N * H * W * CI; i++) {
        gradient[i] = 0;
    }
    for (int at = 0; at < POOLED; at++) {
        const int c = at % CI, ow = at / CI % PW, oh = at / CI / PW % PH, n = at / CI / PW / PH;
        if (mode == CNNL_POOLING_MAX) {
            gradient[(n * H * W + (int)place[at]) * CI + c] += dy[at];
        }
        for (int k = 0; k < 9 && mode != CNNL_POOLING_MAX; k++) {
            const int ih = oh * 2 - 1 + k / 3, iw = ow * 2 - 1 + k % 3;
            if (ih >= 0 && ih < H && iw >= 0 && iw < W) {
                gradient[((n * H + ih) * W + iw) * CI + c] += dy[at] / 9;
            }
        }
    }
}

static void pooling_takes_extremes_and_means(void)
{
    static double max[POOLED], place[POOLED], mean[POOLED], all[POOLED], gradient[N * H * W * CI];
    const double *expected[] = {max, all, mean};
    struct rig rig = rig_begin();
    cnnlPoolingDescriptor_t d;
    for (int i = 0; i < N * H * W * CI; i++) {
        x[i] = (i * 389 % 672) / 64.0 - 5; // all different
    }
    rig_fill(dy, POOLED, 1, 5);
    pool(x, max, place, mean, all);
    struct rig_tensor tx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, x, N, H, W, CI),
                      ty = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, PH, PW, CI),
                      tdy = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, dy, N, PH, PW, CI),
                      ti = RIG_NHWC(&rig, CNNL_DTYPE_INT64, NULL, N, PH, PW, CI),
                      tdx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, H, W, CI);
    OK(cnnlCreatePoolingDescriptor(&d));
    for (int mode = CNNL_POOLING_MAX; mode <= CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING; mode++) {
        OK(cnnlSetPooling2dDescriptor_v2(d, (cnnlPoolingMode_t)mode, CNNL_PROPAGATE_NAN, 3, 3, 1, 1,
                                         1, 1, 2, 2, 1, 1, false));
        OK(cnnlPoolingForward_v2(rig.handle, d, NULL, T(tx), NULL, NULL, T(ty), NULL, 0));
        NEAR(&rig, ty, expected[mode], 1e-6);
        if (mode == CNNL_POOLING_MAX) {
            OK(cnnlPoolingForwardWithIndex(rig.handle, d, NULL, T(tx), NULL, T(ty), T(ti), NULL,
                                           0));
            NEAR(&rig, ti, place, 0);
        }
        if (mode != CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING) {
            pool_back(place, (cnnlPoolingMode_t)mode, gradient);
            OK(cnnlPoolingBackward_v2(rig.handle, d, NULL, ti.desc, mode ? NULL : ti.ptr, T(tdy),
                                      T(tx), NULL, T(tdx), NULL, 0));
            NEAR(&rig, tdx, gradient, 1e-6);
        }
    }
    // Rounded up there would be a 4th column of windows.
    OK(cnnlSetPooling2dDescriptor_v2(d, CNNL_POOLING_MAX, CNNL_PROPAGATE_NAN, 3, 3, 1, 1, 1, 1, 2,
                                     2, 1, 1, true));
    EXPECT(cnnlPoolingForwardWithIndex(rig.handle, d, NULL, T(tx), NULL, T(ty), T(ti), NULL, 0),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroyPoolingDescriptor(d));
    rig_end(&rig);
}

static void adaptive_pooling_shares_out(void)
{
    struct rig rig = rig_begin();
    double expected[N * CI] = {0}, back[N * H * W * CI];
    rig_fill(x, N * H * W * CI, 1, 6);
    rig_fill(dy, N * CI, 1, 7);
    for (int i = 0; i < N * H * W * CI; i++) {
        expected[i / (H * W * CI) * CI + i % CI] += x[i] / (H * W);
        back[i] = dy[i / (H * W * CI) * CI + i % CI] / (H * W);
    }
    struct rig_tensor tx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, x, N, H, W, CI),
                      ty = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, 1, 1, CI),
                      tdy = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, dy, N, 1, 1, CI),
                      tdx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, H, W, CI);
    OK(cnnlAdaptivePoolingForward_v2(rig.handle, T(tx), CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                     NULL, 0, T(ty), NULL, NULL));
    NEAR(&rig, ty, expected, 1e-6);
    OK(cnnlAdaptivePoolingBackward(rig.handle, T(tdy), NULL, NULL,
                                   CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, T(tdx)));
    NEAR(&rig, tdx, back, 1e-6);
    rig_end(&rig);
}

/* ---- normalisation ---- */

enum { ROWS = N * H * W };

static void batch_normalisation_and_its_gradient(void)
{
    static double gamma[CI], beta[CI], mean[CI], var[CI], invstd[CI], moved[CI], moved_var[CI];
    static double expected[ROWS * CI], gradient[ROWS * CI], dgamma[CI], dbeta[CI], ones[CI];
    const float eps = 1e-5F, momentum = 0.1F;
    struct rig rig = rig_begin();
    rig_fill(x, ROWS * CI, 2, 8);
    rig_fill(dy, N * HO * WO * CO, 1, 9);
    double *g = calloc(ROWS * CI, sizeof(*g));
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    rig_fill(g, ROWS * CI, 1, 9);
    rig_fill(gamma, CI, 1, 10);
    rig_fill(beta, CI, 1, 11);
    for (int c = 0; c < CI; c++) {
        ones[c] = 1;
        for (int r = 0; r < ROWS; r++) {
            mean[c] += x[r * CI + c] / ROWS;
        }
        for (int r = 0; r < ROWS; r++) {
            var[c] += pow(x[r * CI + c] - mean[c], 2) / ROWS;
        }
        invstd[c] = 1 / sqrt(var[c] + (double)eps);
        moved[c] = 0.1 * mean[c];
        moved_var[c] = 0.9 + 0.1 * var[c] * ROWS / (ROWS - 1);
        for (int r = 0; r < ROWS; r++) {
            const double normal = (x[r * CI + c] - mean[c]) * invstd[c];
            expected[r * CI + c] = normal * gamma[c] + beta[c];
            dgamma[c] += g[r * CI + c] * normal;
            dbeta[c] += g[r * CI + c];
        }
        for (int r = 0; r < ROWS; r++) {
            const double normal = (x[r * CI + c] - mean[c]) * invstd[c];
            gradient[r * CI + c] = gamma[c] * invstd[c] *
                                   (g[r * CI + c] - dbeta[c] / ROWS - normal * dgamma[c] / ROWS);
        }
    }
    struct rig_tensor tx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, x, N, H, W, CI),
                      ty = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, H, W, CI),
                      tg = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, g, N, H, W, CI),
                      tdx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, N, H, W, CI),
                      tgamma = RIG(&rig, CNNL_DTYPE_FLOAT, gamma, CI),
                      tbeta = RIG(&rig, CNNL_DTYPE_FLOAT, beta, CI),
                      tmoving = RIG(&rig, CNNL_DTYPE_FLOAT, ((double[CI]){0}), CI),
                      tmoving_var = RIG(&rig, CNNL_DTYPE_FLOAT, ones, CI),
                      tmean = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI),
                      tinvstd = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI),
                      tdgamma = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI),
                      tdbeta = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI);
    OK(cnnlBatchNormForwardTraining_v2(
        rig.handle, NULL, CNNL_BATCHNORM_SPATIAL, CNNL_BATCHNORM_OPS_BN, NULL, NULL, T(tx), NULL,
        NULL, tgamma.desc, tgamma.ptr, tbeta.ptr, tmoving.ptr, tmoving_var.ptr, eps, momentum,
        T(ty), tmean.ptr, tinvstd.ptr, NULL, 0, NULL, 0));
    NEAR(&rig, ty, expected, 1e-5);
    NEAR(&rig, tmean, mean, 1e-6);
    NEAR(&rig, tinvstd, invstd, 1e-5);
    NEAR(&rig, tmoving, moved, 1e-6);
    NEAR(&rig, tmoving_var, moved_var, 1e-5);
    OK(cnnlBatchNormBackward_v2(rig.handle, NULL, CNNL_BATCHNORM_SPATIAL, CNNL_BATCHNORM_OPS_BN,
                                NULL, NULL, NULL, NULL, T(tx), NULL, NULL, T(tg), tgamma.desc,
                                tgamma.ptr, NULL, tmean.ptr, tinvstd.ptr, eps, NULL, NULL, T(tdx),
                                tdgamma.ptr, tdbeta.ptr, NULL, 0, NULL, 0));
    NEAR(&rig, tdx, gradient, 1e-5);
    NEAR(&rig, tdgamma, dgamma, 1e-5);
    NEAR(&rig, tdbeta, dbeta, 1e-5);
    EXPECT(cnnlBatchNormForwardTraining_v2(
               rig.handle, NULL, CNNL_BATCHNORM_SPATIAL, CNNL_BATCHNORM_OPS_BN_ACTIVATION, NULL,
               NULL, T(tx), NULL, NULL, tgamma.desc, tgamma.ptr, tbeta.ptr, NULL, NULL, eps,
               momentum, T(ty), tmean.ptr, tinvstd.ptr, NULL, 0, NULL, 0),
           CNNL_STATUS_NOT_SUPPORTED);
    // In inference the statistics are those given: the batch's own give the same result.
    struct rig_tensor tvar = RIG(&rig, CNNL_DTYPE_FLOAT, var, CI);
    OK(cnnlBatchNormForwardInference(rig.handle, NULL, NULL, T(tx), tgamma.desc, tgamma.ptr,
                                     tbeta.ptr, tmean.ptr, tvar.ptr, eps, T(ty)));
    NEAR(&rig, ty, expected, 1e-5);
    // Step by step, as devices that normalise together do it: here two with the same batch.
    double sums[CI], both[2 * CI], both_invstd[2 * CI];
    for (int c = 0; c < 2 * CI; c++) {
        both[c] = mean[c % CI];
        both_invstd[c] = invstd[c % CI];
        sums[c % CI] = dgamma[c % CI] / invstd[c % CI];
    }
    struct rig_tensor tsum = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI),
                      twith = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, CI),
                      tcount = RIG(&rig, CNNL_DTYPE_INT32, ((double[]){ROWS}), 1),
                      tboth = RIG(&rig, CNNL_DTYPE_FLOAT, both, 2, CI),
                      tinv2 = RIG(&rig, CNNL_DTYPE_FLOAT, both_invstd, 2, CI),
                      tcounts = RIG(&rig, CNNL_DTYPE_FLOAT, ((double[]){ROWS, ROWS}), 2);
    OK(cnnlSyncBatchNormStats_v2(rig.handle, T(tx), NULL, 0, eps, T(tmean), T(tinvstd)));
    NEAR(&rig, tinvstd, invstd, 1e-5);
    OK(cnnlSyncBatchNormGatherStatsWithCounts(rig.handle, T(tboth), T(tinv2), NULL, NULL, NULL,
                                              NULL, momentum, eps, T(tcounts), T(tmean),
                                              T(tinvstd)));
    NEAR(&rig, tmean, mean, 1e-5);
    NEAR(&rig, tinvstd, invstd, 1e-5);
    OK(cnnlSyncBatchNormElemt(rig.handle, T(tx), T(tmean), T(tinvstd), T(tgamma), T(tbeta), T(ty)));
    NEAR(&rig, ty, expected, 1e-5);
    OK(cnnlSyncBatchnormBackwardReduce_v2(rig.handle, T(tg), T(tx), T(tmean), T(tinvstd), NULL, 0,
                                          T(tdgamma), T(tdbeta), T(tsum), T(twith), true, true,
                                          true));
    NEAR(&rig, tdgamma, dgamma, 1e-5);
    NEAR(&rig, tsum, dbeta, 1e-5);
    NEAR(&rig, twith, sums, 1e-4);
    OK(cnnlSyncBatchNormBackwardElemtV2(rig.handle, T(tg), T(tx), T(tmean), T(tinvstd), T(tgamma),
                                        T(tsum), T(twith), T(tcount), T(tdx)));
    NEAR(&rig, tdx, gradient, 1e-5);
    free(g);
    rig_end(&rig);
}

static void layer_normalisation_and_its_gradient(void)
{
    enum { LINES = 6, LENGTH = 32 };
    double in[LINES * LENGTH], g[LINES * LENGTH], gamma[LENGTH], beta[LENGTH];
    double expected[LINES * LENGTH], gradient[LINES * LENGTH], dgamma[LENGTH] = {0};
    double dbeta[LENGTH] = {0}, mean[LINES] = {0}, rstd[LINES];
    struct rig rig = rig_begin();
    rig_fill(in, LINES * LENGTH, 2, 1);
    rig_fill(g, LINES * LENGTH, 1, 2);
    rig_fill(gamma, LENGTH, 1, 3);
    rig_fill(beta, LENGTH, 1, 4);
    for (int r = 0; r < LINES; r++) {
        double var = 0, sum = 0, with_normal = 0;
        for (int i = 0; i < LENGTH; i++) {
            mean[r] += in[r * LENGTH + i] / LENGTH;
        }
        for (int i = 0; i < LENGTH; i++) {
            var += pow(in[r * LENGTH + i] - mean[r], 2) / LENGTH;
        }
        rstd[r] = 1 / sqrt(var + 1e-5);
        for (int i = 0; i < LENGTH; i++) {
            const double normal = (in[r * LENGTH + i] - mean[r]) * rstd[r];
            expected[r * LENGTH + i] = normal * gamma[i] + beta[i];
            dgamma[i] += g[r * LENGTH + i] * normal;
            dbeta[i] += g[r * LENGTH + i];
            sum += g[r * LENGTH + i] * gamma[i] / LENGTH;
            with_normal += g[r * LENGTH + i] * gamma[i] * normal / LENGTH;
        }
        for (int i = 0; i < LENGTH; i++) {
            const double normal = (in[r * LENGTH + i] - mean[r]) * rstd[r];
            gradient[r * LENGTH + i] =
                rstd[r] * (g[r * LENGTH + i] * gamma[i] - sum - normal * with_normal);
        }
    }
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, 2, 3, LENGTH),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3, LENGTH),
                      tg = RIG(&rig, CNNL_DTYPE_FLOAT, g, 2, 3, LENGTH),
                      tdx = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3, LENGTH),
                      tgamma = RIG(&rig, CNNL_DTYPE_FLOAT, gamma, LENGTH),
                      tbeta = RIG(&rig, CNNL_DTYPE_FLOAT, beta, LENGTH),
                      tdgamma = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, LENGTH),
                      tdbeta = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, LENGTH),
                      tmean = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3),
                      trstd = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3);
    OK(cnnlLayerNormForward_v2(rig.handle, NULL, T(tx), 2, tgamma.desc, tgamma.ptr, tbeta.ptr, 1e-5,
                               NULL, 0, T(ty), tmean.desc, tmean.ptr, trstd.ptr));
    NEAR(&rig, ty, expected, 1e-5);
    NEAR(&rig, tmean, mean, 1e-6);
    NEAR(&rig, trstd, rstd, 1e-5);
    OK(cnnlLayerNormBackward_v3(rig.handle, NULL, T(tx), 2, T(tg), tgamma.desc, tgamma.ptr,
                                tmean.desc, tmean.ptr, trstd.ptr, NULL, 0, T(tdx), tdgamma.ptr,
                                tdbeta.ptr));
    NEAR(&rig, tdx, gradient, 1e-5);
    NEAR(&rig, tdgamma, dgamma, 1e-5);
    NEAR(&rig, tdbeta, dbeta, 1e-5);
    rig_end(&rig);
}

/* ---- softmax and losses ---- */

static void log_softmax_and_its_loss(void)
{
    enum { SAMPLES = 4, CLASSES = 10 };
    double in[SAMPLES * CLASSES], logs[SAMPLES * CLASSES], gradient[SAMPLES * CLASSES];
    const double target[SAMPLES] = {3, 0, 9, 3};
    double loss = 0;
    struct rig rig = rig_begin();
    rig_fill(in, SAMPLES * CLASSES, 4, 1);
    for (int s = 0; s < SAMPLES; s++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) {
            sum += exp(in[s * CLASSES + c]);
        }
        for (int c = 0; c < CLASSES; c++) {
            logs[s * CLASSES + c] = in[s * CLASSES + c] - log(sum);
            gradient[s * CLASSES + c] =
                (exp(logs[s * CLASSES + c]) - (c == (int)target[s])) / SAMPLES;
        }
        loss -= logs[s * CLASSES + (int)target[s]] / SAMPLES;
    }
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, SAMPLES, CLASSES),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, SAMPLES, CLASSES),
                      tt = RIG(&rig, CNNL_DTYPE_INT64, target, SAMPLES),
                      tl = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1),
                      tw = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1),
                      tone = RIG(&rig, CNNL_DTYPE_FLOAT, ((double[]){1}), 1),
                      td = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, SAMPLES, CLASSES),
                      tdx = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, SAMPLES, CLASSES);
    OK(cnnlSoftmaxForward(rig.handle, CNNL_SOFTMAX_LOG, CNNL_SOFTMAX_MODE_LOW_DIMENSION, NULL,
                          T(tx), NULL, T(ty)));
    NEAR(&rig, ty, logs, 1e-6);
    OK(cnnlNlllossForward_v2(rig.handle, CNNL_REDUCTION_MEAN, T(ty), T(tt), -100, NULL, NULL, NULL,
                             0, T(tw), T(tl)));
    NEAR(&rig, tl, &loss, 1e-6);
    NEAR(&rig, tw, ((double[]){SAMPLES}), 0);
    OK(cnnlNlllossBackward_v2(rig.handle, CNNL_REDUCTION_MEAN, T(tone), T(tt), -100, NULL, NULL,
                              T(tw), T(td)));
    OK(cnnlSoftmaxBackward(rig.handle, CNNL_SOFTMAX_LOG, CNNL_SOFTMAX_MODE_LOW_DIMENSION, NULL,
                           T(ty), T(td), NULL, T(tdx)));
    NEAR(&rig, tdx, gradient, 1e-6);
    EXPECT(cnnlSoftmaxForward(rig.handle, CNNL_SOFTMAX_LOG, CNNL_SOFTMAX_MODE_MEDIUM_DIMENSION,
                              NULL, T(tx), NULL, T(ty)),
           CNNL_STATUS_BAD_PARAM);
    const float half = 0.5F;
    EXPECT(cnnlSoftmaxForward(rig.handle, CNNL_SOFTMAX_LOG, CNNL_SOFTMAX_MODE_LOW_DIMENSION, &half,
                              T(tx), NULL, T(ty)),
           CNNL_STATUS_NOT_SUPPORTED);
    TEXT("alpha must be 1");
    rig_end(&rig);
}

static void losses_are_means_sums_or_neither(void)
{
    double a[4] = {0.25, 0.5, 0.75, 0.5}, b[4] = {1, 0, 1, 0}, square[4], cross[4], logits[4];
    double squares = 0, crosses = 0, all_logits = 0;
    struct rig rig = rig_begin();
    for (int i = 0; i < 4; i++) {
        square[i] = (a[i] - b[i]) * (a[i] - b[i]);
        cross[i] = b[i] > 0 ? -log(a[i]) : -log(1 - a[i]);
        logits[i] = b[i] > 0 ? log1p(exp(-a[i])) : log1p(exp(a[i]));
        squares += square[i];
        crosses += cross[i] / 4;
        all_logits += logits[i];
    }
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 4),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 4),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4),
                      tl = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlMSELoss_v2(rig.handle, CNNL_MSE_LOSS_NONE, T(ta), T(tb), NULL, 0, T(ty)));
    NEAR(&rig, ty, square, 1e-6);
    OK(cnnlMSELoss_v2(rig.handle, CNNL_MSE_LOSS_SUM, T(ta), T(tb), NULL, 0, T(tl)));
    NEAR(&rig, tl, &squares, 1e-6);
    OK(cnnlBceLoss(rig.handle, T(ta), T(tb), NULL, NULL, CNNL_BCE_LOSS_MEAN, NULL, 0, T(tl)));
    NEAR(&rig, tl, &crosses, 1e-6);
    OK(cnnlBceWithLogits(rig.handle, T(ta), T(tb), NULL, NULL, NULL, NULL, CNNL_BCE_WITH_LOGITS_SUM,
                         NULL, 0, T(tl)));
    NEAR(&rig, tl, &all_logits, 1e-6);
    rig_end(&rig);
}

/* ---- activation, embedding, resizing ---- */

static void activations_and_their_gradients(void)
{
    enum { COUNT = 64 };
    static const cnnlActivationMode_t modes[] = {CNNL_ACTIVATION_RELU, CNNL_ACTIVATION_SIGMOID,
                                                 CNNL_ACTIVATION_TANH, CNNL_ACTIVATION_GELU,
                                                 CNNL_ACTIVATION_SILU, CNNL_ACTIVATION_LEAKYRELU};
    double in[COUNT], g[COUNT], out[COUNT], back[COUNT];
    const float coef = 0.125F;
    struct rig rig = rig_begin();
    cnnlActivationDescriptor_t d;
    rig_fill(in, COUNT, 3, 1);
    rig_fill(g, COUNT, 1, 2);
    OK(cnnlCreateActivationDescriptor(&d));
    OK(cnnlSetActivationDescAttr(d, CNNL_ACTIVATION_COEF, &coef, sizeof(coef)));
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, COUNT),
                      tg = RIG(&rig, CNNL_DTYPE_FLOAT, g, COUNT),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, COUNT),
                      tdx = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, COUNT);
    for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
        const bool by_result = m == 1 || m == 2;
        for (int i = 0; i < COUNT; i++) {
            const double v = in[i], s = 1 / (1 + exp(-v)), t = tanh(v);
            const double normal = 0.5 * (1 + erf(v / sqrt(2))),
                         bell = exp(-v * v / 2) / sqrt(2 * 3.14159265358979323846);
            const double outs[] = {v > 0 ? v : 0, s, t, v * normal, v * s, v > 0 ? v : 0.125 * v};
            const double slopes[] = {v > 0,
                                     s * (1 - s),
                                     1 - t * t,
                                     normal + v * bell,
                                     s + v * s * (1 - s),
                                     v > 0 ? 1 : 0.125};
            out[i] = outs[m];
            back[i] = g[i] * slopes[m];
        }
        OK(cnnlSetActivationDescAttr(d, CNNL_ACTIVATION_MODE, &modes[m], sizeof(modes[m])));
        OK(cnnlActivationForward(rig.handle, d, NULL, T(tx), NULL, T(ty)));
        NEAR(&rig, ty, out, 2e-6);
        OK(cnnlActivationBackward(rig.handle, d, NULL, by_result ? ty.desc : NULL, ty.ptr, T(tg),
                                  by_result ? NULL : tx.desc, tx.ptr, NULL, T(tdx)));
        NEAR(&rig, tdx, back, 2e-6);
    }
    EXPECT(cnnlActivationBackward(rig.handle, d, NULL, T(ty), T(tg), NULL, NULL, NULL, T(tdx)),
           CNNL_STATUS_BAD_PARAM);
    TEXT("x is NULL");
    OK(cnnlDestroyActivationDescriptor(d));
    rig_end(&rig);
}

static void embedding_takes_rows_and_adds_them_up(void)
{
    const double table[] = {0, 1, 10, 11, 20, 21, 30, 31}, index[] = {2, 0, 2};
    struct rig rig = rig_begin();
    struct rig_tensor tw = RIG(&rig, CNNL_DTYPE_FLOAT, table, 4, 2),
                      ti = RIG(&rig, CNNL_DTYPE_INT32, index, 3),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3, 2),
                      tdw = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4, 2);
    OK(cnnlEmbeddingForward_v2(rig.handle, T(tw), T(ti), -1, NULL, NULL, T(ty)));
    NEAR(&rig, ty, ((double[]){20, 21, 0, 1, 20, 21}), 0);
    OK(cnnlEmbeddingBackward(rig.handle, -1, false, T(ti), T(ty), NULL, 0, T(tdw)));
    NEAR(&rig, tdw, ((double[]){0, 1, 0, 0, 40, 42, 0, 0}), 0);
    OK(cnnlEmbeddingBackward(rig.handle, 2, false, T(ti), T(ty), NULL, 0, T(tdw)));
    NEAR(&rig, tdw, ((double[]){0, 1, 0, 0, 0, 0, 0, 0}), 0);
    rig_end(&rig);
}

static void resizing_repeats_the_nearest(void)
{
    const double in[] = {1, 2, 3, 4}, out[] = {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
    struct rig rig = rig_begin();
    cnnlInterpDescriptor_t d;
    struct rig_tensor tx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, in, 1, 2, 2, 1),
                      ty = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 4, 4, 1),
                      tdx = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 2, 2, 1);
    OK(cnnlCreateInterpDescriptor(&d));
    OK(cnnlSetInterpDescriptor_v2(d, tx.desc, CNNL_INTERP_NEAREST, CNNL_INTERP_ALGO_0, NULL));
    OK(cnnlInterp_v3(rig.handle, d, T(tx), T(ty)));
    NEAR(&rig, ty, out, 0);
    OK(cnnlInterpBackward_v3(rig.handle, d, T(ty), T(tdx)));
    NEAR(&rig, tdx, ((double[]){4, 8, 12, 16}), 0);
    OK(cnnlSetInterpDescriptor_v2(d, tx.desc, CNNL_INTERP_BICUBIC, CNNL_INTERP_ALGO_3, NULL));
    EXPECT(cnnlInterp_v3(rig.handle, d, T(tx), T(ty)), CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyInterpDescriptor(d));
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"convolutions_in_three_directions", convolutions_in_three_directions},
    {"pooling_takes_extremes_and_means", pooling_takes_extremes_and_means},
    {"adaptive_pooling_shares_out", adaptive_pooling_shares_out},
    {"batch_normalisation_and_its_gradient", batch_normalisation_and_its_gradient},
    {"layer_normalisation_and_its_gradient", layer_normalisation_and_its_gradient},
    {"log_softmax_and_its_loss", log_softmax_and_its_loss},
    {"losses_are_means_sums_or_neither", losses_are_means_sums_or_neither},
    {"activations_and_their_gradients", activations_and_their_gradients},
    {"embedding_takes_rows_and_adds_them_up", embedding_takes_rows_and_adds_them_up},
    {"resizing_repeats_the_nearest", resizing_repeats_the_nearest},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_networks", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
