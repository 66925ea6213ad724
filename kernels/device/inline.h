/* SPDX-License-Identifier: Apache-2.0 */
/* Small arithmetic every device program uses. */
#pragma once

#include <leo/device.h>
#include <stdbool.h>
#include <stdint.h>

/* Unit configurations become constants only after inlining. */
#define OP_INLINE static inline __attribute__((always_inline))

OP_INLINE uint32_t op_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

OP_INLINE uint64_t op_min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/** Fractals of 16 that hold n. */
OP_INLINE uint32_t op_blocks(uint32_t n)
{
    return (n + 15) / 16;
}

OP_INLINE uint32_t op_up16(uint32_t n)
{
    return op_blocks(n) * 16;
}

/** 32-byte blocks that hold n bytes. */
OP_INLINE uint32_t op_units(uint32_t bytes)
{
    return (bytes + 31) / 32;
}

OP_INLINE __ubuf__ float *op_ub_f32(uint32_t offset)
{
    return (__ubuf__ float *)(uintptr_t)offset;
}

OP_INLINE __ubuf__ half *op_ub_f16(uint32_t offset)
{
    return (__ubuf__ half *)(uintptr_t)offset;
}

OP_INLINE __ubuf__ int32_t *op_ub_s32(uint32_t offset)
{
    return (__ubuf__ int32_t *)(uintptr_t)offset;
}

/** Word of a mad, whose type comes from its operands: a single row lies in L0A like any other
 * number of rows (gemv_off). */
OP_INLINE uint64_t op_mad(uint32_t m, uint32_t k, uint32_t n, bool bias, bool init)
{
    return leo_pack_mad(m, k, n, 0, 0, bias, init, 1, 0);
}
