/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of <math.h> and what is built on them for expressions of rows, by class as in
 * pointwise_math.h. On the device <math.h> is the library of kernels (docs/kernel_library.md), in
 * the reference the host's.
 */
#pragma once

#include "pointwise_math.h"

#include <math.h>

static inline float pw_exp_f(float a)
{
    return expf(a);
}
static inline double pw_exp_d(double a)
{
    return exp(a);
}
static inline float pw_exp2_f(float a)
{
    return exp2f(a);
}
static inline double pw_exp2_d(double a)
{
    return exp2(a);
}
static inline float pw_expm1_f(float a)
{
    return expm1f(a);
}
static inline double pw_expm1_d(double a)
{
    return expm1(a);
}
static inline float pw_log_f(float a)
{
    return logf(a);
}
static inline double pw_log_d(double a)
{
    return log(a);
}
static inline float pw_log2_f(float a)
{
    return log2f(a);
}
static inline double pw_log2_d(double a)
{
    return log2(a);
}
static inline float pw_log10_f(float a)
{
    return log10f(a);
}
static inline double pw_log10_d(double a)
{
    return log10(a);
}
static inline float pw_log1p_f(float a)
{
    return log1pf(a);
}
static inline double pw_log1p_d(double a)
{
    return log1p(a);
}
static inline float pw_sin_f(float a)
{
    return sinf(a);
}
static inline double pw_sin_d(double a)
{
    return sin(a);
}
static inline float pw_cos_f(float a)
{
    return cosf(a);
}
static inline double pw_cos_d(double a)
{
    return cos(a);
}
static inline float pw_tan_f(float a)
{
    return tanf(a);
}
static inline double pw_tan_d(double a)
{
    return tan(a);
}
static inline float pw_asin_f(float a)
{
    return asinf(a);
}
static inline double pw_asin_d(double a)
{
    return asin(a);
}
static inline float pw_acos_f(float a)
{
    return acosf(a);
}
static inline double pw_acos_d(double a)
{
    return acos(a);
}
static inline float pw_atan_f(float a)
{
    return atanf(a);
}
static inline double pw_atan_d(double a)
{
    return atan(a);
}
static inline float pw_sinh_f(float a)
{
    return sinhf(a);
}
static inline double pw_sinh_d(double a)
{
    return sinh(a);
}
static inline float pw_cosh_f(float a)
{
    return coshf(a);
}
static inline double pw_cosh_d(double a)
{
    return cosh(a);
}
static inline float pw_tanh_f(float a)
{
    return tanhf(a);
}
static inline double pw_tanh_d(double a)
{
    return tanh(a);
}
static inline float pw_erf_f(float a)
{
    return erff(a);
}
static inline double pw_erf_d(double a)
{
    return erf(a);
}
static inline float pw_erfc_f(float a)
{
    return erfcf(a);
}
static inline double pw_erfc_d(double a)
{
    return erfc(a);
}
static inline float pw_atan2_f(float a, float b)
{
    return atan2f(a, b);
}
static inline double pw_atan2_d(double a, double b)
{
    return atan2(a, b);
}
static inline float pw_fmod_f(float a, float b)
{
    return fmodf(a, b);
}
static inline double pw_fmod_d(double a, double b)
{
    return fmod(a, b);
}
static inline float pw_pow_f(float a, float b)
{
    return powf(a, b);
}
static inline double pw_pow_d(double a, double b)
{
    return pow(a, b);
}

/* Inverse hyperbolic functions; floats through double. */
static inline double pw_asinh_d(double a)
{
    const double x = fabs(a);
    return copysign(
        x > 0x1p28 ? log(x) + 0.69314718055994530942 : log1p(x + x * x / (1 + sqrt(x * x + 1))), a);
}
static inline double pw_acosh_d(double a)
{
    const double t = a - 1;
    if (a < 1) {
        return __builtin_nan("");
    }
    return a > 0x1p28 ? log(a) + 0.69314718055994530942 : log1p(t + sqrt(2 * t + t * t));
}
static inline double pw_atanh_d(double a)
{
    return 0.5 * copysign(log1p(2 * fabs(a) / (1 - fabs(a))), a);
}
static inline float pw_asinh_f(float a)
{
    return (float)pw_asinh_d((double)a);
}
static inline float pw_acosh_f(float a)
{
    return (float)pw_acosh_d((double)a);
}
static inline float pw_atanh_f(float a)
{
    return (float)pw_atanh_d((double)a);
}

/* Integers. A divisor of 0 gives 0, as integers have no infinity. */
static inline int64_t pw_fmod_i(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}
/* Powers wrap around; a negative exponent leaves what rounds towards zero. */
static inline int64_t pw_pow_i(int64_t a, int64_t b)
{
    uint64_t power = 1, factor = (uint64_t)a;
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    }
    for (; b; b >>= 1) {
        power *= b & 1 ? factor : 1;
        factor *= factor;
    }
    return (int64_t)power;
}
static inline int64_t pw_gcd_i(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}

/* Modulo with the sign of the divisor. */
static inline float pw_remainder_f(float a, float b)
{
    const float r = fmodf(a, b);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
static inline double pw_remainder_d(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}
static inline int64_t pw_remainder_i(int64_t a, int64_t b)
{
    const int64_t r = pw_fmod_i(a, b);
    return r != 0 && (b < 0) != (r < 0) ? r + b : r;
}

/* Quotients rounded to zero and down; the latter so that a = floor_divide(a, b) * b + remainder(a,
 * b). */
static inline float pw_trunc_divide_f(float a, float b)
{
    return pw_trunc_f(a / b);
}
static inline double pw_trunc_divide_d(double a, double b)
{
    return pw_trunc_d(a / b);
}
static inline int64_t pw_trunc_divide_i(int64_t a, int64_t b)
{
    return pw_div_i(a, b);
}
static inline float pw_floor_divide_f(float a, float b)
{
    if (b == 0) {
        return a / b;
    }
    const float rest = pw_fmod_f(a, b), below = rest != 0 && (b < 0) != (rest < 0),
                quotient = (a - rest) / b - below, down = pw_floor_f(quotient);
    return quotient == 0 ? __builtin_copysignf(0, a / b) : quotient - down > 0.5f ? down + 1 : down;
}
static inline double pw_floor_divide_d(double a, double b)
{
    if (b == 0) {
        return a / b;
    }
    const double rest = pw_fmod_d(a, b), below = rest != 0 && (b < 0) != (rest < 0),
                 quotient = (a - rest) / b - below, down = pw_floor_d(quotient);
    return quotient == 0 ? __builtin_copysign(0, a / b) : quotient - down > 0.5 ? down + 1 : down;
}
static inline int64_t pw_floor_divide_i(int64_t a, int64_t b)
{
    return pw_div_i(a, b) - (pw_fmod_i(a, b) != 0 && (a < 0) != (b < 0));
}

/* log(e^a + e^b), log2(2^a + 2^b) without overflow. */
static inline double pw_logaddexp_d(double a, double b)
{
    const double most = pw_max_d(a, b);
    return pw_isinf_d(most) && a == b ? a : most + log1p(exp(-fabs(a - b)));
}
static inline float pw_logaddexp_f(float a, float b)
{
    const float most = pw_max_f(a, b);
    return pw_isinf_f(most) && a == b ? a : most + log1pf(expf(-fabsf(a - b)));
}
static inline double pw_logaddexp2_d(double a, double b)
{
    const double most = pw_max_d(a, b);
    return pw_isinf_d(most) && a == b ? a
                                      : most + log1p(exp2(-fabs(a - b))) * 1.44269504088896340736;
}
static inline float pw_logaddexp2_f(float a, float b)
{
    const float most = pw_max_f(a, b);
    return pw_isinf_f(most) && a == b ? a : most + log1pf(exp2f(-fabsf(a - b))) * 1.44269504f;
}

/* A division whose result may be off by more than its rounding (gen/functions.py). */
static inline double pw_over_d(double a, double b)
{
    return a / b;
}
static inline float pw_over_f(float a, float b)
{
    return a / b;
}

/* x tanh(log(1 + e^x)), and its gradient. */
static inline double pw_mish_d(double x)
{
    return x * tanh(x > 20 ? x : log1p(exp(x)));
}
static inline float pw_mish_f(float x)
{
    return x * tanhf(x > 20 ? x : log1pf(expf(x)));
}

static inline double pw_mish_gradient_d(double g, double x)
{
    const double t = tanh(x > 20 ? x : log1p(exp(x)));
    return g * (t + x * (1 - t * t) / (1 + exp(-x)));
}
static inline float pw_mish_gradient_f(float g, float x)
{
    const float t = tanhf(x > 20 ? x : log1pf(expf(x)));
    return g * (t + x * (1 - t * t) / (1 + expf(-x)));
}

/* x times the share of a normal distribution below it, by the tanh formula and by erf; gradients.
 */
static inline double pw_gelu_d(double x)
{
    return x / (1 + exp((-0.07135481627260024 * x * x - 1.5957691216057307) * x));
}
static inline float pw_gelu_f(float x)
{
    return x / (1 + expf((-0.07135481627260024f * x * x - 1.5957691216057307f) * x));
}

static inline double pw_gelu_gradient_d(double g, double x)
{
    const double s = fmin(x * x, 10000);
    const double p = 1 / (1 + exp((-0.07135481627260024 * s - 1.5957691216057307) * x));
    return g * ((0.21406444881780072 * s + 1.5957691216057307) * x * (p - p * p) + p);
}
static inline float pw_gelu_gradient_f(float g, float x)
{
    const float s = fminf(x * x, 10000);
    const float p = 1 / (1 + expf((-0.07135481627260024f * s - 1.5957691216057307f) * x));
    return g * ((0.21406444881780072f * s + 1.5957691216057307f) * x * (p - p * p) + p);
}

static inline double pw_gelu_erf_d(double x)
{
    return 0.5 * x * erfc(x * -0.70710678118654752440);
}
static inline float pw_gelu_erf_f(float x)
{
    return 0.5f * x * erfcf(x * -0.70710678118654752440f);
}

static inline double pw_gelu_erf_gradient_d(double g, double x)
{
    return g * (0.5 * erfc(x * -0.70710678118654752440) +
                x * 0.3989422804014326779 * exp(-0.5 * x * x));
}
static inline float pw_gelu_erf_gradient_f(float g, float x)
{
    return g * (0.5f * erfcf(x * -0.70710678118654752440f) +
                x * 0.3989422804014326779f * expf(-0.5f * x * x));
}

/* Inverse error function: Winitzki's start value, then three steps of Halley's method. */
static inline double pw_erfinv_d(double a)
{
    if (!(a > -1 && a < 1)) {
        return a == 1 ? __builtin_inf() : a == -1 ? -__builtin_inf() : __builtin_nan("");
    }
    const double l = log1p(-a * a), s = 4.33074675078998 + l / 2;
    double x = copysign(sqrt(sqrt(s * s - l / 0.147) - s), a);
    for (int i = 0; i < 3; i++) {
        const double error = a < 0.5 && a > -0.5 ? erf(x) - a
                             : a > 0             ? (1 - a) - erfc(x)
                                                 : erfc(-x) - (1 + a);
        const double step = error / (1.12837916709551257390 * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}
static inline float pw_erfinv_f(float a)
{
    return (float)pw_erfinv_d((double)a);
}
