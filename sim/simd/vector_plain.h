/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer and bit-moving loops in plain C. Each path file includes them and its compiler flags turn
 * them into the path's own instructions. Integers wrap around.
 */
#pragma once

/* No lane depends on another: the destination is one of the sources or apart from them. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void plain_add_s16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)(x[i] + y[i]);
    }
}

static inline void plain_sub_s16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)(x[i] - y[i]);
    }
}

static inline void plain_mul_s16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)((uint32_t)x[i] * y[i]);
    }
}

static inline void plain_max_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const int16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] > y[i] ? x[i] : y[i];
    }
}

static inline void plain_min_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const int16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] < y[i] ? x[i] : y[i];
    }
}

static inline void plain_add_s32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] + y[i];
    }
}

static inline void plain_sub_s32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] - y[i];
    }
}

static inline void plain_mul_s32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] * y[i];
    }
}

static inline void plain_max_s32(void *dst, const void *a, const void *b, size_t count)
{
    int32_t *d = dst;
    const int32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] > y[i] ? x[i] : y[i];
    }
}

static inline void plain_min_s32(void *dst, const void *a, const void *b, size_t count)
{
    int32_t *d = dst;
    const int32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] < y[i] ? x[i] : y[i];
    }
}

static inline void plain_relu_s32(void *dst, const void *src, size_t count)
{
    int32_t *d = dst;
    const int32_t *x = src;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] > 0 ? x[i] : 0;
    }
}

static inline void plain_addrelu_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        const int16_t sum = (int16_t)(x[i] + y[i]);
        d[i] = sum > 0 ? sum : 0;
    }
}

static inline void plain_subrelu_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        const int16_t difference = (int16_t)(x[i] - y[i]);
        d[i] = difference > 0 ? difference : 0;
    }
}

static inline void plain_and_16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] & y[i];
    }
}

static inline void plain_or_16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = x[i] | y[i];
    }
}

static inline void plain_not_16(void *dst, const void *src, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = src;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)~x[i];
    }
}

/* Shifts compute in a wider type, where the lane's whole width is a legal distance. */
static inline void plain_shl_16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)((uint32_t)x[i] << y[i]);
    }
}

static inline void plain_shl_32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint32_t)((uint64_t)x[i] << y[i]);
    }
}

static inline void plain_shr_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const int16_t *x = a;
    const uint16_t *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (int16_t)((int32_t)x[i] >> y[i]);
    }
}

static inline void plain_shr_u16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)((uint32_t)x[i] >> y[i]);
    }
}

static inline void plain_shr_s32(void *dst, const void *a, const void *b, size_t count)
{
    int32_t *d = dst;
    const int32_t *x = a;
    const uint32_t *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (int32_t)((int64_t)x[i] >> y[i]);
    }
}

static inline void plain_shr_u32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint32_t)((uint64_t)x[i] >> y[i]);
    }
}

/* One bit more to the left, so that the last bit that leaves can be added: (2x >> y) + 1 >> 1. */
static inline void plain_shr_round_s16(void *dst, const void *a, const void *b, size_t count)
{
    int16_t *d = dst;
    const int16_t *x = a;
    const uint16_t *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (int16_t)((((int32_t)x[i] * 2 >> y[i]) + 1) >> 1);
    }
}

static inline void plain_shr_round_u16(void *dst, const void *a, const void *b, size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint16_t)((((uint32_t)x[i] * 2 >> y[i]) + 1) >> 1);
    }
}

static inline void plain_shr_round_s32(void *dst, const void *a, const void *b, size_t count)
{
    int32_t *d = dst;
    const int32_t *x = a;
    const uint32_t *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (int32_t)((((int64_t)x[i] * 2 >> y[i]) + 1) >> 1);
    }
}

static inline void plain_shr_round_u32(void *dst, const void *a, const void *b, size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (uint32_t)((((uint64_t)x[i] * 2 >> y[i]) + 1) >> 1);
    }
}

static inline void plain_select16(void *dst, const uint8_t *bits, const void *a, const void *b,
                                  size_t count)
{
    uint16_t *d = dst;
    const uint16_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (bits[i / 8] >> (i % 8)) & 1 ? x[i] : y[i];
    }
}

static inline void plain_select32(void *dst, const uint8_t *bits, const void *a, const void *b,
                                  size_t count)
{
    uint32_t *d = dst;
    const uint32_t *x = a, *y = b;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        d[i] = (bits[i / 8] >> (i % 8)) & 1 ? x[i] : y[i];
    }
}

/* Whether no lane is infinite or NaN: none has all bits of `infinity`. */
static inline bool plain_finite16(const void *lanes, uint32_t infinity, size_t count)
{
    const uint16_t *x = lanes, exponent = (uint16_t)infinity;
    uint16_t special = 0;
    for (size_t i = 0; i < count; i++) {
        special |= (uint16_t)-((x[i] & exponent) == exponent);
    }
    return special == 0;
}

static inline bool plain_finite32(const void *lanes, uint32_t infinity, size_t count)
{
    const uint32_t *x = lanes;
    uint32_t special = 0;
    for (size_t i = 0; i < count; i++) {
        special |= (uint32_t)-((x[i] & infinity) == infinity);
    }
    return special == 0;
}

static inline void plain_split16(void *even, void *odd, const void *src, size_t count)
{
    uint16_t *e = even, *o = odd;
    const uint16_t *x = src;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        e[i] = x[2 * i];
        o[i] = x[2 * i + 1];
    }
}

static inline void plain_split32(void *even, void *odd, const void *src, size_t count)
{
    uint32_t *e = even, *o = odd;
    const uint32_t *x = src;
    INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        e[i] = x[2 * i];
        o[i] = x[2 * i + 1];
    }
}
