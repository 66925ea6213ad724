/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of linear maps along one dimension, on whole rows. */
#pragma once

#include <stdint.h>

/**
 * in is dense f32 [outer][in_rows][pitch], out [outer][out_rows][pitch]: row r of out is the sum
 * over the entries of r in the table (resample_args.h, weights of f32) of weight * row index of in.
 * A unit is `columns` elements of the rows of one of outer; block b has units [b * per_block, ..).
 * UB: the table, then two slots of rows of in and of `group` rows of out. Pitch and columns are
 * multiples of 8.
 */
struct op_resample_rows_args {
    uint64_t out, in, table;
    uint64_t units, per_block;
    uint32_t in_rows, out_rows, pitch, columns, group;
    uint32_t count_at, index_at, weight_at, table_bytes; /**< in the table */
};
