/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: sums in global memory that many tasks add to. Of int32_t and float. */
#pragma once

LEO_BANG int32_t leo_atomic_add(int32_t *to, int32_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST);
}

LEO_BANG uint32_t leo_atomic_add(uint32_t *to, uint32_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST);
}

LEO_BANG float leo_atomic_add(float *to, float value)
{
    uint32_t old = 0, sum; // a guess: the exchange tells what is there
    float was;
    do {
        __builtin_memcpy(&was, &old, sizeof(was));
        const float next = was + value;
        __builtin_memcpy(&sum, &next, sizeof(sum));
    } while (!__atomic_compare_exchange_n((uint32_t *)to, &old, sum, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return was;
}

/** dst[i] of global memory += src[i] of NRAM. */
template <typename T>
LEO_BANG_SMALL void __bang_atomic_reduce_add(T *dst, const T *src, int64_t count)
{
    __sync();
    for (int64_t i = 0; i < count; i++) {
        leo_atomic_add(dst + i, src[i]);
    }
}

/** The same; old[i] of NRAM is what was there before. */
template <typename T>
LEO_BANG_SMALL void __bang_atomic_add(T *old, T *dst, const T *src, int64_t count)
{
    __sync();
    for (int64_t i = 0; i < count; i++) {
        old[i] = leo_atomic_add(dst + i, src[i]);
    }
}

template <typename T, typename V, typename = std::enable_if_t<std::is_arithmetic<V>::value>>
LEO_BANG_SMALL void __bang_atomic_add(T *old, T *dst, V value, int64_t count)
{
    __sync();
    for (int64_t i = 0; i < count; i++) {
        old[i] = leo_atomic_add(dst + i, (T)value);
    }
}
