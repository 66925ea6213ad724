/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of programs over dense elements. Passed by value; host and device
 * have the same layout. */
#pragma once

#include <stdint.h>

/** An elementwise operator: block i works on elements [i * per_block, (i + 1) * per_block) of
 * `count`. */
struct op_flat_args {
    uint64_t in[3], out[2];
    uint64_t count, per_block; /**< per_block is a multiple of 16 elements */
    float scalar[3];
    uint32_t tile; /**< elements of one UB tile, at most OP_FLAT_TILE_F32, multiple of 128 */
};

enum { OP_FLAT_TILE_F32 = 4096 }; /**< elements of f32 in one 16 KiB UB slot */
