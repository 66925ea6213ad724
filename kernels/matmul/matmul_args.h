/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of op_matmul. Passed by value; host and device
 * have the same layout. */
#pragma once

#include <stdint.h>

enum op_matmul_flag {
    OP_MATMUL_TRANSPOSE_A = 1,
    OP_MATMUL_TRANSPOSE_B = 2,
    OP_MATMUL_RELU = 4,
    OP_MATMUL_BIAS = 8,
    OP_MATMUL_OUT_F16 = 16,
    OP_MATMUL_OUT_BF16 = 32,
    OP_MATMUL_BF16 = 64,  /**< a and b are bf16, not f16 (program of 16-bit types) */
    OP_MATMUL_HF32 = 128, /**< a and b are rounded to 11 bits (program of f32) */
};

enum { OP_MATMUL_BATCH_DIMS = 3 };

/** Matmuls of one shape. Tiles are dealt to blocks in turn; sizes in elements, addresses in device
 * memory. */
struct op_matmul_args {
    uint64_t a, b, bias, out;
    uint32_t m, n, k;
    uint32_t tile_m, tile_n;     /**< multiples of 16, at most 256: a tile fills at most L0C */
    uint32_t k_chunk;            /**< multiple of k_step: what one half of L1 holds */
    uint32_t k_step;             /**< multiple of 16: what one half of L0A and of L0B holds */
    uint32_t flags;              /**< enum op_matmul_flag */
    uint16_t band;               /**< rows of tiles that are worked on together, at least 1 */
    uint16_t l0c_blocks;         /**< of 256 rows and 16 columns: what L0C holds */
    uint32_t l1_half;            /**< bytes of one half of L1 */
    uint32_t l0_half;            /**< of one half of L0A and of L0B */
    uint16_t pieces_a, pieces_b; /**< in how many a chunk of either is loaded, where the loads of
                                    the chip leave the choice; at least 1 */
    uint32_t a_pitch, b_pitch, out_pitch;     /**< elements from row to row */
    uint32_t batch_dim[OP_MATMUL_BATCH_DIMS]; /**< at least 1 each */
    /** Bytes from matrix to matrix along each. */
    uint64_t a_batch[OP_MATMUL_BATCH_DIMS], b_batch[OP_MATMUL_BATCH_DIMS],
        out_batch[OP_MATMUL_BATCH_DIMS];
};
