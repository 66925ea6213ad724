/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators whose vector form always holds. */
#include "tile_no_rescue.inc"

#include "tile.inc"

#include "tile_run.inc"
