/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators with functions whose vector form holds within limits. */
#include "tile_rescue.inc"

#include "tile.inc"

#include "tile_run.inc"
