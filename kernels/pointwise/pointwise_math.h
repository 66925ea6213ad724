/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that expressions of rows may call. gen/pointwise.py appends the class: max(a,
 * b) becomes pw_max_f, pw_max_d or pw_max_i. The reference (kernels/ref) has functions of the same
 * names made from the host's libm.
 */
#pragma once

#include <stdint.h>

/* Minimum and maximum as the vector unit has them: a NaN wins, max(+0, -0) is +0, min(+0, -0) is
 * -0. */
static inline float pw_max_f(float a, float b)
{
    return a == b ? (__builtin_signbitf(a) ? b : a) : a != a || a > b ? a : b;
}
static inline double pw_max_d(double a, double b)
{
    return a == b ? (__builtin_signbit(a) ? b : a) : a != a || a > b ? a : b;
}
static inline int64_t pw_max_i(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline float pw_min_f(float a, float b)
{
    return a == b ? (__builtin_signbitf(a) ? a : b) : a != a || a < b ? a : b;
}
static inline double pw_min_d(double a, double b)
{
    return a == b ? (__builtin_signbit(a) ? a : b) : a != a || a < b ? a : b;
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

/* Rounding. Beyond 2^23 (2^52) every number is an integer already; NaN and the infinities come back
 * as they are. */
static inline float pw_trunc_f(float a)
{
    return __builtin_fabsf(a) < 0x1p23f ? __builtin_copysignf((float)(int32_t)a, a) : a;
}
static inline double pw_trunc_d(double a)
{
    return __builtin_fabs(a) < 0x1p52 ? __builtin_copysign((double)(int64_t)a, a) : a;
}
static inline int64_t pw_trunc_i(int64_t a)
{
    return a;
}
static inline float pw_floor_f(float a)
{
    const float t = pw_trunc_f(a);
    return t > a ? t - 1 : t;
}
static inline double pw_floor_d(double a)
{
    const double t = pw_trunc_d(a);
    return t > a ? t - 1 : t;
}
static inline int64_t pw_floor_i(int64_t a)
{
    return a;
}
static inline float pw_ceil_f(float a)
{
    const float t = pw_trunc_f(a);
    return t < a ? __builtin_copysignf(t + 1, a) : t;
}
static inline double pw_ceil_d(double a)
{
    const double t = pw_trunc_d(a);
    return t < a ? __builtin_copysign(t + 1, a) : t;
}
static inline int64_t pw_ceil_i(int64_t a)
{
    return a;
}
/* To the nearest integer, half to even: adding 2^23 (2^52) leaves no room for a fraction. */
static inline float pw_rint_f(float a)
{
    const float big = __builtin_copysignf(0x1p23f, a);
    return __builtin_fabsf(a) < 0x1p23f ? __builtin_copysignf((a + big) - big, a) : a;
}
static inline double pw_rint_d(double a)
{
    const double big = __builtin_copysign(0x1p52, a);
    return __builtin_fabs(a) < 0x1p52 ? __builtin_copysign((a + big) - big, a) : a;
}
static inline int64_t pw_rint_i(int64_t a)
{
    return a;
}

/* Kinds of numbers. */
static inline int pw_isnan_f(float a)
{
    return a != a;
}
static inline int pw_isnan_d(double a)
{
    return a != a;
}
static inline int pw_isnan_i(int64_t a)
{
    (void)a;
    return 0;
}
static inline int pw_isinf_f(float a)
{
    return __builtin_fabsf(a) == __builtin_inff();
}
static inline int pw_isinf_d(double a)
{
    return __builtin_fabs(a) == __builtin_inf();
}
static inline int pw_isinf_i(int64_t a)
{
    (void)a;
    return 0;
}
static inline int pw_isfinite_f(float a)
{
    return __builtin_fabsf(a) < __builtin_inff();
}
static inline int pw_isfinite_d(double a)
{
    return __builtin_fabs(a) < __builtin_inf();
}
static inline int pw_isfinite_i(int64_t a)
{
    (void)a;
    return 1;
}
static inline int pw_signbit_f(float a)
{
    return __builtin_copysignf(1, a) < 0;
}
static inline int pw_signbit_d(double a)
{
    return __builtin_copysign(1, a) < 0;
}
static inline int pw_signbit_i(int64_t a)
{
    return a < 0;
}

/* Shifts by more than the bits there are: nothing, or the sign, is left. */
static inline int64_t pw_shift_left_i(int64_t a, int64_t by)
{
    return by < 0 || by > 63 ? 0 : (int64_t)((uint64_t)a << by);
}
static inline int64_t pw_shift_right_i(int64_t a, int64_t by)
{
    return a >> (by < 0 || by > 63 ? 63 : by);
}
