/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of programs that go along one dimension in order: sorting and running totals. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum op_scan_mode { OP_SCAN_SUM, OP_SCAN_PROD, OP_SCAN_MAX, OP_SCAN_MIN };

/**
 * `rows` rows of `length` elements of in, of shape dim (without the rows' own dimension). Outputs
 * are dense [rows, length]. Sort: index (i64) receives the order; scratch has 24 bytes an element.
 * Scan: out the totals, index (i64, 0 = none) where the extremum was. Block b works on rows [b *
 * per_block, ..).
 */
struct op_sort_args {
    uint64_t index, out, in, scratch;
    uint64_t rows, length, per_block;
    int64_t dim[OP_RANK_MAX], stride[OP_RANK_MAX], step; /**< of in, bytes */
    uint8_t in_type, out_type, rank, descending, mode;
};

enum { OP_SORT_PART = 7168 /**< items that are sorted in UB */ };

/**
 * Sorting by bytes of keys: `rows` dense rows of `length` elements of `unit` bytes, of which the
 * first `keep` in order go to values and index (i64), rows keep_pitch elements apart. Rows longer
 * than a part: items and merged have rows pitch items apart. Pitches keep cores out of each other's
 * lines of 64 bytes.
 */
struct op_radix_args {
    uint64_t in, items, merged, values, index;
    uint64_t rows, length, pitch, keep, keep_pitch, width, per_block;
    uint32_t unit;
    uint8_t type, descending;
};
