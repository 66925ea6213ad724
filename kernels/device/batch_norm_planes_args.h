/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch arguments of batch norm over planes (rows of `length` elements, one of each image and
 * channel) whose sums stay in eight lanes: lane i holds elements i, i + 8, ... of its row.
 */
#pragma once

#include <stdint.h>

enum {
    OP_PLANE_LEAST = 16, /**< elements of a plane; the longest has */
    OP_PLANE_MOST = 4096,
    OP_PLANE_LANES = 8,
    OP_PLANE_CHANNELS = 8, /**< a block's channels are a multiple: whole lines of lanes */
};

/** Numbers of a channel, each eight times: the fields of struct op_norm_entry. */
struct op_plane_entry {
    float mean[OP_PLANE_LANES], scale[OP_PLANE_LANES], slope[OP_PLANE_LANES], shift[OP_PLANE_LANES];
};

/** Block b works on rows [b * per_block, (b + 1) * per_block). */
struct op_planes_args {
    uint64_t in, gradient, out;
    uint64_t first, second; /**< f32 [rows][8]: means and squared distances, or sums of the gradient
                                 and of gradient * (in - mean) */
    uint64_t numbers;       /**< sums: means, f32 [channels][8]; apply: struct op_plane_entry */
    uint64_t rows, length, channels, per_block;
};

/** Block b joins the images of channels [b * per_block, (b + 1) * per_block). */
struct op_planes_join_args {
    uint64_t first, second; /**< as above; spread: second is absent, first f32 [channels] */
    uint64_t out;           /**< struct op_norm_moments or op_norm_sums of each channel; spread:
                                 f32 [channels][8] */
    uint64_t images, channels, length, per_block;
};
