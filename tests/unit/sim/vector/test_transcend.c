/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HW-NUM-20: how far functions are from the truth. All f16, all f32 where ln is worst, and a sample
 * of all f32; the truth is long double, 40 bits finer. An argument makes the sample longer:
 * test_transcend 100000000.
 */
#include "number/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct worst {
    double ulps;
    unsigned not_nearest;
};

/** Error in units of the last place of a format whose fraction has `bits` bits. */
static void note(struct worst *worst, float got, long double want, int bits, int least)
{
    int exponent;
    frexpl(want, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    const double ulps = (double)(fabsl((long double)got - want) / ldexpl(1, exponent - bits));
    worst->ulps = fmax(worst->ulps, ulps);
    worst->not_nearest += ulps > 0.5;
}

static void note_f16(struct worst *worst, float single, long double want)
{
    if (fabsl(want) < 65520 && !isnan(want)) {
        const uint16_t half = sim_number_f32_to_f16(single, LEO_ROUND_RINT);
        note(worst, sim_number_f16_to_f32(half), want, 10, -14);
    }
}

static void note_f32(struct worst *worst, float single, long double want)
{
    if (fabsl(want) < 0x1.ffffffp127L) {
        note(worst, single, want, 23, -126);
    }
}

enum { EXP, LN, RSQRT, FUNCTIONS };

static void measure_f16(struct worst worst[FUNCTIONS])
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float x = sim_number_f16_to_f32((uint16_t)bits);
        if (isnan(x) || isinf(x)) {
            continue;
        }
        note_f16(&worst[EXP], sim_number_exp(x), expl((long double)x));
        if (x > 0) {
            note_f16(&worst[LN], sim_number_ln(x), logl((long double)x));
            note_f16(&worst[RSQRT], sim_number_rsqrt(x), 1 / sqrtl((long double)x));
        }
    }
}

static void measure_f32(struct worst worst[FUNCTIONS], long samples)
{
    uint64_t state = 1;
    for (uint32_t bits = 0x3f000000; bits < 0x40000000; bits++) { // all of [1/2, 2)
        const float x = sim_number_float(bits);
        note_f32(&worst[LN], sim_number_ln(x), logl((long double)x));
    }
    for (long i = 0; i < samples; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const uint32_t bits = (uint32_t)(state >> 16);
        const float any = sim_number_float(bits), size = fabsf(any);
        const float x = i % 2 ? any : (float)(int32_t)bits * (105.0f / 2147483648.0f);
        if (x <= 88.72f && x >= -103.9f) {
            note_f32(&worst[EXP], sim_number_exp(x), expl((long double)x));
        }
        if (size > 0 && size < INFINITY) {
            note_f32(&worst[LN], sim_number_ln(size), logl((long double)size));
            note_f32(&worst[RSQRT], sim_number_rsqrt(size), 1 / sqrtl((long double)size));
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const names[FUNCTIONS] = {"exp", "ln", "rsqrt"};
    static const double bounds[FUNCTIONS] = {1.1, 0.83, 1.5};
    static const unsigned most[FUNCTIONS] = {2, 1, 0}; // f16 results that are not the nearest
    struct worst half[FUNCTIONS] = {{0}}, single[FUNCTIONS] = {{0}};
    int wrong = 0;
    measure_f16(half);
    measure_f32(single, argc > 1 ? atol(argv[1]) : 2000000);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        printf("%s: f16 %.5f ulp, %u not the nearest; f32 %.4f ulp\n", names[i], half[i].ulps,
               half[i].not_nearest, single[i].ulps);
        wrong += single[i].ulps > bounds[i] || half[i].not_nearest > most[i];
    }
    return wrong != 0;
}
