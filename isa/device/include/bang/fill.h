/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: fills. */
#pragma once

struct leo_op_fill {
    template <typename T> LEO_BANG_METHOD static void insn(T *dst, T *, T *, T value)
    {
        vector_dup(dst, value, 1, 1, 1, 8, 8);
    }
};

/** `count` elements of NRAM become `value`. */
template <typename T, typename V> LEO_BANG void __bang_write_value(T *dst, int64_t count, V value)
{
    if constexpr (leo_is_any<T, half, float, int32_t, int16_t>) {
        leo_vector<leo_op_fill>(dst, (const T *)nullptr, (const T *)nullptr, (T)value, count);
    } else {
        __sync();
        for (int64_t i = 0; i < count; i++) {
            dst[i] = (T)value;
        }
    }
}

template <typename T> LEO_BANG void __bang_write_zero(T *dst, int64_t count)
{
    __bang_write_value(dst, count, (T)0);
}

template <typename T, typename V> LEO_BANG void __nramset(T *dst, int64_t count, V value)
{
    __bang_write_value(dst, count, value);
}

LEO_BANG void __nramset_half(half *dst, int64_t count, half value)
{
    __bang_write_value(dst, count, value);
}

template <typename T, typename V> LEO_BANG void __memset_nram(T *dst, int64_t count, V value)
{
    __bang_write_value(dst, count, value);
}

/** Done after a __sync: here at once. */
template <typename T, typename V> LEO_BANG void __nramset_async(T *dst, int64_t count, V value)
{
    __bang_write_value(dst, count, value);
}

/** `count` elements of global memory. */
template <typename T, typename V> LEO_BANG_SMALL void __gdramset(T *dst, int64_t count, V value)
{
    constexpr int64_t most = LEO_STAGE_BYTES / sizeof(T);
    __sync();
    __bang_write_value((T *)leo_stage[0], count < most ? count : most, value);
    for (int64_t at = 0; at < count; at += most) {
        const int64_t part = count - at < most ? count - at : most;
        __memcpy(dst + at, leo_stage[0], (uint64_t)part * sizeof(T), NRAM2GDRAM);
    }
}
