/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of matmul on the scalar unit. */
#pragma once

#include "../device/types.h"

#include <stdint.h>

/** out [batch, m, n], dense; batch is a row-major index over batch_dim. Block b works on elements
 * [b * per_block, (b + 1) * per_block). Strides in bytes. */
struct op_matmul_scalar_args {
    uint64_t out, a, b, self; /**< self 0 = none */
    uint64_t m, n, k, per_block;
    int64_t a_stride[2], b_stride[2], self_stride[2];
    int64_t batch_dim[OP_RANK_MAX - 2]; /**< 0 beyond batch_rank */
    int64_t a_batch[OP_RANK_MAX - 2], b_batch[OP_RANK_MAX - 2], self_batch[OP_RANK_MAX - 2];
    uint64_t batches;
    double alpha, beta;
    uint8_t out_type, a_type, b_type, self_type, batch_rank;
};
