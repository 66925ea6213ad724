/* SPDX-License-Identifier: Apache-2.0 */
/* How much of rows fits into UB (row_tile.h). */
#pragma once

enum {
    OP_ROW_TILE_LEAST = 7168, /**< elements of a tile at least */
    OP_ROW_TILE_ROWS = 64,    /**< rows of a tile */
};
