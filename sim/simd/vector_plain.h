/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit-moving loops in plain C, and those of integers (generated from integer_lanes.txt). Each path
 * file includes them and its compiler flags turn them into the path's own instructions.
 */
#pragma once

/* No lane depends on another: the destination is one of the sources or apart from them. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#include <sim_integer_loops.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
