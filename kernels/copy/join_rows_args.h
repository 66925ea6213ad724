/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of rows that several tensors have beside each other in one. */
#pragma once

#include <stdint.h>

enum {
    OP_JOIN_PARTS = 64,
    OP_JOIN_SLOT = 65536, /**< bytes of a tile in UB; two of them */
};

/** Rows of `bytes` bytes without gaps, from `offset` on in the rows of the whole. Its tiles, of
 * which a row has `columns`, are the pieces from `first` on. */
struct op_join_part {
    uint32_t bytes, offset, first;
    uint32_t tile_rows, tile_bytes, columns;
};

/** Block b works on pieces [b * per_block, (b + 1) * per_block). */
struct op_join_args {
    uint64_t whole, addr[OP_JOIN_PARTS];
    uint64_t rows, pitch; /**< of the whole, bytes */
    uint64_t pieces, per_block;
    uint32_t count;
    uint32_t split; /**< parts are written */
    struct op_join_part part[OP_JOIN_PARTS];
};
