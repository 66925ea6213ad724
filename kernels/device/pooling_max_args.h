/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of max pooling on the vector unit. */
#pragma once

#include <stdint.h>

enum { OP_POOLING_LANES = 8 }; /**< f32 of a block of 32 bytes: channels that go together */

/**
 * Planes [height][width][8 channels] of f32. `small` is a map of windows, `large` the one they lie
 * over, `index` in the shape of `small` says which element of its window was the largest, as the
 * number y * kernel_w + x in f32. pool_max makes small and index; pool_max_gradient makes large,
 * the sums of small by index. A piece is up to `rows` rows of windows (pool_max), or of `large`;
 * block b works on pieces [b * per_block, (b + 1) * per_block).
 */
struct op_pooling_max_args {
    uint64_t small, large, index;
    uint64_t pieces, per_block;
    uint32_t width, height, out_width, out_height;
    uint32_t kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h, pad_w, pad_h;
    uint32_t rows;
    uint32_t pitch, out_pitch; /**< blocks of a row in UB, of large with padding, of small */
    uint32_t lines;            /**< pool_max_gradient: most rows of small that a piece reads */
    uint32_t large_bytes;      /**< of a slot: its rows of large, which stand first */
    uint32_t slot_bytes;       /**< of UB, two slots */
};
