/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch arguments of batch norm on maps in NC1HWC0 ([images][groups][positions][16]): the 16
 * channels of a group lie in neighbouring lanes.
 *
 * Work is cut into chunks, `chunks` of each group: `images_each` whole images, or one of `pieces`
 * of an image. The cut depends on the shape alone, so that sums do not depend on the cores.
 */
#pragma once

#include <stdint.h>

enum {
    OP_BLOCKS_LANES = 16,
    OP_BLOCKS_TILE = 448, /**< positions in UB at a time: three slots of two f32 tensors fit */
};

struct op_batch_norm_blocks_args {
    uint64_t x, gradient, y;
    uint64_t parts;   /**< f32 [groups][chunks][2][16] */
    uint64_t sums[2]; /**< f32 [channels] from here on; of x and x * x, or what the gradient of
                           x needs: those of scale and offset; join: where they go */
    uint64_t scale, offset, mean, variance;
    uint64_t running[2], running_out[2], batch_out[2]; /**< mean and variance, or all 0 */
    uint64_t images, groups, channels, positions;
    uint32_t chunks, images_each, pieces, positions_each;
    uint32_t tile_images, tile_positions;
    float inverse_count, eps, factor, unbiased; /**< unbiased: count / (count - 1) */
};

enum { OP_BLOCKS_ADDRESSES = 16 };
