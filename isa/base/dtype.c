/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/dtype.h>

uint32_t leo_dtype_bits(enum leo_dtype type)
{
    static const uint8_t bits[LEO_DTYPE_COUNT] = {
        [LEO_DTYPE_F16] = 16, [LEO_DTYPE_F32] = 32, [LEO_DTYPE_BF16] = 16, [LEO_DTYPE_S8] = 8,
        [LEO_DTYPE_U8] = 8,   [LEO_DTYPE_S16] = 16, [LEO_DTYPE_U16] = 16,  [LEO_DTYPE_S32] = 32,
        [LEO_DTYPE_U32] = 32, [LEO_DTYPE_S64] = 64, [LEO_DTYPE_U64] = 64,  [LEO_DTYPE_S4] = 4,
        [LEO_DTYPE_B8] = 8,   [LEO_DTYPE_B16] = 16, [LEO_DTYPE_B32] = 32,
    };
    return (unsigned)type < LEO_DTYPE_COUNT ? bits[type] : 0;
}

uint32_t leo_dtype_bytes(enum leo_dtype type)
{
    return leo_dtype_bits(type) / 8;
}
