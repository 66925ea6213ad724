/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operators with functions whose vector form holds within limits. */
#include "tile_fallback_device.inc"

#include "tile_device.inc"

#include "tile_run_device.inc"
