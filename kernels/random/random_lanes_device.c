/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10 on the vector unit: a lane is a counter, its four words stand in four arrays. They
 * become numbers there, and only then are put side by side in the order of the elements
 * (interleave). Products of 32 bits come from their halves: the vector units keep the low word
 * alone. Numbers are the bits of random.c, but for normal ones, whose functions are those of the
 * vector unit.
 *
 * Flags: V -> MTE3 and MTE3 -> V: the tile to store; MTE2 -> V: probabilities or bits are there; V
 * -> MTE2: they may be overwritten.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "../device/overflow.h"
#include "../device/widen.h"
#include "random_seed_device.h"

enum {
    LANES = 2048, /* counters of a tile */
    WORDS = 4,
    GROUP = 128, /* counters that interleave takes at a time */
    ARRAY = LANES * 4,
    BLOCK = 32,
    /* Places in UB. */
    RAMP = 0, /* 0, 1, 2, ... */
    STATE = RAMP + ARRAY,
    STATES = 8, /* four words and the products that become the next ones */
    TEMP = STATE + STATES * ARRAY,
    TEMPS = 6,
    HALVES = TEMP,                 /* while words are interleaved */
    RESULT = TEMP + TEMPS * ARRAY, /* temporary ones, too, while there are products */
    /* Of one repeat each. */
    CONSTANT = RESULT + WORDS * ARRAY,
    REPEAT_BYTES = 256,
    LOW = CONSTANT,
    HIGH = LOW + REPEAT_BYTES,
    UPPER = HIGH + REPEAT_BYTES, /* 24 bits */
    KEY = UPPER + REPEAT_BYTES,  /* two */
    FACTOR = KEY + 2 * REPEAT_BYTES,
    BASE = FACTOR + 6 * REPEAT_BYTES, /* low half, upper half, all, of two factors */
    END = BASE + REPEAT_BYTES,
    /* In the words' places, free once RESULT is there. */
    ONES = STATE,
    INPUT = STATE + WORDS * ARRAY,
    MASK = TEMP,
    NARROW = TEMP + ARRAY,
};

/* `count` lanes, rounded up to whole groups. */
struct lanes {
    uint32_t count;
    uint8_t repeats;
};

OP_INLINE __ubuf__ int32_t *word(uint32_t at)
{
    return op_ub_s32(at);
}

OP_INLINE __ubuf__ uint16_t *half_words(uint32_t at)
{
    return (__ubuf__ uint16_t *)(uintptr_t)at;
}

OP_INLINE __ubuf__ uint8_t *bytes(uint32_t at)
{
    return (__ubuf__ uint8_t *)(uintptr_t)at;
}

OP_INLINE uint32_t temp(uint32_t i)
{
    return TEMP + i * ARRAY;
}

/* Where an array of each of a round's two products is: what both do goes behind one barrier. */
struct both {
    uint32_t at[2];
};

enum { EACH, CONSTANTS }; /* b is as long as a, or one repeat for all */

OP_INLINE void add(struct lanes l, struct both d, struct both a, struct both b)
{
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vadd(word(d.at[i]), word(a.at[i]), word(b.at[i]), l.repeats, 1, 1, 1, 8, 8, 8);
    }
}

OP_INLINE void multiply(struct lanes l, struct both d, struct both a, struct both constant)
{
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vmul(word(d.at[i]), word(a.at[i]), word(constant.at[i]), l.repeats, 1, 1, 1, 8, 8, 0);
    }
}

OP_INLINE void bit_and(struct lanes l, struct both d, struct both a, struct both b, int kind)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, 2 * l.count);
    for (uint32_t i = 0; i < 2; i++) {
        vand(half_words(d.at[i]), half_words(a.at[i]), half_words(b.at[i]), l.repeats, 1, 1, 1, 8,
             8, kind == CONSTANTS ? 0 : 8);
    }
    set_vector_mask(0, l.count);
}

OP_INLINE struct both one(uint32_t at)
{
    return (struct both){{at, at}};
}

/* d = a xor b = (a or b) - (a and b); the first arrays of TEMP are free. */
OP_INLINE void exclusive_or(struct lanes l, struct both d, struct both a, struct both b, int kind)
{
    const struct both all = {{temp(0), temp(1)}}, common = {{temp(2), temp(3)}};
    const uint8_t step = kind == CONSTANTS ? 0 : 8;
    bit_and(l, common, a, b, kind);
    set_vector_mask(0, 2 * l.count);
    for (uint32_t i = 0; i < 2; i++) {
        vor(half_words(all.at[i]), half_words(a.at[i]), half_words(b.at[i]), l.repeats, 1, 1, 1, 8,
            8, step);
    }
    set_vector_mask(0, l.count);
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vsub(word(d.at[i]), word(all.at[i]), word(common.at[i]), l.repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* d = the upper 16 bits of a, as a number. */
OP_INLINE void upper_half(struct lanes l, struct both d, struct both a)
{
#if __NPU_ARCH__ == 2201
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vshr((__ubuf__ uint32_t *)(uintptr_t)d.at[i], (__ubuf__ uint32_t *)(uintptr_t)a.at[i], 16,
             l.repeats, 1, 1, 8, 8, 0);
    }
#else
    // As a float, where 16 bits are exact, and back; the sign's copies are cut off.
    bit_and(l, d, a, one(HIGH), CONSTANTS);
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vconv_s322f32(op_ub_f32(d.at[i]), word(d.at[i]), l.repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vmuls(op_ub_f32(d.at[i]), op_ub_f32(d.at[i]), 0x1p-16f, l.repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vconv_f322s32z(word(d.at[i]), op_ub_f32(d.at[i]), l.repeats, 1, 1, 8, 8);
    }
    bit_and(l, d, d, one(LOW), CONSTANTS);
#endif
}

/* low and high words of each c times its factor; c is not changed. The arrays of RESULT are free
 * while there are products. */
OP_INLINE void wide_products(struct lanes l, struct both low, struct both high, struct both c)
{
    const uint32_t step = 3 * REPEAT_BYTES;
    const struct both factor_low = {{FACTOR, FACTOR + step}},
                      factor_high = {{FACTOR + REPEAT_BYTES, FACTOR + REPEAT_BYTES + step}},
                      factor_all = {{FACTOR + 2 * REPEAT_BYTES, FACTOR + 2 * REPEAT_BYTES + step}};
    const struct both c_low = {{temp(0), temp(5)}}, c_high = {{temp(1), temp(6)}},
                      product = {{temp(2), temp(7)}}, part = {{temp(3), temp(8)}},
                      middle = {{temp(4), temp(9)}};
    multiply(l, low, c, factor_all);
    bit_and(l, c_low, c, one(LOW), CONSTANTS);
    upper_half(l, c_high, c);
    multiply(l, high, c_high, factor_high);
    multiply(l, product, c_low, factor_low);
    upper_half(l, middle, product);
    for (uint32_t cross = 0; cross < 2; cross++) {
        multiply(l, product, cross ? c_high : c_low, cross ? factor_low : factor_high);
        bit_and(l, part, product, one(LOW), CONSTANTS);
        add(l, middle, middle, part);
        upper_half(l, part, product);
        add(l, high, high, part);
    }
    upper_half(l, part, middle);
    add(l, high, high, part);
}

OP_INLINE void fill(uint32_t at, uint32_t value)
{
    vector_dup(word(at), (int32_t)value, 1, 1, 1, 8, 8);
}

static void make_constants(void)
{
    static const uint32_t factor[2] = {0xd2511f53u, 0xcd9e8d57u};
    set_vector_mask(0, REPEAT_BYTES / 4);
    fill(LOW, 0xffffu);
    fill(HIGH, 0xffff0000u);
    fill(UPPER, 0xffffff00u);
    for (uint32_t i = 0; i < 2; i++) {
        fill(FACTOR + (3 * i) * REPEAT_BYTES, factor[i] & 0xffffu);
        fill(FACTOR + (3 * i + 1) * REPEAT_BYTES, factor[i] >> 16);
        fill(FACTOR + (3 * i + 2) * REPEAT_BYTES, factor[i]);
    }
}

/* 0, 1, 2, ...: the scalar unit writes a block, sums double it. */
static void make_ramp(void)
{
    for (uint32_t i = 0; i < BLOCK / 4; i++) {
        *(__ubuf__ volatile int32_t *)(uintptr_t)(RAMP + i * 4) = (int32_t)i;
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    for (uint32_t have = BLOCK / 4; have < LANES; have *= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, REPEAT_BYTES / 4);
        fill(BASE, have);
        pipe_barrier(PIPE_V);
        set_vector_mask(0, have);
        vadd(word(RAMP + have * 4), word(RAMP), word(BASE), (uint8_t)((have + 63) / 64), 1, 1, 1, 8,
             8, 0);
    }
}

/* The words of counters first, first + 1, ...; out[k] is where word k is. */
static void make_words(const struct op_random_args *t, struct lanes l, uint32_t first,
                       uint32_t *out)
{
    uint32_t key[2] = {(uint32_t)t->seed, (uint32_t)(t->seed >> 32)};
    uint32_t c[WORDS], product[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        c[i] = STATE + i * ARRAY;
        product[i] = STATE + (WORDS + i) * ARRAY;
    }
    set_vector_mask(0, l.count);
    pipe_barrier(PIPE_V);
    vector_dup(word(c[1]), 0, l.repeats, 1, 1, 8, 8);
    vector_dup(word(c[2]), (int32_t)t->offset, l.repeats, 1, 1, 8, 8);
    vector_dup(word(c[3]), (int32_t)(t->offset >> 32), l.repeats, 1, 1, 8, 8);
    set_vector_mask(0, REPEAT_BYTES / 4);
    fill(BASE, first);
    set_vector_mask(0, l.count);
    pipe_barrier(PIPE_V);
    vadd(word(c[0]), word(RAMP), word(BASE), l.repeats, 1, 1, 1, 8, 8, 0);
    for (int round = 0; round < 10; round++) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, REPEAT_BYTES / 4);
        fill(KEY, key[0]);
        fill(KEY + REPEAT_BYTES, key[1]);
        set_vector_mask(0, l.count);
        const struct both low = {{product[0], product[2]}}, high = {{product[1], product[3]}},
                          even = {{c[0], c[2]}}, odd = {{c[1], c[3]}},
                          crossed = {{product[3], product[1]}}, keys = {{KEY, KEY + REPEAT_BYTES}};
        wide_products(l, low, high, even);
        exclusive_or(l, even, crossed, odd, EACH);
        exclusive_or(l, even, even, keys, CONSTANTS);
        const uint32_t free1 = c[1], free3 = c[3];
        c[1] = product[2];
        c[3] = product[0];
        product[2] = free1;
        product[0] = free3;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        out[i] = c[i];
    }
}

/* In [0, 1): the upper 24 bits of two arrays, exact as signed floats, moved up where they are
 * negative. */
static void make_units(struct lanes l, struct both at)
{
    const struct both negative = {{temp(0), temp(2)}}, moved = {{temp(1), temp(3)}};
    bit_and(l, at, at, one(UPPER), CONSTANTS);
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vconv_s322f32(op_ub_f32(at.at[i]), word(at.at[i]), l.repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vmuls(op_ub_f32(at.at[i]), op_ub_f32(at.at[i]), 0x1p-32f, l.repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        vcmpvs_lt(bytes(negative.at[i]), op_ub_f32(at.at[i]), 0, l.repeats, 1, 1, 8, 8);
        vadds(op_ub_f32(moved.at[i]), op_ub_f32(at.at[i]), 1, l.repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 2; i++) {
        set_selmask_addr(bytes(negative.at[i]));
        vsel(op_ub_f32(at.at[i]), op_ub_f32(moved.at[i]), op_ub_f32(at.at[i]), l.repeats, 1, 1, 1,
             8, 8, 8, 2);
    }
}

/* d = a * factor + term. */
OP_INLINE void scale(struct lanes l, uint32_t d, uint32_t a, float factor, float term)
{
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(d), op_ub_f32(a), factor, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadds(op_ub_f32(d), op_ub_f32(d), term, l.repeats, 1, 1, 8, 8);
}

OP_INLINE void times(struct lanes l, uint32_t d, uint32_t a, uint32_t b)
{
    pipe_barrier(PIPE_V);
    vmul(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), l.repeats, 1, 1, 1, 8, 8, 8);
}

/* d = |a - middle| < width ? yes : no; spoils `mask` and `distance`. */
OP_INLINE void choose_near(struct lanes l, uint32_t d, uint32_t a, float middle, uint32_t yes,
                           uint32_t no, uint32_t distance, uint32_t mask)
{
    pipe_barrier(PIPE_V);
    vadds(op_ub_f32(distance), op_ub_f32(a), -middle, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vabs(op_ub_f32(distance), op_ub_f32(distance), l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vcmpvs_lt(bytes(mask), op_ub_f32(distance), 1, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(bytes(mask));
    vsel(op_ub_f32(d), op_ub_f32(yes), op_ub_f32(no), l.repeats, 1, 1, 1, 8, 8, 8, 2);
}

/*
 * Two normal numbers of two uniform ones, in place (Box and Muller): radius sqrt(-2 ln(1 - u)), and
 * a turn v = (k + rest) / 4 of a circle. Polynomials of gen/functions.py.
 */
static void make_normal(struct lanes l, uint32_t u, uint32_t v)
{
    const uint32_t k = temp(0), r = temp(1), s = temp(2), sine = temp(3), cosine = temp(4),
                   mask = temp(5);
    scale(l, u, u, -1, 1);
    pipe_barrier(PIPE_V);
    vln(op_ub_f32(u), op_ub_f32(u), l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(u), op_ub_f32(u), -2, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsqrt(op_ub_f32(u), op_ub_f32(u), l.repeats, 1, 1, 8, 8);
    scale(l, k, v, 4, 0x1p23f); // to the nearest whole number
    pipe_barrier(PIPE_V);
    vadds(op_ub_f32(k), op_ub_f32(k), -0x1p23f, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(r), op_ub_f32(v), 4, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsub(op_ub_f32(r), op_ub_f32(r), op_ub_f32(k), l.repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(r), op_ub_f32(r), 1.5707963267948966f, l.repeats, 1, 1, 8, 8);
    times(l, s, r, r);
    scale(l, sine, s, 2.717939826e-06f, -0.0001983929612f);
    times(l, sine, sine, s);
    scale(l, sine, sine, 1, 0.008333329267f);
    times(l, sine, sine, s);
    scale(l, sine, sine, 1, -0.1666666664f);
    times(l, sine, sine, s);
    times(l, sine, sine, r);
    pipe_barrier(PIPE_V);
    vadd(op_ub_f32(sine), op_ub_f32(sine), op_ub_f32(r), l.repeats, 1, 1, 1, 8, 8, 8);
    scale(l, cosine, s, 2.443484418e-05f, -0.001388733706f);
    times(l, cosine, cosine, s);
    scale(l, cosine, cosine, 1, 0.04166664627f);
    times(l, cosine, cosine, s);
    scale(l, cosine, cosine, 1, -0.5f);
    times(l, cosine, cosine, s);
    scale(l, cosine, cosine, 1, 1);
    // Quadrants: k = 1 and 3 exchange them; the sine is negative in 2 and 3, the cosine in 1 and 2.
    // k - 2 odd is |k - 1| < 1 or |k - 3| < 1; r is free.
    choose_near(l, r, k, 1, cosine, sine, v, mask);
    choose_near(l, r, k, 3, cosine, r, v, mask);
    choose_near(l, s, k, 1, sine, cosine, v, mask);
    choose_near(l, s, k, 3, sine, s, v, mask);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(sine), op_ub_f32(r), -1, l.repeats, 1, 1, 8, 8);
    vmuls(op_ub_f32(cosine), op_ub_f32(s), -1, l.repeats, 1, 1, 8, 8);
    choose_near(l, r, k, 2.5f, sine, r, v, mask);
    choose_near(l, s, k, 1.5f, cosine, s, v, mask);
    times(l, v, u, r);
    times(l, u, u, s);
}

/* d = a + b * unit, rounded once. */
OP_INLINE void place(struct lanes l, uint32_t at, float a, float b)
{
    const uint32_t sum = temp(0);
    pipe_barrier(PIPE_V);
    vector_dup(op_ub_f32(sum), a, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vaxpy(op_ub_f32(sum), op_ub_f32(at), b, l.repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadds(op_ub_f32(at), op_ub_f32(sum), 0, l.repeats, 1, 1, 8, 8);
}

OP_INLINE void set_rows(ub_addr8_t reg, const uint32_t *row)
{
    uint64_t address[8];
    for (uint32_t i = 0; i < 8; i++) {
        address[i] = row[i];
    }
    set_va_reg_sb(reg, address);
}

OP_INLINE void transpose(const uint32_t *to, const uint32_t *from, uint32_t repeats,
                         uint32_t to_step, uint32_t from_step)
{
    set_rows(VA0, to);
    set_rows(VA1, to + 8);
    set_rows(VA2, from);
    set_rows(VA3, from + 8);
    scatter_vnchwconv_b16(VA0, VA2, (uint8_t)repeats, (uint16_t)to_step, (uint16_t)from_step);
}

/*
 * RESULT[4 i + k] = element i of array k. Of 128 counters, word q of block i becomes half-words of
 * rows (k, q, half) with i along them, and then a block of the result is counters 8 i + 2 t and
 * 8 i + 2 t + 1 with all their halves.
 */
static void interleave(struct lanes l, const uint32_t *array)
{
    const uint32_t groups = l.count / GROUP, group_blocks = GROUP * 4 / BLOCK * WORDS;
    uint32_t to[16], from[16];
    pipe_barrier(PIPE_V);
    for (uint32_t k = 0; k < WORDS; k++) {
        for (uint32_t i = 0; i < 16; i++) {
            from[i] = array[k] + i * BLOCK;
            to[i] = HALVES + (k * 16 + i) * BLOCK;
        }
        transpose(to, from, groups, group_blocks, GROUP * 4 / BLOCK);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t t = 0; t < WORDS; t++) {
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t counter = i / 8, k = i / 2 % WORDS, half = i % 2;
            from[i] = HALVES + (k * 16 + 2 * (2 * t + counter) + half) * BLOCK;
            to[i] = RESULT + (WORDS * i + t) * BLOCK;
        }
        transpose(to, from, groups, group_blocks, group_blocks);
    }
    pipe_barrier(PIPE_V);
}

/* Elements of the tile as f32, in order, at RESULT. */
static void make_elements(const struct op_random_args *t, uint32_t first, struct lanes l)
{
    uint32_t array[WORDS];
    make_words(t, l, first, array);
    for (uint32_t k = 0; k < WORDS; k += 2) {
        make_units(l, (struct both){{array[k], array[k + 1]}});
    }
    if (t->mode == OP_RANDOM_NORMAL) {
        make_normal(l, array[0], array[1]);
        make_normal(l, array[2], array[3]);
    }
    if (t->mode == OP_RANDOM_NORMAL || t->mode == OP_RANDOM_UNIFORM) {
        const float a = (float)t->a,
                    b = t->mode == OP_RANDOM_NORMAL ? (float)t->b : (float)(t->b - t->a);
        for (uint32_t k = 0; k < WORDS; k++) {
            place(l, array[k], a, b);
        }
    }
    interleave(l, array);
}

/* f32 at `at` become `type` at NARROW, or stay; where they are then. */
static uint32_t narrow(uint32_t type, uint32_t at, uint32_t count)
{
    const uint8_t repeats = (uint8_t)((count + 63) / 64);
    pipe_barrier(PIPE_V);
    switch (type) {
    case OP_TYPE_F32:
        return at;
#if __NPU_ARCH__ == 2201
    case OP_TYPE_BF16:
        vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)NARROW, op_ub_f32(at), repeats, 1, 1, 4,
                        8);
        return NARROW;
#endif
    default:
        break;
    }
    vconv_f322f16(op_ub_f16(NARROW), op_ub_f32(at), repeats, 1, 1, 4, 8);
    if (type == OP_TYPE_F16) {
        return NARROW;
    }
    pipe_barrier(PIPE_V); // bool and u8: the result is not read any more
    vconv_f162u8(bytes(RESULT), op_ub_f16(NARROW), (uint8_t)(repeats / 2 + 1), 1, 1, 4, 8);
    return RESULT;
}

/* `type` at `at` becomes f32 at `to`, or stays; where it is then. */
static uint32_t widen(uint32_t type, uint32_t to, uint32_t at, uint32_t count)
{
    if (type != OP_TYPE_F16 && type != OP_TYPE_BF16) {
        return at;
    }
    op_widen(to, at, type, (uint8_t)((count + 63) / 64));
    return to;
}

/* Bytes of memory to INPUT, and V waits for them. */
static void take(uint64_t from, uint32_t size)
{
    set_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_load(INPUT, from, size);
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
}

static void give(uint64_t to, uint32_t from, uint32_t size)
{
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store(to, from, size);
    set_flag(PIPE_MTE3, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
}

/* RESULT in the type that is asked for. */
static void give_results(const struct op_random_args *t, uint64_t at, uint32_t count, bool saturate)
{
    const uint32_t unit = op_bytes_of(t->out_type);
    if (saturate) {
        leo_set_saturate(true);
    }
    const uint32_t from = narrow(t->out_type, RESULT, count);
    if (saturate) {
        leo_set_saturate(false);
    }
    give(t->out + at * unit, from, count * unit);
}

/* Numbers 0 and 1 over ones and zeros: RESULT < threshold, or < the probability of the element. */
static void make_bernoulli(const struct op_random_args *t, uint64_t at, uint32_t count)
{
    const uint8_t repeats = (uint8_t)((count + 63) / 64);
    if (t->prob) {
        const uint32_t unit = op_bytes_of(t->prob_type);
        take(t->prob + at * unit, count * unit);
        const uint32_t p = widen(t->prob_type, ONES, INPUT, count);
        pipe_barrier(PIPE_V);
        vcmpv_lt(bytes(MASK), op_ub_f32(RESULT), op_ub_f32(p), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        vcmpvs_lt(bytes(MASK), op_ub_f32(RESULT), (float)t->a, repeats, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
    vector_dup(op_ub_f32(ONES), 1, repeats, 1, 1, 8, 8);
    vector_dup(op_ub_f32(RESULT), 0, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(bytes(MASK));
    vsel(op_ub_f32(RESULT), op_ub_f32(ONES), op_ub_f32(RESULT), repeats, 1, 1, 1, 8, 8, 8, 2);
}

/* Bits of a dropout mask from `at` on: set where 16 bits of a word are not below t.a. Those of the
 * same half of a word of OP_RANDOM_BITS_GROUP counters follow each other, the lower halves first.
 */
static void make_bits(const struct op_random_args *t, uint64_t at, uint32_t count)
{
    enum { HALF_WORDS = 2 * WORDS, MASK_BYTES = LANES / 8, ORDERED = MASK + LANES };
    const uint32_t all = HALF_WORDS * OP_RANDOM_BITS_GROUP, groups = (count + all - 1) / all,
                   lanes = groups * OP_RANDOM_BITS_GROUP;
    const struct lanes l = {lanes, (uint8_t)(lanes / 64)};
    const float least = (float)t->a * 0x1p16f;
    uint32_t array[WORDS];
    make_words(t, l, (uint32_t)(at / HALF_WORDS), array);
    for (uint32_t k = 0; k < WORDS; k += 2) {
        const struct both from = {{array[k], array[k + 1]}}, low = {{temp(1), temp(2)}},
                          high = {{temp(3), temp(4)}};
        bit_and(l, low, from, one(LOW), CONSTANTS);
        upper_half(l, high, from);
        pipe_barrier(PIPE_V);
        for (uint32_t i = 0; i < 2; i++) {
            vconv_s322f32(op_ub_f32(low.at[i]), word(low.at[i]), l.repeats, 1, 1, 8, 8);
            vconv_s322f32(op_ub_f32(high.at[i]), word(high.at[i]), l.repeats, 1, 1, 8, 8);
        }
        pipe_barrier(PIPE_V);
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t to = MASK + 2 * (k + i) * MASK_BYTES;
            vcmpvs_ge(bytes(to), op_ub_f32(low.at[i]), least, l.repeats, 1, 1, 8, 8);
            vcmpvs_ge(bytes(to + MASK_BYTES), op_ub_f32(high.at[i]), least, l.repeats, 1, 1, 8, 8);
        }
    }
    pipe_barrier(PIPE_V);
    for (uint32_t half = 0; half < HALF_WORDS; half++) {
        copy_ubuf_to_ubuf((__ubuf__ void *)(uintptr_t)(ORDERED + half * BLOCK),
                          (__ubuf__ void *)(uintptr_t)(MASK + half * MASK_BYTES), 0,
                          (uint16_t)groups, 1, 0, HALF_WORDS - 1);
    }
    give(t->out + at / 8, ORDERED, (count + 7) / 8);
}

/* The same in blocks of whole groups. */
__global__ __vector__ void random_lanes_bits(struct op_random_args args)
{
    struct op_random_args t = args;
    op_random_take_seed(&t);
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.count);
    set_mask_count();
    make_constants();
    make_ramp();
    for (uint64_t at = begin; at < end; at += 2 * LANES * WORDS) {
        make_bits(&t, at, (uint32_t)op_min64(2 * LANES * WORDS, end - at));
    }
    op_flush();
}

/* Shares are multiples of 512 elements; t.a of Bernoulli is a multiple of 2^-24. */
__global__ __vector__ void random_lanes(struct op_random_args args)
{
    struct op_random_args t = args;
    op_random_take_seed(&t);
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.count);
    const bool saturate = op_infinite_begin();
    set_mask_count();
    make_constants();
    make_ramp();
    for (uint64_t at = begin; at < end; at += LANES * WORDS) {
        const uint32_t count = (uint32_t)op_min64(LANES * WORDS, end - at);
        const uint32_t groups = (count + GROUP * WORDS - 1) / (GROUP * WORDS);
        const struct lanes l = {groups * GROUP, (uint8_t)(groups * GROUP / 64)};
        make_elements(&t, (uint32_t)(at / WORDS), l);
        set_vector_mask(0, count);
        if (t.mode == OP_RANDOM_BERNOULLI) {
            make_bernoulli(&t, at, count);
        }
        give_results(&t, at, count, saturate);
    }
    op_flush();
}

/* out[i] = bit i of the mask (prob) ? in[i] * b : 0. */
__global__ __vector__ void random_apply_lanes(struct op_random_args args)
{
    const struct op_random_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.count);
    const uint32_t unit = op_bytes_of(t.in_type);
    const bool saturate = op_infinite_begin();
    set_mask_count();
    for (uint64_t at = begin; at < end; at += LANES * WORDS) {
        const uint32_t count = (uint32_t)op_min64(LANES * WORDS, end - at);
        const uint8_t repeats = (uint8_t)((count + 63) / 64);
        set_flag(PIPE_V, PIPE_MTE2, 1);
        wait_flag(PIPE_V, PIPE_MTE2, 1);
        op_load(MASK, t.prob + at / 8, (count + 7) / 8);
        take(t.in + at * unit, count * unit);
        set_vector_mask(0, count);
        pipe_barrier(PIPE_V);
        vector_dup(op_ub_f32(ONES), 0, repeats, 1, 1, 8, 8);
        const uint32_t x = widen(t.in_type, RESULT, INPUT, count);
        pipe_barrier(PIPE_V);
        vmuls(op_ub_f32(RESULT), op_ub_f32(x), (float)t.b, repeats, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        set_selmask_addr(bytes(MASK));
        vsel(op_ub_f32(RESULT), op_ub_f32(RESULT), op_ub_f32(ONES), repeats, 1, 1, 1, 8, 8, 8, 2);
        give_results(&t, at, count, saturate);
    }
    op_flush();
}
