/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the device math library. Functions of float compute in double (the scalar unit has it
 * at the same cost) and round once, so they are a hair above half a unit in the last place. No
 * function sets errno; exceptions are those that the arithmetic raises. fma and sqrt are
 * instructions.
 *
 * Tests compile these files for the host under other names (LEO_MATH_NAME).
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define F32_INF __builtin_inff()
#define F64_INF __builtin_inf()
#define F64_NAN __builtin_nan("")

/** A number as a sum: high is the double nearest to it. */
struct pair {
    double high, low;
};

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}

/** 2^k, -1022 <= k <= 1023. */
static inline double power_of_two(int k)
{
    return from_bits((uint64_t)(k + 1023) << 52);
}

/** x * 2^k with one rounding, for |k| < 2200 and 1/2 <= |x| < 4 or so. */
static inline double scale(double x, int k)
{
    if (k > 1000) {
        return x * 0x1p1000 * power_of_two(k - 1000 > 1000 ? 1000 : k - 1000);
    }
    if (k < -1000) {
        return k < -1140 ? x * 0x1p-1000 * 0x1p-1000 : x * power_of_two(k + 200) * 0x1p-200;
    }
    return x * power_of_two(k);
}

/** The integer nearest to x, |x| < 2^51. */
static inline double nearest(double x)
{
    return x + 0x1.8p52 - 0x1.8p52;
}

/** a + b without an error, |a| >= |b| or a = 0. */
static inline struct pair add_quick(double a, double b)
{
    double high = a + b;
    return (struct pair){high, b - (high - a)};
}

static inline struct pair add_exact(double a, double b)
{
    double high = a + b, part = high - a;
    return (struct pair){high, (a - (high - part)) + (b - part)};
}

static inline struct pair multiply_exact(double a, double b)
{
    double high = a * b;
    return (struct pair){high, __builtin_fma(a, b, -high)};
}

/** Value of the polynomial with these coefficients, the constant one first. */
static inline double polynomial(double x, const double *c, int count)
{
    double sum = c[count - 1];
    for (int i = count - 2; i >= 0; i--) {
        sum = __builtin_fma(sum, x, c[i]);
    }
    return sum;
}
#define POLYNOMIAL(x, c) polynomial(x, c, (int)(sizeof(c) / sizeof((c)[0])))

/* Shared between the files. */

/** exp(high + low), |high| < 1100, |low| small against it. */
double leo_math_exp(double high, double low);
/** exp(x) - 1 */
double leo_math_expm1(double x);
/** exp(x) for results of float: 2^-40 of it off; |x| < 700. */
double leo_math_exp_short(double x);
/** ln(x) for results of float; x normal and positive. */
double leo_math_log_short(double x);
/** ln(x) to about 2^-66 of it; x normal and positive. */
struct pair leo_math_log_pair(double x);
/** x minus the nearest multiple of pi / 2, and that multiple modulo 4. x finite. */
struct pair leo_math_reduce(double x, unsigned *quadrant);
double leo_math_atan(double x);
