/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of the negative log likelihood. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum op_loss_reduction { OP_LOSS_NONE, OP_LOSS_MEAN, OP_LOSS_SUM };

/**
 * self[batch, classes, inner], target[batch, inner], strides in bytes. Forward: out is one element,
 * or dense [batch, inner] if not reduced; total one element. Backward: grad has the strides of
 * [batch, inner], or is one element; out is dense like self; total is read. parts: a 64-byte line
 * for each block, sum and total as doubles; of nll_loss_values the class of each sample in f32.
 */
struct op_nll_loss_args {
    uint64_t out, total, self, target, weight, grad, parts;
    uint64_t batch, classes, inner, per_block;
    int64_t ignore;
    int64_t self_stride[3], target_stride[2], grad_stride[2], weight_stride;
    uint32_t blocks;
    uint8_t out_type, total_type, self_type, target_type, weight_type, grad_type, reduction;
};
