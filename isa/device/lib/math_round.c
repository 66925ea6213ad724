/* SPDX-License-Identifier: Apache-2.0 */
/* Integral values, remainders, parts of numbers: all exact. */
#include "math_inside.h"

/* One function for both formats: LIMIT is where every number is whole. */
#define ROUNDINGS(type, suffix, LIMIT, copysign, fabs)                                             \
    type LEO_MATH_NAME(trunc##suffix)(type x)                                                      \
    {                                                                                              \
        return fabs(x) < LIMIT ? copysign((type)(int64_t)x, x) : x;                                \
    }                                                                                              \
    type LEO_MATH_NAME(floor##suffix)(type x)                                                      \
    {                                                                                              \
        if (!(fabs(x) < LIMIT)) {                                                                  \
            return x;                                                                              \
        }                                                                                          \
        type whole = (type)(int64_t)x;                                                             \
        return copysign(whole > x ? whole - 1 : whole, x);                                         \
    }                                                                                              \
    type LEO_MATH_NAME(ceil##suffix)(type x)                                                       \
    {                                                                                              \
        if (!(fabs(x) < LIMIT)) {                                                                  \
            return x;                                                                              \
        }                                                                                          \
        type whole = (type)(int64_t)x;                                                             \
        return copysign(whole < x ? whole + 1 : whole, x);                                         \
    }                                                                                              \
    type LEO_MATH_NAME(round##suffix)(type x)                                                      \
    {                                                                                              \
        if (!(fabs(x) < LIMIT)) {                                                                  \
            return x;                                                                              \
        }                                                                                          \
        type size = fabs(x), whole = (type)(int64_t)size;                                          \
        return copysign(size - whole >= (type)0.5 ? whole + 1 : whole, x);                         \
    }                                                                                              \
    type LEO_MATH_NAME(rint##suffix)(type x)                                                       \
    {                                                                                              \
        if (!(fabs(x) < LIMIT)) {                                                                  \
            return x;                                                                              \
        }                                                                                          \
        type size = fabs(x);                                                                       \
        volatile type sum = size + LIMIT; /* rounds to a whole number */                           \
        return copysign(sum - LIMIT, x);                                                           \
    }                                                                                              \
    type LEO_MATH_NAME(nearbyint##suffix)(type x)                                                  \
    {                                                                                              \
        return LEO_MATH_NAME(rint##suffix)(x);                                                     \
    }                                                                                              \
    long LEO_MATH_NAME(lround##suffix)(type x)                                                     \
    {                                                                                              \
        return (long)LEO_MATH_NAME(round##suffix)(x);                                              \
    }                                                                                              \
    long LEO_MATH_NAME(lrint##suffix)(type x)                                                      \
    {                                                                                              \
        return (long)LEO_MATH_NAME(rint##suffix)(x);                                               \
    }                                                                                              \
    type LEO_MATH_NAME(modf##suffix)(type x, type * whole)                                         \
    {                                                                                              \
        *whole = LEO_MATH_NAME(trunc##suffix)(x);                                                  \
        return copysign(fabs(x) > fabs(*whole) ? x - *whole : x != x ? x : (type)0, x);            \
    }                                                                                              \
    type LEO_MATH_NAME(fdim##suffix)(type x, type y)                                               \
    {                                                                                              \
        return x != x || y != y ? x + y : x > y ? x - y : (type)0;                                 \
    }

ROUNDINGS(double, , 0x1p52, __builtin_copysign, __builtin_fabs)
ROUNDINGS(float, f, 0x1p23f, __builtin_copysignf, __builtin_fabsf)

double LEO_MATH_NAME(ldexp)(double x, int k)
{
    // One step may be denormal only if it is the last.
    for (int i = 0; i < 3 && k > 1023; i++, k -= 1023) {
        x *= 0x1p1023;
    }
    for (int i = 0; i < 3 && k < -969; i++, k += 969) {
        x *= 0x1p-969;
    }
    return x * power_of_two(k > 1023 ? 1023 : k < -1022 ? -1022 : k);
}

float LEO_MATH_NAME(ldexpf)(float x, int k)
{
    return (float)LEO_MATH_NAME(ldexp)((double)x, k);
}

double LEO_MATH_NAME(scalbn)(double x, int k)
{
    return LEO_MATH_NAME(ldexp)(x, k);
}

float LEO_MATH_NAME(scalbnf)(float x, int k)
{
    return LEO_MATH_NAME(ldexpf)(x, k);
}

double LEO_MATH_NAME(frexp)(double x, int *k)
{
    *k = 0;
    if (x == 0 || !(__builtin_fabs(x) < F64_INF)) {
        return x;
    }
    if (__builtin_fabs(x) < 0x1p-1022) {
        x *= 0x1p54;
        *k = -54;
    }
    uint64_t bits = bits_of(x);
    *k += (int)(bits >> 52 & 0x7ff) - 1022;
    return from_bits((bits & ~(UINT64_C(0x7ff) << 52)) | UINT64_C(1022) << 52);
}

float LEO_MATH_NAME(frexpf)(float x, int *k)
{
    return (float)LEO_MATH_NAME(frexp)((double)x, k);
}

/** Long division, a bit of the exponent's distance at a time. */
double LEO_MATH_NAME(fmod)(double x, double y)
{
    double size = __builtin_fabs(x), below = __builtin_fabs(y);
    if (!(size < F64_INF) || below == 0 || y != y) {
        return (x * y) / (x * y);
    }
    if (size < below) {
        return x;
    }
    int kx, ky;
    double a = LEO_MATH_NAME(frexp)(size, &kx), b = LEO_MATH_NAME(frexp)(below, &ky);
    for (; kx > ky; kx--) {
        a = 2 * (a >= b ? a - b : a);
    }
    a = a >= b ? a - b : a;
    return __builtin_copysign(LEO_MATH_NAME(ldexp)(a, ky), x);
}

float LEO_MATH_NAME(fmodf)(float x, float y)
{
    return (float)LEO_MATH_NAME(fmod)((double)x, (double)y);
}
