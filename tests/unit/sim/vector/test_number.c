/* SPDX-License-Identifier: Apache-2.0 */
/* Formats and roundings against long double; exp and ln against the host's double functions. */
#include "fake_core.h"
#include "harness.h"
#include "number/number.h"

#include <math.h>
#include <stdio.h>

static const enum leo_round rounds[] = {LEO_ROUND_NONE, LEO_ROUND_RINT,  LEO_ROUND_FLOOR,
                                        LEO_ROUND_CEIL, LEO_ROUND_ROUND, LEO_ROUND_TRUNC,
                                        LEO_ROUND_ODD};
#define ROUNDS (sizeof(rounds) / sizeof(rounds[0]))

/** HW-VEC-10: every f16 survives the way to f32 and back in every mode; a NaN becomes the canonical
 * one. */
static void f16_round_trips_in_every_mode(void)
{
    unsigned wrong = 0;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const bool is_nan = (bits & 0x7fff) > 0x7c00;
        for (size_t i = 0; i < ROUNDS; i++) {
            const uint16_t back =
                sim_number_f32_to_f16(sim_number_f16_to_f32((uint16_t)bits), rounds[i]);
            wrong += back != (is_nan ? SIM_NUMBER_NAN_F16 : bits);
        }
    }
    CU_ASSERT(wrong == 0);
}

/**
 * What a magnitude strictly between the neighbours `low` and `low + 1` (as f16 bits, no sign)
 * becomes; `side` compares it with the middle.
 */
static unsigned expected_between(unsigned low, int side, bool negative, enum leo_round round)
{
    switch (round) {
    case LEO_ROUND_NONE:
    case LEO_ROUND_RINT:
        return side != 0 ? low + (side > 0) : low + (low & 1);
    case LEO_ROUND_ROUND:
        return low + (side >= 0);
    case LEO_ROUND_FLOOR:
        return low + negative;
    case LEO_ROUND_CEIL:
        return low + !negative;
    case LEO_ROUND_TRUNC:
        return low;
    case LEO_ROUND_ODD:
        break;
    }
    return low | 1;
}

/** HW-VEC-21: between each two neighbouring f16: just above, just below the middle, the middle,
 * just below the next. */
static void f16_halfway_cases_round_as_told(void)
{
    unsigned wrong = 0;
    for (unsigned low = 0; low < 0x7c00; low++) {
        const double here = (double)sim_number_f16_to_f32((uint16_t)low);
        const double next =
            low == 0x7bff ? 65536.0 : (double)sim_number_f16_to_f32((uint16_t)(low + 1));
        const float middle = (float)((here + next) / 2);
        const float points[] = {nextafterf((float)here, INFINITY), nextafterf(middle, 0), middle,
                                nextafterf(middle, INFINITY), nextafterf((float)next, 0)};
        static const int sides[] = {-1, -1, 0, 1, 1};
        for (size_t point = 0; point < 5; point++) {
            for (size_t i = 0; i < ROUNDS; i++) {
                for (int negative = 0; negative < 2; negative++) {
                    const unsigned want = expected_between(low, sides[point], negative, rounds[i]);
                    const float x = negative ? -points[point] : points[point];
                    wrong +=
                        sim_number_f32_to_f16(x, rounds[i]) != (want | (negative ? 0x8000u : 0));
                }
            }
        }
    }
    CU_ASSERT(wrong == 0);
}

/** HW-VEC-21: past the largest number. */
static void overflow_goes_to_infinity_or_the_largest(void)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        const bool to_nearest = rounds[i] == LEO_ROUND_NONE || rounds[i] == LEO_ROUND_RINT ||
                                rounds[i] == LEO_ROUND_ROUND;
        const bool up = to_nearest || rounds[i] == LEO_ROUND_CEIL;
        const bool down = to_nearest || rounds[i] == LEO_ROUND_FLOOR;
        CU_ASSERT(sim_number_f32_to_f16(1e30f, rounds[i]) == (up ? 0x7c00 : 0x7bff));
        CU_ASSERT(sim_number_f32_to_f16(-1e30f, rounds[i]) == (down ? 0xfc00 : 0xfbff));
        CU_ASSERT(sim_number_f32_to_bf16(3.4e38f, rounds[i]) == (up ? 0x7f80 : 0x7f7f));
        CU_ASSERT(sim_number_int_to_f16(1 << 20, rounds[i]) == (up ? 0x7c00 : 0x7bff));
        CU_ASSERT(sim_number_f32_to_f16(INFINITY, rounds[i]) == 0x7c00);
        CU_ASSERT(sim_number_f32_to_f16(-INFINITY, rounds[i]) == 0xfc00);
    }
}

/** HW-VEC-22. */
static void integers_saturate_and_nan_is_zero(void)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        CU_ASSERT(sim_number_f32_to_int(NAN, rounds[i], -128, 127) == 0);
        CU_ASSERT(sim_number_f32_to_int(1e20f, rounds[i], INT64_MIN, INT64_MAX) == INT64_MAX);
        CU_ASSERT(sim_number_f32_to_int(-INFINITY, rounds[i], INT64_MIN, INT64_MAX) == INT64_MIN);
        CU_ASSERT(sim_number_f32_to_int(-0x1p63f, rounds[i], INT64_MIN, INT64_MAX) == INT64_MIN);
        CU_ASSERT(sim_number_f32_to_int(300.0f, rounds[i], 0, 255) == 255);
        CU_ASSERT(sim_number_f32_to_int(-3.0f, rounds[i], 0, 255) == 0);
    }
    CU_ASSERT(sim_number_f32_to_int(2.5f, LEO_ROUND_RINT, -128, 127) == 2);
    CU_ASSERT(sim_number_f32_to_int(2.5f, LEO_ROUND_ROUND, -128, 127) == 3);
    CU_ASSERT(sim_number_f32_to_int(-2.5f, LEO_ROUND_ROUND, -128, 127) == -3);
    CU_ASSERT(sim_number_f32_to_int(-2.5f, LEO_ROUND_FLOOR, -128, 127) == -3);
    CU_ASSERT(sim_number_f32_to_int(-2.5f, LEO_ROUND_CEIL, -128, 127) == -2);
    CU_ASSERT(sim_number_f32_to_int(2.9f, LEO_ROUND_TRUNC, -128, 127) == 2);
    CU_ASSERT(sim_number_f32_to_int(2.1f, LEO_ROUND_ODD, -128, 127) == 3);
    CU_ASSERT(sim_number_f32_to_int(3.9f, LEO_ROUND_ODD, -128, 127) == 3);
    CU_ASSERT(sim_number_bits(sim_number_f32_to_integral(-0.25f, LEO_ROUND_RINT)) == 0x80000000u);
}

/** Distance in units in the last place of the f32 nearest to `want`. */
static double ulps(float got, double want)
{
    if (isinf(got) && fabs(want) >= 0x1.ffffffp127) {
        return 0;
    }
    int exponent;
    frexp((double)(float)want, &exponent);
    return fabs((double)got - want) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

/** HW-VEC-13: the stated largest errors. */
static void exp_and_ln_stay_within_their_error(void)
{
    double worst_exp = 0, worst_ln = 0;
    for (uint64_t step = 0; step < UINT64_C(1) << 32; step += 1021) {
        const float x = sim_number_float((uint32_t)step);
        if (!isfinite(x)) {
            continue;
        }
        if (x > -110 && x < 90) {
            worst_exp = fmax(worst_exp, ulps(sim_number_exp(x), exp((double)x)));
        }
        if (x > 0) {
            worst_ln = fmax(worst_ln, ulps(sim_number_ln(x), log((double)x)));
        }
    }
    // where results are in use: small arguments of exp, arguments of ln around 1
    uint64_t seed = 5;
    for (unsigned i = 0; i < 400000; i++) {
        const float x = (float)(int64_t)fake_random(&seed) * 0x1p-63f;
        worst_exp = fmax(worst_exp, ulps(sim_number_exp(x * 80), exp((double)(x * 80))));
        worst_ln = fmax(worst_ln, ulps(sim_number_ln(1 + x / 2), log((double)(1 + x / 2))));
    }
    printf("exp %.3f ulp, ln %.3f ulp ", worst_exp, worst_ln);
    CU_ASSERT(worst_exp < 1.1);
    CU_ASSERT(worst_ln < 0.8);
}

static void functions_have_their_special_values(void)
{
    static const float nans[] = {NAN, -NAN};
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT(sim_number_bits(sim_number_exp(nans[i])) == SIM_NUMBER_NAN_F32);
        CU_ASSERT(sim_number_bits(sim_number_ln(nans[i])) == SIM_NUMBER_NAN_F32);
        CU_ASSERT(sim_number_bits(sim_number_sqrt(nans[i])) == SIM_NUMBER_NAN_F32);
        CU_ASSERT(sim_number_bits(sim_number_max(nans[i], 1)) == SIM_NUMBER_NAN_F32);
        CU_ASSERT(sim_number_bits(sim_number_min(1, nans[i])) == SIM_NUMBER_NAN_F32);
    }
    CU_ASSERT(sim_number_exp(-INFINITY) == 0 && sim_number_exp(INFINITY) == INFINITY &&
              sim_number_exp(0) == 1);
    CU_ASSERT(sim_number_exp(89) == INFINITY && sim_number_exp(-104) == 0 &&
              sim_number_exp(-103.5f) == 0x1p-149f);
    CU_ASSERT(sim_number_ln(0) == -INFINITY && sim_number_ln(-0.0f) == -INFINITY &&
              sim_number_ln(1) == 0);
    CU_ASSERT(sim_number_ln(INFINITY) == INFINITY);
    CU_ASSERT(sim_number_bits(sim_number_ln(-1)) == SIM_NUMBER_NAN_F32);
    CU_ASSERT(sim_number_bits(sim_number_sqrt(-1)) == SIM_NUMBER_NAN_F32);
    CU_ASSERT(sim_number_bits(sim_number_sqrt(-0.0f)) == 0x80000000u);
    CU_ASSERT(sim_number_rsqrt(0) == INFINITY && sim_number_rec(-0.0f) == -INFINITY &&
              sim_number_rec(4) == 0.25f);
    CU_ASSERT(sim_number_bits(sim_number_max(-0.0f, 0.0f)) == 0);
    CU_ASSERT(sim_number_bits(sim_number_min(0.0f, -0.0f)) == 0x80000000u);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"f16_round_trips_in_every_mode", f16_round_trips_in_every_mode},
        {"f16_halfway_cases_round_as_told", f16_halfway_cases_round_as_told},
        {"overflow_goes_to_infinity_or_the_largest", overflow_goes_to_infinity_or_the_largest},
        {"integers_saturate_and_nan_is_zero", integers_saturate_and_nan_is_zero},
        {"exp_and_ln_stay_within_their_error", exp_and_ln_stay_within_their_error},
        {"functions_have_their_special_values", functions_have_their_special_values},
    };
    return leo_test_main("number", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
