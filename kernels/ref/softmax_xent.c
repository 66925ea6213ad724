/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

#include <math.h>

void op_ref_softmax_xent(const float *logits, const int32_t *labels, size_t rows, size_t classes,
                         float *loss, float *prob)
{
    for (size_t r = 0; r < rows; r++) {
        const float *row = logits + r * classes;
        double most = row[0], sum = 0;
        for (size_t i = 1; i < classes; i++) {
            most = row[i] > most ? row[i] : most;
        }
        for (size_t i = 0; i < classes; i++) {
            sum += exp(row[i] - most);
        }
        for (size_t i = 0; i < classes; i++) {
            prob[r * classes + i] = (float)(exp(row[i] - most) / sum);
        }
        loss[r] = (float)(log(sum) - (row[labels[r]] - most));
    }
}

void op_ref_softmax_xent_grad(const float *prob, const int32_t *labels, size_t rows, size_t classes,
                              float scale, float *out)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < classes; i++) {
            const float p = prob[r * classes + i];
            out[r * classes + i] = (i == (size_t)labels[r] ? p - 1.0f : p) * scale;
        }
    }
}
