/* SPDX-License-Identifier: Apache-2.0 */
/* Lane by lane: bits, shifts, fused multiply-adds, sums that stop at zero, results of half the
 * width. */
#include "reference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static int64_t integer_of(const void *lane, enum leo_dtype type)
{
    return (int64_t)reference_load(lane, type);
}

static void put_integer(void *lane, enum leo_dtype type, int64_t value)
{
    memcpy(lane, &value, reference_bytes(type)); // keeps the low bits: wraps
}

static bool is_integer(enum leo_dtype type)
{
    return type == LEO_DTYPE_S16 || type == LEO_DTYPE_U16 || type == LEO_DTYPE_S32 ||
           type == LEO_DTYPE_U32;
}

/** Larger of x and +0; NaN stays. */
static long double relu(long double x)
{
    return isnan(x) || x > 0 ? x : 0;
}

static void sum_relu(void *result, enum leo_dtype type, const void *a, const void *b, int sign)
{
    if (is_integer(type)) {
        put_integer(result, type, integer_of(a, type) + sign * integer_of(b, type));
        put_integer(result, type, (int64_t)relu((long double)integer_of(result, type)));
        return;
    }
    reference_store(result, type, relu(reference_load(a, type) + sign * reference_load(b, type)),
                    LEO_ROUND_RINT);
}

static void fused(void *result, enum leo_dtype type, enum leo_dtype factors, const void *x,
                  const void *y, const void *z, bool stops)
{
    const long double value =
        (long double)fmaf((float)reference_load(x, factors), (float)reference_load(y, factors),
                          (float)reference_load(z, type));
    reference_store(result, type, stops ? relu(value) : value, LEO_ROUND_RINT);
}

bool reference_lane3(const struct sim_op *op, enum leo_dtype type, enum leo_dtype src_type,
                     const void *a, const void *b, const void *old, void *result)
{
    switch (op->insn) {
    case LEO_INSN_VADDRELU:
        sum_relu(result, type, a, b, 1);
        return true;
    case LEO_INSN_VSUBRELU:
        sum_relu(result, type, a, b, -1);
        return true;
    case LEO_INSN_VAND:
        put_integer(result, type, integer_of(a, type) & integer_of(b, type));
        return true;
    case LEO_INSN_VOR:
        put_integer(result, type, integer_of(a, type) | integer_of(b, type));
        return true;
    case LEO_INSN_VMADD:
    case LEO_INSN_VMADDRELU:
        fused(result, type, type, old, a, b, op->insn == LEO_INSN_VMADDRELU);
        return true;
    case LEO_INSN_VMLA:
        fused(result, type, src_type, a, b, old, false);
        return true;
    default:
        return false;
    }
}

bool reference_lane2(const struct sim_op *op, enum leo_dtype type, unsigned mod, const void *src,
                     void *result)
{
    const int64_t x = is_integer(type) ? integer_of(src, type) : 0;
    const int width = (int)reference_bytes(type) * 8;
    const int distance = (uint32_t)op->c < (uint32_t)width ? (int)(uint32_t)op->c : width;
    const long double real = is_integer(type) ? 0 : reference_load(src, type);
    switch (op->insn) {
    case LEO_INSN_VNOT:
        put_integer(result, type, ~x);
        return true;
    case LEO_INSN_VSHL:
        put_integer(result, type, (int64_t)((uint64_t)x << distance));
        return true;
    case LEO_INSN_VSHR: {
        const int64_t lost = mod && distance ? x >> (distance - 1) & 1 : 0;
        put_integer(result, type, (x >> distance) + lost);
        return true;
    }
    case LEO_INSN_VLRELU:
        reference_store(result, type, real < 0 ? real * reference_load(&op->c, type) : real,
                        LEO_ROUND_RINT);
        return true;
    default:
        return false;
    }
}

static bool is_active(const struct reference *ref, unsigned repeat, unsigned lane, unsigned lanes)
{
    if (ref->ctrl & 1) {
        return (uint64_t)repeat * lanes + lane < ref->vmask[0];
    }
    return ref->vmask[lane / 64] >> (lane % 64) & 1;
}

static uint8_t *place(uint8_t *base, unsigned repeat, unsigned lane, unsigned blk, unsigned rep,
                      unsigned bytes)
{
    const unsigned per_block = 32 / bytes;
    return base + (size_t)repeat * rep * 32 + (size_t)(lane / per_block) * blk * 32 +
           lane % per_block * bytes;
}

static void narrow_lane(const struct sim_op *op, enum leo_dtype type, unsigned mod, const void *a,
                        const void *b, uint8_t *result)
{
    uint8_t wide[4];
    enum leo_dtype target = type == LEO_DTYPE_F32 ? LEO_DTYPE_F16 : LEO_DTYPE_S8;
    if (op->insn == LEO_INSN_VMULCONV) {
        target = mod ? LEO_DTYPE_U8 : LEO_DTYPE_S8;
        reference_store(wide, type, reference_load(a, type) * reference_load(b, type),
                        LEO_ROUND_RINT);
    } else {
        sum_relu(wide, type, a, b, op->insn == LEO_INSN_VADDRELUCONV ? 1 : -1);
    }
    reference_store(result, target, reference_load(wide, type), LEO_ROUND_RINT);
}

void reference_narrow(struct reference *ref, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    const unsigned bytes = reference_bytes(cfg.dtype), lanes = 256 / bytes, half = bytes / 2;
    const unsigned repeats =
        ref->ctrl & 1 ? (unsigned)((ref->vmask[0] + lanes - 1) / lanes) : cfg.repeat;
    const bool upper = op->insn != LEO_INSN_VMULCONV && cfg.mod;
    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        uint8_t results[128][4];
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (is_active(ref, repeat, lane, lanes)) {
                narrow_lane(op, cfg.dtype, cfg.mod,
                            place(ref->ub + op->b, repeat, lane, cfg.src0_blk, cfg.src0_rep, bytes),
                            place(ref->ub + op->c, repeat, lane, cfg.src1_blk, cfg.src1_rep, bytes),
                            results[lane]);
            }
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            const unsigned per_block = 32 / bytes;
            uint8_t *to =
                upper ? ref->ub + op->a + (size_t)repeat * cfg.dst_rep * 32 +
                            (size_t)(lane / per_block) * cfg.dst_blk * 32 + 16 +
                            lane % per_block * half
                      : place(ref->ub + op->a, repeat, lane, cfg.dst_blk, cfg.dst_rep, half);
            if (is_active(ref, repeat, lane, lanes)) {
                memcpy(to, results[lane], half);
            }
        }
    }
}
