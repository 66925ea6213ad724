/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch arguments of batch norm over planes: maps [images][channels][length].
 *
 * A group is `width` neighbouring channels. Its tiles, `tiles` of them, are `tile_images` images of
 * whole planes, or one of `pieces` of an image's planes; sums are made of chunks of `tiles_each`
 * tiles. All that depends on the shape alone, so that results do not depend on the cores.
 *
 * A sum stays in eight lanes: lane i holds elements i, i + 8, ... of a plane.
 */
#pragma once

#include <stdint.h>

enum {
    OP_PLANE_LEAST = 16, /**< elements of a plane */
    OP_PLANE_LANES = 8,
    OP_PLANE_WIDTH = 32,         /**< channels of a group at most; a multiple of 8 */
    OP_PLANE_TILE_BYTES = 16384, /**< of a tensor's tile */
    OP_PLANE_ROWS = 128,         /**< planes of a tile at most */
};

struct op_planes_args {
    uint64_t x, gradient, y; /**< y 0: numbers alone */
    /** f32 [groups][chunks][1 + 2 * width][8]: elements of each lane; for each channel its lanes'
     * means, then their squared distances, or sums of the gradient, then of gradient * (x - mean).
     * 0: the two below hold. */
    uint64_t parts;
    uint64_t mean, second; /**< f32 of channels from here on */
    uint64_t weight, bias; /**< 0: 1 and 0 */
    uint64_t sums[2]; /**< of the gradient, and of gradient * (x - mean), if there are no parts */
    uint64_t running[2], running_out[2]; /**< mean and variance, or all 0 */
    uint64_t out[4];  /**< forward: mean and second_out; backward: sums[0], sums[1], gradients
                           of bias and weight; 0: not wanted */
    uint64_t counter; /**< i32, elements of each of `replicas`; 0: inverse_count holds */
    uint64_t images, channels, length, groups, replicas;
    uint32_t width, chunks, tiles, tiles_each, tile_images, pieces, positions_each;
    float inverse_count, eps, momentum, unbiased; /**< unbiased: count / (count - 1) */
    uint8_t inverse;     /**< `second` is 1 / sqrt(variance + eps), else the variance */
    uint8_t inverse_out; /**< the same of second_out */
    uint8_t weighed;     /**< backward: the sums are of gradients times weights */
    uint8_t training;    /**< backward; 0: statistics do not depend on x */
};

enum { OP_PLANES_ADDRESSES = 19 };
