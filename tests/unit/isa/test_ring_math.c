/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/ring_math.h>

static void depth_is_a_power_of_two(void)
{
    CU_ASSERT_FALSE(leo_ring_is_depth(0));
    CU_ASSERT_FALSE(leo_ring_is_depth(1));
    CU_ASSERT_TRUE(leo_ring_is_depth(2));
    CU_ASSERT_FALSE(leo_ring_is_depth(3));
    CU_ASSERT_TRUE(leo_ring_is_depth(4096));
    CU_ASSERT_TRUE(leo_ring_is_depth(0x80000000u));
    CU_ASSERT_FALSE(leo_ring_is_depth(0x80000001u));
}

static void next_wraps_at_depth(void)
{
    CU_ASSERT_EQUAL(leo_ring_next(0, 4), 1);
    CU_ASSERT_EQUAL(leo_ring_next(3, 4), 0);
    CU_ASSERT_EQUAL(leo_ring_next(0x7fffffff, 0x80000000u), 0);
}

static void distance_counts_over_the_wrap(void)
{
    CU_ASSERT_EQUAL(leo_ring_distance(2, 2, 8), 0);
    CU_ASSERT_EQUAL(leo_ring_distance(2, 7, 8), 5);
    CU_ASSERT_EQUAL(leo_ring_distance(7, 2, 8), 3);
    CU_ASSERT_EQUAL(leo_ring_distance(1, 0, 8), 7);
}

static void full_ring_differs_from_empty(void)
{
    for (uint32_t depth = 2; depth <= 16; depth *= 2) {
        for (uint32_t head = 0; head < depth; head++) {
            uint32_t tail = head;
            CU_ASSERT_TRUE(leo_ring_is_empty(head, tail));
            for (uint32_t used = 0; used < depth - 1; used++) {
                CU_ASSERT_FALSE(leo_ring_is_full(head, tail, depth));
                CU_ASSERT_EQUAL(leo_ring_distance(head, tail, depth), used);
                tail = leo_ring_next(tail, depth);
            }
            CU_ASSERT_TRUE(leo_ring_is_full(head, tail, depth));
            CU_ASSERT_FALSE(leo_ring_is_empty(head, tail));
        }
    }
}

static void phase_changes_once_a_pass(void)
{
    uint32_t index = 0, phase = 1;

    for (uint32_t step = 0; step < 40; step++) {
        CU_ASSERT_EQUAL(phase, 1 + step / 8);
        phase = leo_ring_next_phase(index, 8, phase);
        index = leo_ring_next(index, 8);
    }
}

static void phase_is_never_zero(void)
{
    CU_ASSERT_EQUAL(leo_ring_next_phase(6, 8, UINT32_MAX), UINT32_MAX);
    CU_ASSERT_EQUAL(leo_ring_next_phase(7, 8, UINT32_MAX), 1);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"depth_is_a_power_of_two", depth_is_a_power_of_two},
        {"next_wraps_at_depth", next_wraps_at_depth},
        {"distance_counts_over_the_wrap", distance_counts_over_the_wrap},
        {"full_ring_differs_from_empty", full_ring_differs_from_empty},
        {"phase_changes_once_a_pass", phase_changes_once_a_pass},
        {"phase_is_never_zero", phase_is_never_zero},
    };

    return leo_test_main("isa_ring_math", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
