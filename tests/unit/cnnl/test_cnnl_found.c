/* SPDX-License-Identifier: Apache-2.0 */
/* What is found by comparing: middle and running elements, truths and their places, elements
 * without repetition, counts. */
#include "rig.h"

#include <math.h>

static const double eight[] = {5, 1, 4, 4, 2, 7, 1, 5};

static void middle_elements_are_the_lower_of_two(void)
{
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, eight, 2, 4),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2),
                      at = RIG(&rig, CNNL_DTYPE_INT64, NULL, 2),
                      kept = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 1),
                      kept_at = RIG(&rig, CNNL_DTYPE_INT32, NULL, 2, 1),
                      one = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlMedian_v2(rig.handle, 1, false, false, T(x), NULL, 0, T(y), T(at)));
    NEAR(&rig, y, ((double[]){4, 2}), 0);
    NEAR(&rig, at, ((double[]){2, 0}), 0);
    OK(cnnlMedian_v2(rig.handle, 0, true, false, T(x), NULL, 0, T(one), NULL, NULL));
    NEAR(&rig, one, ((double[]){4}), 0);
    OK(cnnlKthValue_v2(rig.handle, 3, 1, T(x), NULL, 0, T(kept), T(kept_at)));
    NEAR(&rig, kept, ((double[]){4, 5}), 0);
    NEAR(&rig, kept_at, ((double[]){3, 3}), 0);
    rig_end(&rig);
}

static void a_nan_is_the_median_unless_it_is_ignored(void)
{
    const double data[] = {3, NAN, 1};
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, data, 3),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlMedian_v2(rig.handle, 0, true, false, T(x), NULL, 0, T(y), NULL, NULL));
    NEAR(&rig, y, ((double[]){NAN}), 0);
    OK(cnnlMedian_v2(rig.handle, 0, true, true, T(x), NULL, 0, T(y), NULL, NULL));
    NEAR(&rig, y, ((double[]){1}), 0);
    rig_end(&rig);
}

static void extremes_run_along_a_dimension(void)
{
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, eight, 2, 4),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 4),
                      at = RIG(&rig, CNNL_DTYPE_INT64, NULL, 2, 4);
    OK(cnnlCummax(rig.handle, T(x), 1, T(y), T(at)));
    NEAR(&rig, y, ((double[]){5, 5, 5, 5, 2, 7, 7, 7}), 0);
    NEAR(&rig, at, ((double[]){0, 0, 0, 0, 0, 1, 1, 1}), 0);
    OK(cnnlCummin(rig.handle, T(x), 0, T(y), T(at)));
    NEAR(&rig, y, ((double[]){5, 1, 4, 4, 2, 1, 1, 4}), 0);
    NEAR(&rig, at, ((double[]){0, 0, 0, 0, 1, 0, 1, 0}), 0);
    rig_end(&rig);
}

static void truths_are_counted_and_their_places_told(void)
{
    const double data[] = {0, 0.25, 0, 0, 1, NAN}, truth[] = {1, 0, 0, 1, 1, 0};
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, data, 2, 3),
                      mask = RIG(&rig, CNNL_DTYPE_BOOL, truth, 2, 3),
                      count = RIG(&rig, CNNL_DTYPE_INT32, NULL, 1),
                      at = RIG(&rig, CNNL_DTYPE_INT32, NULL, 3, 2),
                      chosen = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3);
    OK(cnnlNumTrue_v3(rig.handle, T(x), NULL, 0, T(count)));
    NEAR(&rig, count, ((double[]){3}), 0);
    OK(cnnlWhere_v2(rig.handle, T(x), T(count), false, NULL, 0, T(at)));
    NEAR(&rig, at, ((double[]){0, 1, 1, 1, 1, 2}), 0);
    EXPECT(cnnlWhere_v2(rig.handle, T(x), T(count), true, NULL, 0, T(at)),
           CNNL_STATUS_NOT_SUPPORTED);
    EXPECT(cnnlWhere_v2(rig.handle, T(x), T(count), false, NULL, 0, T(count)),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_SELECT, T(x), T(mask), NULL, NULL, NULL, NULL, 0,
                     T(chosen), count.ptr));
    NEAR(&rig, chosen, ((double[]){0, 0, 1}), 0);
    NEAR(&rig, count, ((double[]){3}), 0);
    rig_end(&rig);
}

static void repeated_elements_are_told_once(void)
{
    struct rig rig = rig_begin();
    cnnlUniqueDescriptor_t d;
    cnnlUniqueConsecutiveDescriptor_t next;
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_INT32, eight, 8),
                      y = RIG(&rig, CNNL_DTYPE_INT32, NULL, 8),
                      at = RIG(&rig, CNNL_DTYPE_INT32, NULL, 8),
                      times = RIG(&rig, CNNL_DTYPE_INT32, NULL, 8),
                      length = RIG(&rig, CNNL_DTYPE_INT32, NULL, 1),
                      more = RIG(&rig, CNNL_DTYPE_INT64, NULL, 1);
    double got[8];
    OK(cnnlCreateUniqueDescriptor(&d));
    OK(cnnlSetUniqueDescriptor(d, CNNL_SORT_ASCEND, -1, true, true));
    OK(cnnlUnique_v2(rig.handle, d, T(x), NULL, 0, length.ptr, T(y), T(at), T(times)));
    NEAR(&rig, length, ((double[]){5}), 0);
    NEAR(&rig, at, ((double[]){3, 0, 2, 2, 1, 4, 0, 3}), 0);
    NEAR(&rig, times, ((double[]){2, 1, 2, 2, 1, 0, 0, 0}), 0);
    rig_read(&rig, &y, got);
    CU_ASSERT(got[0] == 1 && got[1] == 2 && got[2] == 4 && got[3] == 5 && got[4] == 7);
    OK(cnnlDestroyUniqueDescriptor(d));
    OK(cnnlCreateUniqueConsecutiveDescriptor(&next));
    OK(cnnlSetUniqueConsecutiveDescriptor(next, 1, true, true));
    OK(cnnlUniqueConsecutive(rig.handle, next, T(x), NULL, 0, more.ptr, T(y), T(at), T(times)));
    NEAR(&rig, more, ((double[]){7}), 0);
    NEAR(&rig, at, ((double[]){0, 1, 2, 2, 3, 4, 5, 6}), 0);
    NEAR(&rig, times, ((double[]){1, 1, 2, 1, 1, 1, 1, 0}), 0);
    OK(cnnlDestroyUniqueConsecutiveDescriptor(next));
    rig_end(&rig);
}

static void numbers_are_counted(void)
{
    const double weight[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct rig rig = rig_begin();
    cnnlHistogramDescriptor_t d;
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_INT32, eight, 8),
                      real = RIG(&rig, CNNL_DTYPE_FLOAT, eight, 8),
                      w = RIG(&rig, CNNL_DTYPE_FLOAT, weight, 8),
                      counts = RIG(&rig, CNNL_DTYPE_INT64, NULL, 8),
                      sums = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 8),
                      ranges = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3);
    OK(cnnlCreateHistogramDescriptor(&d));
    OK(cnnlSetHistogramDescriptorBinCountMode(d, 0, 7, 0, false));
    OK(cnnlBincount(rig.handle, d, T(x), NULL, NULL, NULL, 0, T(counts)));
    NEAR(&rig, counts, ((double[]){0, 2, 1, 0, 2, 2, 0, 1}), 0);
    OK(cnnlBincount(rig.handle, d, T(x), T(w), NULL, 0, T(sums)));
    NEAR(&rig, sums, ((double[]){0, 9, 5, 0, 7, 9, 0, 6}), 0);
    OK(cnnlSetHistogramDescriptorHistoCountMode(d, 3, 1, 7, false, false));
    OK(cnnlHistc(rig.handle, d, T(real), NULL, 0, T(ranges)));
    NEAR(&rig, ranges, ((double[]){3, 2, 3}), 0);
    EXPECT(cnnlBincount(rig.handle, d, T(x), NULL, NULL, NULL, 0, T(counts)),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyHistogramDescriptor(d));
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"middle_elements_are_the_lower_of_two", middle_elements_are_the_lower_of_two},
    {"a_nan_is_the_median_unless_it_is_ignored", a_nan_is_the_median_unless_it_is_ignored},
    {"extremes_run_along_a_dimension", extremes_run_along_a_dimension},
    {"truths_are_counted_and_their_places_told", truths_are_counted_and_their_places_told},
    {"repeated_elements_are_told_once", repeated_elements_are_told_once},
    {"numbers_are_counted", numbers_are_counted},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_found", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
