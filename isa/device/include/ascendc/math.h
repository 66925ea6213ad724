/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: functions of more than one vector instruction, for
 * float and half. They compute in float; room for intermediate values is the tensor that the caller
 * gives, or what no buffer has of the unified buffer. */
#pragma once

#if LEO_HAS_2201
namespace AscendC
{

constexpr uint32_t LEO_MATH_PARTS = 3; /**< floats of room an element: value, two more */

struct leo_math_room {
    LocalTensor<float> value, a, b;
    uint32_t count; /**< elements that fit, whole repeats */
};

LEO_AC_INLINE leo_math_room leo_math_split(const LocalTensor<uint8_t> &room)
{
    const uint32_t count =
        room.GetLength() / (LEO_MATH_PARTS * ONE_REPEAT_BYTE_SIZE) * ONE_REPEAT_FLOAT_SIZE;
    if (count == 0) {
        leo_print("the unified buffer has no room for 768 bytes of intermediate values\n");
        trap();
    }
    const LocalTensor<float> all = room.ReinterpretCast<float>();
    return {all, all[count], all[2 * count], count};
}

/* Function::run(value, a, b, count) in place, over parts that have room. */
template <typename Function, typename T>
LEO_AC_INLINE void leo_math(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                            const LocalTensor<uint8_t> &tmp, uint32_t count)
{
    static_assert(IsSameType<T, float>::value || IsSameType<T, half>::value, "float or half");
    const leo_math_room room = leo_math_split(tmp);
    for (uint32_t at = 0; at < count; at += room.count) {
        const uint32_t part = count - at < room.count ? count - at : room.count;
        if constexpr (IsSameType<T, half>::value) {
            Cast(room.value, src[at], RoundMode::CAST_NONE, part);
        } else {
            Adds(room.value, src[at], 0.0f, (int32_t)part);
        }
        Function::run(room.value, room.a, room.b, (int32_t)part);
        if constexpr (IsSameType<T, half>::value) {
            Cast(dst[at], room.value, RoundMode::CAST_NONE, part);
        } else {
            Adds(dst[at], room.value, 0.0f, (int32_t)part);
        }
    }
}

/* x = (k - half_turns) * pi + r, |r| <= pi / 2: sin(x + half_turns * pi) = (-1)^k sin(r). Pi is cut
 * in three: 8 and 11 bits, of which products with k are exact, and the rest. Taylor's series up to
 * r^11 is exact to 6e-8 there. */
struct leo_sine {
    LEO_AC_METHOD static void reduce(const LocalTensor<float> &x, const LocalTensor<float> &k,
                                     const LocalTensor<float> &sign, float half_turns, int32_t n)
    {
        Muls(k, x, 0.318309886f, n);
        Adds(k, k, half_turns, n);
        Cast(k, k, RoundMode::CAST_RINT, (uint32_t)n);
        // 1 - 2 * (k mod 2) = 1 + 4 * floor(k / 2) - 2 * k
        Muls(sign, k, 0.5f, n);
        Cast(sign, sign, RoundMode::CAST_FLOOR, (uint32_t)n);
        Muls(sign, sign, 4.0f, n);
        Axpy(sign, k, -2.0f, n);
        Adds(sign, sign, 1.0f, n);
        Adds(k, k, -half_turns, n);
        Axpy(x, k, -3.140625f, n);
        Axpy(x, k, -9.67502593994140625e-4f, n);
        Axpy(x, k, -1.509957990978376e-7f, n);
    }

    LEO_AC_METHOD static void series(const LocalTensor<float> &x, const LocalTensor<float> &square,
                                     const LocalTensor<float> &sign, int32_t n)
    {
        constexpr float terms[] = {1.0f / 362880, -1.0f / 5040, 1.0f / 120, -1.0f / 6, 1.0f};
        Mul(sign, sign, x, n);
        Mul(square, x, x, n);
        Muls(x, square, -1.0f / 39916800, n);
        for (uint32_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
            Adds(x, x, terms[i], n);
            if (i + 1 < sizeof(terms) / sizeof(terms[0])) {
                Mul(x, x, square, n);
            }
        }
        Mul(x, x, sign, n);
    }

    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        reduce(x, a, b, 0, n);
        series(x, a, b, n);
    }
};

struct leo_cosine {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        leo_sine::reduce(x, a, b, 0.5f, n);
        leo_sine::series(x, a, b, n);
    }
};

/* x = k * pi + r: tan(r) = r / (1 - r^2 / (3 - r^2 / (5 - ...))), which has its pole. */
struct leo_tangent {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        leo_sine::reduce(x, a, b, 0, n);
        Mul(b, x, x, n);
        Duplicate(a, 13.0f, n);
        for (int32_t term = 11; term > 0; term -= 2) {
            Div(a, b, a, n);
            Muls(a, a, -1.0f, n);
            Adds(a, a, (float)term, n);
        }
        Div(x, x, a, n);
    }
};

/* 1 / (1 + exp(-x)) */
struct leo_sigmoid {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        Muls(a, x, -1.0f, n);
        Exp(a, a, n);
        Adds(a, a, 1.0f, n);
        Duplicate(b, 1.0f, n);
        Div(x, b, a, n);
    }
};

/* x / (1 + exp(-x)) */
struct leo_silu {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &, int32_t n)
    {
        Muls(a, x, -1.0f, n);
        Exp(a, a, n);
        Adds(a, a, 1.0f, n);
        Div(x, x, a, n);
    }
};

/* 1 - 2 / (1 + exp(2 x)) */
struct leo_tanh {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        Muls(a, x, 2.0f, n);
        Exp(a, a, n);
        Adds(a, a, 1.0f, n);
        Duplicate(b, -2.0f, n);
        Div(x, b, a, n);
        Adds(x, x, 1.0f, n);
    }
};

/* Twice 2^100 makes the smallest number larger than 1. */
struct leo_sign {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &,
                                  const LocalTensor<float> &, int32_t n)
    {
        Muls(x, x, 0x1p100f, n);
        Muls(x, x, 0x1p100f, n);
        Mins(x, x, 1.0f, n);
        Maxs(x, x, -1.0f, n);
    }
};

/* x - trunc(x) */
struct leo_fraction {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &, int32_t n)
    {
        Cast(a, x, RoundMode::CAST_TRUNC, (uint32_t)n);
        Sub(x, x, a, n);
    }
};

/* y = x or 1 / x, |y| <= 1; arctan(x) = arctan(y), or +-pi / 2 - arctan(y). The polynomial is
 * Abramowitz and Stegun 4.4.49, exact to 2e-8 there. */
struct leo_arctangent {
    /* x times 2^200 cut to [low, high]. */
    LEO_AC_METHOD static void side(const LocalTensor<float> &to, const LocalTensor<float> &x,
                                   float low, float high, int32_t n)
    {
        Muls(to, x, 0x1p100f, n);
        Muls(to, to, 0x1p100f, n);
        Maxs(to, to, low, n);
        Mins(to, to, high, n);
    }

    /* y; outside: -1 where x < -1, 1 where x > 1, else 0. x is used up. */
    LEO_AC_METHOD static void reduce(const LocalTensor<float> &x, const LocalTensor<float> &y,
                                     const LocalTensor<float> &outside, int32_t n)
    {
        Abs(y, x, n);
        Duplicate(outside, 1.0f, n);
        Div(outside, outside, y, n);
        Min(y, y, outside, n);
        side(outside, x, -1.0f, 1.0f, n);
        Mul(y, y, outside, n);
        Adds(outside, x, -1.0f, n);
        side(outside, outside, 0.0f, 1.0f, n);
        Adds(x, x, 1.0f, n);
        side(x, x, -1.0f, 0.0f, n);
        Add(outside, outside, x, n);
    }

    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &y,
                                  const LocalTensor<float> &outside, int32_t n)
    {
        constexpr float terms[] = {-0.0161657367f, 0.0429096138f, -0.0752896400f, 0.1065626393f,
                                   -0.1420889944f, 0.1999355085f, -0.3333314528f, 1.0f};
        reduce(x, y, outside, n);
        Duplicate(x, 0.0028662257f, n);
        for (uint32_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
            Mul(x, x, y, n);
            Mul(x, x, y, n);
            Adds(x, x, terms[i], n);
        }
        Mul(x, x, y, n);
        Abs(y, outside, n);
        Muls(y, y, -2.0f, n);
        Mul(y, y, x, n);
        Add(x, x, y, n);
        Axpy(x, outside, 1.57079633f, n);
    }
};

/* 1 - t (a1 + t (a2 + ...)) exp(-x^2) with the sign of x, t = 1 / (1 + 0.3275911 |x|): Abramowitz
 * and Stegun 7.1.26, exact to 1.5e-7. */
struct leo_error_function {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &a,
                                  const LocalTensor<float> &b, int32_t n)
    {
        constexpr float factors[] = {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f,
                                     0.254829592f};
        Abs(b, x, n);
        Muls(b, b, 0.3275911f, n);
        Adds(b, b, 1.0f, n);
        Duplicate(a, 1.0f, n);
        Div(b, a, b, n);
        Muls(a, b, factors[0], n);
        for (int i = 1; i < 5; i++) {
            Adds(a, a, factors[i], n);
            Mul(a, a, b, n);
        }
        Mul(b, x, x, n);
        Muls(b, b, -1.0f, n);
        Exp(b, b, n);
        Mul(a, a, b, n);
        Muls(a, a, -1.0f, n);
        Adds(a, a, 1.0f, n);
        leo_arctangent::side(b, x, -1.0f, 1.0f, n);
        Mul(x, a, b, n);
    }
};

template <RoundMode mode> struct leo_rounding {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &,
                                  const LocalTensor<float> &, int32_t n)
    {
        Cast(x, x, mode, (uint32_t)n);
    }
};

/* Natural logarithm times a constant. */
template <int base> struct leo_logarithm {
    LEO_AC_METHOD static void run(const LocalTensor<float> &x, const LocalTensor<float> &,
                                  const LocalTensor<float> &, int32_t n)
    {
        Ln(x, x, n);
        if constexpr (base == 2) {
            Muls(x, x, 1.442695041f, n);
        } else if constexpr (base == 10) {
            Muls(x, x, 0.4342944819f, n);
        }
    }
};

} // namespace AscendC

#include <ascendc/math_calls.h>

namespace AscendC
{

/** The smaller of src and number, and the larger. */
template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void ClampMax(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                            const LocalTensor<uint8_t> &, const T number, uint32_t count)
{
    Mins(dst, src, number, (int32_t)count);
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void ClampMin(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                            const LocalTensor<uint8_t> &, const T number, uint32_t count)
{
    Maxs(dst, src, number, (int32_t)count);
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void ClampMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T number,
                            uint32_t count)
{
    Mins(dst, src, number, (int32_t)count);
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void ClampMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T number,
                            uint32_t count)
{
    Maxs(dst, src, number, (int32_t)count);
}

/** Bits that are set in one of both; `tmp` has room for `count` elements. */
template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                       const LocalTensor<T> &src1, const LocalTensor<uint8_t> &tmp, uint32_t count)
{
    const LocalTensor<T> both = tmp.template ReinterpretCast<T>();
    And(both, src0, src1, (int32_t)count);
    Not(both, both, (int32_t)count);
    Or(dst, src0, src1, (int32_t)count);
    And(dst, dst, both, (int32_t)count);
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Xor(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                       const LocalTensor<T> &src1, uint32_t count)
{
    Xor<T, isReuseSource>(dst, src0, src1, GetTPipePtr()->leo_rest(), count);
}

/** src0 - src1 * trunc(src0 / src1): exact while the quotient is a whole number of 24 bits. */
template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                        const LocalTensor<T> &src1, const LocalTensor<uint8_t> &tmp, uint32_t count)
{
    static_assert(IsSameType<T, float>::value, "Fmod: float");
    const leo_math_room room = leo_math_split(tmp);
    for (uint32_t at = 0; at < count; at += room.count) {
        const uint32_t part = count - at < room.count ? count - at : room.count;
        Div(room.a, src0[at], src1[at], (int32_t)part);
        Cast(room.a, room.a, RoundMode::CAST_TRUNC, part);
        Mul(room.a, room.a, src1[at], (int32_t)part);
        Sub(dst[at], src0[at], room.a, (int32_t)part);
    }
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Fmod(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                        const LocalTensor<T> &src1, uint32_t count)
{
    Fmod<T, isReuseSource>(dst, src0, src1, GetTPipePtr()->leo_rest(), count);
}

/* Of whole exponents up to this one the factors are multiplied. */
constexpr float LEO_POWER_STEPS = 64;

/** src to the power of one number: whole ones up to 64 by products, others exp(number * ln(src)),
 * which is not a number below 0. */
template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Power(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &exponent,
                         const LocalTensor<uint8_t> &tmp, uint32_t count)
{
    static_assert(IsSameType<T, float>::value, "Power: float");
    const leo_math_room room = leo_math_split(tmp);
    const float size = exponent < 0 ? -exponent : exponent;
    const bool whole = size <= LEO_POWER_STEPS && (float)(int32_t)size == size;
    for (uint32_t at = 0; at < count; at += room.count) {
        const int32_t part = (int32_t)(count - at < room.count ? count - at : room.count);
        Duplicate(room.a, 1.0f, part);
        if (!whole) {
            Ln(room.a, src[at], part);
            Muls(room.a, room.a, exponent, part);
            Exp(dst[at], room.a, part);
            continue;
        }
        Adds(room.value, src[at], 0.0f, part);
        for (uint32_t left = (uint32_t)size; left; left >>= 1) {
            if (left & 1) {
                Mul(room.a, room.a, room.value, part);
            }
            Mul(room.value, room.value, room.value, part);
        }
        if (exponent < 0) {
            Duplicate(room.b, 1.0f, part);
            Div(room.a, room.b, room.a, part);
        }
        Adds(dst[at], room.a, 0.0f, part);
    }
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Power(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &exponent,
                         uint32_t count)
{
    Power<T, isReuseSource>(dst, src, exponent, GetTPipePtr()->leo_rest(), count);
}

/** src0 to the power of src1: exp(src1 * ln |src0|), with the sign of an odd exponent; not a number
 * where src0 is below 0 and src1 not whole, or both are 0. The relative error is up to 3e-7 * (1 +
 * |src1 * ln |src0||). */
template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Power(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                         const LocalTensor<T> &src1, const LocalTensor<uint8_t> &tmp,
                         uint32_t count)
{
    static_assert(IsSameType<T, float>::value, "Power: float");
    const leo_math_room room = leo_math_split(tmp);
    for (uint32_t at = 0; at < count; at += room.count) {
        const int32_t n = (int32_t)(count - at < room.count ? count - at : room.count);
        const LocalTensor<float> &sign = room.a, &below = room.b, &refused = room.value;
        Muls(sign, src1[at], 0.5f, n);
        Cast(refused, sign, RoundMode::CAST_FLOOR, (uint32_t)n);
        Sub(sign, sign, refused, n);
        Muls(sign, sign, -4.0f, n);
        Adds(sign, sign, 1.0f, n); // 1 of an even exponent, -1 of an odd one
        leo_arctangent::side(below, src0[at], -1.0f, 0.0f, n);
        // The root of a number below 0 where the base is below 0 and the exponent is not whole.
        Mul(refused, sign, sign, n);
        Adds(refused, refused, -1.0f, n);
        Mul(refused, refused, below, n);
        Muls(refused, refused, -1.0f, n);
        Sqrt(refused, refused, n);
        Muls(sign, sign, -1.0f, n);
        Adds(sign, sign, 1.0f, n);
        Mul(sign, sign, below, n);
        Adds(sign, sign, 1.0f, n); // 1 of a base above 0
        Add(sign, sign, refused, n);
        Abs(below, src0[at], n);
        Ln(below, below, n);
        Mul(below, below, src1[at], n);
        Exp(below, below, n);
        Mul(dst[at], sign, below, n);
    }
}

template <typename T, bool isReuseSource = false>
LEO_AC_INLINE void Power(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                         const LocalTensor<T> &src1, uint32_t count)
{
    Power<T, isReuseSource>(dst, src0, src1, GetTPipePtr()->leo_rest(), count);
}

/* Row i of `columns` elements. */
template <typename T>
LEO_AC_INLINE void leo_row_of_one(const LocalTensor<T> &dst, uint32_t i, uint32_t columns, T value)
{
    if (columns * sizeof(T) % ONE_BLK_SIZE == 0) {
        Duplicate(dst[i * columns], value, (int32_t)columns);
        return;
    }
    for (uint32_t k = 0; k < columns; k++) {
        dst.SetValue(i * columns + k, value);
    }
}

template <typename T>
LEO_AC_INLINE void leo_row_of_row(const LocalTensor<T> &dst, uint32_t i, uint32_t columns,
                                  const LocalTensor<T> &src)
{
    if (columns * sizeof(T) % ONE_BLK_SIZE == 0) {
        DataCopy(dst[i * columns], src, columns);
        return;
    }
    for (uint32_t k = 0; k < columns; k++) {
        dst.SetValue(i * columns + k, src.GetValue(k));
    }
}

/** src with one row (axis 0) or one column (axis 1) as dstShape; of one dimension: one element. The
 * caller's room is not needed. */
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
LEO_AC_INLINE void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                             const uint32_t dstShape[dim], const uint32_t srcShape[dim])
{
    static_assert((dim == 1 || dim == 2) && axis >= 0 && axis < dim, "one or two dimensions");
    const uint32_t rows = dim == 2 ? dstShape[0] : 1, columns = dstShape[dim - 1];
    for (uint32_t i = 0; i < rows; i++) {
        if (srcShape[dim - 1] == 1) {
            leo_row_of_one(dst, i, columns, src.GetValue(srcShape[0] == 1 ? 0 : i));
        } else {
            leo_row_of_row(dst, i, columns, srcShape[0] == 1 || dim == 1 ? src : src[i * columns]);
        }
    }
}

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
LEO_AC_INLINE void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                             const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                             const LocalTensor<uint8_t> &)
{
    BroadCast<T, dim, axis, isReuseSource>(dst, src, dstShape, srcShape);
}

/** `count` elements of global memory become `value`, through what no buffer has of the unified
 * buffer; other units see them after the caller's own flags. */
template <typename T>
LEO_AC_INLINE void InitGlobalMemory(GlobalTensor<T> &gm, const uint64_t count, const T value)
{
    const LocalTensor<T> room = GetTPipePtr()->leo_rest().template ReinterpretCast<T>();
    const uint32_t most = min(room.GetSize() * (uint32_t)sizeof(T), 65280u) / ONE_BLK_SIZE *
                          ONE_BLK_SIZE / (uint32_t)sizeof(T);
    const uint32_t first = (uint32_t)(count < most ? count : most);
    if (most == 0) {
        leo_print("InitGlobalMemory: the unified buffer has no free block\n");
        trap();
    }
    PipeBarrier<PIPE_ALL>();
    Duplicate(room, value, (int32_t)first);
    PipeBarrier<PIPE_ALL>();
    for (uint64_t at = 0; at < count; at += first) {
        const uint32_t part = (uint32_t)(count - at < first ? count - at : first);
        DataCopyPad(gm[at], room, DataCopyExtParams(1, part * (uint32_t)sizeof(T), 0, 0, 0));
    }
    PipeBarrier<PIPE_ALL>();
}

/** The older name. */
template <typename T> LEO_AC_INLINE void InitOutput(GlobalTensor<T> gm, uint32_t count, T value)
{
    InitGlobalMemory(gm, count, value);
}

} // namespace AscendC
#endif
