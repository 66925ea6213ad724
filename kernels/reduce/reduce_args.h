/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of reductions. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/** What becomes of the elements behind one output. Row word "reduce" (reduce/reduce.c). */
enum op_reduce_mode {
    OP_REDUCE_SUM,
    OP_REDUCE_NANSUM, /**< NaN counts as 0 */
    OP_REDUCE_MEAN,
    OP_REDUCE_PROD,
    OP_REDUCE_MAX, /**< NaN wins; second output: index of the first one along the inner space */
    OP_REDUCE_MIN,
    OP_REDUCE_ALL,
    OP_REDUCE_ANY,
    OP_REDUCE_NORM, /**< of order p: 0 counts, +-inf largest and smallest absolute value */
    OP_REDUCE_LOG_SUM_EXP,
    OP_REDUCE_VAR, /**< divided by count - correction; second output: the mean */
    OP_REDUCE_STD,
};

/**
 * out[i] = reduction over the inner index space of in at outer index i; second[i] what the mode
 * says, 0 = not wanted. Block b works on outputs [b * per_block, (b + 1) * per_block).
 */
struct op_reduce_args {
    uint64_t out, in, second;
    uint64_t outer_count, inner_count, per_block;
    double p;
    int64_t correction;
    int64_t outer_dim[OP_RANK_MAX], inner_dim[OP_RANK_MAX];
    int64_t outer_stride[OP_RANK_MAX], inner_stride[OP_RANK_MAX]; /**< of in, bytes */
    uint8_t out_type, in_type, second_type, outer_rank, inner_rank, mode;
};
