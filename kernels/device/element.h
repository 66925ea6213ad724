/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of any type in global memory, one at a time on the scalar unit: op_get_<class>(addr,
 * type) and op_put_<class>(addr, type, value). Classes: f computes in float, d in double, i in
 * int64_t.
 *
 * Conversions: float to an integer truncates toward zero and saturates at the 64-bit limits, then
 * at those of i32 and u32; 8- and 16-bit types keep the low bits; NaN gives 0. Anything to bool is
 * x != 0. To a narrower float: nearest even; in the saturating mode what is finite stays so.
 *
 * Cores must not write one 64-byte line both: the scalar unit writes through a cache of such lines.
 */
#pragma once

#include "inline.h"
#include "overflow.h"
#include "types.h"

enum { OP_LINE = 64 };

OP_INLINE uint32_t op_bytes_of(uint32_t type)
{
    // Two bits a type: log2 of its bytes; C128 alone has 16.
    const uint32_t log2 =
        (uint32_t)((UINT64_C(2) << 2 * OP_TYPE_F32 | UINT64_C(1) << 2 * OP_TYPE_F16 |
                    UINT64_C(1) << 2 * OP_TYPE_BF16 | UINT64_C(3) << 2 * OP_TYPE_F64 |
                    UINT64_C(1) << 2 * OP_TYPE_I16 | UINT64_C(1) << 2 * OP_TYPE_U16 |
                    UINT64_C(2) << 2 * OP_TYPE_I32 | UINT64_C(2) << 2 * OP_TYPE_U32 |
                    UINT64_C(3) << 2 * OP_TYPE_I64 | UINT64_C(3) << 2 * OP_TYPE_U64 |
                    UINT64_C(3) << 2 * OP_TYPE_C64) >>
                   (2 * type)) &
        3;
    return type == OP_TYPE_C128 ? 16 : 1u << log2;
}

OP_INLINE int64_t op_int_of_float(float x)
{
    if (x != x) {
        return 0;
    }
    return x >= 0x1p63f ? INT64_MAX : x < -0x1p63f ? INT64_MIN : (int64_t)x;
}

OP_INLINE int64_t op_int_of_double(double x)
{
    if (x != x) {
        return 0;
    }
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

OP_INLINE int64_t op_get_i(uint64_t addr, uint32_t type)
{
    switch (type) {
    case OP_TYPE_I8:
        return *(const __gm__ volatile int8_t *)addr;
    case OP_TYPE_U8:
    case OP_TYPE_BOOL:
        return *(const __gm__ volatile uint8_t *)addr;
    case OP_TYPE_I16:
        return *(const __gm__ volatile int16_t *)addr;
    case OP_TYPE_U16:
        return *(const __gm__ volatile uint16_t *)addr;
    case OP_TYPE_I32:
        return *(const __gm__ volatile int32_t *)addr;
    case OP_TYPE_U32:
        return *(const __gm__ volatile uint32_t *)addr;
    case OP_TYPE_F32:
        return op_int_of_float(*(const __gm__ volatile float *)addr);
    case OP_TYPE_F16:
        return op_int_of_float((float)*(const __gm__ volatile half *)addr);
    case OP_TYPE_BF16:
        return op_int_of_float((float)*(const __gm__ volatile bfloat16_t *)addr);
    case OP_TYPE_F64:
        return op_int_of_double(*(const __gm__ volatile double *)addr);
    default:
        return *(const __gm__ volatile int64_t *)addr;
    }
}

OP_INLINE float op_get_f(uint64_t addr, uint32_t type)
{
    switch (type) {
    case OP_TYPE_F32:
        return *(const __gm__ volatile float *)addr;
    case OP_TYPE_F16:
        return (float)*(const __gm__ volatile half *)addr;
    case OP_TYPE_BF16:
        return (float)*(const __gm__ volatile bfloat16_t *)addr;
    case OP_TYPE_F64:
        return (float)*(const __gm__ volatile double *)addr;
    case OP_TYPE_U64:
        return (float)*(const __gm__ volatile uint64_t *)addr;
    default:
        return (float)op_get_i(addr, type);
    }
}

OP_INLINE double op_get_d(uint64_t addr, uint32_t type)
{
    switch (type) {
    case OP_TYPE_F64:
        return *(const __gm__ volatile double *)addr;
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
        return (double)op_get_f(addr, type);
    case OP_TYPE_U64:
        return (double)*(const __gm__ volatile uint64_t *)addr;
    default:
        return (double)op_get_i(addr, type);
    }
}

/* Integers: the low bits. */
OP_INLINE void op_put_low(uint64_t addr, uint32_t type, int64_t value)
{
    switch (op_bytes_of(type)) {
    case 1:
        *(__gm__ volatile int8_t *)addr = (int8_t)value;
        return;
    case 2:
        *(__gm__ volatile int16_t *)addr = (int16_t)value;
        return;
    case 4:
        *(__gm__ volatile int32_t *)addr = (int32_t)value;
        return;
    default:
        *(__gm__ volatile int64_t *)addr = value;
        return;
    }
}

OP_INLINE int64_t op_saturate(uint32_t type, int64_t value)
{
    if (type == OP_TYPE_I32) {
        return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
    }
    if (type == OP_TYPE_U32) {
        return value > UINT32_MAX ? UINT32_MAX : value < 0 ? 0 : value;
    }
    return value;
}

OP_INLINE void op_put_f(uint64_t addr, uint32_t type, float value)
{
    switch (type) {
    case OP_TYPE_F32:
        *(__gm__ volatile float *)addr = value;
        return;
    case OP_TYPE_F16:
        *(__gm__ volatile half *)addr = (half)op_fit_half(type, value);
        return;
    case OP_TYPE_BF16:
        *(__gm__ volatile bfloat16_t *)addr = (bfloat16_t)op_fit_half(type, value);
        return;
    case OP_TYPE_F64:
        *(__gm__ volatile double *)addr = (double)value;
        return;
    case OP_TYPE_BOOL:
        *(__gm__ volatile uint8_t *)addr = value != 0;
        return;
    default:
        op_put_low(addr, type, op_saturate(type, op_int_of_float(value)));
        return;
    }
}

OP_INLINE void op_put_d(uint64_t addr, uint32_t type, double value)
{
    switch (type) {
    case OP_TYPE_F64:
        *(__gm__ volatile double *)addr = value;
        return;
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
        op_put_f(addr, type, (float)value);
        return;
    case OP_TYPE_BOOL:
        *(__gm__ volatile uint8_t *)addr = value != 0;
        return;
    default:
        op_put_low(addr, type, op_saturate(type, op_int_of_double(value)));
        return;
    }
}

OP_INLINE void op_put_i(uint64_t addr, uint32_t type, int64_t value)
{
    switch (type) {
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
        op_put_f(addr, type, (float)value);
        return;
    case OP_TYPE_F64:
        *(__gm__ volatile double *)addr = (double)value;
        return;
    case OP_TYPE_BOOL:
        *(__gm__ volatile uint8_t *)addr = value != 0;
        return;
    default:
        op_put_low(addr, type, value);
        return;
    }
}

/* A block's share of a dense output: elements [begin, end), both moved on to the first element that
 * begins in a new line. */
struct op_span {
    uint64_t begin, end;
};

OP_INLINE uint64_t op_next_line(uint64_t out, uint32_t unit, uint64_t count, uint64_t index)
{
    if (index == 0 || index >= count) {
        return op_min64(index, count);
    }
    const uint64_t before = out + (index - 1) * unit;
    const uint64_t boundary = (before / OP_LINE + 1) * OP_LINE;
    return op_min64((boundary - out + unit - 1) / unit, count);
}

OP_INLINE struct op_span op_block_span(uint64_t out, uint32_t type, uint64_t count,
                                       uint64_t per_block)
{
    const uint32_t unit = op_bytes_of(type);
    const uint64_t begin = (uint64_t)get_block_idx() * per_block;
    return (struct op_span){op_next_line(out, unit, count, begin),
                            op_next_line(out, unit, count, begin + per_block)};
}

/* At the end of a block that stored by the scalar unit: what it wrote leaves its cache. */
OP_INLINE void op_flush(void)
{
    dcci((__gm__ void *)0, ENTIRE_DATA_CACHE);
}
