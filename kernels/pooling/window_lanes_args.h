/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch arguments of copies between maps in NC1HWC0 (`blocks`, [planes][positions][16]) and f32
 * lanes of eight channels (`lanes`, [image][lane_groups][positions][8], window_args.h). Block b
 * works on pieces [b * per_block, (b + 1) * per_block) of OP_LANES_TILE positions of a plane.
 */
#pragma once

#include <stdint.h>

enum { OP_LANES_TILE = 512 };

struct op_lanes_args {
    uint64_t blocks, lanes;
    uint64_t positions, pieces, per_block;
    uint32_t groups, lane_groups; /**< planes of an image: of 16 and of 8 channels */
};
