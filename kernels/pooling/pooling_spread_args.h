/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of the gradient of max pooling in NC1HWC0. */
#pragma once

#include "window_args.h"

/**
 * Planes [height][width][16 channels] of f16, `map.groups` of them an image: map.large is the sum
 * of map.small by map.index, as pooling_native_args.h describes it. Lines and columns count from
 * the padding on, and by their place in a step of the windows: a piece is the lines [first, first +
 * map.rows) of every place.
 *
 * UB holds the sums of a piece in f32, [place of the line][place of the column][map.rows][columns]
 * [16], then the gradient of its windows in f32, two slots of what is loaded, two of results, bits
 * of windows, and what of the gradient was chosen, which is the last. Rows of windows are as long
 * as rows of sums, so that one instruction adds an element of all windows.
 */
struct op_pooling_spread_args {
    struct op_window_args map; /**< pitch: blocks of a line of results */
    uint32_t index_groups;     /**< of an image */
    uint32_t columns;          /**< of a row of sums or windows in UB */
    uint32_t reach;            /**< rows of windows before a line's own that reach it */
    uint32_t place_bytes;      /**< sums of a place */
    uint32_t side_bytes;       /**< numbers of half the channels, in a slot */
    uint32_t gradient, in, out, bits[2], chosen, end; /**< where they are in UB */
};
