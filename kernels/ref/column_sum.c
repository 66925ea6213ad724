/* SPDX-License-Identifier: Apache-2.0 */
#include "ref.h"

void op_ref_column_sum(const float *in, size_t rows, size_t columns, float *out)
{
    for (size_t j = 0; j < columns; j++) {
        float sum = 0.0f;
        for (size_t i = 0; i < rows; i++) {
            sum += in[i * columns + j];
        }
        out[j] = op_ref_canonical(sum);
    }
}
