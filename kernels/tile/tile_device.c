/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators whose vector form always holds. */
#include "tile_no_fallback_device.inc"

#include "tile_device.inc"

#include "tile_run_device.inc"
