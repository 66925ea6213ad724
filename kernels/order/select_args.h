/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of results whose size depends on data. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum { OP_SELECT_PART = 1024 /**< elements that are counted together */ };

/** Where mask is not 0. counts: u64 of each part; select_count makes block b count per_block of
 * them. count (i64) receives how many. Positions: out i64, [count, rank], or [rank,
 * count] if `columns`. Values: out = those elements of in, in order. */
struct op_select_args {
    uint64_t out, count, mask, in, counts;
    uint64_t elements, per_block;
    int64_t dim[OP_RANK_MAX], mask_stride[OP_RANK_MAX], in_stride[OP_RANK_MAX];
    uint8_t out_type, mask_type, in_type, rank, columns;
    uint8_t bytes, dense; /**< mask: dense, of bytes; in: dense */
};
