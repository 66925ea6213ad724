/* SPDX-License-Identifier: Apache-2.0 */
/* Between elements of 16 bits and f32, dense in UB. `type`: OP_TYPE_F16 or OP_TYPE_BF16, which the
 * coupled core does not have. */
#pragma once

#include "inline.h"
#include "types.h"

OP_INLINE void op_widen(uint32_t wide, uint32_t raw, uint32_t type, uint8_t repeats)
{
#if __NPU_ARCH__ == 2201
    if (type == OP_TYPE_BF16) {
        vconv_bf162f32(op_ub_f32(wide), (__ubuf__ bfloat16_t *)(uintptr_t)raw, repeats, 1, 1, 8, 4);
        return;
    }
#endif
    (void)type;
    vconv_f162f32(op_ub_f32(wide), op_ub_f16(raw), repeats, 1, 1, 8, 4);
}

OP_INLINE void op_narrow(uint32_t raw, uint32_t wide, uint32_t type, uint8_t repeats)
{
#if __NPU_ARCH__ == 2201
    if (type == OP_TYPE_BF16) {
        vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)raw, op_ub_f32(wide), repeats, 1, 1, 4,
                        8);
        return;
    }
#endif
    (void)type;
    vconv_f322f16(op_ub_f16(raw), op_ub_f32(wide), repeats, 1, 1, 4, 8);
}
