/* SPDX-License-Identifier: Apache-2.0 */
/* host_<kind>_<format><source> for every row of host_floats.def. */
#pragma once

#include "float_host_half.h"

#define HOST_FUNCTION(name)                                                                        \
    LEO_INLINE bool host_##name(struct sim_scalar *s, const struct sim_scalar_op *op)

#define HOST_DERIVED(F, type, bits, width)                                                         \
    HOST_FUNCTION(MADD_##F##F)                                                                     \
    {                                                                                              \
        return host_fuse_##F(s, op, 0, 0);                                                         \
    }                                                                                              \
    HOST_FUNCTION(MSUB_##F##F)                                                                     \
    {                                                                                              \
        return host_fuse_##F(s, op, 0, SIGN_##F);                                                  \
    }                                                                                              \
    HOST_FUNCTION(NMSUB_##F##F)                                                                    \
    {                                                                                              \
        return host_fuse_##F(s, op, SIGN_##F, 0);                                                  \
    }                                                                                              \
    HOST_FUNCTION(NMADD_##F##F)                                                                    \
    {                                                                                              \
        return host_fuse_##F(s, op, SIGN_##F, SIGN_##F);                                           \
    }                                                                                              \
    LEO_INLINE bool host_sign_##F(struct sim_scalar *s, const struct sim_scalar_op *op,            \
                                  uint64_t keep, uint64_t flip)                                    \
    {                                                                                              \
        uint64_t a = s->f[op->rs1], b = s->f[op->rs2];                                             \
        if (!BOXED_##F(a & b)) {                                                                   \
            return false;                                                                          \
        }                                                                                          \
        s->f[op->rd] = (a & ~(SIGN_##F & ~keep)) ^ ((b ^ flip) & SIGN_##F);                        \
        return true;                                                                               \
    }                                                                                              \
    HOST_FUNCTION(SGNJ_##F##F)                                                                     \
    {                                                                                              \
        return host_sign_##F(s, op, 0, 0);                                                         \
    }                                                                                              \
    HOST_FUNCTION(SGNJN_##F##F)                                                                    \
    {                                                                                              \
        return host_sign_##F(s, op, 0, UINT64_MAX);                                                \
    }                                                                                              \
    HOST_FUNCTION(SGNJX_##F##F)                                                                    \
    {                                                                                              \
        return host_sign_##F(s, op, UINT64_MAX, 0);                                                \
    }                                                                                              \
    LEO_INLINE bool host_pick_##F(struct sim_scalar *s, const struct sim_scalar_op *op, bool most) \
    {                                                                                              \
        type x, y;                                                                                 \
        if (!host_order_##F(s, op, &x, &y) || x == y) { /* zeros have an order there */            \
            return false;                                                                          \
        }                                                                                          \
        s->f[op->rd] = s->f[(x < y) != most ? op->rs1 : op->rs2];                                  \
        return true;                                                                               \
    }                                                                                              \
    HOST_FUNCTION(MIN_##F##F)                                                                      \
    {                                                                                              \
        return host_pick_##F(s, op, false);                                                        \
    }                                                                                              \
    HOST_FUNCTION(MAX_##F##F)                                                                      \
    {                                                                                              \
        return host_pick_##F(s, op, true);                                                         \
    }                                                                                              \
    HOST_FUNCTION(LE_##F##F)                                                                       \
    {                                                                                              \
        type x, y;                                                                                 \
        return host_order_##F(s, op, &x, &y) && (s->x[op->rd] = x <= y, true);                     \
    }                                                                                              \
    HOST_FUNCTION(LT_##F##F)                                                                       \
    {                                                                                              \
        type x, y;                                                                                 \
        return host_order_##F(s, op, &x, &y) && (s->x[op->rd] = x < y, true);                      \
    }                                                                                              \
    HOST_FUNCTION(EQ_##F##F)                                                                       \
    {                                                                                              \
        type x, y;                                                                                 \
        return host_order_##F(s, op, &x, &y) && (s->x[op->rd] = x == y, true);                     \
    }                                                                                              \
    HOST_FUNCTION(MV_X_F_##F##F)                                                                   \
    {                                                                                              \
        s->x[op->rd] = (uint64_t)(int##width##_t)(uint##width##_t)s->f[op->rs1];                   \
        return true;                                                                               \
    }                                                                                              \
    HOST_FUNCTION(MV_F_X_##F##F)                                                                   \
    {                                                                                              \
        s->f[op->rd] = s->x[op->rs1] | bits;                                                       \
        return true;                                                                               \
    }

HOST_DERIVED(H, double, UINT64_MAX << 16, 16)
HOST_DERIVED(S, float, UINT64_MAX << 32, 32)
HOST_DERIVED(D, double, 0, 64)

#define HOST_CONVERSIONS(F)                                                                        \
    HOST_FUNCTION(CVT_W_F_##F##F)                                                                  \
    {                                                                                              \
        return host_to_int_##F(s, op, SIM_INT_W);                                                  \
    }                                                                                              \
    HOST_FUNCTION(CVT_WU_F_##F##F)                                                                 \
    {                                                                                              \
        return host_to_int_##F(s, op, SIM_INT_WU);                                                 \
    }                                                                                              \
    HOST_FUNCTION(CVT_L_F_##F##F)                                                                  \
    {                                                                                              \
        return host_to_int_##F(s, op, SIM_INT_L);                                                  \
    }                                                                                              \
    HOST_FUNCTION(CVT_LU_F_##F##F)                                                                 \
    {                                                                                              \
        return host_to_int_##F(s, op, SIM_INT_LU);                                                 \
    }                                                                                              \
    HOST_FUNCTION(CVT_F_W_##F##F)                                                                  \
    {                                                                                              \
        return host_from_int_##F(s, op, SIM_INT_W);                                                \
    }                                                                                              \
    HOST_FUNCTION(CVT_F_WU_##F##F)                                                                 \
    {                                                                                              \
        return host_from_int_##F(s, op, SIM_INT_WU);                                               \
    }                                                                                              \
    HOST_FUNCTION(CVT_F_L_##F##F)                                                                  \
    {                                                                                              \
        return host_from_int_##F(s, op, SIM_INT_L);                                                \
    }                                                                                              \
    HOST_FUNCTION(CVT_F_LU_##F##F)                                                                 \
    {                                                                                              \
        return host_from_int_##F(s, op, SIM_INT_LU);                                               \
    }

HOST_CONVERSIONS(S)
HOST_CONVERSIONS(D)

HOST_FUNCTION(CVT_F_F_DS)
{
    uint64_t a = s->f[op->rs1];
    float x = float_of(a);
    if (!BOXED_S(a) || x != x) {
        return false;
    }
    s->f[op->rd] = bits_of_d((double)x);
    return true;
}

HOST_FUNCTION(CVT_F_F_SD)
{
    double x = double_of(s->f[op->rs1]);
    float r = (float)x;
    if (s->fcsr & FCSR_RM || (!IS_SURE(S, r, FLT_MAX) && x != 0)) {
        return false;
    }
    raise_inexact(s, (double)r != x);
    s->f[op->rd] = bits_of_s(r);
    return true;
}
