/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <math.h> for kernels, computed by the scalar unit (isa/device/lib/math_*.c). Accuracy is in
 * docs/kernel_library.md; errno is not set. A pass for the host gets the host's own header.
 */
#if defined(__riscv) || defined(LEO_MATH_NAME)
#pragma once

#ifndef LEO_MATH_NAME
#define LEO_MATH_NAME(name) name
#define LEO_MATH_PLAIN      1
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define LEO_MATH_1(name)                                                                           \
    double LEO_MATH_NAME(name)(double);                                                            \
    float LEO_MATH_NAME(name##f)(float);
#define LEO_MATH_2(name)                                                                           \
    double LEO_MATH_NAME(name)(double, double);                                                    \
    float LEO_MATH_NAME(name##f)(float, float);

LEO_MATH_1(exp)
LEO_MATH_1(exp2)
LEO_MATH_1(expm1)
LEO_MATH_1(log)
LEO_MATH_1(log2)
LEO_MATH_1(log10)
LEO_MATH_1(log1p)
LEO_MATH_2(pow)
LEO_MATH_1(sqrt)
LEO_MATH_1(cbrt)
LEO_MATH_2(hypot)
LEO_MATH_1(sin)
LEO_MATH_1(cos)
LEO_MATH_1(tan)
LEO_MATH_1(asin)
LEO_MATH_1(acos)
LEO_MATH_1(atan)
LEO_MATH_2(atan2)
LEO_MATH_1(sinh)
LEO_MATH_1(cosh)
LEO_MATH_1(tanh)
LEO_MATH_1(erf)
LEO_MATH_1(erfc)
LEO_MATH_1(floor)
LEO_MATH_1(ceil)
LEO_MATH_1(trunc)
LEO_MATH_1(round)
LEO_MATH_1(rint)
LEO_MATH_1(nearbyint)
LEO_MATH_2(fmod)
LEO_MATH_2(fdim)
#undef LEO_MATH_1
#undef LEO_MATH_2

long LEO_MATH_NAME(lround)(double);
long LEO_MATH_NAME(lroundf)(float);
long LEO_MATH_NAME(lrint)(double);
long LEO_MATH_NAME(lrintf)(float);
double LEO_MATH_NAME(ldexp)(double, int);
float LEO_MATH_NAME(ldexpf)(float, int);
double LEO_MATH_NAME(scalbn)(double, int);
float LEO_MATH_NAME(scalbnf)(float, int);
double LEO_MATH_NAME(frexp)(double, int *);
float LEO_MATH_NAME(frexpf)(float, int *);
double LEO_MATH_NAME(modf)(double, double *);
float LEO_MATH_NAME(modff)(float, float *);

#ifdef LEO_MATH_PLAIN

/* These are one or two instructions. */
#define LEO_MATH_INLINE static inline __attribute__((always_inline, unused))
LEO_MATH_INLINE double fabs(double x)
{
    return __builtin_fabs(x);
}
LEO_MATH_INLINE float fabsf(float x)
{
    return __builtin_fabsf(x);
}
LEO_MATH_INLINE double copysign(double x, double y)
{
    return __builtin_copysign(x, y);
}
LEO_MATH_INLINE float copysignf(float x, float y)
{
    return __builtin_copysignf(x, y);
}
LEO_MATH_INLINE double fmin(double x, double y)
{
    return __builtin_fmin(x, y);
}
LEO_MATH_INLINE float fminf(float x, float y)
{
    return __builtin_fminf(x, y);
}
LEO_MATH_INLINE double fmax(double x, double y)
{
    return __builtin_fmax(x, y);
}
LEO_MATH_INLINE float fmaxf(float x, float y)
{
    return __builtin_fmaxf(x, y);
}
LEO_MATH_INLINE double fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
LEO_MATH_INLINE float fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

#define HUGE_VAL    __builtin_huge_val()
#define HUGE_VALF   __builtin_huge_valf()
#define INFINITY    __builtin_inff()
#define NAN         __builtin_nanf("")
#define isnan(x)    __builtin_isnan(x)
#define isinf(x)    __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x)  __builtin_signbit(x)

#define M_E        2.71828182845904523536
#define M_LOG2E    1.44269504088896340736
#define M_LOG10E   0.43429448190325182765
#define M_LN2      0.69314718055994530942
#define M_LN10     2.30258509299404568402
#define M_PI       3.14159265358979323846
#define M_PI_2     1.57079632679489661923
#define M_PI_4     0.78539816339744830962
#define M_1_PI     0.31830988618379067154
#define M_2_PI     0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2    1.41421356237309504880
#define M_SQRT1_2  0.70710678118654752440
#endif

#ifdef __cplusplus
}
#endif
#else
#include_next <math.h>
#endif
