/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers by Philox4x32-10: counter (index / 4, offset), key seed, word index mod 4. An
 * element does not depend on how many cores there are.
 */
#include "../device/element.h"
#include "random_seed_device.h"

#include <math.h>

struct words {
    uint32_t word[4];
};

static struct words philox(uint64_t seed, uint64_t offset, uint64_t counter)
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    struct words c = {
        {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)offset, (uint32_t)(offset >> 32)}};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xd2511f53u * c.word[0];
        const uint64_t p1 = (uint64_t)0xcd9e8d57u * c.word[2];
        const struct words next = {{(uint32_t)(p1 >> 32) ^ c.word[1] ^ key0, (uint32_t)p1,
                                    (uint32_t)(p0 >> 32) ^ c.word[3] ^ key1, (uint32_t)p0}};
        c = next;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return c;
}

/* In [0, 1): 24 bits, what a float holds. */
OP_INLINE float unit_of(uint32_t word)
{
    return (float)(word >> 8) * 0x1p-24f;
}

/* Two words give two normal numbers (Box and Muller); this takes the first or the second. */
static float normal_of(const struct words *words, uint32_t which)
{
    const float u = 1 - unit_of(words->word[which & 2]); // in (0, 1]
    const float angle = 6.2831853f * unit_of(words->word[(which & 2) + 1]);
    const float radius = sqrtf(-2 * logf(u));
    return radius * (which & 1 ? sinf(angle) : cosf(angle));
}

static void put_one(const struct op_random_args *t, uint64_t i, const struct words *words,
                    uint32_t which)
{
    const uint64_t addr = t->out + i * op_bytes_of(t->out_type);
    const uint32_t word = words->word[which];
    if (t->mode == OP_RANDOM_UNIFORM) {
        op_put_f(addr, t->out_type,
                 __builtin_fmaf(unit_of(word), (float)(t->b - t->a), (float)t->a));
    } else if (t->mode == OP_RANDOM_NORMAL) {
        op_put_f(addr, t->out_type, (float)(t->a + t->b * (double)normal_of(words, which)));
    } else if (t->mode == OP_RANDOM_INTEGER) {
        // Two words: the range may be larger than 32 bits.
        const uint64_t wide = (uint64_t)word << 32 | words->word[which ^ 1];
        op_put_i(addr, t->out_type, t->low + (int64_t)(wide % t->range));
    } else {
        const double p =
            t->prob ? op_get_d(t->prob + i * op_bytes_of(t->prob_type), t->prob_type) : t->a;
        op_put_i(addr, t->out_type, (double)unit_of(word) < p);
    }
}

__global__ __vector__ void random_elements(struct op_random_args args)
{
    struct op_random_args t = args;
    op_random_take_seed(&t);
    const struct op_span span = op_block_span(t.out, t.out_type, t.count, t.per_block);
    struct words words = {{0, 0, 0, 0}};
    for (uint64_t i = span.begin; i < span.end; i++) {
        if (i == span.begin || (i & 3) == 0) {
            words = philox(t.seed, t.offset, i >> 2);
        }
        put_one(&t, i, &words, (uint32_t)(i & 3));
    }
    op_flush();
}

/* Bytes of 8 elements each, the first in the lowest bit: 16 bits of 8 counters' words. */
__global__ __vector__ void random_keep_bits(struct op_random_args args)
{
    enum { HALVES = 8, GROUP_BYTES = HALVES * OP_RANDOM_BITS_GROUP / 8 };
    struct op_random_args t = args;
    op_random_take_seed(&t);
    const struct op_span span = op_block_span(t.out, OP_TYPE_U8, t.count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint32_t in_group = (uint32_t)(i % GROUP_BYTES),
                       half = in_group / (OP_RANDOM_BITS_GROUP / 8);
        const uint64_t counter =
            i / GROUP_BYTES * OP_RANDOM_BITS_GROUP + in_group % (OP_RANDOM_BITS_GROUP / 8) * 8;
        uint32_t byte = 0;
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t word = philox(t.seed, t.offset, counter + k).word[half / 2],
                           number = half % 2 ? word >> 16 : word & 0xffff;
            byte |= (uint32_t)((double)number * 0x1p-16 >= t.a) << k;
        }
        *(__gm__ volatile uint8_t *)(t.out + i) = (uint8_t)byte;
    }
    op_flush();
}

/* out[i] = bit i of the mask (prob) ? in[i] * b : 0. */
__global__ __vector__ void random_apply_bits(struct op_random_args args)
{
    const struct op_random_args t = args;
    const struct op_span span = op_block_span(t.out, t.out_type, t.count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint8_t byte = *(const __gm__ volatile uint8_t *)(t.prob + i / 8);
        const float x = op_get_f(t.in + i * op_bytes_of(t.in_type), t.in_type);
        op_put_f(t.out + i * op_bytes_of(t.out_type), t.out_type,
                 byte >> (i & 7) & 1 ? x * (float)t.b : 0);
    }
    op_flush();
}

/* A permutation of 0..count-1 (Fisher and Yates), by one block. */
__global__ __vector__ void random_permutation(struct op_random_args args)
{
    struct op_random_args t = args;
    op_random_take_seed(&t);
    const uint32_t unit = op_bytes_of(t.out_type);
    for (uint64_t i = 0; i < t.count; i++) {
        const struct words words = philox(t.seed, t.offset, i);
        const uint64_t j = ((uint64_t)words.word[0] << 32 | words.word[1]) % (i + 1);
        if (j != i) {
            op_put_i(t.out + i * unit, t.out_type, op_get_i(t.out + j * unit, t.out_type));
        }
        op_put_i(t.out + j * unit, t.out_type, (int64_t)i);
    }
    op_flush();
}
