/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of copies that change the layout. */
#pragma once

#include <stdint.h>

enum {
    OP_MOVE_OUTER = 7,
    OP_MOVE_SLOT = 32768, /**< bytes of a tile in UB */
    OP_MOVE_STEP_MAX = 8,
    OP_MOVE_STEP_TILE = 1024, /**< elements of a plane that are in UB at a time */
    OP_MOVE_STEP_LINE = 16,   /**< of which so many are transposed side by side */
};

/**
 * For every index of the outer dimensions a matrix of `rows` x `columns`. Copied: both sides have
 * their columns side by side. Transposed: the input has its columns side by side, the output its
 * rows. Pitches and strides in bytes. The matrix is cut into tiles; block b works on pieces [b *
 * per_block, (b + 1) * per_block), a piece is a tile of a matrix.
 */
struct op_move_args {
    uint64_t out, in;
    uint64_t pieces, per_block;
    uint64_t rows, columns, in_pitch, out_pitch;
    int64_t dim[OP_MOVE_OUTER], out_stride[OP_MOVE_OUTER], in_stride[OP_MOVE_OUTER];
    uint32_t tile_rows, tile_columns, row_tiles, column_tiles;
    uint32_t outer, bytes; /**< bytes of an element */
    uint32_t padded; /**< transposed: there are fewer than 16 rows, and those up to 16 are zeros */
};

/**
 * Rows of `count` groups of `step` elements side by side, and planes [rows][count] of one element
 * of each group: move_split makes `planes` of them, from element `first` of a group on; move_join
 * makes the groups of `step` planes; move_put writes element `first` of each group of a plane.
 * Pitches in bytes. Pieces are tiles of long rows, or tiles of `tile_rows` short ones, each of them
 * `row_room` groups after the other in UB.
 */
struct op_move_step_args {
    uint64_t groups, plane[OP_MOVE_STEP_MAX];
    uint64_t pieces, per_block, rows, count;
    uint64_t group_pitch, plane_pitch;
    uint32_t step, first, planes, bytes;
    uint32_t tile_rows, row_room;
};
