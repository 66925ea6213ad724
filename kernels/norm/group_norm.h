/* SPDX-License-Identifier: Apache-2.0 */
/* GroupNorm by the passes of batch norm over planes, and small steps on a number for each plane. */
#pragma once

#include "../frame/family.h"

/** What a call has; tensors that are NULL are absent or not wanted. */
struct op_group_norm {
    const struct op_call *call;
    int64_t images, channels, groups, length; /**< length: elements of a plane */
    const struct op_tensor *x, *gradient, *gamma, *beta, *out, *mean, *inverse;
    const struct op_tensor *gamma_gradient, *beta_gradient;
    double eps;
};

/** Whether the passes take planes of this shape and type. */
bool op_group_norm_fits(const struct op_group_norm *norm);
LEO_MUST_CHECK leo_status op_group_norm_forward(const struct op_group_norm *norm);
/** mean and inverse are given. */
LEO_MUST_CHECK leo_status op_group_norm_backward(const struct op_group_norm *norm);
