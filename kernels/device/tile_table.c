/* SPDX-License-Identifier: Apache-2.0 */
/* The same over lists of tensors. */
#include "tile_no_rescue.inc"

#include "tile.inc"

#include "tile_run_table.inc"
