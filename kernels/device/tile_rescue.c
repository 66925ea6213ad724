/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise operators with functions whose vector form holds within limits: elements beyond are
 * computed by the scalar unit, in UB. Flags: V -> S: the mask is there; S -> V: elements are.
 */
#include "inline.h"
#include "pointwise_functions.h"
#include "tile_args.h"

enum { EVENT_RESCUE = 3 };

OP_INLINE __ubuf__ volatile float *element(uint32_t slot, uint32_t i)
{
    return (__ubuf__ volatile float *)(uintptr_t)(slot + i * 4);
}

static float compute(uint32_t function, float x, float y)
{
    switch (function) {
    case OP_RESCUE_SIN:
        return pw_sin_f(x);
    case OP_RESCUE_COS:
        return pw_cos_f(x);
    case OP_RESCUE_TAN:
        return pw_tan_f(x);
    case OP_RESCUE_FMOD:
        return pw_fmod_f(x, y);
    default:
        return pw_pow_f(x, y);
    }
}

/* `bits` bits, the others 1; bytes beyond were not written. */
OP_INLINE uint64_t mask_word(uint32_t from, uint32_t bits)
{
    if (bits == 64) {
        return *(const __ubuf__ volatile uint64_t *)(uintptr_t)from;
    }
    uint64_t word = UINT64_MAX << bits;
    for (uint32_t i = 0; i < bits; i += 8) {
        word |= (uint64_t)*(const __ubuf__ volatile uint8_t *)(uintptr_t)(from + i / 8) << i;
    }
    return word;
}

/* Elements of `to` whose bit of `good` is 0. */
static void rescue(uint32_t function, uint32_t to, uint32_t good, uint32_t x, uint32_t y,
                   uint32_t count)
{
    set_flag(PIPE_V, PIPE_S, EVENT_RESCUE);
    wait_flag(PIPE_V, PIPE_S, EVENT_RESCUE);
    for (uint32_t at = 0; at < count; at += 64) {
        uint64_t bad = ~mask_word(good + at / 8, op_min(count - at, 64));
        for (; bad; bad &= bad - 1) {
            const uint32_t i = at + (uint32_t)__builtin_ctzll(bad);
            *element(to, i) = compute(function, *element(x, i), *element(y, i));
        }
    }
    set_flag(PIPE_S, PIPE_V, EVENT_RESCUE);
    wait_flag(PIPE_S, PIPE_V, EVENT_RESCUE);
}

#include "tile.inc"
