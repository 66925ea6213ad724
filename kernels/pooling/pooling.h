/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of pooling share. */
#pragma once

#include "../frame/family.h"

#include "pooling_args.h"

/* A call seen without the differences of its parameter names. */
struct op_pool {
    const struct op_call *call;
    unsigned dims;
    bool max, backward, adaptive, mask;
    const char *small_name, *large_name; /* the tensor of windows, and the one they lie over */
    struct op_tensor small, large;       /* [n, c, three positions] */
    const struct op_tensor *index;       /* NULL for averages */
    struct op_pooling_dim dim[OP_POOLING_DIMS];
};

/* Ways of a call; OP_DECLINED: it is not for this one. */
/** Max pooling on the vector unit. Forward and backward decide alike where the indices are private.
 */
LEO_MUST_CHECK leo_status op_pooling_plan_max(const struct op_pool *pool);
/** The same of averages. */
LEO_MUST_CHECK leo_status op_pooling_plan_average(const struct op_pool *pool);
/** Whether both directions of this call would be taken so, in rows. */
bool op_pooling_has_lanes(const struct op_pool *pool);
/** The forward call with a mask on f16 maps in NC1HWC0, as they are stored. */
LEO_MUST_CHECK leo_status op_pooling_plan_native(const struct op_pool *pool);
/** Its gradient, likewise. */
LEO_MUST_CHECK leo_status op_pooling_plan_spread(const struct op_pool *pool);
/** Means, or their gradient. */
LEO_MUST_CHECK leo_status op_pooling_plan_means(const struct op_pool *pool);
