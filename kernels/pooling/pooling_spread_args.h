/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of the gradient of max pooling in NC1HWC0. */
#pragma once

#include "window_args.h"

/**
 * Planes [height][width][16 channels] of f16, `map.groups` of them an image: map.large is the sum
 * of map.small by map.index, as pooling_native_args.h describes it. A piece is up to `map.rows`
 * lines of large. UB holds the sums of a piece in f32, [column of a step][line][columns][16], then
 * the gradient of its windows in f32, two slots of what is loaded, two of results, bits of windows,
 * and what of the gradient was chosen, which is the last.
 */
struct op_pooling_spread_args {
    struct op_window_args map; /**< pitch: blocks of a line of results; lines: windows' rows */
    uint32_t index_groups;     /**< of an image */
    uint32_t columns;          /**< sums of a line with the same place in a step */
    uint32_t side_bytes;       /**< numbers of half the channels, in a slot */
    uint32_t gradient, in, out, bits[2], chosen, end; /**< where they are in UB */
};
