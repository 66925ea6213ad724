/* SPDX-License-Identifier: Apache-2.0 */
/* Logarithms: x = 2^k m with m around 1; with s = (m - 1) / (m + 1), ln(m) = 2 (s + s^3 / 3 + s^5 /
 * 5 + ...). */
#include "math_inside.h"

#include "math_tables.h"

/** 2 / (2 n + 1) from n = 1 on: s * s < 0.0295, the first left out is below 2^-62. */
static const double series[] = {
    2. / 3,  2. / 5,  2. / 7,  2. / 9,  2. / 11, 2. / 13,
    2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23, 2. / 25,
};
enum { SHORT_COUNT = 6 };

/** x = 2^k m, m from sqrt(1/2) to sqrt(2); x normal. */
static double split(double x, int *k)
{
    uint64_t bits = bits_of(x), half_root = UINT64_C(0x3fe6a09e667f3bcd);
    int64_t exponent = (int64_t)(bits - half_root) >> 52;
    *k = (int)exponent;
    return from_bits(bits - ((uint64_t)exponent << 52));
}

/** Takes care of what is not positive and normal; false: x may have been scaled by 2^k. */
static bool is_special(double *x, int *k, double *result)
{
    *k = 0;
    if (!(*x > 0)) {
        *result = *x == 0 ? -F64_INF : F64_NAN;
        if (*x != *x) {
            *result = *x + *x;
        }
        return true;
    }
    if (*x == F64_INF) {
        *result = *x;
        return true;
    }
    if (*x < 0x1p-1022) {
        *x *= 0x1p54;
        *k = -54;
    }
    return false;
}

double leo_math_log_short(double x)
{
    int k;
    double f = split(x, &k) - 1, s = f / (2 + f), z = s * s;
    double sum = z * polynomial(z, series, SHORT_COUNT);
    return __builtin_fma((double)k, LN2_FULL_0, f - s * (f - sum));
}

struct pair leo_math_log_pair(double x)
{
    int k;
    double f = split(x, &k) - 1; // exact
    struct pair below = add_exact(2, f);
    double s = f / below.high;
    double s_low = (__builtin_fma(-s, below.high, f) - s * below.low) / below.high;
    struct pair z = multiply_exact(s, s);
    z.low = __builtin_fma(2 * s, s_low, z.low);
    // z (2/3 + z (2/5 + ...)), the first coefficient as a pair.
    const double third_low = 0x1.5555555555555p-55; // 2/3 - (double)(2/3)
    double rest = z.high * polynomial(z.high, series + 1, sizeof(series) / sizeof(series[0]) - 1);
    struct pair factor = add_quick(series[0], rest);
    factor.low += third_low;
    struct pair tail = multiply_exact(z.high, factor.high);
    tail.low += __builtin_fma(z.high, factor.low, z.low * factor.high);
    // s (2 + tail)
    struct pair total = add_quick(2, tail.high);
    total.low += tail.low;
    struct pair log = multiply_exact(s, total.high);
    log.low += __builtin_fma(s, total.low, s_low * total.high);
    // and k ln 2
    struct pair sum = add_exact((double)k * LN2_0, log.high); // the product is exact
    double low = sum.low + log.low + (double)k * LN2_1;
    return add_quick(sum.high, low);
}

static double log_of(double x, int k)
{
    int more;
    double f = split(x, &more) - 1, s = f / (2 + f), z = s * s;
    k += more;
    double half = 0.5 * f * f, sum = s * (half + z * POLYNOMIAL(z, series));
    return k == 0 ? f - (half - sum) : (double)k * LN2_0 - ((half - (sum + (double)k * LN2_1)) - f);
}

double LEO_MATH_NAME(log)(double x)
{
    int k;
    double result;
    return is_special(&x, &k, &result) ? result : log_of(x, k);
}

float LEO_MATH_NAME(logf)(float x)
{
    int k;
    double wide = (double)x, result; // a float is normal in double
    return (float)(is_special(&wide, &k, &result) ? result : leo_math_log_short(wide));
}

/** Logarithm to another base, of which 1 / ln is high + low. */
static double log_to_base(double x, double high, double low)
{
    int k;
    double result;
    if (is_special(&x, &k, &result)) {
        return result;
    }
    struct pair log = leo_math_log_pair(x);
    struct pair product = multiply_exact(log.high, high);
    product.low += __builtin_fma(log.high, low, log.low * high);
    if (k) { // 2^k was taken out: rare, and |result| is large
        return product.high + (product.low + (double)k * LN2_FULL_0 * high);
    }
    return product.high + product.low;
}

double LEO_MATH_NAME(log2)(double x)
{
    return log_to_base(x, LOG2_E_0, LOG2_E_1);
}

double LEO_MATH_NAME(log10)(double x)
{
    return log_to_base(x, LOG10_E_0, LOG10_E_1);
}

float LEO_MATH_NAME(log2f)(float x)
{
    int k;
    double wide = (double)x, result;
    return (float)(is_special(&wide, &k, &result) ? result : leo_math_log_short(wide) * LOG2_E_0);
}

float LEO_MATH_NAME(log10f)(float x)
{
    int k;
    double wide = (double)x, result;
    return (float)(is_special(&wide, &k, &result) ? result : leo_math_log_short(wide) * LOG10_E_0);
}

double LEO_MATH_NAME(log1p)(double x)
{
    if (!(x > -1)) {
        return x == -1 ? -F64_INF : x != x ? x + x : F64_NAN;
    }
    if (x == F64_INF || (x < 0x1p-54 && x > -0x1p-54)) {
        return x;
    }
    // ln(1 + x) = ln(u) + low / u with u + low = 1 + x exactly.
    struct pair u = x < 1 ? add_quick(1, x) : add_exact(x, 1);
    if (u.high < 1.4 && u.high > 0.71) { // f = x itself: nothing of it is lost
        double s = x / (2 + x), z = s * s, half = 0.5 * x * x;
        return x - (half - s * (half + z * POLYNOMIAL(z, series)));
    }
    return log_of(u.high, 0) + u.low / u.high;
}

float LEO_MATH_NAME(log1pf)(float x)
{
    return (float)LEO_MATH_NAME(log1p)((double)x);
}
