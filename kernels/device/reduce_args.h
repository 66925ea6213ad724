/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of reductions. */
#pragma once

#include "types.h"

#include <stdint.h>

/** out[i] = sum over the inner index space of in. Block b works on outputs [b * per_block, (b + 1)
 * * per_block). */
struct op_reduce_args {
    uint64_t out, in;
    uint64_t outer_count, inner_count, per_block;
    int64_t outer_dim[OP_RANK_MAX], inner_dim[OP_RANK_MAX];
    int64_t outer_stride[OP_RANK_MAX], inner_stride[OP_RANK_MAX]; /**< of in, bytes */
    uint8_t out_type, in_type, outer_rank, inner_rank;
};
