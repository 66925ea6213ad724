/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of every type against the same done one element at a time in double or 64 bits. */
#include "harness.h"
#include <collective/collective.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5003, INPUTS = 3 };

static uint64_t state = 1;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double half_to_double(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* The nearest half by search over all of them; ties to the even one. */
static uint16_t nearest_half(float value)
{
    static double table[0x7c00];
    if (table[1] == 0) {
        for (uint16_t i = 0; i < 0x7c00; i++) {
            table[i] = half_to_double(i);
        }
    }
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double wanted = fabs((double)value);
    if (wanted >= 65520) {
        return sign | 0x7c00;
    }
    uint16_t low = 0, high = 0x7bff;
    while (low < high) {
        const uint16_t middle = (uint16_t)((low + high + 1) / 2);
        if (table[middle] <= wanted) {
            low = middle;
        } else {
            high = (uint16_t)(middle - 1);
        }
    }
    if (low == 0x7bff) {
        return sign | low;
    }
    const double down = wanted - table[low], up = table[low + 1] - wanted;
    const bool next = up < down || (up == down && (low & 1));
    return (uint16_t)(sign | (low + next));
}

static void halves_round_once_to_nearest_even(void)
{
    static uint16_t in[INPUTS][COUNT], out[COUNT];
    for (int k = 0; k < INPUTS; k++) {
        for (int i = 0; i < COUNT; i++) {
            do {
                in[k][i] = (uint16_t)random64();
                if (i % 3 == 0) {
                    in[k][i] &= 0x87ff; // small ones, denormals among them
                }
            } while ((in[k][i] & 0x7c00) == 0x7c00);
        }
    }
    const void *parts[INPUTS] = {in[0], in[1], in[2]};
    coll_reduce(COLL_F16, COLL_SUM, out, parts, INPUTS, COUNT);
    for (int i = 0; i < COUNT; i++) {
        float sum = (float)half_to_double(in[0][i]);
        for (int k = 1; k < INPUTS; k++) {
            sum += (float)half_to_double(in[k][i]);
        }
        if (out[i] != nearest_half(sum)) {
            CU_ASSERT_EQUAL_FATAL(out[i], nearest_half(sum));
        }
    }
}

static void special_halves_stay(void)
{
    const uint16_t first[] = {0x7c00, 0x7c00, 0x7e01, 0x7bff, 0x8000, 0x0001};
    const uint16_t second[] = {0x3c00, 0xfc00, 0x3c00, 0x7bff, 0x8000, 0x0001};
    uint16_t out[6];
    const void *parts[] = {first, second};
    coll_reduce(COLL_F16, COLL_SUM, out, parts, 2, 6);
    CU_ASSERT_EQUAL(out[0], 0x7c00);
    CU_ASSERT(isnan(half_to_double(out[1])));
    CU_ASSERT(isnan(half_to_double(out[2])));
    CU_ASSERT_EQUAL(out[3], 0x7c00);
    CU_ASSERT_EQUAL(out[4], 0x8000);
    CU_ASSERT_EQUAL(out[5], 0x0002);
    coll_reduce(COLL_F16, COLL_MAX, out, parts, 2, 6);
    CU_ASSERT_EQUAL(out[1], 0x7c00);
    CU_ASSERT(isnan(half_to_double(out[2])));
    // Whoever brings it.
    const void *swapped[] = {second, first};
    coll_reduce(COLL_F16, COLL_MAX, out, swapped, 2, 6);
    CU_ASSERT(isnan(half_to_double(out[2])));
    coll_reduce(COLL_F16, COLL_MIN, out, swapped, 2, 6);
    CU_ASSERT(isnan(half_to_double(out[2])));
}

static void bfloats_round_to_nearest_even(void)
{
    // 1 + 2^-8 is half way between two bfloats; 1 + 3 * 2^-8 half way with an odd one below.
    const uint16_t one[] = {0x3f80, 0x3f81, 0x7f7f, 0x7fc1};
    const uint16_t small[] = {0x3b80, 0x3b80, 0x7f7f, 0x3f80};
    uint16_t out[4];
    const void *parts[] = {one, small};
    coll_reduce(COLL_BF16, COLL_SUM, out, parts, 2, 4);
    CU_ASSERT_EQUAL(out[0], 0x3f80);
    CU_ASSERT_EQUAL(out[1], 0x3f82);
    CU_ASSERT_EQUAL(out[2], 0x7f80);
    CU_ASSERT((out[3] & 0x7f80) == 0x7f80 && (out[3] & 0x7f));
}

static void integers_wrap_and_compare_by_sign(void)
{
    const int8_t a[] = {127, -128, 5, -3};
    const int8_t b[] = {1, -1, -7, 100};
    const void *parts[] = {a, b};
    int8_t out[4];
    coll_reduce(COLL_S8, COLL_SUM, out, parts, 2, 4);
    CU_ASSERT_EQUAL(out[0], -128);
    CU_ASSERT_EQUAL(out[1], 127);
    coll_reduce(COLL_S8, COLL_PROD, out, parts, 2, 4);
    CU_ASSERT_EQUAL(out[2], -35);
    coll_reduce(COLL_S8, COLL_MIN, out, parts, 2, 4);
    CU_ASSERT_EQUAL(out[2], -7);
    coll_reduce(COLL_U8, COLL_MAX, out, parts, 2, 4);
    CU_ASSERT_EQUAL((uint8_t)out[1], 255);
}

static void floats_go_rank_by_rank(void)
{
    const float a = 1, b = 0x1p24f, c = -0x1p24f;
    const void *parts[] = {&a, &b, &c};
    float out;
    coll_reduce(COLL_F32, COLL_SUM, &out, parts, 3, 1);
    CU_ASSERT_EQUAL(out, 0); // (1 + 2^24) - 2^24; another order gives 1
    const void *other[] = {&b, &c, &a};
    coll_reduce(COLL_F32, COLL_SUM, &out, other, 3, 1);
    CU_ASSERT_EQUAL(out, 1);
}

static void wide_types_have_their_range(void)
{
    const int64_t a[] = {INT64_C(1) << 40, -5}, b[] = {1, -6};
    const void *parts[] = {a, b};
    int64_t out[2];
    coll_reduce(COLL_S64, COLL_SUM, out, parts, 2, 2);
    CU_ASSERT_EQUAL(out[0], (INT64_C(1) << 40) + 1);
    coll_reduce(COLL_U64, COLL_MIN, out, parts, 2, 2);
    CU_ASSERT_EQUAL(out[1], -6);
    const double x = 1e300, y = 1;
    const void *doubles[] = {&x, &y};
    double sum;
    coll_reduce(COLL_F64, COLL_MAX, &sum, doubles, 2, 1);
    CU_ASSERT_EQUAL(sum, 1e300);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"halves_round_once_to_nearest_even", halves_round_once_to_nearest_even},
        {"special_halves_stay", special_halves_stay},
        {"bfloats_round_to_nearest_even", bfloats_round_to_nearest_even},
        {"integers_wrap_and_compare_by_sign", integers_wrap_and_compare_by_sign},
        {"floats_go_rank_by_rank", floats_go_rank_by_rank},
        {"wide_types_have_their_range", wide_types_have_their_range},
    };
    return leo_test_main("coll_reduce", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
