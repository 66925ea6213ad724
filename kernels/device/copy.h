/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of bytes between GM and UB; nothing outside the rows is written.
 * - op_load_rows(ub, gm, rows, bytes, gm_pitch, ub_pitch): on MTE2; may read up to 31 bytes beyond
 *   a row
 * - op_store_rows(gm, ub, rows, bytes, gm_pitch, ub_pitch): on MTE3, and on the coupled core on S
 *   for row tails: the caller has ordered V before MTE3, the S part orders itself
 *
 * ub_pitch is a multiple of 32 and at least bytes.
 */
#pragma once

#include "inline.h"

#if __NPU_ARCH__ == 1001
#include "copy_1001.h"
#else
#include "copy_2201.h"
#endif

OP_INLINE void op_load(uint32_t ub, uint64_t gm, uint32_t bytes)
{
    op_load_rows(ub, gm, 1, bytes, op_units(bytes) * 32, op_units(bytes) * 32);
}

OP_INLINE void op_store(uint64_t gm, uint32_t ub, uint32_t bytes)
{
    op_store_rows(gm, ub, 1, bytes, op_units(bytes) * 32, op_units(bytes) * 32);
}
