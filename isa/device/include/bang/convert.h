/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: conversions without an instruction, and operations on bits. */
#pragma once

enum class leo_bang_round : uint8_t { RN, RD, TZ, OZ, DN, UP };

template <leo_bang_round mode> LEO_BANG double leo_rounded(double x)
{
    switch (mode) {
    case leo_bang_round::RN:
        return rint(x);
    case leo_bang_round::RD:
        return round(x);
    case leo_bang_round::TZ:
        return trunc(x);
    case leo_bang_round::OZ:
        return x < 0 ? floor(x) : ceil(x);
    case leo_bang_round::DN:
        return floor(x);
    case leo_bang_round::UP:
        return ceil(x);
    }
}

/** The nearest that the type holds; NaN becomes 0. */
template <typename D> LEO_BANG D leo_limited(double x)
{
    const double low = (double)std::numeric_limits<D>::min(),
                 high = (double)std::numeric_limits<D>::max();
    return x != x      ? (D)0
           : x <= low  ? std::numeric_limits<D>::min()
           : x >= high ? std::numeric_limits<D>::max()
                       : (D)x;
}

template <leo_bang_round mode, typename D, typename S>
LEO_BANG D leo_converted(S value, double scale)
{
    const double x = (double)value * scale;
    if constexpr (std::is_integral_v<D>) {
        return leo_limited<D>(leo_rounded<mode>(x));
    } else if constexpr (std::is_same_v<D, bfloat16_t>) {
        return (D)(float)x; // from float: the first step is exact
    } else {
        static_assert(mode == leo_bang_round::RN, "floats without an instruction: to nearest even");
        return (D)x;
    }
}

/** A fixed-point number is worth itself times 2 to the power of `point`. */
template <leo_bang_round mode, typename D, typename S>
LEO_BANG_SMALL void leo_convert_scalar(D *dst, const S *src, int64_t count, int point)
{
    const double scale = ldexp(1.0, std::is_integral_v<D> ? -point : point);
    __sync();
    if (sizeof(D) > sizeof(S)) { // in place: the last one first
        for (int64_t i = count; i-- > 0;) {
            dst[i] = leo_converted<mode, D>(src[i], scale);
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        dst[i] = leo_converted<mode, D>(src[i], scale);
    }
}

/** On bits, whatever the elements are: words as long as the places allow. */
template <typename Op, typename T>
LEO_BANG_SMALL void leo_bits_each(T *dst, const T *a, const T *b, int, int64_t count)
{
    const int64_t bytes = count * (int64_t)sizeof(T);
    const bool wide = ((uint64_t)dst | (uint64_t)a | (uint64_t)b) % 8 == 0;
    const int64_t words = wide ? bytes / 8 : 0;
    leo_scalar<Op>((uint64_t *)dst, (const uint64_t *)a, (const uint64_t *)b, 0, words);
    leo_scalar<Op>((uint8_t *)dst + words * 8, (const uint8_t *)a + words * 8,
                   (const uint8_t *)b + words * 8, 0, bytes - words * 8);
}
