/* SPDX-License-Identifier: Apache-2.0 */
/* What lies between the rows of a tile in UB. */
#pragma once

#include "copy.h"

/*
 * Zeros to the gaps at the ends of rows of f32, `pitch` elements apart: rows of whole blocks, or of
 * whole blocks of f16. Gaps are computed with the rest and come from gaps of the inputs, which hold
 * anything: an infinity there, or what no f16 can hold when all is converted, would count as an
 * overflow. Leaves the mask in counts.
 */
OP_INLINE void op_clear_gaps(uint32_t base, uint32_t rows, uint32_t count, uint32_t pitch)
{
    const uint32_t gap = pitch - count;
    if (gap == 0) {
        return;
    }
    pipe_barrier(PIPE_V);
    set_mask_norm();
    const uint32_t end = gap < 8 ? 8 : 16; // elements of the row's end that hold the gap
    set_vector_mask(0, (UINT64_C(1) << end) - (UINT64_C(1) << (end - gap)));
    uint32_t last = base + (pitch - end) * 4;
    if (pitch / 8 <= UINT8_MAX) {
        vector_dup(op_ub_f32(last), 0.0f, (uint8_t)rows, 1, 1, (uint8_t)(pitch / 8), 8);
        rows = 0;
    }
    for (; rows > 0; rows--, last += pitch * 4) {
        vector_dup(op_ub_f32(last), 0.0f, 1, 1, 1, 8, 8);
    }
    set_mask_count();
}
