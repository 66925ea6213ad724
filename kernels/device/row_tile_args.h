/* SPDX-License-Identifier: Apache-2.0 */
/* How much of rows fits into UB (row_tile.h). */
#pragma once

enum {
    OP_ROW_TILE_MOST = 8192,  /**< elements of a tile with one input, */
    OP_ROW_TILE_LEAST = 7168, /**< and with two, or what takes as much */
    OP_ROW_TILE_ROWS = 64,    /**< rows of a tile */
};
