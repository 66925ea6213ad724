/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of windows over planes on the vector unit: pooling, and convolutions of single
 * channels. */
#pragma once

#include <stdint.h>

enum { OP_WINDOW_LANES = 8 }; /**< f32 of a block of 32 bytes: channels that go together */

/**
 * Planes [height][width][8 channels] of f32, `groups` of them an image. `small` is a map of
 * windows, `large` the one they lie over. A piece is up to `rows` rows of the map that is made
 * (window_products: of small); block b works on pieces [b * per_block, (b + 1) * per_block), of
 * window_products on such planes.
 *
 * pool_max makes small, and `index` in its shape: which element of its window was the largest, as
 * the number y * kernel_w + x, or with `positions` its place in the plane. pool_max_gradient makes
 * large, the sums of small by index.
 * window_sum makes small: sums of each window's elements times `weight` [groups][kernel_h *
 * kernel_w][8]. window_spread makes large: small times weight, summed. window_products makes
 * `weight` [planes][kernel_h * kernel_w][8]: products of small and large, summed over a plane.
 * Without weights the elements themselves, as averages are summed: each divided by the number of
 * elements of its window, or by `divisor`.
 */
struct op_window_args {
    uint64_t small, large, index, weight;
    uint64_t pieces, per_block;
    uint32_t width, height, out_width, out_height;
    uint32_t kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h, pad_w, pad_h;
    uint32_t groups, rows;
    uint32_t pitch, out_pitch; /**< blocks of a row in UB, of large with padding, of small */
    uint32_t lines;            /**< maps of large: most rows of small that a piece reads */
    uint32_t large_bytes;      /**< of a slot: its rows of large, which stand first */
    uint32_t weight_at;        /**< in a slot */
    uint32_t slot_bytes;       /**< of UB, two slots */
    float divisor;             /**< of averages; 0: elements of the window */
    uint8_t count_pad;         /**< padding counts as elements of a window */
    uint8_t positions;         /**< index is positions */
    uint8_t reserved[2];
};
