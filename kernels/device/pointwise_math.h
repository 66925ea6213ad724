/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that expressions of kernels/rows may call. gen/pointwise.py appends the class: max(a,
 * b) becomes pw_max_f, pw_max_d or pw_max_i. The reference (kernels/ref) has functions of the same
 * names made from the host's libm.
 */
#pragma once

#include <stdint.h>

/* Minimum and maximum: a NaN wins. */
static inline float pw_max_f(float a, float b)
{
    return a != a || a > b ? a : b;
}
static inline double pw_max_d(double a, double b)
{
    return a != a || a > b ? a : b;
}
static inline int64_t pw_max_i(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline float pw_min_f(float a, float b)
{
    return a != a || a < b ? a : b;
}
static inline double pw_min_d(double a, double b)
{
    return a != a || a < b ? a : b;
}
static inline int64_t pw_min_i(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline float pw_abs_f(float a)
{
    return __builtin_fabsf(a);
}
static inline double pw_abs_d(double a)
{
    return __builtin_fabs(a);
}
static inline int64_t pw_abs_i(int64_t a)
{
    return (int64_t)(a < 0 ? 0 - (uint64_t)a : (uint64_t)a);
}
static inline float pw_sqrt_f(float a)
{
    return __builtin_sqrtf(a);
}
static inline double pw_sqrt_d(double a)
{
    return __builtin_sqrt(a);
}
/* Division of integers: 0 if the divisor is 0, as integers have no infinity. */
static inline int64_t pw_div_i(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
