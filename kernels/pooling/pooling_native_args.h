/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of max pooling in NC1HWC0. */
#pragma once

#include <stdint.h>

/**
 * Planes [height][width][16 channels] of f16: an image's group of channels. out[plane] is the
 * largest of each window; index says which element that is, as the number y * kernel_w + x in f32,
 * in planes of 8 channels, `index_groups` an image (window_args.h). A piece is up to `rows`
 * rows of windows; block b works on pieces [b * per_block, (b + 1) * per_block).
 *
 * UB holds of a piece, from its first window's first line on, all lines with the same place in a
 * vertical step together: lines of an element of all windows lie side by side, so that an
 * instruction takes it of all of them.
 */
struct op_pooling_native_args {
    uint64_t out, in, index;
    uint64_t pieces, per_block;
    uint32_t groups, index_groups; /**< of an image */
    uint32_t width, height, out_width, out_height;
    uint32_t kernel_w, kernel_h, stride_w, stride_h, dilation_w, dilation_h, pad_w, pad_h;
    uint32_t rows;
    uint32_t places, lines;    /**< in UB: places in a step that windows reach, lines of each */
    uint32_t pitch, out_pitch; /**< blocks of a line in UB: stride_w times those of windows */
    uint32_t in_bytes;         /**< of a slot: the input's lines, which stand first */
    uint32_t slot_bytes;       /**< of UB, two slots */
};
