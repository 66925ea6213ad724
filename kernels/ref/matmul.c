/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

void op_ref_matmul(const struct op_ref_matmul *t, float *out)
{
    for (size_t i = 0; i < t->m; i++) {
        for (size_t j = 0; j < t->n; j++) {
            float sum = t->bias && t->bias_order == OP_REF_BIAS_FIRST ? t->bias[j] : 0.0f;
            for (size_t l = 0; l < t->k; l++) {
                const uint16_t a = t->transpose_a ? t->a[l * t->m + i] : t->a[i * t->k + l];
                const uint16_t b = t->transpose_b ? t->b[j * t->k + l] : t->b[l * t->n + j];
                // The product of two halves is exact in f32: one rounding, as the Cube has it.
                sum += op_ref_from_half(a) * op_ref_from_half(b);
            }
            if (t->bias && t->bias_order == OP_REF_BIAS_LAST) {
                sum += t->bias[j];
            }
            out[i * t->n + j] = op_ref_canonical(t->relu ? op_ref_relu(sum) : sum);
        }
    }
}
