/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of mmad on their way to the blocked kernels: tiles of 16 x 16 words (cube_blocked.h). */
#pragma once

#include "cube_blocked.h"

/** A 16 x 16 tile of words covers 16 elements along k of the float formats, 32 of the integers. */
static inline uint32_t sim_cube_tile_k(bool is_integer)
{
    return is_integer ? 32 : 16;
}

/** All tiles of `rows` rows of fractals of A from `top` on, row_bytes apart; elements from k on
 * become 0. */
void sim_cube_pack_a(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                     uint32_t top, uint32_t rows, void *dst, size_t row_bytes);
/** Tile `tile` along k of the fractal column `column` of B, transposed; rows row_words apart. */
void sim_cube_pack_b(const struct sim_cube_kernel *kernel, const struct sim_mmad *mmad,
                     uint32_t tile, uint32_t column, uint32_t *dst, size_t row_words);
