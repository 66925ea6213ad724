/* SPDX-License-Identifier: Apache-2.0 */
/* Inverse trigonometric functions: atan(x) = atan(k / 16) + atan of a small rest. */
#include "math_inside.h"

#include "math_tables.h"

/** (-1)^n / (2 n + 1) from n = 1 on; |t| < 1 / 31: the first left out is below 2^-70. */
static const double series[] = {-1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13};

/** atan(y / x), 0 <= y <= x, x > 0, as a pair. */
static struct pair atan_of_ratio(double y, double x)
{
    double q = y / x;
    int k = (int)(q * 16 + 0.5);
    double c = (double)k / 16;
    // t = (y - c x) / (x + c y), the numerator exact to the last bits.
    struct pair product = multiply_exact(c, x);
    double numerator = (y - product.high) - product.low, denominator = __builtin_fma(c, y, x);
    double t = numerator / denominator;
    double t_low = __builtin_fma(-t, denominator, numerator) / denominator;
    double z = t * t;
    struct pair sum = add_quick(atan_high[k], t);
    if (k == 0) {
        sum = (struct pair){t, 0};
    }
    return add_quick(sum.high, sum.low + (t * z * POLYNOMIAL(z, series) + t_low + atan_low[k]));
}

double leo_math_atan(double x)
{
    double size = __builtin_fabs(x), result;
    if (size < 0x1p-27 || x != x) {
        return x;
    }
    if (size <= 1) {
        struct pair a = atan_of_ratio(size, 1);
        result = a.high + a.low;
    } else if (size < 0x1p60) {
        struct pair a = atan_of_ratio(1, size);
        struct pair rest = add_quick(HALF_PI_0, -a.high);
        result = rest.high + (rest.low + (HALF_PI_1 - a.low));
    } else {
        result = HALF_PI_0;
    }
    return __builtin_copysign(result, x);
}

double LEO_MATH_NAME(atan)(double x)
{
    return leo_math_atan(x);
}

float LEO_MATH_NAME(atanf)(float x)
{
    return (float)leo_math_atan((double)x);
}

/** y and x at infinity, or zero. */
static double atan2_at_edge(double y, double x)
{
    bool left = __builtin_signbit(x);
    double result;
    if (__builtin_isinf(x) && __builtin_isinf(y)) {
        result = left ? 3 * (HALF_PI_0 / 2) : HALF_PI_0 / 2;
    } else if (y == 0 || __builtin_isinf(x)) {
        result = left ? PI_0 : 0;
    } else {
        result = HALF_PI_0;
    }
    return __builtin_copysign(result, y);
}

double LEO_MATH_NAME(atan2)(double y, double x)
{
    if (x != x || y != y) {
        return x + y;
    }
    double a = __builtin_fabs(y), b = __builtin_fabs(x);
    if (a == 0 || b == 0 || __builtin_isinf(a) || __builtin_isinf(b)) {
        return atan2_at_edge(y, x);
    }
    // Into a range where nothing overflows or loses bits; the ratio stays.
    double large = a > b ? a : b, to = large > 0x1p600 ? 0x1p-600 : large < 0x1p-400 ? 0x1p500 : 1;
    double small = (a > b ? b : a) * to;
    large *= to;
    struct pair angle = {small / large, 0};
    if (angle.high > 0x1p-60) {
        angle = atan_of_ratio(small, large);
    } else if (a <= b && !__builtin_signbit(x)) {
        return __builtin_copysign(a / b, y);
    }
    if (a > b) {
        struct pair rest = add_quick(HALF_PI_0, -angle.high);
        rest.low += HALF_PI_1 - angle.low;
        angle = rest;
    }
    if (__builtin_signbit(x)) {
        struct pair rest = add_quick(PI_0, -angle.high);
        rest.low += PI_1 - angle.low;
        angle = rest;
    }
    return __builtin_copysign(angle.high + angle.low, y);
}

float LEO_MATH_NAME(atan2f)(float y, float x)
{
    return (float)LEO_MATH_NAME(atan2)((double)y, (double)x);
}

/** sqrt(1 - x * x), |x| <= 1 */
static struct pair leg(double x)
{
    struct pair product = multiply_exact(1 - x, 1 + x); // both factors exact for |x| >= 1/2
    struct pair left = add_quick(1, -x), right = add_quick(1, x);
    double low = product.low + left.low * right.high + left.high * right.low;
    double root = __builtin_sqrt(product.high);
    double rest = root > 0 ? (__builtin_fma(-root, root, product.high) + low) / (2 * root) : 0;
    return (struct pair){root, rest};
}

/** atan(x / leg) where x is one and the leg the other side of a right angle with hypotenuse 1. */
static double asin_of(double x)
{
    double size = __builtin_fabs(x);
    struct pair root = leg(size), angle;
    // The leg's low part moves the angle by that over the side along which it is seen.
    if (size <= root.high) {
        angle = atan_of_ratio(size, root.high);
        angle.low -= size * root.low;
    } else {
        struct pair other = atan_of_ratio(root.high, size);
        other.low += size * root.low;
        angle = add_quick(HALF_PI_0, -other.high);
        angle.low += HALF_PI_1 - other.low;
    }
    return __builtin_copysign(angle.high + angle.low, x);
}

double LEO_MATH_NAME(asin)(double x)
{
    double size = __builtin_fabs(x);
    if (!(size <= 1)) {
        return x != x ? x + x : F64_NAN;
    }
    return size < 0x1p-27 ? x : asin_of(x);
}

double LEO_MATH_NAME(acos)(double x)
{
    double size = __builtin_fabs(x);
    if (!(size <= 1)) {
        return x != x ? x + x : F64_NAN;
    }
    struct pair root = leg(size), angle;
    if (root.high <= size) {
        angle = atan_of_ratio(root.high, size);
        angle.low += size * root.low;
    } else {
        struct pair other = atan_of_ratio(size, root.high);
        other.low -= size * root.low;
        angle = add_quick(HALF_PI_0, -other.high);
        angle.low += HALF_PI_1 - other.low;
    }
    if (x < 0) {
        struct pair rest = add_quick(PI_0, -angle.high);
        rest.low += PI_1 - angle.low;
        angle = rest;
    }
    return angle.high + angle.low;
}

float LEO_MATH_NAME(asinf)(float x)
{
    return (float)LEO_MATH_NAME(asin)((double)x);
}

float LEO_MATH_NAME(acosf)(float x)
{
    return (float)LEO_MATH_NAME(acos)((double)x);
}
