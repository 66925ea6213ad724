/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of places in sorted lists and of counts. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/**
 * out[i] (dense i64) = place of in[i] in row i / per_row of `sorted` (dense, `length` a row; a
 * single row if `shared`), whose elements come in the order of `sorter` (i64 as sorted, 0 = as they
 * are). Before equal elements, or behind them if `right`.
 */
struct op_search_args {
    uint64_t out, in, sorted, sorter;
    uint64_t count, per_block, length, per_row;
    uint8_t in_type, sorted_type, right, shared;
};

/**
 * Counts of dense in[], block b's of elements [b * per_block, ..) at out + b * pitch. Bins:
 * out[in[i]] += weights[i], or 1. Histogram: `bins` ranges between the two numbers at `range`
 * (f64); count_range puts there low and high, or, if these are alike, the smallest and the largest
 * element, by one block.
 */
struct op_count_args {
    uint64_t out, in, weights, range; /**< out: f64, or i64 without weights */
    uint64_t count, bins, per_block, pitch;
    double low, high;
    uint8_t in_type, weight_type, wide; /**< wide: edges in double, else in float */
};

/** out (i64[total]) = 0 repeats[0] times, then 1 repeats[1] times, and so on, by one block; one
 * number in repeats counts for all. The sum of repeats must be `total`. */
struct op_repeat_args {
    uint64_t out, repeats; /**< repeats: dense */
    uint64_t count, total;
    uint8_t type, single; /**< of repeats */
};
