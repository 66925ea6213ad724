/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of programs that find elements by index tensors. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/** What is done with an element of the table and one of the values. */
enum op_index_mode {
    OP_INDEX_GET,     /**< value = element */
    OP_INDEX_PUT,     /**< element = value */
    OP_INDEX_ADD,     /**< element += value (times scale) */
    OP_INDEX_MUL,     /**< element *= value */
    OP_INDEX_LARGEST, /**< element = the larger of both; NaN wins */
    OP_INDEX_SMALLEST,
};

enum { OP_INDEX_MAX = OP_RANK_MAX }; /**< index tensors: one a dimension */

/**
 * For each position p of the index space dim[0..rank): the element of the table at
 * p . table_stride + sum over k of index_k[p . index_stride[k]] * jump[k], and the value at
 * p . value_stride. A negative index counts from limit[k]; one out of range is a fault. GET writes
 * dense values, block b those of [b * per_block, ..); the others run in order, block b over [b *
 * per_block, ..) of dimension `split` (rank: there is one block).
 */
struct op_index_args {
    uint64_t table, value;
    uint64_t index[OP_INDEX_MAX];
    uint64_t count, per_block;
    double scale;
    int64_t dim[OP_RANK_MAX];
    int64_t table_stride[OP_RANK_MAX], value_stride[OP_RANK_MAX];
    int64_t index_stride[OP_INDEX_MAX][OP_RANK_MAX];
    int64_t jump[OP_INDEX_MAX], limit[OP_INDEX_MAX];
    int64_t skip; /**< value of the first index at which nothing is done; INT64_MIN: none */
    uint8_t table_type, value_type, index_type[OP_INDEX_MAX], rank, indices, mode, split;
};

enum { OP_INDEX_SLOT = 32768 }; /**< bytes of UB for rows of values, two of them */

/**
 * Rows of `bytes` bytes: row index[i] of the table, `pitch` bytes from row to row, and row i of the
 * values, `value_pitch` bytes from row to row; `blocks` blocks of 32 bytes hold one in UB. On the
 * coupled core what is written has whole blocks. index_get_rows: `rows` rows at a time; block b
 * works on list entries [b * per_block, ..). index_add_rows: pieces are columns of blocks in
 * `parts` parts of `rows` rows of the table. index_put_rows: `rows` rows of values at a time; block
 * b writes blocks [b / parts * per_block, ..) of the rows [b % parts * part_rows, ..).
 */
struct op_index_rows_args {
    uint64_t table, value, index;
    uint64_t count, per_block, pitch;
    int64_t limit; /**< rows of the table; negative indices count from there */
    int64_t skip;  /**< an index at which nothing is done */
    int64_t part_rows;
    uint32_t bytes, value_pitch, blocks, rows, parts;
    uint8_t index_type;
};

enum {
    OP_SUMS_CHUNK = 4096, /**< list entries in UB */
    OP_SUMS_ROWS = 16384, /**< of the table, most that a block has */
    OP_SUMS_SLICE = 8192, /**< bytes of a row, most that a block has */
};

/**
 * table[index[i]] += value[i] in f32, in the order of the list. Block b has rows r of the table
 * with r % row_groups == b % row_groups, a power of 2, and `slice` bytes of each, the b /
 * row_groups-th of a row. Sizes and pitches are bytes, multiples of 32.
 */
struct op_index_sums_args {
    uint64_t table, value, index;
    uint64_t count, pitch, value_pitch;
    int64_t limit; /**< rows of the table; negative indices count from there */
    int64_t skip;  /**< an index at which nothing is done */
    uint32_t bytes, slice, row_groups, row_shift;
    uint8_t index_type;
};

/**
 * table[index[i]] = value[i], or += or *= it, in order: all are dense lists, but for a value that
 * repeats (value_step 0). Block b has elements [b * per_block, ..) of the table, whole lines of it,
 * and goes through all indices for those.
 */
struct op_index_ranges_args {
    uint64_t table, value, index; /**< index: i64 */
    uint64_t count, per_block;
    int64_t limit; /**< elements of the table; negative indices count from there */
    double scale;
    uint8_t table_type, value_type, mode, value_step;
};

enum { OP_INDEX_CHUNK = 4096 }; /**< indices in UB, of which there are two */
