/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of sorting in the vector unit (sort_lanes_device_2201.c). */
#pragma once

#include "../device/types.h"

#include <stdint.h>

enum {
    OP_LANES_GROUP = 32,  /**< records that one instruction sorts */
    OP_LANES_PART = 8192, /**< records that are sorted in UB */
    OP_LANES_LIST = 4095, /**< records of a list that is merged */
    OP_LANES_TILE = 1024, /**< longest rows that share a tile */
    OP_LANES_ROWS = 255,  /**< most rows of a tile */
};

/**
 * `rows` dense rows of `length` elements of `in`; values and index (i64) receive the first `keep`
 * of each in order, dense rows too. A record is a score and its position, 8 bytes; rows of records
 * lie `pitch` apart in items and in merged.
 * - lanes_rows: `batch` rows a tile, each of room_of records, a power of two if batch > 1.
 * - lanes_parts: parts of OP_LANES_PART elements; the first `run` records of each go to items.
 * - lanes_join: rows have `runs` runs of `run` records, the last one `last`; `batch` of them become
 *   one, of which again `run` records go to merged, or, if it is the only one, the results.
 * - lanes_merge: runs of `width` records of items become runs of twice as many in merged.
 * - lanes_give: results from rows of items that are in order.
 * Block b works on things [b * per_block, ...).
 */
struct op_lanes_args {
    uint64_t in, items, merged, values, index;
    uint64_t rows, length, keep, pitch, width, per_block;
    uint32_t room, batch, run, runs, last;
    uint8_t type, descending;
};
