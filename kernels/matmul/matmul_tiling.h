/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of tile sizes. */
#pragma once

#include "../chip/chip.h"
#include "../frame/family.h"
#include "matmul_args.h"

/** Fills tile_m, tile_n, k_chunk, k_step and l1_half for args' m, n, k, batch and elements of
 * `unit` bytes. Returns the number of tiles. */
uint32_t op_matmul_tiling(const struct op_plan *plan, uint32_t unit, struct op_matmul_args *args);
