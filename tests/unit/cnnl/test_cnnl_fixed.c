/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in fixed point: written, chosen for, multiplied. */
#include "rig.h"

#include <math.h>

static void numbers_become_fixed(void)
{
    const double data[] = {0.25, -1.5, 0.3125, 100};
    const double place[] = {-3}, factor[] = {2}, shift[] = {10};
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_FLOAT, data, 4),
                      y = RIG(&rig, CNNL_DTYPE_INT8, NULL, 4),
                      wide = RIG(&rig, CNNL_DTYPE_INT16, NULL, 4),
                      position = RIG(&rig, CNNL_DTYPE_INT32, place, 1),
                      scale = RIG(&rig, CNNL_DTYPE_FLOAT, factor, 1),
                      offset = RIG(&rig, CNNL_DTYPE_INT32, shift, 1);
    // Steps of 1/8; halves to even; 800 is cut.
    OK(cnnlSetTensorDescriptorPosition(y.desc, -3));
    OK(cnnlQuantizeV1(rig.handle, CNNL_QUANTIZE_POSITION, T(x), T(y)));
    NEAR(&rig, y, ((double[]){2, -12, 2, 127}), 0);
    OK(cnnlSetTensorDescriptorPositionScaleAndOffset(y.desc, -3, 2, 10));
    OK(cnnlQuantizeV1(rig.handle, CNNL_QUANTIZE_POSITION_SCALE_OFFSET, T(x), T(y)));
    NEAR(&rig, y, ((double[]){14, -14, 15, 127}), 0);
    OK(cnnlQuantizeV2(rig.handle, CNNL_QUANTIZE_POSITION_SCALE, T(x), position.ptr, scale.ptr,
                      offset.ptr, T(wide)));
    NEAR(&rig, wide, ((double[]){4, -24, 5, 1600}), 0);
    OK(cnnlQuantizeV2(rig.handle, CNNL_QUANTIZE_POSITION_SCALE_OFFSET, T(x), position.ptr,
                      scale.ptr, offset.ptr, T(wide)));
    NEAR(&rig, wide, ((double[]){14, -14, 15, 1610}), 0);
    EXPECT(cnnlQuantizeV2(rig.handle, CNNL_QUANTIZE_POSITION, T(x), NULL, NULL, NULL, T(wide)),
           CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlQuantizeV1(rig.handle, CNNL_QUANTIZE_POSITION, T(x), T(position)),
           CNNL_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

static void positions_are_chosen(void)
{
    const double data[] = {0.25, -1.5, 0.5, 1}, nothing[] = {0, 0};
    struct rig rig = rig_begin();
    struct rig_tensor x = RIG(&rig, CNNL_DTYPE_HALF, data, 4),
                      zero = RIG(&rig, CNNL_DTYPE_FLOAT, nothing, 2),
                      none = RIG(&rig, CNNL_DTYPE_INT8, NULL, 2),
                      position = RIG(&rig, CNNL_DTYPE_INT32, NULL, 1),
                      scale = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 1);
    OK(cnnlQuantizeParam(rig.handle, CNNL_QUANTIZE_POSITION, T(x), 8, NULL, 0, position.ptr, NULL,
                         NULL));
    NEAR(&rig, position, ((double[]){-6}), 0);
    OK(cnnlQuantizeParam(rig.handle, CNNL_QUANTIZE_POSITION_SCALE, T(x), 16, NULL, 0, position.ptr,
                         scale.ptr, NULL));
    NEAR(&rig, position, ((double[]){-14}), 0);
    NEAR(&rig, scale, ((double[]){32767 / 16384.0 / 1.5}), 1e-6);
    OK(cnnlQuantizeParam(rig.handle, CNNL_QUANTIZE_POSITION_SCALE, T(zero), 8, NULL, 0,
                         position.ptr, scale.ptr, NULL));
    OK(cnnlQuantizeV2(rig.handle, CNNL_QUANTIZE_POSITION_SCALE, T(zero), position.ptr, scale.ptr,
                      NULL, T(none)));
    NEAR(&rig, none, nothing, 0);
    EXPECT(cnnlQuantizeParam(rig.handle, CNNL_QUANTIZE_POSITION, T(x), 4, NULL, 0, position.ptr,
                             NULL, NULL),
           CNNL_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

static void products_in_fixed_point(void)
{
    const double left[] = {1, -2, 127, 3, 0, 4}, right[] = {2, 1, -128, 1, 1, 5};
    const double places[] = {-2, 1}, factor[] = {2, 4}, add[] = {0.5};
    const int pad[] = {0, 0, 0, 0}, ones[] = {1, 1};
    const float half = 0.5F, more = 1;
    const int32_t turned = 1;
    struct rig rig = rig_begin();
    struct rig_tensor a = RIG(&rig, CNNL_DTYPE_INT8, left, 2, 3),
                      b = RIG(&rig, CNNL_DTYPE_INT8, right, 2, 3),
                      wide = RIG(&rig, CNNL_DTYPE_INT16, right, 2, 3),
                      c = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      position = RIG(&rig, CNNL_DTYPE_INT32, places, 2),
                      scale = RIG(&rig, CNNL_DTYPE_FLOAT, factor, 2),
                      x = RIG_NHWC(&rig, CNNL_DTYPE_INT8, left, 1, 2, 1, 3),
                      w = RIG_NHWC(&rig, CNNL_DTYPE_INT8, right, 1, 2, 1, 3),
                      bias = RIG(&rig, CNNL_DTYPE_FLOAT, add, 1),
                      y = RIG_NHWC(&rig, CNNL_DTYPE_FLOAT, NULL, 1, 1, 1, 1);
    int32_t *const place = position.ptr;
    float *const factors = scale.ptr;
    cnnlMatMulDescriptor_t d;
    cnnlMatMulAlgo_t algo;
    OK(cnnlCreateMatMulDescriptor(&d));
    OK(cnnlCreateMatMulAlgo(&algo));
    OK(cnnlSetMatMulDescAttr(d, CNNL_MATMUL_DESC_TRANSB, &turned, sizeof(turned)));
    OK(cnnlGetQuantizeMatMulAlgorithm(rig.handle, d, a.desc, b.desc, c.desc, CNNL_MATMUL_FASTEST,
                                      &algo));
    // Whole numbers give {-16256, 634, -506, 23}; each is 1/4 / 2 times 2 / 4 of it.
    OK(cnnlSetTensorDescriptorPositionAndScale(a.desc, 3, 1)); // not read: memory says it
    OK(cnnlQuantizeMatMul(rig.handle, d, NULL, T(a), place, factors, NULL, T(b), place + 1,
                          factors + 1, NULL, NULL, T(c), algo, NULL, 0));
    NEAR(&rig, c, ((double[]){-16256 / 16.0, 634 / 16.0, -506 / 16.0, 23 / 16.0}), 0);
    OK(cnnlQuantizeMatMul(rig.handle, d, &half, T(a), place, NULL, NULL, T(wide), place + 1, NULL,
                          NULL, NULL, T(c), algo, NULL, 0));
    NEAR(&rig, c, ((double[]){-16256 / 4.0, 634 / 4.0, -506 / 4.0, 23 / 4.0}), 0);
    EXPECT(cnnlQuantizeMatMul(rig.handle, d, NULL, T(a), place, NULL, place, T(b), place + 1, NULL,
                              NULL, NULL, T(c), algo, NULL, 0),
           CNNL_STATUS_NOT_SUPPORTED);
    EXPECT(cnnlQuantizeMatMul(rig.handle, d, NULL, T(a), place, NULL, NULL, T(b), place + 1, NULL,
                              NULL, &more, T(c), algo, NULL, 0),
           CNNL_STATUS_NOT_SUPPORTED);
    cnnlConvolutionDescriptor_t conv;
    OK(cnnlCreateConvolutionDescriptor(&conv));
    OK(cnnlSetConvolutionDescriptor(conv, 4, pad, ones, ones, 1, CNNL_DTYPE_FLOAT));
    OK(cnnlQuantizeConvolutionForward(rig.handle, conv, CNNL_CONVOLUTION_FWD_ALGO_DIRECT, NULL,
                                      T(x), place, factors, NULL, T(w), place + 1, NULL, NULL,
                                      T(bias), NULL, 0, NULL, T(y)));
    NEAR(&rig, y, ((double[]){(-16256 + 23) / 4.0 + 0.5}), 0);
    EXPECT(cnnlQuantizeConvolutionForward(rig.handle, conv, CNNL_CONVOLUTION_FWD_ALGO_DIRECT, NULL,
                                          T(y), place, factors, NULL, T(w), place + 1, NULL, NULL,
                                          T(bias), NULL, 0, NULL, T(y)),
           CNNL_STATUS_NOT_SUPPORTED);
    OK(cnnlDestroyConvolutionDescriptor(conv));
    OK(cnnlDestroyMatMulAlgo(algo));
    OK(cnnlDestroyMatMulDescriptor(d));
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"numbers_become_fixed", numbers_become_fixed},
    {"positions_are_chosen", positions_are_chosen},
    {"products_in_fixed_point", products_in_fixed_point},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_fixed", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
