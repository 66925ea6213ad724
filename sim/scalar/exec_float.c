/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point instructions: registers, NaN boxing and fcsr around softfloat.c. */
#include "decode.h"

/** The operand in f[reg]; a value that is not properly boxed counts as the canonical NaN. */
static uint64_t get_operand(const struct sim_scalar *scalar, unsigned reg,
                            enum sim_float_format format)
{
    uint64_t value = scalar->f[reg];
    unsigned width = sim_float_width(format);
    if (width == 64) {
        return value;
    }
    if (value >> width != UINT64_MAX >> width) {
        return sim_float_nan(format);
    }
    return value & ((UINT64_C(1) << width) - 1);
}

static uint64_t box(enum sim_float_format format, uint64_t bits)
{
    unsigned width = sim_float_width(format);
    return width == 64 ? bits : bits | UINT64_MAX << width;
}

static uint64_t fuse(enum sim_float_kind kind, enum sim_float_format format, uint64_t a, uint64_t b,
                     uint64_t c, struct sim_float_env *env)
{
    uint64_t sign = UINT64_C(1) << (sim_float_width(format) - 1);
    if (kind == SIM_FLOAT_NMSUB || kind == SIM_FLOAT_NMADD) {
        a ^= sign;
    }
    if (kind == SIM_FLOAT_MSUB || kind == SIM_FLOAT_NMADD) {
        c ^= sign;
    }
    return sim_float_fma(format, a, b, c, env);
}

/** A raw move to x: the low bits of f, sign-extended. */
static uint64_t extend(enum sim_float_format format, uint64_t value)
{
    unsigned shift = 64 - sim_float_width(format);
    return (uint64_t)((int64_t)(value << shift) >> shift);
}

bool sim_scalar_float(struct sim_scalar *scalar, const struct sim_scalar_op *op)
{
    enum sim_float_kind kind = (enum sim_float_kind)op->flt.kind;
    enum sim_float_format format = (enum sim_float_format)op->flt.format;
    enum sim_float_format source = (enum sim_float_format)op->flt.source;
    unsigned rm = op->flt.rm == SIM_RM_DYN ? scalar->fcsr >> 5 & 7 : op->flt.rm;
    if (rm >= SIM_RM_COUNT) {
        return false;
    }
    struct sim_float_env env = {(enum sim_float_rm)rm, 0};
    uint64_t a = get_operand(scalar, op->rs1, source);
    uint64_t b = get_operand(scalar, op->rs2, format);
    uint64_t x = scalar->x[op->rs1];
    uint64_t sign = UINT64_C(1) << (sim_float_width(format) - 1);
    uint64_t result = 0; // to f, boxed
    uint64_t *to_x = op->rd ? &scalar->x[op->rd] : &x;
    bool is_x = false; // the result goes to x
    switch (kind) {
    case SIM_FLOAT_ADD:
        result = sim_float_add(format, a, b, &env);
        break;
    case SIM_FLOAT_SUB:
        result = sim_float_add(format, a, b ^ sign, &env);
        break;
    case SIM_FLOAT_MUL:
        result = sim_float_mul(format, a, b, &env);
        break;
    case SIM_FLOAT_DIV:
        result = sim_float_div(format, a, b, &env);
        break;
    case SIM_FLOAT_SQRT:
        result = sim_float_sqrt(format, a, &env);
        break;
    case SIM_FLOAT_MADD:
    case SIM_FLOAT_MSUB:
    case SIM_FLOAT_NMSUB:
    case SIM_FLOAT_NMADD:
        result = fuse(kind, format, a, b, get_operand(scalar, op->flt.rs3, format), &env);
        break;
    case SIM_FLOAT_SGNJ:
        result = (a & ~sign) | (b & sign);
        break;
    case SIM_FLOAT_SGNJN:
        result = (a & ~sign) | (~b & sign);
        break;
    case SIM_FLOAT_SGNJX:
        result = a ^ (b & sign);
        break;
    case SIM_FLOAT_MIN:
        result = sim_float_min(format, a, b, &env);
        break;
    case SIM_FLOAT_MAX:
        result = sim_float_max(format, a, b, &env);
        break;
    case SIM_FLOAT_MV_F_X:
        result = x;
        break;
    case SIM_FLOAT_CVT_F_W:
    case SIM_FLOAT_CVT_F_WU:
    case SIM_FLOAT_CVT_F_L:
    case SIM_FLOAT_CVT_F_LU:
        result =
            sim_float_from_int(format, (enum sim_float_int)(kind - SIM_FLOAT_CVT_F_W), x, &env);
        break;
    case SIM_FLOAT_CVT_F_F:
        result = sim_float_convert(format, source, a, &env);
        break;
    case SIM_FLOAT_LE:
    case SIM_FLOAT_LT:
    case SIM_FLOAT_EQ:
        is_x = true;
        *to_x = kind == SIM_FLOAT_LE   ? sim_float_le(format, a, b, &env)
                : kind == SIM_FLOAT_LT ? sim_float_lt(format, a, b, &env)
                                       : sim_float_eq(format, a, b, &env);
        break;
    case SIM_FLOAT_CLASS:
        is_x = true;
        *to_x = sim_float_classify(format, a);
        break;
    case SIM_FLOAT_MV_X_F:
        is_x = true;
        *to_x = extend(format, scalar->f[op->rs1]);
        break;
    case SIM_FLOAT_CVT_W_F:
    case SIM_FLOAT_CVT_WU_F:
    case SIM_FLOAT_CVT_L_F:
    case SIM_FLOAT_CVT_LU_F:
        is_x = true;
        *to_x = sim_float_to_int((enum sim_float_int)(kind - SIM_FLOAT_CVT_W_F), format, a, &env);
        break;
    }
    if (!is_x) {
        scalar->f[op->rd] = box(format, result);
    }
    scalar->fcsr |= env.flags;
    return true;
}
