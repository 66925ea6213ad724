/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution windows as a matrix: what both versions of img2col share.
 * docs/hw/dma.md, HW-DMA-40.. */
#pragma once

#include "mte.h"

/** The virtual matrix: rows are output pixels, columns [C1, Kh, Kw, C0]. */
struct mte_window {
    struct leo_cfg_fmatrix map; /**< sizes and padding of the feature map */
    uint32_t stride_w, stride_h, filter_w, filter_h, dilation_w, dilation_h;
    uint32_t out_w, out_h;
    uint32_t groups;  /**< C1 */
    unsigned element; /**< bytes */
    uint32_t pixel;   /**< bytes of the map for a pixel and a group: 32, or of four channels */
    uint32_t places;  /**< of the filter in a block: 32 / pixel */
    uint64_t wrap;    /**< bytes of the feature map's buffer, 0 = no wrap */
    uint8_t pad[MTE_BLOCK_BYTES];
};

/** Blocks of one group of channels in a row of the matrix. */
static inline uint32_t mte_window_blocks(const struct mte_window *window)
{
    return (window->filter_w * window->filter_h + window->places - 1) / window->places;
}

/** One instruction of either version. */
struct mte_img2col {
    struct mte_window window;
    uint32_t first_row, rows;     /**< output pixels */
    uint32_t first_block, blocks; /**< columns in blocks of C0 */
    bool to_right, transpose;
    /* First version: fractals one by one; else all of the matrix at once. */
    bool single;
    bool along_map; /**< repeats go along the feature map, else along the filter */
    uint32_t repeats, jump;
    /* Second version: the whole again, further on (CSR l3d_rpt). */
    uint32_t times, time_step;
    bool time_along_k;
};

/** Configuration words and registers; false: fault set. */
bool mte_img2col_unpack(struct sim_core *core, const struct sim_op *op, struct mte_img2col *move);
/** Fractals of the result, without repeats. */
uint64_t mte_img2col_fractals(const struct mte_img2col *move);
