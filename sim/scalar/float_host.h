/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point on the host, for the common case: frm is nearest even, operands are finite and
 * boxed, the result is normal (or an exact zero). Then the host's result has the same bits as
 * softfloat.c's, and the one exception is NX: kept if it is set already, else found by computing
 * the rounding error, which is exact in these cases. Each function returns false, having changed
 * nothing, when the case is not that one; the caller then asks sim_scalar_float.
 *
 * The host's own environment must be the one C programs start with (nearest, no flush to zero),
 * which the simulator never changes.
 */
#pragma once

#include "decode.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float and double operations must round to their type");

#define LEO_INLINE static inline __attribute__((always_inline))

enum { FCSR_RM = 0xe0 };

/** Results from here are surely not tiny, neither before nor after rounding: twice the smallest
 * normal number of the format. */
#define SURE_S 0x1p-125f
#define SURE_D 0x1p-1021
#define SURE_H 0x1p-13
/** Below, error terms of double operations are exact: 2^-1074 is still 106 bits away. */
#define SURE_ERROR_D 0x1p-900
#define HUGE_D       0x1p1021

LEO_INLINE float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}

LEO_INLINE double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

LEO_INLINE uint64_t bits_of_d(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

LEO_INLINE uint64_t bits_of_s(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits | UINT64_MAX << 32;
}

/** Raises NX if a rounded operation needs it. */
LEO_INLINE void raise_inexact(struct sim_scalar *scalar, bool inexact)
{
    scalar->fcsr |= inexact ? SIM_FLAG_NX : 0;
}

/** True if x + y == sum exactly, sum being x + y rounded, nothing overflowing. */
LEO_INLINE bool is_exact_sum(double x, double y, double sum)
{
    double part = sum - x;
    return (x - (sum - part)) + (y - part) == 0;
}

/* Was the operation inexact? 1, 0, or -1: cannot be told here. Called while NX is clear only. */

static int inexact_s(enum sim_float_kind kind, float x, float y, float z, float r)
{
    double product = (double)x * (double)y, sum; // exact
    switch ((int)kind) {
    case SIM_FLOAT_ADD:
        sum = (double)x + (double)y;
        return !is_exact_sum((double)x, (double)y, sum) || sum != (double)r;
    case SIM_FLOAT_MUL:
        return product != (double)r;
    case SIM_FLOAT_DIV:
        return (double)r * (double)y != (double)x;
    case SIM_FLOAT_SQRT:
        return (double)r * (double)r != (double)x;
    default: // fused
        sum = product + (double)z;
        return !is_exact_sum(product, (double)z, sum) || sum != (double)r;
    }
}

static int inexact_d(enum sim_float_kind kind, double x, double y, double z, double r)
{
    if (fabs(x) >= HUGE_D || fabs(y) >= HUGE_D || fabs(z) >= HUGE_D) {
        return -1;
    }
    double product;
    switch ((int)kind) {
    case SIM_FLOAT_ADD:
        return !is_exact_sum(x, y, r);
    case SIM_FLOAT_MUL:
        return r == 0 ? 0 : fabs(r) < SURE_ERROR_D ? -1 : fma(x, y, -r) != 0;
    case SIM_FLOAT_DIV:
        return fabs(x) < SURE_ERROR_D ? -1 : fma(r, y, -x) != 0;
    case SIM_FLOAT_SQRT:
        return x < SURE_ERROR_D ? -1 : fma(r, r, -x) != 0;
    default: // fused; told only if the product is exact
        product = x * y;
        if (fabs(product) < SURE_ERROR_D || fabs(product) >= HUGE_D || fma(x, y, -product) != 0) {
            return -1;
        }
        return !is_exact_sum(product, z, r);
    }
}

/* The end of an operation that rounds: the flag, the result. */

LEO_INLINE bool finish_s(struct sim_scalar *scalar, const struct sim_scalar_op *op,
                         enum sim_float_kind kind, float x, float y, float z, float r)
{
    if ((scalar->fcsr & (FCSR_RM | SIM_FLAG_NX)) != SIM_FLAG_NX) {
        int inexact = scalar->fcsr & FCSR_RM ? -1 : inexact_s(kind, x, y, z, r);
        if (inexact < 0) {
            return false;
        }
        raise_inexact(scalar, inexact);
    }
    scalar->f[op->rd] = bits_of_s(r);
    return true;
}

LEO_INLINE bool finish_d(struct sim_scalar *scalar, const struct sim_scalar_op *op,
                         enum sim_float_kind kind, double x, double y, double z, double r)
{
    if ((scalar->fcsr & (FCSR_RM | SIM_FLAG_NX)) != SIM_FLAG_NX) {
        int inexact = scalar->fcsr & FCSR_RM ? -1 : inexact_d(kind, x, y, z, r);
        if (inexact < 0) {
            return false;
        }
        raise_inexact(scalar, inexact);
    }
    scalar->f[op->rd] = bits_of_d(r);
    return true;
}

/* Operands. */

#define BOXED_S(bits) ((bits) >> 32 == UINT32_MAX)
#define BOXED_D(bits) true
#define BOXED_H(bits) ((bits) >> 16 == UINT64_MAX >> 16)

#define VALUE_S float_of
#define VALUE_D double_of

/** Of the normal results of rounding; false for NaN too. */
#define IS_SURE(F, r, type_max) (HOST_ABS_##F(r) >= SURE_##F && HOST_ABS_##F(r) <= (type_max))
#define HOST_ABS_S(x)           __builtin_fabsf(x)
#define HOST_ABS_D(x)           __builtin_fabs(x)
#define MAX_S                   FLT_MAX
#define MAX_D                   DBL_MAX

/** The functions of one of the two formats that the host has. */
#define HOST_FORMAT(F, type, finish, fma_fn, sqrt_fn, result_bits)                                 \
    LEO_INLINE bool host_sum_##F(struct sim_scalar *s, const struct sim_scalar_op *op,             \
                                 uint64_t flip)                                                    \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2];                                             \
        if (!BOXED_##F(a & b)) {                                                                   \
            return false;                                                                          \
        }                                                                                          \
        type x = VALUE_##F(a), y = VALUE_##F(b ^ flip), r = x + y;                                 \
        /* Sums that are tiny are exact. */                                                        \
        return HOST_ABS_##F(r) <= MAX_##F && finish(s, op, SIM_FLOAT_ADD, x, y, 0, r);             \
    }                                                                                              \
    LEO_INLINE bool host_ADD_##F##F(struct sim_scalar *s, const struct sim_scalar_op *op)          \
    {                                                                                              \
        return host_sum_##F(s, op, 0);                                                             \
    }                                                                                              \
    LEO_INLINE bool host_SUB_##F##F(struct sim_scalar *s, const struct sim_scalar_op *op)          \
    {                                                                                              \
        return host_sum_##F(s, op, SIGN_##F);                                                      \
    }                                                                                              \
    LEO_INLINE bool host_MUL_##F##F(struct sim_scalar *s, const struct sim_scalar_op *op)          \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2];                                             \
        type x = VALUE_##F(a), y = VALUE_##F(b), r = x * y;                                        \
        if (!BOXED_##F(a & b) || (!IS_SURE(F, r, MAX_##F) && !(r == 0 && (x == 0 || y == 0)))) {   \
            return false;                                                                          \
        }                                                                                          \
        return finish(s, op, SIM_FLOAT_MUL, x, y, 0, r);                                           \
    }                                                                                              \
    LEO_INLINE bool host_DIV_##F##F(struct sim_scalar *s, const struct sim_scalar_op *op)          \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2];                                             \
        type x = VALUE_##F(a), y = VALUE_##F(b);                                                   \
        if (!BOXED_##F(a & b) || y == 0) {                                                         \
            return false;                                                                          \
        }                                                                                          \
        type r = x / y;                                                                            \
        return IS_SURE(F, r, MAX_##F) && finish(s, op, SIM_FLOAT_DIV, x, y, 0, r);                 \
    }                                                                                              \
    LEO_INLINE bool host_SQRT_##F##F(struct sim_scalar *s, const struct sim_scalar_op *op)         \
    {                                                                                              \
        uint64_t a = s->f[op->rs1];                                                                \
        type x = VALUE_##F(a);                                                                     \
        if (!BOXED_##F(a) || !(x > 0) || x > MAX_##F) {                                            \
            return false;                                                                          \
        }                                                                                          \
        return finish(s, op, SIM_FLOAT_SQRT, x, 0, 0, sqrt_fn(x));                                 \
    }                                                                                              \
    LEO_INLINE bool host_fuse_##F(struct sim_scalar *s, const struct sim_scalar_op *op,            \
                                  uint64_t flip_a, uint64_t flip_c)                                \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2], c = s->f[op->flt.rs3];                      \
        if (!BOXED_##F(a & b & c)) {                                                               \
            return false;                                                                          \
        }                                                                                          \
        type x = VALUE_##F(a ^ flip_a), y = VALUE_##F(b), z = VALUE_##F(c ^ flip_c);               \
        type r = fma_fn(x, y, z);                                                                  \
        return IS_SURE(F, r, MAX_##F) && finish(s, op, SIM_FLOAT_MADD, x, y, z, r);                \
    }                                                                                              \
    LEO_INLINE bool host_order_##F(struct sim_scalar *s, const struct sim_scalar_op *op, type *x,  \
                                   type *y)                                                        \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2];                                             \
        *x = VALUE_##F(a);                                                                         \
        *y = VALUE_##F(b);                                                                         \
        return BOXED_##F(a & b) && !__builtin_isunordered(*x, *y);                                 \
    }                                                                                              \
    LEO_INLINE bool host_to_int_##F(struct sim_scalar *s, const struct sim_scalar_op *op,          \
                                    enum sim_float_int to)                                         \
    {                                                                                              \
        uint64_t a = s->f[op->rs1];                                                                \
        type x = VALUE_##F(a), back;                                                               \
        uint64_t result;                                                                           \
        static const double most[] = {0x1p31, 0x1p32, 0x1p63, 0x1p64};                             \
        bool is_signed = to == SIM_INT_W || to == SIM_INT_L;                                       \
        if (!BOXED_##F(a) || !(x < (type)most[to]) || !(x > (is_signed ? -(type)most[to] : -1))) { \
            return false;                                                                          \
        }                                                                                          \
        if (is_signed) {                                                                           \
            result = (uint64_t)(int64_t)x;                                                         \
            back = (type)(int64_t)result;                                                          \
        } else {                                                                                   \
            result = (uint64_t)x;                                                                  \
            back = (type)result;                                                                   \
        }                                                                                          \
        raise_inexact(s, back != x);                                                               \
        s->x[op->rd] = to == SIM_INT_WU ? (uint64_t)(int64_t)(int32_t)(uint32_t)result : result;   \
        return true;                                                                               \
    }                                                                                              \
    LEO_INLINE bool host_from_int_##F(struct sim_scalar *s, const struct sim_scalar_op *op,        \
                                      enum sim_float_int from)                                     \
    {                                                                                              \
        uint64_t a = s->x[op->rs1];                                                                \
        bool exact;                                                                                \
        type r;                                                                                    \
        if (from == SIM_INT_W || from == SIM_INT_L) {                                              \
            int64_t value = from == SIM_INT_W ? (int32_t)(uint32_t)a : (int64_t)a;                 \
            r = (type)value;                                                                       \
            exact = r < (type)0x1p63 && (int64_t)r == value;                                       \
        } else {                                                                                   \
            uint64_t value = from == SIM_INT_WU ? (uint32_t)a : a;                                 \
            r = (type)value;                                                                       \
            exact = r < (type)0x1p64 && (uint64_t)r == value;                                      \
        }                                                                                          \
        if (s->fcsr & FCSR_RM) {                                                                   \
            return false;                                                                          \
        }                                                                                          \
        raise_inexact(s, !exact);                                                                  \
        s->f[op->rd] = result_bits(r);                                                             \
        return true;                                                                               \
    }

#define SIGN_S (UINT64_C(1) << 31)
#define SIGN_D (UINT64_C(1) << 63)
#define SIGN_H (UINT64_C(1) << 15)
HOST_FORMAT(S, float, finish_s, __builtin_fmaf, __builtin_sqrtf, bits_of_s)
HOST_FORMAT(D, double, finish_d, __builtin_fma, __builtin_sqrt, bits_of_d)
