/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of matmul on the scalar unit. */
#pragma once

#include <stdint.h>

/** out [m, n], dense. Block b works on elements [b * per_block, (b + 1) * per_block). Strides in
 * bytes. */
struct op_matmul_scalar_args {
    uint64_t out, a, b, self; /**< self 0 = none */
    uint64_t m, n, k, per_block;
    int64_t a_stride[2], b_stride[2], self_stride[2];
    double alpha, beta;
    uint8_t out_type, a_type, b_type, self_type;
};
