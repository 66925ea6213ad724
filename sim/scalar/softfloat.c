/* SPDX-License-Identifier: Apache-2.0 */
#include "softfloat.h"

__extension__ typedef unsigned __int128 u128;

/** Exponent field bits and precision (hidden bit included) of a format. */
struct shape {
    int exp_bits, precision;
};

static const struct shape shapes[] = {
    [SIM_FLOAT_H] = {5, 11},
    [SIM_FLOAT_S] = {8, 24},
    [SIM_FLOAT_D] = {11, 53},
    [SIM_FLOAT_B] = {8, 8},
};

enum kind { KIND_ZERO, KIND_FINITE, KIND_INF, KIND_QNAN, KIND_SNAN };

/** A number taken apart: sig / 2^63 * 2^exp with bit 63 of sig set, if finite and not zero. */
struct num {
    enum kind kind;
    bool sign;
    int exp;
    uint64_t sig;
};

/** A finite number on its way to rounding: sig / 2^126 * 2^exp; bit 0 of sig is sticky. */
struct wide {
    bool sign;
    int exp;
    u128 sig;
};

static int get_bias(const struct shape *shape)
{
    return (1 << (shape->exp_bits - 1)) - 1;
}

static int get_exp_max(const struct shape *shape)
{
    return (1 << shape->exp_bits) - 1;
}

static uint64_t get_mantissa_mask(const struct shape *shape)
{
    return (UINT64_C(1) << (shape->precision - 1)) - 1;
}

static uint64_t pack(const struct shape *shape, bool sign, uint64_t exp_and_mantissa)
{
    return (uint64_t)sign << (shape->exp_bits + shape->precision - 1) | exp_and_mantissa;
}

static uint64_t pack_inf(const struct shape *shape, bool sign)
{
    return pack(shape, sign, (uint64_t)get_exp_max(shape) << (shape->precision - 1));
}

unsigned sim_float_width(enum sim_float_format format)
{
    return (unsigned)(shapes[format].exp_bits + shapes[format].precision);
}

uint64_t sim_float_nan(enum sim_float_format format)
{
    return pack_inf(&shapes[format], false) | UINT64_C(1) << (shapes[format].precision - 2);
}

static uint64_t make_invalid(enum sim_float_format format, struct sim_float_env *env)
{
    env->flags |= SIM_FLAG_NV;
    return sim_float_nan(format);
}

static struct num unpack(enum sim_float_format format, uint64_t bits)
{
    const struct shape *shape = &shapes[format];
    uint64_t mantissa = bits & get_mantissa_mask(shape);
    int exp = (int)(bits >> (shape->precision - 1)) & get_exp_max(shape);
    struct num n = {KIND_FINITE, bits >> (sim_float_width(format) - 1) & 1, exp - get_bias(shape),
                    0};
    if (exp == get_exp_max(shape)) {
        n.kind = KIND_INF;
        if (mantissa) {
            n.kind = mantissa >> (shape->precision - 2) ? KIND_QNAN : KIND_SNAN;
        }
    } else if (exp == 0 && mantissa == 0) {
        n.kind = KIND_ZERO;
    } else if (exp == 0) {
        int shift = __builtin_clzll(mantissa);
        n.sig = mantissa << shift;
        n.exp = 1 - get_bias(shape) - (shift - (64 - shape->precision));
    } else {
        n.sig = (mantissa | UINT64_C(1) << (shape->precision - 1)) << (64 - shape->precision);
    }
    return n;
}

static bool is_nan(const struct num *n)
{
    return n->kind >= KIND_QNAN;
}

/** Raises NV if one of them is a signalling NaN. */
static void check_signal(const struct num *a, const struct num *b, struct sim_float_env *env)
{
    if (a->kind == KIND_SNAN || b->kind == KIND_SNAN) {
        env->flags |= SIM_FLAG_NV;
    }
}

/** Shifts right; what falls out is kept as a sticky bit 0. */
static u128 shift_jam(u128 value, int shift)
{
    if (shift <= 0) {
        return value;
    }
    if (shift > 127) {
        return value != 0;
    }
    return value >> shift | ((value << (128 - shift)) != 0);
}

/** value / 2^shift rounded to an integer, 1 <= shift <= 127. */
static u128 round_shift(u128 value, int shift, bool sign, enum sim_float_rm rm, bool *inexact)
{
    u128 whole = value >> shift;
    u128 rest = value & (((u128)1 << shift) - 1);
    u128 half = (u128)1 << (shift - 1);
    bool up = false;
    *inexact = rest != 0;
    switch (rm) {
    case SIM_RM_RNE:
        up = rest > half || (rest == half && (whole & 1));
        break;
    case SIM_RM_RMM:
        up = rest >= half;
        break;
    case SIM_RM_RDN:
        up = sign && rest;
        break;
    case SIM_RM_RUP:
        up = !sign && rest;
        break;
    case SIM_RM_RTZ:
    case SIM_RM_COUNT:
    case SIM_RM_DYN:
        break;
    }
    return whole + up;
}

static uint64_t pack_overflow(const struct shape *shape, bool sign, struct sim_float_env *env)
{
    bool to_inf = env->rm == SIM_RM_RNE || env->rm == SIM_RM_RMM ||
                  env->rm == (sign ? SIM_RM_RDN : SIM_RM_RUP);
    env->flags |= SIM_FLAG_OF | SIM_FLAG_NX;
    return pack_inf(shape, sign) - !to_inf; // the largest finite number stands just below infinity
}

/** Rounds to the format. w.sig must not be 0. */
static uint64_t round_pack(enum sim_float_format format, struct wide w, struct sim_float_env *env)
{
    const struct shape *shape = &shapes[format];
    uint64_t high = (uint64_t)(w.sig >> 64);
    int lead = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)w.sig);
    u128 sig = w.sig << lead;
    int biased = w.exp + 1 - lead + get_bias(shape);
    int shift = 128 - shape->precision;
    bool inexact;
    u128 whole = round_shift(sig, shift, w.sign, env->rm, &inexact);
    uint64_t packed;
    if (biased < 1) {
        // Tiny is decided after rounding to full precision with an unbounded exponent.
        bool tiny = biased < 0 || whole >> shape->precision == 0;
        packed =
            (uint64_t)round_shift(shift_jam(sig, 1 - biased), shift, w.sign, env->rm, &inexact);
        if (tiny && inexact) {
            env->flags |= SIM_FLAG_UF;
        }
    } else {
        // The hidden bit, and a carry out of the mantissa, each add one to the exponent field.
        packed = ((uint64_t)(biased - 1) << (shape->precision - 1)) + (uint64_t)whole;
    }
    if (biased >= get_exp_max(shape) ||
        (int)(packed >> (shape->precision - 1)) >= get_exp_max(shape)) {
        return pack_overflow(shape, w.sign, env);
    }
    if (inexact) {
        env->flags |= SIM_FLAG_NX;
    }
    return pack(shape, w.sign, packed);
}

/** a + b, both finite and not zero, sigs with bit 126 the highest. */
static uint64_t add_wide(enum sim_float_format format, struct wide a, struct wide b,
                         struct sim_float_env *env)
{
    if (a.exp < b.exp) {
        struct wide swap = a;
        a = b;
        b = swap;
    }
    // At least 20 bits below the longest operand (106 bits of a product): a shift that loses bits
    // leaves more than one guard bit even after cancellation, so the sticky bit is enough.
    b.sig = shift_jam(b.sig, a.exp - b.exp);
    if (a.sign == b.sign) {
        a.sig += b.sig;
    } else if (a.sig > b.sig) {
        a.sig -= b.sig;
    } else if (a.sig < b.sig) {
        a.sig = b.sig - a.sig;
        a.sign = b.sign;
    } else {
        return pack(&shapes[format], env->rm == SIM_RM_RDN, 0);
    }
    return round_pack(format, a, env);
}

static struct wide widen(const struct num *n)
{
    return (struct wide){n->sign, n->exp, (u128)n->sig << 63};
}

static struct wide multiply(const struct num *a, const struct num *b)
{
    struct wide w = {a->sign != b->sign, a->exp + b->exp, (u128)a->sig * b->sig};
    if (w.sig >> 127) {
        w.sig >>= 1; // 106 bits at most: the lowest is 0
        w.exp += 1;
    }
    return w;
}

uint64_t sim_float_add(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                       struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    check_signal(&a, &b, env);
    if (is_nan(&a) || is_nan(&b)) {
        return sim_float_nan(format);
    }
    if (a.kind == KIND_INF) {
        return b.kind == KIND_INF && a.sign != b.sign ? make_invalid(format, env) : a_bits;
    }
    if (b.kind == KIND_INF) {
        return b_bits;
    }
    if (a.kind == KIND_ZERO && b.kind == KIND_ZERO) {
        return a.sign == b.sign ? a_bits : pack(&shapes[format], env->rm == SIM_RM_RDN, 0);
    }
    if (a.kind == KIND_ZERO || b.kind == KIND_ZERO) {
        return a.kind == KIND_ZERO ? b_bits : a_bits;
    }
    return add_wide(format, widen(&a), widen(&b), env);
}

uint64_t sim_float_mul(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                       struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    const struct shape *shape = &shapes[format];
    check_signal(&a, &b, env);
    if (is_nan(&a) || is_nan(&b)) {
        return sim_float_nan(format);
    }
    bool zero = a.kind == KIND_ZERO || b.kind == KIND_ZERO;
    if (a.kind == KIND_INF || b.kind == KIND_INF) {
        return zero ? make_invalid(format, env) : pack_inf(shape, a.sign != b.sign);
    }
    return zero ? pack(shape, a.sign != b.sign, 0) : round_pack(format, multiply(&a, &b), env);
}

uint64_t sim_float_fma(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                       uint64_t c_bits, struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits), c = unpack(format, c_bits);
    const struct shape *shape = &shapes[format];
    bool zero = a.kind == KIND_ZERO || b.kind == KIND_ZERO;
    bool inf = a.kind == KIND_INF || b.kind == KIND_INF;
    bool sign = a.sign != b.sign;
    check_signal(&a, &b, env);
    check_signal(&a, &c, env);
    if (zero && inf) {
        return make_invalid(format, env); // even if c is a quiet NaN
    }
    if (is_nan(&a) || is_nan(&b) || is_nan(&c)) {
        return sim_float_nan(format);
    }
    if (inf) {
        return c.kind == KIND_INF && c.sign != sign ? make_invalid(format, env)
                                                    : pack_inf(shape, sign);
    }
    if (c.kind == KIND_INF) {
        return c_bits;
    }
    if (zero && c.kind == KIND_ZERO) {
        return pack(shape, c.sign == sign ? sign : env->rm == SIM_RM_RDN, 0);
    }
    if (zero) {
        return c_bits;
    }
    if (c.kind == KIND_ZERO) {
        return round_pack(format, multiply(&a, &b), env);
    }
    return add_wide(format, multiply(&a, &b), widen(&c), env);
}

uint64_t sim_float_div(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                       struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    const struct shape *shape = &shapes[format];
    bool sign = a.sign != b.sign;
    check_signal(&a, &b, env);
    if (is_nan(&a) || is_nan(&b)) {
        return sim_float_nan(format);
    }
    if (a.kind == b.kind && a.kind != KIND_FINITE) {
        return make_invalid(format, env); // 0 / 0, inf / inf
    }
    if (a.kind == KIND_INF) {
        return pack_inf(shape, sign);
    }
    if (b.kind == KIND_ZERO) {
        env->flags |= SIM_FLAG_DZ;
        return pack_inf(shape, sign);
    }
    if (a.kind == KIND_ZERO || b.kind == KIND_INF) {
        return pack(shape, sign, 0);
    }
    u128 dividend = (u128)a.sig << 63;
    u128 quotient = dividend / b.sig; // in (2^62, 2^64)
    struct wide w = {sign, a.exp - b.exp, quotient << 63 | (quotient * b.sig != dividend)};
    return round_pack(format, w, env);
}

/** Largest root with root * root <= value. */
static uint64_t root_of(u128 value)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = root | UINT64_C(1) << bit;
        if ((u128)next * next <= value) {
            root = next;
        }
    }
    return root;
}

uint64_t sim_float_sqrt(enum sim_float_format format, uint64_t a_bits, struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits);
    if (a.kind == KIND_ZERO) {
        return a_bits;
    }
    if (a.kind == KIND_QNAN) {
        return sim_float_nan(format);
    }
    if (a.sign || a.kind == KIND_SNAN) {
        return make_invalid(format, env);
    }
    if (a.kind == KIND_INF) {
        return a_bits;
    }
    int odd = a.exp & 1;
    u128 value = (u128)a.sig << (63 + odd);
    uint64_t root = root_of(value); // in [2^63, 2^64)
    struct wide w = {false, (a.exp - odd) / 2, (u128)root << 63 | ((u128)root * root != value)};
    return round_pack(format, w, env);
}

/** Sign and magnitude as a number that sorts; both zeros are 0. */
static int64_t make_key(enum sim_float_format format, uint64_t bits)
{
    uint64_t sign = UINT64_C(1) << (sim_float_width(format) - 1);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

static uint64_t select_of(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                          bool take_less, struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    check_signal(&a, &b, env);
    if (is_nan(&a)) {
        return is_nan(&b) ? sim_float_nan(format) : b_bits;
    }
    if (is_nan(&b)) {
        return a_bits;
    }
    int64_t a_key = make_key(format, a_bits), b_key = make_key(format, b_bits);
    bool less = a_key < b_key || (a_key == b_key && a.sign); // -0 < +0
    return less == take_less ? a_bits : b_bits;
}

uint64_t sim_float_min(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env)
{
    return select_of(format, a, b, true, env);
}

uint64_t sim_float_max(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env)
{
    return select_of(format, a, b, false, env);
}

bool sim_float_eq(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                  struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    check_signal(&a, &b, env);
    return !is_nan(&a) && !is_nan(&b) && make_key(format, a_bits) == make_key(format, b_bits);
}

/** Comparing for order raises NV for every NaN. */
static bool has_order(enum sim_float_format format, uint64_t a_bits, uint64_t b_bits,
                      struct sim_float_env *env)
{
    struct num a = unpack(format, a_bits), b = unpack(format, b_bits);
    if (is_nan(&a) || is_nan(&b)) {
        env->flags |= SIM_FLAG_NV;
        return false;
    }
    return true;
}

bool sim_float_lt(enum sim_float_format format, uint64_t a, uint64_t b, struct sim_float_env *env)
{
    return has_order(format, a, b, env) && make_key(format, a) < make_key(format, b);
}

bool sim_float_le(enum sim_float_format format, uint64_t a, uint64_t b, struct sim_float_env *env)
{
    return has_order(format, a, b, env) && make_key(format, a) <= make_key(format, b);
}

uint64_t sim_float_classify(enum sim_float_format format, uint64_t bits)
{
    struct num a = unpack(format, bits);
    switch (a.kind) {
    case KIND_INF:
        return a.sign ? 1 << 0 : 1 << 7;
    case KIND_FINITE:
        if (a.exp < 1 - get_bias(&shapes[format])) {
            return a.sign ? 1 << 2 : 1 << 5;
        }
        return a.sign ? 1 << 1 : 1 << 6;
    case KIND_ZERO:
        return a.sign ? 1 << 3 : 1 << 4;
    case KIND_SNAN:
        return 1 << 8;
    case KIND_QNAN:
        break;
    }
    return 1 << 9;
}

uint64_t sim_float_convert(enum sim_float_format to, enum sim_float_format from, uint64_t bits,
                           struct sim_float_env *env)
{
    struct num a = unpack(from, bits);
    check_signal(&a, &a, env);
    if (is_nan(&a)) {
        return sim_float_nan(to);
    }
    if (a.kind == KIND_INF) {
        return pack_inf(&shapes[to], a.sign);
    }
    return a.kind == KIND_ZERO ? pack(&shapes[to], a.sign, 0) : round_pack(to, widen(&a), env);
}

uint64_t sim_float_to_int(enum sim_float_int to, enum sim_float_format from, uint64_t bits,
                          struct sim_float_env *env)
{
    static const struct {
        uint64_t least, most; /**< least as a magnitude */
    } limits[] = {
        [SIM_INT_W] = {UINT64_C(1) << 31, INT32_MAX},
        [SIM_INT_WU] = {0, UINT32_MAX},
        [SIM_INT_L] = {UINT64_C(1) << 63, INT64_MAX},
        [SIM_INT_LU] = {0, UINT64_MAX},
    };
    struct num a = unpack(from, bits);
    bool negative = a.sign && !is_nan(&a);
    uint64_t limit = negative ? limits[to].least : limits[to].most;
    uint64_t magnitude = 0;
    bool invalid = is_nan(&a) || a.kind == KIND_INF, inexact = false;
    if (a.kind == KIND_FINITE) {
        u128 whole = 0;
        if (a.exp < 64) {
            int exp = a.exp < 0 ? 0 : a.exp;
            whole = round_shift(shift_jam((u128)a.sig << 64, exp - a.exp), 127 - exp, a.sign,
                                env->rm, &inexact);
        }
        invalid = a.exp >= 64 || whole > limit;
        magnitude = (uint64_t)whole;
    }
    if (invalid) {
        env->flags |= SIM_FLAG_NV;
        magnitude = limit;
    } else if (inexact) {
        env->flags |= SIM_FLAG_NX;
    }
    uint64_t value = negative ? 0 - magnitude : magnitude;
    return to == SIM_INT_WU ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value;
}

uint64_t sim_float_from_int(enum sim_float_format to, enum sim_float_int from, uint64_t value,
                            struct sim_float_env *env)
{
    if (from == SIM_INT_W) {
        value = (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    } else if (from == SIM_INT_WU) {
        value = (uint32_t)value;
    }
    bool negative = (from == SIM_INT_W || from == SIM_INT_L) && value >> 63;
    struct wide w = {negative, 63, (u128)(negative ? 0 - value : value) << 63};
    return value ? round_pack(to, w, env) : 0;
}
