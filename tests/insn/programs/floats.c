/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over half, single and double numbers: matrices, a series, a root, conversions. */
#include "start.h"

enum { N = 24 };

static _Float16 ha[N][N], hb[N][N];
static float sa[N][N];
static double da[N][N];

static double exp_series(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
        term *= x / k;
        sum += term;
    }
    return sum;
}

static void multiply(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            float single = 0;
            double sum = 0;
            _Float16 half = 0;
            for (int k = 0; k < N; k++) {
                single += (float)ha[i][k] * (float)hb[k][j];
                half += ha[i][k] * hb[k][j];
                sum = __builtin_fma(da[i][k], (double)sa[k][j], sum);
            }
            sa[i][j] = single;
            hb[i][j] = half;
            da[i][j] = sum / 3.0 - (double)half;
        }
    }
}

int program(void)
{
    uint64_t seed = 1234567u;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            ha[i][j] = (_Float16)((float)(int32_t)next_random(&seed) / 1e9f);
            hb[i][j] = (_Float16)(float)((int)(next_random(&seed) & 31) - 16);
            sa[i][j] = (float)(int64_t)next_random(&seed) * 1e-19f;
            da[i][j] = (double)next_random(&seed) * 1e-18;
        }
    }
    for (int round = 0; round < 5; round++) {
        multiply();
    }
    emit_bytes(sa, sizeof(sa));
    emit_bytes(hb, sizeof(hb));
    emit_bytes(da, sizeof(da));
    for (int i = -60; i < 60; i++) {
        double e = exp_series(i / 7.0), root = __builtin_sqrt(e);
        float low = (float)e;
        _Float16 half = (_Float16)low;
        emit_bytes(&e, sizeof(e));
        emit_bytes(&root, sizeof(root));
        emit_bytes(&half, sizeof(half));
        emit((uint64_t)(int64_t)(e * 1000) + (uint64_t)(uint32_t)(low < 4e9f ? low : 0) +
             (uint64_t)(e > 1 ? e : 0));
        emit((uint64_t)((e < root) + 2 * (low >= 1.0f) + 4 * (half == (_Float16)1)));
    }
    return 0;
}
