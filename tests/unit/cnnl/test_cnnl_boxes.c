/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and regions of detection networks; steps of recurrent networks; numbers drawn. */
#include "rig.h"

#include <math.h>

static cnnlNmsDescriptor_t nms(float overlap, float least, int most, int layout)
{
    const cnnlNmsBoxPointMode_t corners = CNNL_NMS_BOX_DIAGONAL;
    cnnlNmsDescriptor_t d;
    OK(cnnlCreateNmsDescriptor(&d));
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_BOX_MODE, &corners, sizeof(corners)));
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_IOU_THRESHOLD, &overlap, sizeof(overlap)));
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_CONFIDENCE_THRESHOLD, &least, sizeof(least)));
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_MAX_OUTPUT_SIZE, &most, sizeof(most)));
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_INPUT_LAYOUT, &layout, sizeof(layout)));
    return d;
}

static void boxes_are_chosen(void)
{
    // The first three overlap; the third is the best of them. The last has a low score.
    const double corners[] = {0, 0, 4, 4, 0, 0, 4, 5, 0, 1, 4, 5, 8, 8, 9, 9, 20, 20, 21, 21};
    const double by_corner[] = {0, 0, 0, 8, 20, 0, 0, 1, 8, 20, 4, 4, 4, 9, 21, 4, 5, 5, 9, 21};
    const double score[] = {0.5, 0.75, 0.875, 0.25, 0.125};
    struct rig rig = rig_begin();
    struct rig_tensor boxes = RIG(&rig, CNNL_DTYPE_FLOAT, corners, 5, 4),
                      columns = RIG(&rig, CNNL_DTYPE_FLOAT, by_corner, 4, 5),
                      scores = RIG(&rig, CNNL_DTYPE_FLOAT, score, 5),
                      y = RIG(&rig, CNNL_DTYPE_INT64, NULL, 5),
                      narrow = RIG(&rig, CNNL_DTYPE_INT32, NULL, 5),
                      count = RIG(&rig, CNNL_DTYPE_INT32, NULL, 1);
    cnnlNmsDescriptor_t d = nms(0.5F, 0.2F, 5, 0);
    size_t bytes = 0;
    OK(cnnlGetNmsWorkspaceSize_v4(rig.handle, d, boxes.desc, scores.desc, &bytes));
    OK(cnnlNms_v2(rig.handle, d, T(boxes), T(scores), NULL, 0, T(y), count.ptr));
    NEAR(&rig, count, ((double[]){2}), 0);
    NEAR(&rig, y, ((double[]){2, 3, 0, 0, 0}), 0);
    const float half = 0.5F, all = 0.9F;
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_IOU_THRESHOLD, &all, sizeof(all)));
    OK(cnnlNms_v2(rig.handle, d, T(boxes), T(scores), NULL, 0, T(narrow), count.ptr));
    NEAR(&rig, count, ((double[]){4}), 0);
    NEAR(&rig, narrow, ((double[]){2, 1, 0, 3, 0}), 0);
    OK(cnnlSetNmsDescAttr(d, CNNL_NMS_DESC_OFFSET, &half, sizeof(half)));
    EXPECT(cnnlNms_v2(rig.handle, d, T(boxes), T(scores), NULL, 0, T(y), count.ptr),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyNmsDescriptor(d));
    d = nms(0.5F, -1, 2, 1);
    OK(cnnlNms_v2(rig.handle, d, T(columns), T(scores), NULL, 0, T(y), count.ptr));
    NEAR(&rig, count, ((double[]){2}), 0);
    EXPECT(cnnlNms_v2(rig.handle, d, T(boxes), T(scores), NULL, 0, T(y), count.ptr),
           CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroyNmsDescriptor(d));
    rig_end(&rig);
}

static void regions_are_means_of_samples(void)
{
    // y(r, c) = 4 r + c; a region of 2 x 2 pixels in one cell, and the whole plane in two.
    double plane[16];
    const double region[] = {0, 1, 1, 3, 3, 0, 0, 0, 3, 3}, one[] = {1, 1};
    struct rig rig = rig_begin();
    for (int i = 0; i < 16; i++) {
        plane[i] = i;
    }
    struct rig_tensor x = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, plane, 1, 4, 4, 1),
                      regions = RIG(&rig, CNNL_DTYPE_FLOAT, region, 2, 5),
                      y = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 1, 1, 1),
                      diff_y = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, one, 2, 1, 1, 1),
                      diff_x = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 4, 4, 1);
    cnnlRoiAlignDescriptor_t d;
    double got[16], sum = 0;
    OK(cnnlCreateRoiAlignDescriptor(&d));
    OK(cnnlSetRoiAlignDescriptor_v2(d, 1, 1, 2, 1, 1, false));
    OK(cnnlRoiAlign_v2(rig.handle, d, T(x), T(regions), T(y), NULL, NULL, NULL, NULL));
    NEAR(&rig, y, ((double[]){10, 7.5}), 1e-6); // the planes' values in the middle
    OK(cnnlSetRoiAlignDescriptor_v2(d, 1, 1, -1, 1, 1, true));
    OK(cnnlRoiAlign_v2(rig.handle, d, T(x), T(regions), T(y), NULL, NULL, NULL, NULL));
    NEAR(&rig, y, ((double[]){7.5, 5}), 1e-5);
    OK(cnnlRoiAlignBackward_v2(rig.handle, T(diff_y), T(regions), NULL, NULL, NULL, NULL, 1, 2,
                               false, 1, T(diff_x)));
    rig_read(&rig, &diff_x, got);
    for (int i = 0; i < 16; i++) {
        sum += got[i];
    }
    CU_ASSERT(fabs(sum - 2) < 1e-5);
    CU_ASSERT(got[10] > got[0]);
    EXPECT(cnnlSetRoiAlignDescriptor_v2(d, 1, 1, 2, 1, 0, false), CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyRoiAlignDescriptor(d));
    rig_end(&rig);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static void a_step_of_an_lstm(void)
{
    // One channel: input, forget, candidate and output gate.
    const double x_gate[] = {0.5, -1, 0.25, 1}, h_gate[] = {0.25, 0.5, 0.5, -0.5};
    const double bias[] = {0.25, 0, 0.25, 0}, before[] = {0.75}, one[] = {1};
    const double in = logistic(1), forget = logistic(-0.5), candidate = tanh(1),
                 out = logistic(0.5), cell = forget * 0.75 + in * candidate, t = tanh(cell);
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, x_gate, 1, 4, 1),
                      h = RIG(&rig, CNNL_DTYPE_FLOAT, h_gate, 1, 4, 1),
                      b = RIG(&rig, CNNL_DTYPE_FLOAT, bias, 4),
                      none = RIG(&rig, CNNL_DTYPE_FLOAT, (const double[4]){0}, 4),
                      cx = RIG(&rig, CNNL_DTYPE_FLOAT, before, 1, 1),
                      cy = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1),
                      hy = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1),
                      diff = RIG(&rig, CNNL_DTYPE_FLOAT, one, 1, 1),
                      diff_c = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1),
                      diff_gates = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 4, 1),
                      reserve = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4);
    size_t bytes = 0;
    OK(cnnlGetLSTMGatesTempSize(rig.handle, x.desc, &bytes));
    CU_ASSERT_EQUAL(bytes, 16);
    OK(cnnlLSTMGatesForward(rig.handle, x.desc, x.ptr, b.ptr, h.ptr, none.ptr, cx.desc, cx.ptr,
                            cy.ptr, hy.desc, hy.ptr, reserve.ptr, bytes));
    NEAR(&rig, cy, ((double[]){cell}), 1e-5);
    NEAR(&rig, hy, ((double[]){out * t}), 1e-5);
    OK(cnnlLSTMGatesBackward(rig.handle, diff.desc, diff.ptr, cx.desc, cx.ptr, cy.ptr, NULL,
                             diff_c.ptr, diff_gates.desc, diff_gates.ptr, reserve.ptr, bytes));
    const double by_cell = out * (1 - t * t);
    NEAR(&rig, diff_c, ((double[]){by_cell * forget}), 1e-5);
    NEAR(&rig, diff_gates,
         ((double[]){by_cell * candidate * in * (1 - in), by_cell * 0.75 * forget * (1 - forget),
                     by_cell * in * (1 - candidate * candidate), t * out * (1 - out)}),
         1e-5);
    EXPECT(cnnlLSTMGatesForward(rig.handle, x.desc, x.ptr, b.ptr, h.ptr, NULL, cx.desc, cx.ptr,
                                cy.ptr, hy.desc, hy.ptr, reserve.ptr, 8),
           CNNL_STATUS_BAD_PARAM);
    rig_end(&rig);
}

static void numbers_are_drawn(void)
{
    enum { COUNT = 512 };
    static double got[COUNT];
    const double weight[] = {0, 3, 1};
    const float rate = 4;
    double sum = 0, ones = 0;
    struct rig rig = rig_begin();
    struct rig_tensor y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, COUNT),
                      weights = RIG(&rig, CNNL_DTYPE_FLOAT, weight, 1, 3),
                      places = RIG(&rig, CNNL_DTYPE_INT64, NULL, 1, COUNT),
                      two = RIG(&rig, CNNL_DTYPE_INT64, NULL, 1, 2);
    OK(cnnlGenerateRandExponential(rig.handle, CNNL_RAND_RNG_PHILOX, &rate, false, 7, 0, NULL, NULL,
                                   0, T(y)));
    rig_read(&rig, &y, got);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT(got[i] >= 0);
        sum += got[i];
    }
    CU_ASSERT(fabs(sum / COUNT - 0.25) < 0.05); // 4.5 deviations of the mean
    OK(cnnlGenerateRandMultinomial(rig.handle, CNNL_RAND_RNG_PHILOX, T(weights), false, 7, 0, NULL,
                                   NULL, 0, true, false, NULL, 0, T(places)));
    rig_read(&rig, &places, got);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT(got[i] == 1 || got[i] == 2);
        ones += got[i] == 1;
    }
    CU_ASSERT(fabs(ones / COUNT - 0.75) < 0.09); // 4.7 deviations
    OK(cnnlGenerateRandMultinomial(rig.handle, CNNL_RAND_RNG_PHILOX, T(weights), false, 7, 0, NULL,
                                   NULL, 0, false, false, NULL, 0, T(two)));
    rig_read(&rig, &two, got);
    CU_ASSERT(got[0] + got[1] == 3);
    EXPECT(cnnlGenerateRandMultinomial(rig.handle, CNNL_RAND_RNG_PHILOX, T(weights), false, 7, 0,
                                       NULL, NULL, 0, true, true, NULL, 0, T(two)),
           CNNL_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

static void inverses_and_determinants(void)
{
    const double matrix[] = {2, 1, 1, 1, 0, 2, 3, 0};
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, matrix, 2, 2, 2),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2, 2),
                      info = RIG(&rig, CNNL_DTYPE_INT32, NULL, 2),
                      det = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2),
                      sign = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2);
    OK(cnnlInverse_v2(rig.handle, T(x), true, NULL, 0, T(y), T(info)));
    NEAR(&rig, y, ((double[]){1, -1, -1, 2, 0, 1 / 3.0, 0.5, 0}), 1e-5);
    NEAR(&rig, info, ((double[]){0, 0}), 0);
    OK(cnnlDet_v2(rig.handle, CNNL_DET_MODE_DET, T(x), NULL, 0, T(det), NULL, NULL));
    NEAR(&rig, det, ((double[]){1, -6}), 1e-5);
    OK(cnnlDet_v2(rig.handle, CNNL_DET_MODE_SLOGDET, T(x), NULL, 0, T(det), T(sign)));
    NEAR(&rig, det, ((double[]){0, log(6)}), 1e-5);
    NEAR(&rig, sign, ((double[]){1, -1}), 0);
    rig_end(&rig);
}

static void softmax_under_a_mask(void)
{
    const double data[] = {0, 1, 2, 3}, hide[] = {0, 1, 0, 1}, add[] = {0, 0, 1, -1};
    const double e = exp(2), f = exp(1);
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, data, 2, 2),
                      mask = RIG(&rig, CNNL_DTYPE_BOOL, hide, 2, 2),
                      sum = RIG(&rig, CNNL_DTYPE_FLOAT, add, 2, 2),
                      y = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2);
    OK(cnnlMaskedSoftmax(rig.handle, CNNL_MASKED_SOFTMAX_MASKED_FILL_NEG_INF, -1, 1, T(x), T(mask),
                         T(y)));
    NEAR(&rig, y, ((double[]){1, 0, 1, 0}), 0);
    OK(cnnlMaskedSoftmax(rig.handle, CNNL_MASKED_SOFTMAX_ADD_MASK, 1, 2, T(x), T(sum), T(y)));
    NEAR(&rig, y, ((double[]){1 / (1 + e), e / (1 + e), 0.5, 0.5}), 1e-5);
    const float beta = 2, threshold = 1;
    OK(cnnlSoftplusBackward_v2(rig.handle, &beta, &threshold, T(x), T(x), T(y)));
    NEAR(&rig, y, ((double[]){0, 1, 2, 3}), 1e-5);
    const float wide = 20;
    OK(cnnlSoftplusBackward_v2(rig.handle, NULL, &wide, T(x), T(x), T(y)));
    NEAR(&rig, y, ((double[]){0, f / (1 + f), 2 * e / (1 + e), 3 * logistic(3)}), 1e-5);
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"boxes_are_chosen", boxes_are_chosen},
    {"regions_are_means_of_samples", regions_are_means_of_samples},
    {"a_step_of_an_lstm", a_step_of_an_lstm},
    {"numbers_are_drawn", numbers_are_drawn},
    {"inverses_and_determinants", inverses_and_determinants},
    {"softmax_under_a_mask", softmax_under_a_mask},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_boxes", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
