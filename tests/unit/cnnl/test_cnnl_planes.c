/* SPDX-License-Identifier: Apache-2.0 */
/* Planes at points and in windows, distances, factors of matrices, places along a dimension. */
#include "rig.h"

#include <math.h>
#include <mlu_op.h>

static const double nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

// Layout and a filled tensor of one plane.
#define PLANE(rig, data, ...)                                                                      \
    rig_make(rig, CNNL_LAYOUT_NCHW, CNNL_DTYPE_FLOAT, 4, (int64_t[]){__VA_ARGS__}, data)

static void planes_are_read_between_points(void)
{
    // The middle, between two corners, and beyond the plane.
    const double points[] = {0, 0, -0.5, -1, -3, 0}, ones[] = {1, 1, 1};
    struct rig rig = rig_begin();
    cnnlGridSampleDescriptor_t d;
    struct rig_tensor x = PLANE(&rig, nine, 1, 1, 3, 3),
                      grid = RIG(&rig, CNNL_DTYPE_FLOAT, points, 1, 1, 3, 2),
                      y = PLANE(&rig, NULL, 1, 1, 1, 3), diff = PLANE(&rig, ones, 1, 1, 1, 3),
                      diff_x = PLANE(&rig, NULL, 1, 1, 3, 3),
                      diff_grid = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1, 3, 2);
    OK(cnnlCreateGridSampleDescriptor(&d));
    OK(cnnlSetGridSampleDescriptor(d, CNNL_INTERP_BILINEAR, CNNL_GRIDSAMPLE_PADDING_ZEROS, true));
    OK(cnnlGridSampleForward(rig.handle, d, T(x), T(grid), T(y), NULL, 0));
    NEAR(&rig, y, ((double[]){5, 1.5, 0}), 1e-6);
    OK(cnnlGridSampleBackward(rig.handle, d, T(diff), T(x), T(grid), NULL, 0, T(diff_x),
                              T(diff_grid)));
    NEAR(&rig, diff_x, ((double[]){0.5, 0.5, 0, 0, 1, 0, 0, 0, 0}), 1e-6);
    OK(cnnlSetGridSampleDescriptor(d, CNNL_INTERP_NEAREST, CNNL_GRIDSAMPLE_PADDING_BORDER, true));
    OK(cnnlGridSampleForward(rig.handle, d, T(x), T(grid), T(y), NULL, 0));
    NEAR(&rig, y, ((double[]){5, 1, 4}), 0);
    OK(cnnlSetGridSampleDescriptor(d, CNNL_INTERP_LINEAR, CNNL_GRIDSAMPLE_PADDING_BORDER, true));
    EXPECT(cnnlGridSampleForward(rig.handle, d, T(x), T(grid), T(y), NULL, 0),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyGridSampleDescriptor(d));
    rig_end(&rig);
}

static void windows_become_columns_and_back(void)
{
    const int pad[] = {0, 0, 0, 0}, one[] = {1, 1}, window[] = {1, 1, 2, 2};
    struct rig rig = rig_begin();
    cnnlConvolutionDescriptor_t d;
    cnnlTensorDescriptor_t filter;
    struct rig_tensor x = PLANE(&rig, nine, 1, 1, 3, 3), back = PLANE(&rig, NULL, 1, 1, 3, 3),
                      columns = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 4, 4),
                      parts = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1, 3, 2, 2),
                      beyond = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1, 3, 1, 4);
    OK(cnnlCreateConvolutionDescriptor(&d));
    OK(cnnlSetConvolutionDescriptor(d, 4, pad, one, one, 1, CNNL_DTYPE_FLOAT));
    OK(cnnlCreateTensorDescriptor(&filter));
    OK(cnnlSetTensorDescriptor(filter, CNNL_LAYOUT_NCHW, CNNL_DTYPE_FLOAT, 4, window));
    OK(cnnlIm2Col(rig.handle, T(x), filter, d, NULL, NULL, NULL, NULL, 0, T(columns)));
    NEAR(&rig, columns, ((double[]){1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9}), 0);
    OK(cnnlCol2Im(rig.handle, T(columns), filter, d, NULL, 0, T(back)));
    NEAR(&rig, back, ((double[]){1, 4, 3, 8, 20, 12, 7, 16, 9}), 0);
    OK(cnnlUnfold(rig.handle, 3, 2, 1, T(x), T(parts)));
    NEAR(&rig, parts, ((double[]){1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9}), 0);
    EXPECT(cnnlUnfold(rig.handle, 3, 4, 1, T(x), T(parts)), CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlUnfold(rig.handle, 3, 4, 2, T(x), T(beyond)), CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroyTensorDescriptor(filter));
    OK(cnnlDestroyConvolutionDescriptor(d));
    rig_end(&rig);
}

static void planes_are_padded(void)
{
    const int pad[] = {1, 0, 0, 0}, pairs[][2] = {{0, 0}, {0, 0}, {0, 1}, {0, 0}};
    const float value = 7;
    struct rig rig = rig_begin();
    struct rig_tensor x = PLANE(&rig, nine, 1, 1, 2, 2), wide = PLANE(&rig, NULL, 1, 1, 2, 3),
                      tall = PLANE(&rig, NULL, 1, 1, 3, 2), diff = PLANE(&rig, NULL, 1, 1, 2, 2);
    OK(cnnlReflectionPad2d(rig.handle, T(x), pad, T(wide)));
    NEAR(&rig, wide, ((double[]){2, 1, 2, 4, 3, 4}), 0);
    OK(cnnlReplicationPad2d(rig.handle, T(x), pad, T(wide)));
    NEAR(&rig, wide, ((double[]){1, 1, 2, 3, 3, 4}), 0);
    OK(cnnlReplicationPadBackward(rig.handle, T(wide), pad, T(diff)));
    NEAR(&rig, diff, ((double[]){2, 2, 6, 4}), 0);
    OK(cnnlPad(rig.handle, T(x), pairs, &value, T(tall)));
    NEAR(&rig, tall, ((double[]){1, 2, 3, 4, 7, 7}), 0);
    rig_end(&rig);
}

static void distances_and_factors(void)
{
    const double a[] = {0, 0, 3, 4}, b[] = {3, 4, 0, 1}, matrix[] = {3, 0, 4, 5};
    double left[4], right[4], s[2];
    struct rig rig = rig_begin();
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 2, 2),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 2, 2),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      m = RIG(&rig, CNNL_DTYPE_FLOAT, matrix, 2, 2),
                      q = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      r = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      values = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2),
                      info = RIG(&rig, CNNL_DTYPE_INT32, NULL, 1),
                      sum = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlCdistForward(rig.handle, T(ta), T(tb), 2, T(y)));
    NEAR(&rig, y, ((double[]){5, 1, 0, sqrt(18)}), 1e-6);
    OK(cnnlQR(rig.handle, T(m), T(q), T(r), NULL, 0, true));
    rig_read(&rig, &q, left);
    rig_read(&rig, &r, right);
    for (int i = 0; i < 4; i++) {
        const double product =
            left[i / 2 * 2] * right[i % 2] + left[i / 2 * 2 + 1] * right[2 + i % 2];
        CU_ASSERT(fabs(product - matrix[i]) < 1e-5);
    }
    CU_ASSERT(fabs(left[0] * left[1] + left[2] * left[3]) < 1e-5);
    OK(cnnlSvd(rig.handle, T(m), true, true, false, true, 0, NULL, T(q), T(values), T(r), T(info)));
    rig_read(&rig, &q, left);
    rig_read(&rig, &r, right);
    rig_read(&rig, &values, s);
    CU_ASSERT(fabs(s[0] * s[1] - 15) < 1e-4 && s[0] > s[1]);
    for (int i = 0; i < 4; i++) {
        const double product =
            left[i / 2 * 2] * s[0] * right[i % 2] + left[i / 2 * 2 + 1] * s[1] * right[2 + i % 2];
        CU_ASSERT(fabs(product - matrix[i]) < 1e-4);
    }
    EXPECT(cnnlSvd(rig.handle, T(m), false, true, false, true, 0, NULL, T(q), T(values), T(r),
                   T(info)),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlTrace(rig.handle, T(m), NULL, 0, T(sum)));
    NEAR(&rig, sum, ((double[]){8}), 0);
    rig_end(&rig);
}

static void places_along_a_dimension_are_changed(void)
{
    const double at[] = {1}, times[] = {2, 0, 1}, source[] = {8, 9};
    const float value = 7;
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, nine, 2, 2),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      index = RIG(&rig, CNNL_DTYPE_INT64, at, 1),
                      row = RIG(&rig, CNNL_DTYPE_FLOAT, source, 1, 2),
                      list = RIG(&rig, CNNL_DTYPE_INT64, nine, 3),
                      count = RIG(&rig, CNNL_DTYPE_INT64, times, 3),
                      repeated = RIG(&rig, CNNL_DTYPE_INT64, NULL, 3),
                      square = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2);
    OK(cnnlIndexCopy(rig.handle, 0, true, T(x), T(row), T(index), NULL, 0, T(y)));
    NEAR(&rig, y, ((double[]){1, 2, 8, 9}), 0);
    OK(cnnlIndexFill_v2(rig.handle, 1, CNNL_POINTER_MODE_HOST, &value, T(x), T(index), T(y)));
    NEAR(&rig, y, ((double[]){1, 7, 3, 7}), 0);
    OK(cnnlRepeatInterleave(rig.handle, T(list), T(count), 0, T(repeated)));
    NEAR(&rig, repeated, ((double[]){1, 1, 3}), 0);
    OK(cnnlDiag(rig.handle, 0, T(x), T(square)));
    NEAR(&rig, square, ((double[]){1, 4}), 0);
    const double zero[] = {0, 0}, first[] = {5, 0};
    struct rig_tensor to = RIG(&rig, CNNL_DTYPE_INT64, zero, 1, 2),
                      from = RIG(&rig, CNNL_DTYPE_FLOAT, first, 1, 2);
    OK(cnnlScatter_v2(rig.handle, 0, T(x), T(to), T(from), NULL, 0, T(y), CNNL_SCATTER_MAX));
    NEAR(&rig, y, ((double[]){5, 2, 3, 4}), 0);
    OK(cnnlScatter_v2(rig.handle, 0, T(x), T(to), T(from), NULL, 0, T(y), CNNL_SCATTER_MIN));
    NEAR(&rig, y, ((double[]){1, 0, 3, 4}), 0);
    rig_end(&rig);
}

static void turned_boxes_overlap(void)
{
    const double quarter = atan(1); // of a half turn
    // A square, the same one turned, and a long box that leans to the right, up.
    const double a[] = {0, 0, 2, 2, 0, 0, 0, 2, 2, quarter, 0, 0, 8, 0.5, quarter};
    const double b[] = {0, 0, 2, 2, 0, 2, 2, 1, 1, 0, 2, -2, 1, 1, 0};
    double got[9];
    struct rig rig = rig_begin();
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, a, 3, 5),
                      tb = RIG(&rig, CNNL_DTYPE_FLOAT, b, 3, 5),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3, 3);
    OK(mluOpBoxIouRotated(rig.handle, 0, false, T(ta), T(tb), T(y)));
    rig_read(&rig, &y, got);
    CU_ASSERT(fabs(got[0] - 1) < 1e-5);
    CU_ASSERT(fabs(got[3] - sqrt(0.5)) < 1e-5); // an octagon of 8 (sqrt(2) - 1)
    CU_ASSERT(got[7] > 0.05 && got[8] == 0);
    EXPECT(mluOpBoxIouRotated(rig.handle, 1, false, T(ta), T(tb), T(y)),
           MLUOP_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

static void groups_of_channels_are_normalised(void)
{
    const double data[] = {1, 3, 5, 7, 2, 2, 4, 4}, weight[] = {1, 1, 2, 2}, bias[] = {0, 0, 1, 1};
    struct rig rig = rig_begin();
    struct rig_tensor x = PLANE(&rig, data, 1, 4, 1, 2), y = PLANE(&rig, NULL, 1, 4, 1, 2),
                      w = RIG(&rig, CNNL_DTYPE_FLOAT, weight, 4),
                      b = RIG(&rig, CNNL_DTYPE_FLOAT, bias, 4),
                      mean = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 2),
                      rstd = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 2),
                      diff_w = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4),
                      diff_b = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4),
                      diff_x = PLANE(&rig, NULL, 1, 4, 1, 2);
    const double r = 1 / sqrt(5);
    OK(cnnlGroupNormForward_v3(rig.handle, 0, 2, T(x), w.desc, w.ptr, b.ptr, NULL, 0, T(y),
                               mean.desc, mean.ptr, rstd.ptr));
    NEAR(&rig, y, ((double[]){-3 * r, -r, r, 3 * r, -1, -1, 3, 3}), 1e-5);
    NEAR(&rig, mean, ((double[]){4, 3}), 1e-6);
    NEAR(&rig, rstd, ((double[]){r, 1}), 1e-5);
    OK(cnnlGroupNormBackward(rig.handle, T(x), T(x), T(w), T(mean), T(rstd), 2, T(diff_x),
                             T(diff_w), T(diff_b), NULL, 0));
    NEAR(&rig, diff_b, ((double[]){4, 12, 4, 8}), 1e-5);
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"planes_are_read_between_points", planes_are_read_between_points},
    {"windows_become_columns_and_back", windows_become_columns_and_back},
    {"planes_are_padded", planes_are_padded},
    {"distances_and_factors", distances_and_factors},
    {"places_along_a_dimension_are_changed", places_along_a_dimension_are_changed},
    {"turned_boxes_overlap", turned_boxes_overlap},
    {"groups_of_channels_are_normalised", groups_of_channels_are_normalised},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_planes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
