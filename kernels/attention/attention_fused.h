/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in one program: 16-bit types on the split chip, without dropout. */
#pragma once

#include "attention_call.h"

/** Whether one program can do the softmax and the products around it. */
bool op_attention_can_fuse(const struct attention *a, const struct op_tensor *max,
                           const struct op_tensor *sum, const struct op_tensor *out);
/** `max`, `sum`: [B, N, Sq, 8]; `out`: [B, M, G, Sq, D]. */
void op_attention_fused(struct op_chain *chain, const struct attention *a,
                        const struct op_tensor *max, const struct op_tensor *sum,
                        const struct op_tensor *out);
/** The weights once more, and the gradient of the products under the softmax: [B, M, G, Sq, Sk] of
 * the type of q. `dy` as `out`, `mean` dense f32 [B, M, G, Sq, 1]. */
void op_attention_fused_slopes(struct op_chain *chain, const struct attention *a,
                               const struct op_tensor *max, const struct op_tensor *sum,
                               const struct op_tensor *dy, const struct op_tensor *mean,
                               const struct op_tensor *weights, const struct op_tensor *slopes);
