/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of what is found of rows while they stand in UB. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum op_reduce_whole_mode {
    OP_REDUCE_WHOLE_VARIANCE,  /**< out = variance, extra = mean */
    OP_REDUCE_WHOLE_DEVIATION, /**< its root */
    OP_REDUCE_WHOLE_MAX,       /**< out = largest element, extra = its place, i64 */
    OP_REDUCE_WHOLE_MIN,
};

enum {
    OP_REDUCE_WHOLE_LENGTH_MAX = 8192,
    OP_REDUCE_WHOLE_LENGTH_MIN = 65 /**< elements of a row */
};

/**
 * in is [rows, length], f32 or f16 or bf16, without gaps. Block b takes rows [b * per_block, ..),
 * per_block a multiple of 16 where the chip copies whole blocks alone. extra or out of places may
 * be 0.
 */
struct op_reduce_whole_args {
    uint64_t out, extra, in;
    uint64_t rows, length, per_block;
    float mean_scale, share, divisor; /**< of a sum to the mean; 1 / length; length - correction */
    uint8_t in_type, mode;
};
