/* SPDX-License-Identifier: Apache-2.0 */
/* Included by copy.h. The split generation copies rows of any length. */
#pragma once

OP_INLINE void op_load_rows(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t bytes,
                            uint64_t gm_pitch, uint32_t ub_pitch)
{
    copy_gm_to_ubuf_align_b16((__ubuf__ void *)(uintptr_t)ub, (__gm__ void *)gm, 0, (uint16_t)rows,
                              bytes, 0, 0, (uint32_t)(rows > 1 ? gm_pitch - bytes : 0),
                              ub_pitch / 32 - op_units(bytes));
}

OP_INLINE void op_store_rows(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t bytes,
                             uint64_t gm_pitch, uint32_t ub_pitch)
{
    copy_ubuf_to_gm_align_b16((__gm__ void *)gm, (__ubuf__ void *)(uintptr_t)ub, 0, (uint16_t)rows,
                              bytes, 0, 0, ub_pitch / 32 - op_units(bytes),
                              (uint32_t)(rows > 1 ? gm_pitch - bytes : 0));
}
