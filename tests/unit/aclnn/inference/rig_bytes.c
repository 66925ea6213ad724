/* SPDX-License-Identifier: Apache-2.0 */
#include "rig_bytes.h"

#include <math.h>
#include <stdio.h>

struct rig_tensor rig_bytes_make(unsigned rank, const int64_t *shape)
{
    return rig_tensor_make(OP_TYPE_I8, rank, shape, RIG_DENSE, 1);
}

void rig_bytes_expect(struct rig_tensor *t, const double *want, double slack, const char *what)
{
    int64_t wrong = 0;
    rig_tensor_take(t);
    for (int64_t i = 0; i < rig_tensor_count(t); i++) {
        const double got = rig_values_at(t, i), cut = fmin(fmax(want[i], -128), 127);
        if (!(fabs(got - cut) <= 0.5 + slack) && wrong++ == 0) {
            fprintf(stderr, "%s: %lld is %g, expected %g\n", what, (long long)i, got, want[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

void rig_bytes_rows(int64_t rows, int64_t width, double *x, double *scale, double *offset)
{
    for (int64_t r = 0; r < rows; r++) {
        double high = -1e30, low = 1e30;
        for (int64_t c = 0; c < width; c++) {
            high = fmax(high, x[r * width + c]);
            low = fmin(low, x[r * width + c]);
        }
        scale[r] = offset ? (high - low) / 255 : fmax(high, -low) / 127;
        if (offset) {
            offset[r] = 127 - high / scale[r];
        }
        for (int64_t c = 0; c < width; c++) {
            x[r * width + c] = x[r * width + c] / scale[r] + (offset ? offset[r] : 0);
        }
    }
}
