/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of gathering and scattering along one dimension, with the table in UB. */
#pragma once

#include "index_args.h"

/**
 * table [outer, length, inner], index and values [outer, count, inner], all dense. GET: value = the
 * table's element that index names along `length`; else out = table, changed by the values in their
 * order.
 *
 * inner 1: a piece is `rows` of outer; else it is `columns` of inner of one of outer. `chunk` of
 * count are in UB at a time, in all rows or columns of the piece. A piece is `parts` of `share` of
 * count, of which block b has [b * per_block, ..).
 */
struct op_index_lines_args {
    uint64_t table, out, index, value;
    uint64_t outer, length, count, inner, pieces, parts, share, per_block;
    uint32_t rows, columns, chunk, unit; /**< unit: bytes of an element */
    uint8_t type, index_bytes, mode;
};

/** Bytes of UB for the table, and for indices and values each. */
enum {
    OP_LINES_TABLE = 98304,
    OP_LINES_SLOT = 32768,
    OP_LINES_TEMP = OP_LINES_TABLE + 2 * OP_LINES_SLOT, /**< what is behind them */
};
