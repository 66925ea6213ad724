/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of products of f32 on the vector unit. */
#pragma once

#include "matmul_args.h"

enum {
    OP_LANES_ROWS = 16, /**< of a tile at most */
    OP_LANES_COLUMNS = 512,
    OP_LANES_CHUNK = 32, /**< of k in UB at a time */
};

/** out [m, n] = a [m, k] @ b [k, n] for each matrix of a batch; tiles are dealt to blocks in turn.
 * Columns are computed and stored up to the next multiple of 8: out's pitch holds them. */
struct op_matmul_vector_args {
    uint64_t a, b, out;
    uint32_t m, n, k;
    uint32_t tile_m, tile_n;              /**< tile_n: a multiple of 8 */
    uint32_t a_pitch, b_pitch, out_pitch; /**< elements from row to row */
    uint32_t batch_dim[OP_MATMUL_BATCH_DIMS];
    /** Bytes from matrix to matrix along each. */
    uint64_t a_batch[OP_MATMUL_BATCH_DIMS], b_batch[OP_MATMUL_BATCH_DIMS],
        out_batch[OP_MATMUL_BATCH_DIMS];
};
