/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of programs that go along one dimension in order: sorting and running totals. */
#pragma once

#include "types.h"

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
