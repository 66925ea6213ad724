/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a convolution, the same for all of its operators. */
#pragma once

#include "../frame/family.h"

#include "convolution_args.h"

/**
 * y = x convolved with w. A transposed convolution is the same thing read backward: its input is y
 * and its output x. Tensors have five dimensions (n, channel, three positions), missing ones 1.
 */
struct op_convolution {
    unsigned dims; /**< spatial dimensions of the call: 1 to 3 */
    int64_t images, x_channels, y_channels, groups;
    int64_t x_size[OP_CONVOLUTION_DIMS], y_size[OP_CONVOLUTION_DIMS], kernel[OP_CONVOLUTION_DIMS];
    int64_t stride[OP_CONVOLUTION_DIMS], pad[OP_CONVOLUTION_DIMS], dilation[OP_CONVOLUTION_DIMS];
    struct op_tensor w; /**< [y_channels, x_channels / groups, kernel] */
};

/** Appends the computation of `goal` from a and b into `out`, all of five dimensions; bias may be
 * NULL. */
LEO_MUST_CHECK leo_status op_convolution_plan_scalar(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *bias,
    const struct op_tensor *out);
/** The same without bias as products of matrices. This way and those below return OP_DECLINED, with
 * nothing planned, for what does not fit or does not pay. */
LEO_MUST_CHECK leo_status op_convolution_plan_matmul(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *out);
/** The same on the vector unit, for groups of one input channel. */
LEO_MUST_CHECK leo_status op_convolution_plan_depthwise(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *out);
/** The same of f16 and as many output channels, in blocks of channels. */
LEO_MUST_CHECK leo_status op_convolution_plan_planes(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *out);
/** The same by img2col, for 16-bit operands and channels in whole groups of 16. */
LEO_MUST_CHECK leo_status op_convolution_plan_cube(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *out);
/** The same in strips of columns, for maps too wide for that; not of x's gradient. */
LEO_MUST_CHECK leo_status op_convolution_plan_strips(
    const struct op_call *call, const struct op_convolution *shape, enum op_convolution_goal goal,
    const struct op_tensor *a, const struct op_tensor *b, const struct op_tensor *out);
/** Whether copies of windows take less time than maps in groups of channels. */
bool op_convolution_copies_pay(const struct op_convolution *shape, enum op_convolution_goal goal,
                               const struct op_tensor *x);
/** Weights [channel, 1, 1, kernel] of channels that stand alone, as planes of one image. */
static inline struct op_tensor op_convolution_weight_planes(const struct op_tensor *weight)
{
    struct op_tensor planes = *weight;
    planes.dim[0] = 1;
    planes.dim[1] = weight->dim[0];
    planes.stride[1] = weight->stride[0];
    return planes;
}
