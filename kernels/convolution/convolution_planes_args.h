/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of convolutions whose channels stand alone, in NC1HWC0. */
#pragma once

#include <stdint.h>

/** A map that is read or written, [images][groups][height][width][16] of f16. Its element
 * (u - pad_h, v - pad_w) lies in line u / step_h of phase u % step_h, column v of that line. */
struct op_planes_map {
    uint32_t height, width, step_h, step_w, pad_h, pad_w;
    uint32_t phases; /**< of lines that are there */
    uint32_t used;   /**< pixels of a row that are read */
    uint32_t bytes;  /**< of a piece in UB */
};

/**
 * A piece is `rows` lines of each phase of `to` from a multiple of `rows` on, of up to `batch`
 * images (1 unless rows are all), in one group of channels. In UB a map is [phases][batch][lines]
 * of step_w * pitch pixels, where the padding behind a line or an image may be that before the
 * next; sums are [phases of both directions][batch][lines][pitch] pixels of f32: so one instruction
 * takes an element of the kernel for all lines and images of a phase.
 *
 * planes_sum: `to` = `from` with `weight` [groups][taps][16] of f16. Element (y, x) of the kernel
 * is taken from the phase and line of `from` that y * dilation_h is in, or `turned` goes to that
 * phase of `to`, from line shift_h - y * dilation_h / step_h. planes_products: `weight`
 * [parts][groups][taps][16] of f32 is the sum of products of `from` and `to` over `images` /
 * `parts` images; a block works on whole groups of parts.
 */
struct op_planes_args {
    uint64_t from_addr, to_addr, weight;
    uint64_t pieces, per_block;
    struct op_planes_map from, to;
    uint32_t images, groups, parts;
    uint32_t batch, bands, rows, lines, all_rows, pitch;
    uint32_t kernel_h, kernel_w, dilation_h, dilation_w, step_h, step_w;
    uint32_t shift_h, shift_w; /**< the largest, in lines and columns of a phase */
    uint32_t turned;
    uint32_t weight_bytes; /**< of UB */
    uint32_t sum_bytes;    /**< of one phase; planes_products: of one element of the kernel */
};
