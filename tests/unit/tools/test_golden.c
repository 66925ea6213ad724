/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include "harness.h"
#include <math.h>
#include <stdint.h>

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
    struct golden_result result = golden_compare(got, want, sizeof(got), LEO_DTYPE_F32, 0.005);
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
    CU_ASSERT_EQUAL(golden_compare(nan_got, nan_got, 4, LEO_DTYPE_F32, 0).mismatches, 0);
    CU_ASSERT_EQUAL(golden_compare(nan_got, one, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(golden_compare(one, nan_got, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(golden_compare(inf_got, inf_got, 4, LEO_DTYPE_F32, 0).mismatches, 0);
    CU_ASSERT_EQUAL(golden_compare(inf_got, minus, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
    CU_ASSERT_EQUAL(golden_compare(one, inf_got, 4, LEO_DTYPE_F32, 1e30).mismatches, 1);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"half_patterns_have_their_values", half_patterns_have_their_values},
        {"other_patterns_have_their_values", other_patterns_have_their_values},
        {"tolerance_is_relative_above_one", tolerance_is_relative_above_one},
        {"nan_matches_only_nan_and_infinity_only_itself",
         nan_matches_only_nan_and_infinity_only_itself},
    };
    return leo_test_main("tools/golden", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
