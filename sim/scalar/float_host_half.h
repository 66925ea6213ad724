/* SPDX-License-Identifier: Apache-2.0 */
/* Halves on the host: a half is a double; sums and products of two are exact there, and quotients
 * and roots have more than twice its 11 bits, so that rounding again gives the right half. */
#pragma once

#include "float_host.h"

/** A finite half; false for the others, and for what is not boxed. */
LEO_INLINE bool get_half(const struct sim_scalar *scalar, unsigned reg, uint64_t flip,
                         double *value)
{
    uint64_t bits = scalar->f[reg] ^ flip;
    uint64_t sign = (bits & 0x8000) << 48, exp = bits >> 10 & 31, mantissa = bits & 0x3ff;
    if (!BOXED_H(bits) || exp == 31) {
        return false;
    }
    if (exp == 0) {
        double magnitude = (double)mantissa * 0x1p-24;
        *value = sign ? -magnitude : magnitude;
        return true;
    }
    *value = double_of(sign | (exp + 1008) << 52 | mantissa << 42);
    return true;
}

/** Rounds; false unless the result is surely normal, or zero because the value is. */
LEO_INLINE bool to_half(double value, uint64_t *half, double *rounded)
{
    uint64_t bits = bits_of_d(value), sign = bits >> 63 << 15;
    if (value == 0) {
        *half = sign;
        *rounded = value;
        return true;
    }
    bits += (UINT64_C(1) << 41) - 1 + (bits >> 42 & 1);
    bits &= ~((UINT64_C(1) << 42) - 1);
    *rounded = double_of(bits);
    *half = sign | ((bits >> 42 & 0x1fffff) - (UINT64_C(1008) << 10));
    return __builtin_fabs(*rounded) >= SURE_H && __builtin_fabs(*rounded) <= 65504;
}

/** exact: value is the result of the operation, not yet rounded at all. */
LEO_INLINE bool finish_h(struct sim_scalar *scalar, const struct sim_scalar_op *op, double value,
                         bool exact)
{
    uint64_t half;
    double rounded;
    if (scalar->fcsr & FCSR_RM || !to_half(value, &half, &rounded)) {
        return false;
    }
    raise_inexact(scalar, !exact || rounded != value);
    scalar->f[op->rd] = half | UINT64_MAX << 16;
    return true;
}

LEO_INLINE bool host_sum_H(struct sim_scalar *s, const struct sim_scalar_op *op, uint64_t flip)
{
    double x, y;
    return get_half(s, op->rs1, 0, &x) && get_half(s, op->rs2, flip, &y) &&
           finish_h(s, op, x + y, true);
}

LEO_INLINE bool host_ADD_HH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    return host_sum_H(s, op, 0);
}

LEO_INLINE bool host_SUB_HH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    return host_sum_H(s, op, SIGN_H);
}

LEO_INLINE bool host_MUL_HH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    double x, y;
    return get_half(s, op->rs1, 0, &x) && get_half(s, op->rs2, 0, &y) &&
           finish_h(s, op, x * y, true);
}

LEO_INLINE bool host_DIV_HH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    double x, y;
    if (!get_half(s, op->rs1, 0, &x) || !get_half(s, op->rs2, 0, &y) || y == 0) {
        return false;
    }
    // A quotient of halves that fits a half is found exactly; the others are inexact anyway.
    double r = x / y;
    return finish_h(s, op, r, r * y == x);
}

LEO_INLINE bool host_SQRT_HH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    double x;
    if (!get_half(s, op->rs1, 0, &x) || !(x > 0)) {
        return false;
    }
    double r = __builtin_sqrt(x);
    return finish_h(s, op, r, r * r == x);
}

LEO_INLINE bool host_fuse_H(struct sim_scalar *s, const struct sim_scalar_op *op, uint64_t flip_a,
                            uint64_t flip_c)
{
    double x, y, z;
    if (!get_half(s, op->rs1, flip_a, &x) || !get_half(s, op->rs2, 0, &y) ||
        !get_half(s, op->flt.rs3, flip_c, &z)) {
        return false;
    }
    double product = x * y, sum = product + z;
    return is_exact_sum(product, z, sum) && finish_h(s, op, sum, true);
}

LEO_INLINE bool host_order_H(struct sim_scalar *s, const struct sim_scalar_op *op, double *x,
                             double *y)
{
    return get_half(s, op->rs1, 0, x) && get_half(s, op->rs2, 0, y);
}

LEO_INLINE bool host_CVT_F_F_SH(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    double x;
    if (!get_half(s, op->rs1, 0, &x)) {
        return false;
    }
    s->f[op->rd] = bits_of_s((float)x);
    return true;
}

LEO_INLINE bool host_CVT_F_F_HS(struct sim_scalar *s, const struct sim_scalar_op *op)
{
    uint64_t a = s->f[op->rs1];
    return BOXED_S(a) && finish_h(s, op, (double)float_of(a), true);
}
