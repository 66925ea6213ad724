/* SPDX-License-Identifier: Apache-2.0 */
/* Included by copy.h. The split generation copies rows of any length. */
#pragma once

OP_INLINE void load_rows(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t bytes, uint32_t gm_gap,
                         uint32_t ub_gap)
{
    __ubuf__ void *to = (__ubuf__ void *)(uintptr_t)ub;
    if (bytes % 2) {
        copy_gm_to_ubuf_align_b8(to, (__gm__ void *)gm, 0, (uint16_t)rows, bytes, 0, 0, gm_gap,
                                 ub_gap);
    } else {
        copy_gm_to_ubuf_align_b16(to, (__gm__ void *)gm, 0, (uint16_t)rows, bytes, 0, 0, gm_gap,
                                  ub_gap);
    }
}

OP_INLINE void op_load_rows(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t bytes,
                            uint64_t gm_pitch, uint32_t ub_pitch)
{
    const uint32_t ub_gap = ub_pitch / 32 - op_units(bytes);
    if (rows == 1 || gm_pitch >= bytes) {
        load_rows(ub, gm, rows, bytes, (uint32_t)(rows > 1 ? gm_pitch - bytes : 0), ub_gap);
        return;
    }
    for (uint32_t i = 0; i < rows; i++) { // rows that share elements: a gap cannot be negative
        load_rows(ub + i * ub_pitch, gm + i * gm_pitch, 1, bytes, 0, ub_gap);
    }
}

OP_INLINE void op_store_rows(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t bytes,
                             uint64_t gm_pitch, uint32_t ub_pitch)
{
    const uint32_t gm_gap = (uint32_t)(rows > 1 ? gm_pitch - bytes : 0);
    const uint32_t ub_gap = ub_pitch / 32 - op_units(bytes);
    __ubuf__ void *from = (__ubuf__ void *)(uintptr_t)ub;
    if (bytes % 2) {
        copy_ubuf_to_gm_align_b8((__gm__ void *)gm, from, 0, (uint16_t)rows, bytes, 0, 0, ub_gap,
                                 gm_gap);
    } else {
        copy_ubuf_to_gm_align_b16((__gm__ void *)gm, from, 0, (uint16_t)rows, bytes, 0, 0, ub_gap,
                                  gm_gap);
    }
}
