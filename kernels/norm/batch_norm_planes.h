/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of norm/batch_norm_planes_device.c. */
#pragma once

#include "norm.h"

/** Maps [images, channels, ...] of a type; x and gradient are dense when a launch is planned. */
struct op_planes {
    const struct op_tensor *x;
    const struct op_tensor *gradient; /**< of y; NULL: forward */
    const struct op_tensor *y;        /**< NULL: not wanted */
};

/** Whether the program takes maps of this shape and type; y and gradient as they will be. */
bool op_planes_fit(const struct op_plan *plan, const struct op_planes *maps);

/** All of batch norm: sums if `source` is OP_BATCH_NORM_ROWS, statistics, y. The moments and the
 * table of the arguments are not used. */
LEO_MUST_CHECK leo_status op_planes_plan_forward(struct op_plan *plan, const struct op_planes *maps,
                                                 const struct op_batch_norm_args *numbers);
/** All of its gradient: sums unless they are given, gradients of weight and bias, y. */
LEO_MUST_CHECK leo_status
op_planes_plan_backward(struct op_plan *plan, const struct op_planes *maps,
                        const struct op_batch_norm_gradient_args *numbers);
