/* SPDX-License-Identifier: Apache-2.0 */
/* sinh, cosh, tanh from exp(x) - 1. */
#include "math_inside.h"

#include "math_tables.h"

double LEO_MATH_NAME(tanh)(double x)
{
    double size = __builtin_fabs(x), result;
    if (x == 0 || x != x) {
        return x + x;
    }
    if (size > 22) {
        result = 1; // 1 - 2 exp(-44): below half a unit
    } else if (size >= 1) {
        result = 1 - 2 / (leo_math_expm1(2 * size) + 2);
    } else {
        double t = leo_math_expm1(-2 * size);
        result = -t / (t + 2);
    }
    return __builtin_copysign(result, x);
}

float LEO_MATH_NAME(tanhf)(float x)
{
    float size = __builtin_fabsf(x);
    if (size > 10) { // 1 - 2 exp(-20): below half a unit
        return __builtin_copysignf(1, x);
    }
    if (size < 0x1p-13f) { // x - x^3 / 3
        return x;
    }
    if (!(size < 0.25f)) { // from here on nothing that a float has is lost by exp(x) - 1
        double e = leo_math_exp_short(2 * (double)x);
        return x != x ? x + x : (float)((e - 1) / (e + 1));
    }
    double t = leo_math_expm1(2 * (double)x);
    return (float)(t / (t + 2));
}

/** exp(x) / 2 without an overflow on the way, 22 <= x < 711 */
static double half_exp(double x)
{
    struct pair less = add_quick(x, -LN2_FULL_0);
    return leo_math_exp(less.high, less.low - LN2_FULL_1);
}

double LEO_MATH_NAME(sinh)(double x)
{
    double size = __builtin_fabs(x), result;
    if (x == 0 || !(size < F64_INF)) {
        return x + x;
    }
    if (size < 22) {
        double t = leo_math_expm1(size);
        result = 0.5 * (t + t / (t + 1));
    } else if (size < 711) {
        result = half_exp(size);
    } else {
        result = F64_INF;
    }
    return __builtin_copysign(result, x);
}

double LEO_MATH_NAME(cosh)(double x)
{
    double size = __builtin_fabs(x);
    if (!(size < 711)) {
        return x != x ? x + x : F64_INF;
    }
    if (size < 22) {
        double e = leo_math_exp(size, 0);
        return 0.5 * (e + 1 / e);
    }
    return half_exp(size);
}

float LEO_MATH_NAME(sinhf)(float x)
{
    return (float)LEO_MATH_NAME(sinh)((double)x);
}

float LEO_MATH_NAME(coshf)(float x)
{
    return (float)LEO_MATH_NAME(cosh)((double)x);
}
