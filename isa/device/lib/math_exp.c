/* SPDX-License-Identifier: Apache-2.0 */
/* exp, exp2, expm1: x = k ln 2 + r, exp(x) = 2^k exp(r), exp(r) by its series. */
#include "math_inside.h"

#include "math_tables.h"

/** 1 / n! from n = 2 on: with |r| < 0.35 the first that is left out is below 2^-57. */
static const double inverse_factorials[] = {
    1. / 2,     1. / 6,      1. / 24,      1. / 120,      1. / 720,       1. / 5040,
    1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800,
};
/** Of those, the ones that a float needs. */
enum { SHORT_COUNT = 8 };

/** exp(r) - 1 - r, without rounding to 1 first. */
static double exp_rest(double r)
{
    return r * r * POLYNOMIAL(r, inverse_factorials);
}

double leo_math_exp(double high, double low)
{
    double k = nearest(high * LOG2_E_0);
    double near = __builtin_fma(-k, LN2_0, high); // exact
    struct pair r = add_exact(near, low - k * LN2_1);
    double rest = exp_rest(r.high) + r.low + r.high * r.low;
    return scale(1 + (r.high + rest), (int)k);
}

double leo_math_exp_short(double x)
{
    double k = nearest(x * LOG2_E_0), r = __builtin_fma(-k, LN2_1, __builtin_fma(-k, LN2_0, x));
    double sum = polynomial(r, inverse_factorials, SHORT_COUNT);
    return (1 + __builtin_fma(r * r, sum, r)) * power_of_two((int)k);
}

double LEO_MATH_NAME(exp)(double x)
{
    if (!(x > -746)) {
        return x != x ? x + x : 0;
    }
    return x > 710 ? F64_INF : leo_math_exp(x, 0);
}

float LEO_MATH_NAME(expf)(float x)
{
    if (!(x > -104)) {
        return x != x ? x + x : 0;
    }
    return x > 89 ? F32_INF : (float)leo_math_exp_short((double)x);
}

double LEO_MATH_NAME(exp2)(double x)
{
    if (!(x > -1076)) {
        return x != x ? x + x : 0;
    }
    if (x >= 1024) {
        return F64_INF;
    }
    double k = nearest(x), f = x - k; // exact
    struct pair r = multiply_exact(f, LN2_FULL_0);
    r.low = __builtin_fma(f, LN2_FULL_1, r.low);
    double rest = exp_rest(r.high) + r.low + r.high * r.low;
    return scale(1 + (r.high + rest), (int)k);
}

float LEO_MATH_NAME(exp2f)(float x)
{
    if (!(x > -151)) {
        return x != x ? x + x : 0;
    }
    return x >= 128 ? F32_INF : (float)leo_math_exp_short((double)x * LN2_FULL_0);
}

double leo_math_expm1(double x)
{
    if (x < 0.34 && x > -0.34) {
        return x == 0 ? x : x + exp_rest(x);
    }
    double k = nearest(x * LOG2_E_0);
    struct pair r = add_quick(__builtin_fma(-k, LN2_0, x), -k * LN2_1);
    double rest = exp_rest(r.high) + r.low + r.high * r.low;
    if (k > 60 || k < -60) {
        return scale(1 + (r.high + rest), (int)k) - 1;
    }
    // 2^k (1 + r) - 1, the exact parts first.
    double power = power_of_two((int)k);
    struct pair sum = add_exact(power - 1, r.high * power);
    return sum.high + (sum.low + rest * power);
}

double LEO_MATH_NAME(expm1)(double x)
{
    if (!(x > -50)) {
        return x != x ? x + x : -1;
    }
    return x > 710 ? F64_INF : leo_math_expm1(x);
}

float LEO_MATH_NAME(expm1f)(float x)
{
    if (!(x > -50)) {
        return x != x ? x + x : -1;
    }
    return x > 89 ? F32_INF : (float)leo_math_expm1((double)x);
}
