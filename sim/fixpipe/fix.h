/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration words of the output path, unpacked once for footprint and meaning. */
#pragma once

#include "core/core.h"
#include "mte/mte.h"
#include "simd/simd.h"
#include "simd/simd_cube.h"

#define FIX_L0C_ALIGN     64u
#define FIX_ROW_FLOATS    16u /* of a row of a fractal of L0C */
#define FIX_FRACTAL_BYTES UINT64_C(1024)
#define FIX_RELU          1u /* values of the field relu: f32 not above 0 becomes +0 */
#define FIX_RELU_LEAKY    2u
#define FIX_RELU_INTEGER  3u

struct fix {
    uint32_t rows, columns, matrices;
    uint64_t src_column, src_matrix; /**< floats between columns of fractals, and matrices */
    uint64_t dst_column, dst_row;    /**< bytes between pieces of `width` columns, between rows */
    uint64_t dst_matrix;
    uint32_t width; /**< columns a destination piece holds: those of 32 bytes, or 8 with split */
    uint32_t bits;  /**< of a result */
    enum leo_quant quant;
    unsigned relu;
    bool row_major, to_gm;
    struct mte_atomic atomic;
};

/** copy_matrix_cc_to_gm, _cbuf, _cbuf_b4: false = fault set. */
bool fix_unpack(struct sim_core *core, const struct sim_op *op, struct fix *fix);
/** Bits of a result. */
uint32_t fix_result_bits(enum leo_quant quant);
/** Whether the conversion takes a scale word for each column from FB. */
bool fix_is_per_column(enum leo_quant quant);
/** Bytes of `columns` results. */
static inline uint64_t fix_bytes(const struct fix *fix, uint64_t columns)
{
    return (columns * fix->bits + 7) / 8;
}

/** Results of one row of 16 accumulators: what the fast conversions do not know. `scale` are the
 * words of the columns, one for all if `each` is false. */
void fix_convert_row(const struct fix *fix, float alpha, const uint32_t *src, uint32_t columns,
                     const uint8_t *scale, bool each, uint8_t *dst);

/** copy_*_cc_to_ubuf, copy_*_ubuf_to_cc: sizes of elements on both sides. */
struct fix_cr {
    enum leo_cr mode;
    uint32_t l0c_bytes, ub_bytes; /**< of an element */
    bool vector;                  /**< the first row of each fractal only */
};

/** False: fault set. */
bool fix_cr_unpack(struct sim_core *core, const struct sim_op *op, struct fix_cr *cr);
