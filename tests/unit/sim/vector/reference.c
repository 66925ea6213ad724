/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include "number/number.h"
#include <math.h>
#include <sim_units.h>
#include <stdbool.h>
#include <string.h>

unsigned reference_bytes(enum leo_dtype type)
{
    static const unsigned bytes[LEO_DTYPE_COUNT] = {
        [LEO_DTYPE_F16] = 2, [LEO_DTYPE_BF16] = 2, [LEO_DTYPE_S16] = 2, [LEO_DTYPE_U16] = 2,
        [LEO_DTYPE_F32] = 4, [LEO_DTYPE_S32] = 4,  [LEO_DTYPE_U32] = 4, [LEO_DTYPE_S64] = 8,
        [LEO_DTYPE_S8] = 1,  [LEO_DTYPE_U8] = 1,
    };
    return bytes[type];
}

static bool is_float(enum leo_dtype type)
{
    return type == LEO_DTYPE_F16 || type == LEO_DTYPE_BF16 || type == LEO_DTYPE_F32;
}

static long double load_f16(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    long double x = exponent == 31  ? (fraction != 0 ? NAN : HUGE_VALL)
                    : exponent == 0 ? ldexpl(fraction, -24)
                                    : ldexpl(1024 + fraction, exponent - 25);
    return bits >> 15 ? -x : x;
}

/** Of a number that is an f16. */
static uint16_t f16_bits(long double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const long double size = fabsl(x);
    if (isinf(x)) {
        return sign | 0x7c00;
    }
    if (size < ldexpl(1, -14)) {
        return sign | (uint16_t)ldexpl(size, 24);
    }
    const int exponent = ilogbl(size);
    return sign | (uint16_t)(((exponent + 14) << 10) + (int)ldexpl(size, 10 - exponent));
}

long double reference_load(const void *from, enum leo_dtype type)
{
    union {
        float f32;
        uint32_t u32;
        uint16_t u16;
        int8_t s8;
        uint8_t u8;
        int16_t s16;
        int32_t s32;
        int64_t s64;
    } lane = {.s64 = 0};
    memcpy(&lane, from, reference_bytes(type));
    switch (type) {
    case LEO_DTYPE_F16:
        return load_f16(lane.u16);
    case LEO_DTYPE_BF16:
        lane.u32 = (uint32_t)lane.u16 << 16;
        return (long double)lane.f32;
    case LEO_DTYPE_F32:
        return (long double)lane.f32;
    case LEO_DTYPE_S8:
        return lane.s8;
    case LEO_DTYPE_U8:
        return lane.u8;
    case LEO_DTYPE_S16:
        return lane.s16;
    case LEO_DTYPE_U16:
        return lane.u16;
    case LEO_DTYPE_S32:
        return lane.s32;
    case LEO_DTYPE_U32:
        return lane.u32;
    default:
        return (long double)lane.s64;
    }
}

/** Rounds to an integral value. */
static long double integral(long double x, enum leo_round round)
{
    switch (round) {
    case LEO_ROUND_NONE:
    case LEO_ROUND_RINT:
        return rintl(x);
    case LEO_ROUND_FLOOR:
        return floorl(x);
    case LEO_ROUND_CEIL:
        return ceill(x);
    case LEO_ROUND_ROUND:
        return roundl(x);
    case LEO_ROUND_TRUNC:
        return truncl(x);
    case LEO_ROUND_ODD:
        break;
    }
    const long double cut = truncl(x);
    return cut == x || fmodl(cut, 2) != 0 ? cut : cut + copysignl(1, x);
}

/** Rounds to a format with `precision` bits; `least` is the exponent of its least normal number. */
static long double rounded(long double x, int precision, int least, enum leo_round round)
{
    if (x == 0 || isinf(x)) {
        return x;
    }
    int exponent;
    frexpl(x, &exponent);
    exponent -= 1;
    const int quantum = (exponent < least ? least : exponent) - (precision - 1);
    const long double y = copysignl(ldexpl(integral(ldexpl(x, -quantum), round), quantum), x);
    const long double most = ldexpl(2 - ldexpl(1, 1 - precision), -least + 1);
    if (fabsl(y) <= most) {
        return y;
    }
    const bool away = round == LEO_ROUND_NONE || round == LEO_ROUND_RINT ||
                      round == LEO_ROUND_ROUND || (round == LEO_ROUND_FLOOR && x < 0) ||
                      (round == LEO_ROUND_CEIL && x > 0);
    return copysignl(away ? HUGE_VALL : most, x);
}

static void store_float(void *to, enum leo_dtype type, long double x, enum leo_round round)
{
    if (isnan(x)) {
        const uint32_t nan = type == LEO_DTYPE_F16    ? 0x7e00
                             : type == LEO_DTYPE_BF16 ? 0x7fc0
                                                      : 0x7fc00000;
        memcpy(to, &nan, reference_bytes(type));
        return;
    }
    if (type == LEO_DTYPE_F16) {
        const uint16_t half = f16_bits(rounded(x, 11, -14, round));
        memcpy(to, &half, sizeof(half));
        return;
    }
    const float single = (float)rounded(x, type == LEO_DTYPE_F32 ? 24 : 8, -126, round);
    if (type == LEO_DTYPE_F32) {
        memcpy(to, &single, sizeof(single));
    } else {
        memcpy(to, (const uint8_t *)&single + 2, 2);
    }
}

void reference_store(void *to, enum leo_dtype type, long double x, enum leo_round round)
{
    if (is_float(type)) {
        store_float(to, type, x, round);
        return;
    }
    const unsigned bytes = reference_bytes(type);
    const bool is_unsigned = type == LEO_DTYPE_U8 || type == LEO_DTYPE_U16 || type == LEO_DTYPE_U32;
    const long double high = ldexpl(1, (int)bytes * 8 - (is_unsigned ? 0 : 1)) - 1;
    const long double low = is_unsigned ? 0 : -high - 1;
    long double y = isnan(x) ? 0 : isinf(x) ? x : integral(x, round);
    y = y < low ? low : y > high ? high : y;
    const int64_t integer = (int64_t)y;
    memcpy(to, &integer, bytes);
}

/** Integer results wrap. */
static void store_wrapped(void *to, enum leo_dtype type, long double x)
{
    if (is_float(type)) {
        store_float(to, type, x, LEO_ROUND_RINT);
        return;
    }
    const int64_t integer = (int64_t)x;
    memcpy(to, &integer, reference_bytes(type));
}

static long double extreme(long double a, long double b, bool want_max)
{
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    if (a == b) {
        return (signbit(a) != 0) == want_max ? b : a;
    }
    return (a > b) == want_max ? a : b;
}

static long double binary(enum leo_insn insn, long double a, long double b)
{
    switch (insn) {
    case LEO_INSN_VADD:
    case LEO_INSN_VADDS:
    case LEO_INSN_VCADD:
    case LEO_INSN_VCGADD:
    case LEO_INSN_VCPADD:
        return a + b;
    case LEO_INSN_VSUB:
        return a - b;
    case LEO_INSN_VMUL:
    case LEO_INSN_VMULS:
        return a * b;
    case LEO_INSN_VDIV:
        return a / b;
    case LEO_INSN_VMAX:
    case LEO_INSN_VMAXS:
    case LEO_INSN_VCMAX:
    case LEO_INSN_VCGMAX:
        return extreme(a, b, true);
    default:
        return extreme(a, b, false);
    }
}

static long double unary(enum leo_insn insn, long double x)
{
    switch (insn) {
    case LEO_INSN_VABS:
        return fabsl(x);
    case LEO_INSN_VRELU:
        return extreme(x, 0, true);
    case LEO_INSN_VEXP:
        return (long double)sim_number_exp((float)x); // the sequence is the specification
    case LEO_INSN_VLN:
        return (long double)sim_number_ln((float)x);
    case LEO_INSN_VSQRT:
        return sqrtl(x);
    case LEO_INSN_VRSQRT:
        return (long double)(1.0f / (float)sqrtl(x)); // two roundings to f32
    default:
        return 1 / x;
    }
}

static bool holds(unsigned condition, long double a, long double b)
{
    switch (condition) {
    case LEO_COND_EQ:
        return a == b;
    case LEO_COND_NE:
        return a != b;
    case LEO_COND_LT:
        return a < b;
    case LEO_COND_LE:
        return a <= b;
    case LEO_COND_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/** Where lane `lane` of repeat `repeat` lies. */
static uint8_t *at(uint8_t *base, unsigned repeat, unsigned lane, unsigned blk, unsigned rep,
                   unsigned bytes)
{
    const unsigned per_block = 32 / bytes;
    return base + (size_t)repeat * rep * 32 + (size_t)(lane / per_block) * blk * 32 +
           lane % per_block * bytes;
}

static bool is_active(const struct reference *ref, unsigned repeat, unsigned lane, unsigned lanes)
{
    if (ref->ctrl & 1) {
        return (uint64_t)repeat * lanes + lane < ref->vmask[0];
    }
    return ref->vmask[lane / 64] >> (lane % 64) & 1;
}

static unsigned repeats_of(const struct reference *ref, unsigned field, unsigned lanes)
{
    return ref->ctrl & 1 ? (unsigned)((ref->vmask[0] + lanes - 1) / lanes) : field;
}

static bool bit_at(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static void set_bit(uint8_t *bits, size_t i, bool value)
{
    bits[i / 8] = (uint8_t)((bits[i / 8] & ~(1u << (i % 8))) | (unsigned)value << (i % 8));
}

static void lane_vec3(const struct reference *ref, const struct sim_op *op,
                      const struct leo_cfg_vec3 *cfg, unsigned repeat, unsigned lane,
                      uint8_t *result)
{
    const bool mixed = op->insn == LEO_INSN_VMLA && cfg->mod == 1;
    const enum leo_dtype type = mixed ? LEO_DTYPE_F32 : (enum leo_dtype)cfg->dtype;
    const unsigned bytes = reference_bytes(type);
    const unsigned from = mixed ? 2 : bytes;
    const uint8_t *a = at(ref->ub + op->b, repeat, lane, cfg->src0_blk, cfg->src0_rep, from);
    const uint8_t *b = (const uint8_t *)&op->c;
    if (op->insn != LEO_INSN_VSEL || cfg->mod != 1) {
        b = at(ref->ub + op->c, repeat, lane, cfg->src1_blk, cfg->src1_rep, from);
    }
    const uint8_t *old = at(ref->ub + op->a, repeat, lane, cfg->dst_blk, cfg->dst_rep, bytes);
    if (reference_lane3(op, type, mixed ? LEO_DTYPE_F16 : type, a, b, old, result)) {
        return;
    }
    if (op->insn == LEO_INSN_VSEL) {
        const bool yes = cfg->mod == 0
                             ? bit_at((const uint8_t *)ref->cmpmask, lane)
                             : bit_at(ref->ub + ref->selmask_addr, repeat * (256 / bytes) + lane);
        memcpy(result, yes ? a : b, bytes);
    } else if (op->insn == LEO_INSN_VCMPV || op->insn == LEO_INSN_VCMP) {
        *result = holds(cfg->mod, reference_load(a, type), reference_load(b, type));
    } else {
        store_wrapped(result, type,
                      binary(op->insn, reference_load(a, type), reference_load(b, type)));
    }
}

static void exec_vec3(struct reference *ref, const struct sim_op *op)
{
    const struct leo_cfg_vec3 cfg = leo_cfg_vec3_unpack(op->d);
    const bool mixed = op->insn == LEO_INSN_VMLA && cfg.mod == 1;
    const unsigned bytes = mixed ? 4 : reference_bytes(cfg.dtype);
    const unsigned lanes = 256 / bytes;
    for (unsigned repeat = 0; repeat < repeats_of(ref, cfg.repeat, lanes); repeat++) {
        uint8_t results[128][4];
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (is_active(ref, repeat, lane, lanes)) {
                lane_vec3(ref, op, &cfg, repeat, lane, results[lane]);
            }
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (!is_active(ref, repeat, lane, lanes)) {
                continue;
            }
            if (op->insn == LEO_INSN_VCMPV) {
                set_bit(ref->ub + op->a, repeat * lanes + lane, results[lane][0]);
            } else if (op->insn == LEO_INSN_VCMP) {
                set_bit((uint8_t *)ref->cmpmask, lane, results[lane][0]);
            } else {
                memcpy(at(ref->ub + op->a, repeat, lane, cfg.dst_blk, cfg.dst_rep, bytes),
                       results[lane], bytes);
            }
        }
    }
}

static void lane_vec2(const struct sim_op *op, const struct leo_cfg_vec2 *cfg, enum leo_dtype type,
                      enum leo_dtype src_type, const uint8_t *src, const uint8_t *old,
                      uint8_t *result)
{
    const unsigned bytes = reference_bytes(type);
    if (src != NULL && reference_lane2(op, type, cfg->mod, src, result)) {
        return;
    }
    switch (op->insn) {
    case LEO_INSN_VDUP:
        memcpy(result, &op->c, bytes);
        break;
    case LEO_INSN_VCOPY:
        memcpy(result, src, bytes);
        break;
    case LEO_INSN_VCMPVS:
        *result = holds(cfg->mod, reference_load(src, type), reference_load(&op->c, type));
        break;
    case LEO_INSN_VAXPY:
        store_float(result, type,
                    (long double)fmaf((float)reference_load(src, src_type),
                                      (float)reference_load(&op->c, src_type),
                                      (float)reference_load(old, type)),
                    LEO_ROUND_RINT);
        break;
    case LEO_INSN_VADDS:
    case LEO_INSN_VMULS:
    case LEO_INSN_VMAXS:
    case LEO_INSN_VMINS:
        store_wrapped(result, type,
                      binary(op->insn, reference_load(src, type), reference_load(&op->c, type)));
        break;
    default:
        store_wrapped(result, type, unary(op->insn, reference_load(src, type)));
        break;
    }
}

static void exec_vec2(struct reference *ref, const struct sim_op *op)
{
    const struct leo_cfg_vec2 cfg = leo_cfg_vec2_unpack(op->d);
    const bool mixed = op->insn == LEO_INSN_VAXPY && cfg.mod == 1;
    const enum leo_dtype type = mixed ? LEO_DTYPE_F32 : (enum leo_dtype)cfg.dtype;
    const enum leo_dtype src_type = mixed ? LEO_DTYPE_F16 : type;
    const unsigned bytes = reference_bytes(type);
    const unsigned lanes = 256 / bytes;
    for (unsigned repeat = 0; repeat < repeats_of(ref, cfg.repeat, lanes); repeat++) {
        uint8_t results[128][4];
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (is_active(ref, repeat, lane, lanes)) {
                const uint8_t *src = op->insn == LEO_INSN_VDUP
                                         ? NULL
                                         : at(ref->ub + op->b, repeat, lane, cfg.src_blk,
                                              cfg.src_rep, reference_bytes(src_type));
                const uint8_t *old =
                    at(ref->ub + op->a, repeat, lane, cfg.dst_blk, cfg.dst_rep, bytes);
                lane_vec2(op, &cfg, type, src_type, src, old, results[lane]);
            }
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (!is_active(ref, repeat, lane, lanes)) {
                continue;
            }
            if (op->insn == LEO_INSN_VCMPVS) {
                set_bit(ref->ub + op->a, repeat * lanes + lane, results[lane][0]);
            } else {
                memcpy(at(ref->ub + op->a, repeat, lane, cfg.dst_blk, cfg.dst_rep, bytes),
                       results[lane], bytes);
            }
        }
    }
}

static void exec_convert(struct reference *ref, const struct sim_op *op)
{
    const struct leo_cfg_vcvt cfg = leo_cfg_vcvt_unpack(op->d);
    const unsigned dst_bytes = reference_bytes(cfg.dst_type);
    const unsigned src_bytes = reference_bytes(cfg.src_type);
    const unsigned lanes = 256 / (dst_bytes > src_bytes ? dst_bytes : src_bytes);
    for (unsigned repeat = 0; repeat < repeats_of(ref, cfg.repeat, lanes); repeat++) {
        long double values[256];
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (is_active(ref, repeat, lane, lanes)) {
                const uint8_t *from =
                    at(ref->ub + op->b, repeat, lane, cfg.src_blk, cfg.src_rep, src_bytes);
                values[lane] = reference_load(from, cfg.src_type);
                if (cfg.src_type == LEO_DTYPE_F32 && cfg.dst_type == LEO_DTYPE_F32 &&
                    isfinite(values[lane])) {
                    values[lane] = copysignl(integral(values[lane], op->sub), values[lane]);
                }
            }
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (is_active(ref, repeat, lane, lanes)) {
                reference_store(
                    at(ref->ub + op->a, repeat, lane, cfg.dst_blk, cfg.dst_rep, dst_bytes),
                    cfg.dst_type, values[lane], op->sub);
            }
        }
    }
}

/** Sum, maximum or minimum of lanes [first, first + count) as a tree; halves are trees of their
 * own. */
static long double tree(const struct sim_op *op, enum leo_dtype type, const long double *values,
                        unsigned count)
{
    if (count == 1) {
        return values[0];
    }
    const long double sum = binary(op->insn, tree(op, type, values, count / 2),
                                   tree(op, type, values + count / 2, count / 2));
    uint8_t lane[8];
    store_float(lane, type, sum, LEO_ROUND_RINT);
    return reference_load(lane, type);
}

static unsigned index_of(const long double *values, const bool *active, unsigned lanes,
                         long double value)
{
    for (unsigned lane = 0; lane < lanes; lane++) {
        if (active[lane] && (values[lane] == value || (isnan(value) && isnan(values[lane])))) {
            return lane;
        }
    }
    return 0;
}

static void exec_reduce(struct reference *ref, const struct sim_op *op)
{
    const struct leo_cfg_vred cfg = leo_cfg_vred_unpack(op->d);
    const enum leo_dtype type = cfg.dtype;
    const unsigned bytes = reference_bytes(type);
    const unsigned lanes = 256 / bytes;
    const bool is_max = op->insn == LEO_INSN_VCMAX || op->insn == LEO_INSN_VCGMAX;
    const bool is_min = op->insn == LEO_INSN_VCMIN || op->insn == LEO_INSN_VCGMIN;
    const bool by_block =
        op->insn == LEO_INSN_VCGADD || op->insn == LEO_INSN_VCGMAX || op->insn == LEO_INSN_VCGMIN;
    const unsigned each = op->insn == LEO_INSN_VCPADD ? 2 : by_block ? 32 / bytes : lanes;
    const bool with_index = op->insn == LEO_INSN_VCMAX || op->insn == LEO_INSN_VCMIN;
    const bool pair = with_index && cfg.order <= LEO_ORDER_INDEX_VALUE;
    const size_t step = (size_t)cfg.dst_rep * (pair ? 2 : lanes / each) * bytes;
    long double overall = 0;
    uint64_t overall_index = 0;
    bool started = false;
    for (unsigned repeat = 0; repeat < repeats_of(ref, cfg.repeat, lanes); repeat++) {
        long double values[128];
        bool active[128];
        bool any = false;
        for (unsigned lane = 0; lane < lanes; lane++) {
            active[lane] = is_active(ref, repeat, lane, lanes);
            any |= active[lane];
            values[lane] = is_max ? -HUGE_VALL : is_min ? HUGE_VALL : 0;
            if (active[lane]) {
                values[lane] = reference_load(
                    at(ref->ub + op->b, repeat, lane, cfg.src_blk, cfg.src_rep, bytes), type);
            }
        }
        uint8_t *to = ref->ub + op->a + repeat * step;
        if (each == lanes && any) {
            const long double value = tree(op, type, values, lanes);
            uint8_t lane[8] = {0};
            const long double before = overall;
            overall = started ? binary(op->insn, overall, value) : value;
            if (!started ||
                (with_index && !(overall == before && signbit(overall) == signbit(before)) &&
                 !(isnan(overall) && isnan(before)))) {
                overall_index = repeat * lanes + index_of(values, active, lanes, value);
            }
            started = true;
            store_float(lane, type, overall, LEO_ROUND_RINT);
            overall = reference_load(lane, type);
            uint64_t bits = 0;
            memcpy(&bits, lane, bytes);
            *(with_index ? &ref->max_min_cnt : &ref->acc_val) =
                bits | (with_index ? overall_index << 32 : 0);
        }
        if (with_index && any) {
            const long double value = tree(op, type, values, lanes);
            const uint32_t index = index_of(values, active, lanes, value);
            const bool value_first =
                cfg.order == LEO_ORDER_VALUE_INDEX || cfg.order == LEO_ORDER_ONLY_VALUE;
            if (cfg.order != LEO_ORDER_ONLY_INDEX) {
                store_float(to + (value_first ? 0 : bytes), type, value, LEO_ROUND_RINT);
            }
            if (cfg.order != LEO_ORDER_ONLY_VALUE) {
                memcpy(to + (cfg.order == LEO_ORDER_VALUE_INDEX ? bytes : 0), &index, bytes);
            }
            continue;
        }
        for (unsigned i = 0; i < lanes / each; i++) {
            bool has = false;
            for (unsigned lane = 0; lane < each; lane++) {
                has |= active[i * each + lane];
            }
            if (has) {
                store_float(to + i * bytes, type, tree(op, type, values + i * each, each),
                            LEO_ROUND_RINT);
            }
        }
    }
}

enum reference_walk reference_walk_of(enum leo_insn insn)
{
    static const struct {
        sim_exec_fn exec;
        enum reference_walk walk;
    } walks[] = {{sim_vec_binary, REFERENCE_VEC3},         {sim_vec_select, REFERENCE_VEC3},
                 {sim_vec_compare, REFERENCE_VEC3},        {sim_vec_compare_to_csr, REFERENCE_VEC3},
                 {sim_vec_fused, REFERENCE_VEC3},          {sim_vec_narrow, REFERENCE_NARROW},
                 {sim_vec_scalar, REFERENCE_VEC2},         {sim_vec_axpy, REFERENCE_VEC2},
                 {sim_vec_compare_scalar, REFERENCE_VEC2}, {sim_vec_dup, REFERENCE_VEC2},
                 {sim_vec_copy, REFERENCE_VEC2},           {sim_vec_unary, REFERENCE_VEC2},
                 {sim_vec_shift, REFERENCE_VEC2},          {sim_vec_convert, REFERENCE_CONVERT},
                 {sim_vec_reduce_repeat, REFERENCE_SUM},   {sim_vec_reduce_block, REFERENCE_SUM},
                 {sim_vec_reduce_pair, REFERENCE_SUM}};
    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        if (sim_insns[insn].exec == walks[i].exec) {
            return walks[i].walk;
        }
    }
    return REFERENCE_NONE;
}

void reference_exec(struct reference *ref, const struct sim_op *op)
{
    static void (*const execs[])(struct reference *,
                                 const struct sim_op *) = {[REFERENCE_VEC3] = exec_vec3,
                                                           [REFERENCE_NARROW] = reference_narrow,
                                                           [REFERENCE_VEC2] = exec_vec2,
                                                           [REFERENCE_CONVERT] = exec_convert,
                                                           [REFERENCE_SUM] = exec_reduce};
    execs[reference_walk_of(op->insn)](ref, op);
}
