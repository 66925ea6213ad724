/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of copies that change the layout. */
#pragma once

#include <stdint.h>

enum {
    OP_MOVE_OUTER = 7,
    OP_MOVE_SLOT = 32768, /**< bytes of a tile in UB */
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
