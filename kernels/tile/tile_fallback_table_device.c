/* SPDX-License-Identifier: Apache-2.0 */
/* The same over lists of tensors. */
#include "tile_fallback_device.inc"

#include "tile_device.inc"

#include "tile_run_table_device.inc"
