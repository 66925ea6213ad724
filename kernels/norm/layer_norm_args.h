/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of layer_norm.c. */
#pragma once

#include "../device/row_tile_args.h"

#include <stdint.h>

/**
 * Dense rows of f32, f16 or bf16, of OP_ROW_TILE_LEAST elements at most: out = (in - mean) /
 * deviation * weight + bias. Block b works on rows [b * per_block, (b + 1) * per_block).
 */
struct op_layer_norm_args {
    uint64_t out, in;
    uint64_t weight, bias;  /**< f32, one for each element of a row; 0: none */
    uint64_t mean, inverse; /**< f32 of each row, written; 0: not wanted */
    uint64_t rows, length, per_block;
    float eps;
    uint8_t type, no_mean; /**< no_mean: the mean is 0 */
};
