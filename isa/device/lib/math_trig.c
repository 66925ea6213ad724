/* SPDX-License-Identifier: Apache-2.0 */
/* sin, cos, tan: the argument less a multiple of pi / 2, then series. */
#include "math_inside.h"

#include "math_tables.h"

__extension__ typedef unsigned __int128 u128;

/** (-1)^n / (2 n + 1)! from n = 1 on, and (-1)^n / (2 n)! from n = 2 on; |r| < 0.79: the first left
 * out are below 2^-62 of the result. */
static const double sine[] = {
    -1. / 6,        1. / 120,        -1. / 5040,           1. / 362880,
    -1. / 39916800, 1. / 6227020800, -1. / 1307674368000., 1. / 355687428096000.,
};
static const double cosine[] = {
    1. / 24,        -1. / 720,          1. / 40320,           -1. / 3628800,
    1. / 479001600, -1. / 87178291200., 1. / 20922789888000., -1. / 6402373705728000.,
};

/** Below, the multiple of pi / 2 has so few bits that its product with each part of pi / 2 is told
 * exactly. */
#define REDUCE_BY_PARTS 0x1p28

/** Larger arguments: x = m 2^e with a whole m, times the bits of 2 / pi that matter. */
static struct pair reduce_large(double x, unsigned *quadrant)
{
    uint64_t m = (bits_of(x) & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int e = (int)(bits_of(x) >> 52 & 0x7ff) - 1075;
    // Bits of 2 / pi whose product with m 2^e is a multiple of 4 do not matter: 256 bits from there
    // on, and of the product those behind two of whole quarters. A word of zeros stands in front.
    unsigned first = (unsigned)(e - 2 + 64), word = first / 64, shift = first % 64;
    uint64_t w[4];
    for (unsigned i = 0; i < 4; i++) {
        uint64_t high = word + i > 0 ? two_over_pi_bits[word + i - 1] : 0;
        w[i] = shift ? high << shift | two_over_pi_bits[word + i] >> (64 - shift) : high;
    }
    u128 low = (u128)m * w[3], middle = (u128)m * w[2] + (uint64_t)(low >> 64);
    u128 high = (u128)m * w[1] + (uint64_t)(middle >> 64);
    uint64_t top = m * w[0] + (uint64_t)(high >> 64), next = (uint64_t)high;
    *quadrant = (unsigned)(top >> 62);
    uint64_t fraction_high = top << 2 | next >> 62;
    uint64_t fraction_low = next << 2 | (uint64_t)middle >> 62;
    bool above = fraction_high >> 63; // to the nearest: from -1/2 to 1/2
    if (above) {
        *quadrant += 1;
        u128 rest = -((u128)fraction_high << 64 | fraction_low);
        fraction_high = (uint64_t)(rest >> 64);
        fraction_low = (uint64_t)rest;
    }
    // As a pair of doubles: 53 bits from the highest one, then what follows.
    u128 fraction = (u128)fraction_high << 64 | fraction_low;
    struct pair f = {0, 0};
    if (fraction) {
        int zeros =
            fraction_high ? __builtin_clzll(fraction_high) : 64 + __builtin_clzll(fraction_low);
        fraction <<= zeros;
        uint64_t head = (uint64_t)(fraction >> 75),
                 tail = (uint64_t)(fraction >> 22) & ((UINT64_C(1) << 53) - 1);
        f.high = (double)head * power_of_two(-53 - zeros);
        f.low = (double)tail * power_of_two(-106 - zeros);
    }
    struct pair r = multiply_exact(f.high, HALF_PI_0);
    r.low += __builtin_fma(f.high, HALF_PI_1, f.low * HALF_PI_0);
    r = add_quick(r.high, r.low);
    if (above != (x < 0)) {
        r = (struct pair){-r.high, -r.low};
    }
    *quadrant = (x < 0 ? 0 - *quadrant : *quadrant) & 3;
    return r;
}

struct pair leo_math_reduce(double x, unsigned *quadrant)
{
    double size = __builtin_fabs(x);
    if (size < 0x1.921fb54442d18p-1) { // pi / 4
        *quadrant = 0;
        return (struct pair){x, 0};
    }
    if (size >= REDUCE_BY_PARTS) {
        return reduce_large(x, quadrant);
    }
    double n = nearest(x * TWO_OVER_PI);
    double near = __builtin_fma(-n, HALF_PI_0, x); // exact: a multiple of 2^-53 below 1
    struct pair second = multiply_exact(-n, HALF_PI_1);
    struct pair r = add_exact(near, second.high);
    r.low += __builtin_fma(-n, HALF_PI_2, second.low);
    *quadrant = (unsigned)(int)n & 3;
    return add_quick(r.high, r.low);
}

static double sine_of(struct pair r)
{
    double x = r.high, z = x * x, rest = x * z * POLYNOMIAL(z, sine);
    return x + (rest + r.low * (1 - 0.5 * z));
}

static double cosine_of(struct pair r)
{
    double x = r.high, z = x * x, half = 0.5 * z, one = 1 - half;
    return one + (((1 - one) - half) + (z * z * POLYNOMIAL(z, cosine) - x * r.low));
}

/** The sine of a quarter turn `quadrants` further. */
static double turn(struct pair r, unsigned quadrants)
{
    double value = quadrants & 1 ? cosine_of(r) : sine_of(r);
    return quadrants & 2 ? -value : value;
}

static bool is_finite(double x)
{
    return __builtin_fabs(x) < F64_INF;
}

double LEO_MATH_NAME(sin)(double x)
{
    unsigned quadrant;
    if (x == 0 || !is_finite(x)) {
        return x == 0 ? x : x - x;
    }
    struct pair r = leo_math_reduce(x, &quadrant);
    return turn(r, quadrant);
}

double LEO_MATH_NAME(cos)(double x)
{
    unsigned quadrant;
    if (!is_finite(x)) {
        return x - x;
    }
    struct pair r = leo_math_reduce(x, &quadrant);
    return turn(r, quadrant + 1);
}

double LEO_MATH_NAME(tan)(double x)
{
    unsigned quadrant;
    if (x == 0 || !is_finite(x)) {
        return x == 0 ? x : x - x;
    }
    struct pair r = leo_math_reduce(x, &quadrant);
    double s = sine_of(r), c = cosine_of(r);
    return quadrant & 1 ? -c / s : s / c;
}

float LEO_MATH_NAME(sinf)(float x)
{
    return (float)LEO_MATH_NAME(sin)((double)x);
}

float LEO_MATH_NAME(cosf)(float x)
{
    return (float)LEO_MATH_NAME(cos)((double)x);
}

float LEO_MATH_NAME(tanf)(float x)
{
    return (float)LEO_MATH_NAME(tan)((double)x);
}
