/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a run, found by what repeats. */
#include "study/study.h"

#include "harness.h"

static struct study_steps find(const char *kernels)
{
    uint64_t kernel[64];
    size_t count = 0;
    for (; kernels[count]; count++) {
        kernel[count] = (uint64_t)kernels[count];
    }
    return study_steps_find(kernel, count);
}

static void expect(const char *kernels, size_t first, size_t period, size_t count)
{
    const struct study_steps steps = find(kernels);
    CU_ASSERT_EQUAL(steps.first, first);
    CU_ASSERT_EQUAL(steps.period, period);
    CU_ASSERT_EQUAL(steps.count, count);
}

static void test_steps(void)
{
    expect("xyabcabcabcz", 2, 3, 3);
    expect("abab", 0, 2, 2);
    expect("aaaa", 0, 1, 4);
}

/* Layers repeat within a step, which is longer than they are. */
static void test_layers_are_no_steps(void)
{
    expect("wlllloslllloslllloe", 1, 6, 2);
    expect("wabababoabababoabababo", 1, 7, 3);
}

/* The first step makes its state: it is another one. */
static void test_first_step_differs(void)
{
    expect("abcINITabcdabcdabcd", 7, 4, 3);
}

static void test_none(void)
{
    CU_ASSERT_EQUAL(find("abcdef").count, 0);
    CU_ASSERT_EQUAL(find("a").count, 0);
    CU_ASSERT_EQUAL(find("").count, 0);
}

static void a_part_of_a_step_is_told(void)
{
    // Two steps, of which the second does something more: only a part of them repeats.
    static const uint64_t run[] = {1, 2, 3, 4, 4, 4, 5, 6, 1, 2, 3, 4, 4, 4, 7, 5, 6};
    const struct study_steps part = study_steps_find(run, sizeof(run) / sizeof(run[0]));
    CU_ASSERT_EQUAL(part.period, 1);
    CU_ASSERT(study_steps_are_few(&part, sizeof(run) / sizeof(run[0])));
    static const uint64_t steps[] = {9, 1, 2, 3, 1, 2, 3};
    const struct study_steps whole = study_steps_find(steps, sizeof(steps) / sizeof(steps[0]));
    CU_ASSERT_EQUAL(whole.period, 3);
    CU_ASSERT(!study_steps_are_few(&whole, sizeof(steps) / sizeof(steps[0])));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"steps", test_steps},
        {"layers_are_no_steps", test_layers_are_no_steps},
        {"first_step_differs", test_first_step_differs},
        {"none", test_none},
        {"a_part_of_a_step_is_told", a_part_of_a_step_is_told},
    };
    return leo_test_main("tools/steps", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
