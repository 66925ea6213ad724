/* SPDX-License-Identifier: Apache-2.0 */
/* What operators compute, in plain C on host memory; never tuned. f16 values are
 * their bits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

float op_ref_from_half(uint16_t bits);
/** Round to nearest even; NaN becomes 0x7e00. */
uint16_t op_ref_to_half(float value);
/** NaN becomes the quiet NaN 0x7fc00000. */
float op_ref_canonical(float value);

/** Where the chip adds the bias: before the sums start (split generation) or after they end
 * (coupled). */
enum op_ref_bias { OP_REF_BIAS_FIRST, OP_REF_BIAS_LAST };

struct op_ref_matmul {
    size_t m, n, k;
    const uint16_t *a, *b;
    bool transpose_a, transpose_b, relu;
    const float *bias; /**< NULL = none */
    enum op_ref_bias bias_order;
};
/** f32 result: each sum is a chain of fused multiply-adds in ascending k. */
void op_ref_matmul(const struct op_ref_matmul *matmul, float *out);

float op_ref_relu(float value);
void op_ref_momentum(float *weight, float *velocity, float grad, float grad_scale, float rate,
                     float momentum);
