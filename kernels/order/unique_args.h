/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of elements and slices without repetition. */
#pragma once

#include <stdint.h>

/**
 * `rows` slices of [outer, inner] elements; `in` is dense, row by row. values receives [outer,
 * count, inner] of the slices kept, inverse (i64[rows], 0 = none) which one each slice is, counts
 * (i64[], 0 = none) how often, count (i64) how many there are. scratch has 32 bytes a row.
 */
struct op_unique_args {
    uint64_t values, inverse, counts, count, in, scratch;
    uint64_t rows, outer, inner;
    uint8_t type, sorted;
};
