/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include "harness.h"
#include <math.h>
#include <stdint.h>

static struct golden_result compare(const void *got, const void *expected, size_t bytes,
                                    enum leo_dtype type, double relative)
{
    const struct golden_tolerance tolerance = {.relative = relative};
    return golden_compare(got, expected, bytes, type, &tolerance);
}

static void half_patterns_have_their_values(void)
{
    static const uint16_t bits[] = {0x3c00, 0xc000, 0x0001, 0x0400, 0x7bff, 0x8000, 0xfc00, 0x7e01};
    static const double values[] = {1, -2, 0x1p-24, 0x1p-14, 65504, 0, -INFINITY};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        CU_ASSERT(golden_element(bits, i, LEO_DTYPE_F16) == values[i]);
    }
    CU_ASSERT(isnan(golden_element(bits, 7, LEO_DTYPE_F16)));
}

static void other_patterns_have_their_values(void)
{
    static const uint16_t brain = 0xbfc0;
    static const int8_t small = -5;
    static const uint32_t big = 0xffffffff;
    static const int64_t wide = -7;
    CU_ASSERT(golden_element(&brain, 0, LEO_DTYPE_BF16) == -1.5);
    CU_ASSERT(golden_element(&small, 0, LEO_DTYPE_S8) == -5);
    CU_ASSERT(golden_element(&small, 0, LEO_DTYPE_U8) == 251);
    CU_ASSERT(golden_element(&big, 0, LEO_DTYPE_U32) == 4294967295.0);
    CU_ASSERT(golden_element(&big, 0, LEO_DTYPE_S32) == -1);
    CU_ASSERT(golden_element(&wide, 0, LEO_DTYPE_S64) == -7);
}

static void tolerance_is_relative_above_one(void)
{
    static const float got[] = {100.5F, 0.5F, 3};
    static const float want[] = {100, 0.25F, 3};
    struct golden_result result = compare(got, want, sizeof(got), LEO_DTYPE_F32, 0.005);
    CU_ASSERT_EQUAL(result.count, 3);
    CU_ASSERT_EQUAL(result.mismatches, 1);
    CU_ASSERT_EQUAL(result.first, 1);
    CU_ASSERT(result.max_error == 0.25);
}

static void nan_matches_only_nan_and_infinity_only_itself(void)
{
    static const float nan_got[] = {NAN};
    static const float inf_got[] = {INFINITY};
    static const float minus[] = {-INFINITY};
    static const float one[] = {1};
    CU_ASSERT_EQUAL(compare(nan_got, nan_got, 4, LEO_DTYPE_F32, 0).mismatches, 0);
    CU_ASSERT_EQUAL(compare(nan_got, one, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(compare(one, nan_got, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(compare(inf_got, inf_got, 4, LEO_DTYPE_F32, 0).mismatches, 0);
    CU_ASSERT_EQUAL(compare(inf_got, minus, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(compare(one, inf_got, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
}

static struct golden_result close_to(float got, float expected, double relative, double absolute)
{
    const struct golden_tolerance tolerance = {relative, absolute, true};
    return golden_compare(&got, &expected, sizeof(got), LEO_DTYPE_F32, &tolerance);
}

static void two_tolerances_add_up(void)
{
    CU_ASSERT_EQUAL(close_to(110, 100, 0.0625, 3.75).mismatches, 0); // 6.25 + 3.75
    CU_ASSERT(close_to(110, 100, 0.0625, 3.75).max_error == 1);
    CU_ASSERT_EQUAL(close_to(110.1F, 100, 0.0625, 3.75).mismatches, 1);
    CU_ASSERT_EQUAL(close_to(-110, -100, 0.0625, 3.75).mismatches, 0);
    CU_ASSERT_EQUAL(close_to(0.001F, 0, 0.5, 0).mismatches, 1);
    CU_ASSERT_EQUAL(close_to(1, 1, 0, 0).mismatches, 0);
    CU_ASSERT_EQUAL(close_to(1, INFINITY, 1, 1).mismatches, 1);
    CU_ASSERT_EQUAL(close_to(NAN, 1, 1, 1e30).mismatches, 1);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"half_patterns_have_their_values", half_patterns_have_their_values},
        {"other_patterns_have_their_values", other_patterns_have_their_values},
        {"tolerance_is_relative_above_one", tolerance_is_relative_above_one},
        {"nan_matches_only_nan_and_infinity_only_itself",
         nan_matches_only_nan_and_infinity_only_itself},
        {"two_tolerances_add_up", two_tolerances_add_up},
    };
    return leo_test_main("tools/golden", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
