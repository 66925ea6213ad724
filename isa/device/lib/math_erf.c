/* SPDX-License-Identifier: Apache-2.0 */
/* erf and erfc: a polynomial near 0, exp(-x * x) times a smooth function further out
 * (math_tables.py). */
#include "math_inside.h"

#include "math_tables.h"

/** erfc(x), 0.5 <= x < 28 */
static double erfc_far(double x)
{
    struct pair square = multiply_exact(x, x);
    double smooth = POLYNOMIAL((x - 4) / (x + 4), erfc_scaled) / (1 + 2 * x);
    return leo_math_exp(-square.high, -square.low) * smooth;
}

double LEO_MATH_NAME(erf)(double x)
{
    double size = __builtin_fabs(x);
    if (x != x) {
        return x + x;
    }
    if (size < 1) {
        return x * POLYNOMIAL(x * x, erf_small);
    }
    return __builtin_copysign(size < 6 ? 1 - erfc_far(size) : 1, x); // erfc(6) is below 2^-54
}

double LEO_MATH_NAME(erfc)(double x)
{
    if (x != x) {
        return x + x;
    }
    if (x < 0.5) {
        return x < -0.5 ? (x > -6 ? 2 - erfc_far(-x) : 2) : 1 - x * POLYNOMIAL(x * x, erf_small);
    }
    return x < 28 ? erfc_far(x) : 0;
}

float LEO_MATH_NAME(erff)(float x)
{
    double wide = (double)x, size = __builtin_fabs(wide);
    if (size < 1) {
        return (float)(wide * POLYNOMIAL(wide * wide, erf_small));
    }
    return (float)LEO_MATH_NAME(erf)(wide);
}

float LEO_MATH_NAME(erfcf)(float x)
{
    return (float)LEO_MATH_NAME(erfc)((double)x);
}
