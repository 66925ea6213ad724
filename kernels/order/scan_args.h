/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of running sums and products in lanes. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/**
 * in and out are dense f32 [outer, length, inner], inner a multiple of 8: out the running totals
 * along length. A unit is `columns` (a multiple of 8) of inner of one of outer; block b has units
 * [b
 * * per_block, ..).
 */
struct op_scan_args {
    uint64_t in, out;
    uint64_t outer, length, inner, per_block;
    uint32_t columns, product;
};

enum { OP_SCAN_COLUMNS = 2048 }; /**< at most */
