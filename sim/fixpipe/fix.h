/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration words of the fixpipe, unpacked once for footprint and meaning. */
#pragma once

#include "core/core.h"
#include "mte/mte.h"
#include "simd/simd.h"
#include "simd/simd_cube.h"

#define FIX_L0C_ALIGN  64u
#define FIX_ROW_FLOATS 16u /* of a row of a fractal of L0C */

struct fix {
    uint32_t rows, columns;
    uint64_t src_column;          /**< floats between columns of fractals */
    uint64_t dst_column, dst_row; /**< bytes between pieces of `width` columns, and between rows */
    uint32_t width;   /**< columns a destination piece holds: 16, or 8 with channel split */
    uint32_t element; /**< bytes */
    enum sim_cube_out out;
    bool relu, row_major;
    struct mte_atomic atomic;
};

/** copy_matrix_cc_to_gm: false = fault set. */
bool fix_unpack(struct sim_core *core, const struct sim_op *op, struct fix *fix);

/** copy_matrix_cc_to_ubuf: the conversion its mode asks for. */
static inline bool fix_cr_halves(enum leo_cr mode)
{
    return mode == LEO_CR_F32_F16 || mode == LEO_CR_F32_F16_RELU;
}
