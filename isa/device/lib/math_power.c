/* SPDX-License-Identifier: Apache-2.0 */
/* Powers and roots. */
#include "math_inside.h"

#include "math_tables.h"

/** 0: y is not an integer, 1: an odd one, 2: an even one. */
static int integer_kind(double y)
{
    double size = __builtin_fabs(y);
    if (size >= 0x1p53) {
        return 2;
    }
    int64_t whole = (int64_t)size;
    return (double)whole != size ? 0 : whole & 1 ? 1 : 2;
}

/** The cases that C fixes, all but finite x > 0 or x < 0 with an integer y; false if it is none. */
static bool power_is_special(double x, double y, double *result)
{
    double size = __builtin_fabs(x);
    if (y == 0 || x == 1) {
        *result = 1;
    } else if (x != x || y != y) {
        *result = x + y;
    } else if (__builtin_fabs(y) == F64_INF) {
        *result = size == 1 ? 1 : (size > 1) == (y > 0) ? F64_INF : 0;
    } else if (x == 0 || size == F64_INF) {
        double magnitude = (x == 0) == (y > 0) ? 0 : F64_INF;
        *result = integer_kind(y) == 1 ? __builtin_copysign(magnitude, x) : magnitude;
    } else if (x < 0 && integer_kind(y) == 0) {
        *result = F64_NAN;
    } else {
        return false;
    }
    return true;
}

double LEO_MATH_NAME(pow)(double x, double y)
{
    double result;
    if (power_is_special(x, y, &result)) {
        return result;
    }
    double sign = x < 0 && integer_kind(y) == 1 ? -1 : 1, size = __builtin_fabs(x), extra = 0;
    if (size < 0x1p-1022) {
        size *= 0x1p54;
        extra = -54; // of the exponent
    }
    struct pair log = leo_math_log_pair(size);
    struct pair all = add_exact(log.high, extra * LN2_FULL_0);
    all.low += log.low + __builtin_fma(extra, LN2_FULL_1,
                                       __builtin_fma(extra, LN2_FULL_0, -(extra * LN2_FULL_0)));
    if (!(__builtin_fabs(y * all.high) < 1100)) {
        return sign * ((y > 0) == (all.high > 0) ? F64_INF : 0);
    }
    struct pair exponent = multiply_exact(y, all.high);
    exponent.low = __builtin_fma(y, all.low, exponent.low);
    return sign * leo_math_exp(exponent.high, exponent.low);
}

float LEO_MATH_NAME(powf)(float x, float y)
{
    double result, wide = (double)x;
    if (power_is_special(wide, (double)y, &result)) {
        return (float)result;
    }
    double sign = x < 0 && integer_kind((double)y) == 1 ? -1 : 1;
    // The float's result is off by as much as the logarithm's error times y: the full one is
    // needed.
    struct pair log = leo_math_log_pair(__builtin_fabs(wide));
    double exponent = (double)y * log.high;
    if (!(__builtin_fabs(exponent) < 200)) {
        return (float)(sign * (exponent > 0 ? F64_INF : 0));
    }
    return (float)(sign * leo_math_exp_short(exponent));
}

double LEO_MATH_NAME(sqrt)(double x)
{
    return __builtin_sqrt(x);
}

float LEO_MATH_NAME(sqrtf)(float x)
{
    return __builtin_sqrtf(x);
}

/** Newton's method on a guess from the exponent. */
double LEO_MATH_NAME(cbrt)(double x)
{
    double size = __builtin_fabs(x), back = 1;
    if (x == 0 || !(size < F64_INF)) {
        return x + x;
    }
    if (size < 0x1p-1022) {
        size *= 0x1p54;
        back = 0x1p-18;
    } else if (size > 0x1p1000) { // its cube, rounded, might be infinite
        size *= 0x1p-54;
        back = 0x1p18;
    }
    // A third of the exponent; the constant puts the guess in the middle of its errors, within 6 %.
    double t = from_bits(bits_of(size) / 3 + UINT64_C(0x2a9f7893782da1ce));
    for (int i = 0; i < 4; i++) { // errors square: 6e-2, 4e-3, 1.3e-5, 1.7e-10, 3e-20
        t -= (t - size / (t * t)) / 3;
    }
    struct pair square = multiply_exact(t, t);
    struct pair cube = multiply_exact(square.high, t);
    double error = (cube.high - size) + (cube.low + square.low * t);
    return __builtin_copysign(t - error / (3 * square.high), x) * back;
}

float LEO_MATH_NAME(cbrtf)(float x)
{
    return (float)LEO_MATH_NAME(cbrt)((double)x);
}

double LEO_MATH_NAME(hypot)(double x, double y)
{
    x = __builtin_fabs(x);
    y = __builtin_fabs(y);
    if (x == F64_INF || y == F64_INF) {
        return F64_INF;
    }
    double large = x > y ? x : y, small = x > y ? y : x, back = 1;
    if (!(small > large * 0x1p-60)) {
        return x + y; // NaN too
    }
    if (large > 0x1p500) {
        back = 0x1p600;
    } else if (small < 0x1p-450) {
        back = 0x1p-600;
    }
    double to = 1 / back; // exact
    large *= to;
    small *= to;
    struct pair a = multiply_exact(large, large), b = multiply_exact(small, small);
    struct pair sum = add_quick(a.high, b.high);
    double low = sum.low + a.low + b.low, root = __builtin_sqrt(sum.high);
    root += (__builtin_fma(-root, root, sum.high) + low) / (2 * root);
    return root * back;
}

float LEO_MATH_NAME(hypotf)(float x, float y)
{
    double a = (double)x, b = (double)y;
    if (__builtin_isinf(a) || __builtin_isinf(b)) {
        return F32_INF;
    }
    return (float)__builtin_sqrt(a * a + b * b);
}
