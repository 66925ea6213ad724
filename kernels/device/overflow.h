/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflows of operators where the launch saturates (CSR ctrl; decision 22). Arithmetic is in f32
 * with infinities, so that exp(100) or a mask of -inf in the middle of an operator is no overflow;
 * what a result stored as f16 or bf16 cannot hold stops at the largest number and raises the
 * status.
 */
#pragma once

#include "inline.h"
#include "types.h"

/* From here on arithmetic has infinities. Whether results are to saturate. */
OP_INLINE bool op_infinite_begin(void)
{
    const bool saturate = leo_get_saturate();
    if (saturate) {
        leo_set_saturate(false);
    }
    return saturate;
}

OP_INLINE bool op_is_half(uint32_t type)
{
    return type == OP_TYPE_F16 || type == OP_TYPE_BF16;
}

/* A result that is infinite or NaN. */
OP_INLINE float op_saturate_float(float value)
{
    if (!leo_get_saturate()) {
        return value;
    }
    leo_raise_overflow();
    return value != value ? 0 : __builtin_copysignf(0x1.fffffep127f, value);
}

/* A float that is finite and too large for f16 or bf16 stops at the largest number. */
OP_INLINE float op_fit_half(uint32_t type, float value)
{
    const float most = type == OP_TYPE_F16 ? 0x1.ffcp15f : 0x1.fep127f,
                beyond = type == OP_TYPE_F16 ? 0x1.ffep15f : 0x1.ffp127f; // rounds to infinity
    const float size = __builtin_fabsf(value);
    if (!(size >= beyond) || size == __builtin_inff() || !leo_get_saturate()) {
        return value;
    }
    leo_raise_overflow();
    return __builtin_copysignf(most, value);
}
