/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices from L1 to the operands of the Cube, both generations: NZ fractals in L1, ZZ in L0A, ZN
 * in L0B. */
#pragma once

#include "inline.h"

/* How a k step's fractals (k, o), o over rows of A or columns of B, stand in L1 and shall stand in
 * L0: at src_k * k + src_o * o and dst_k * k + dst_o * o. */
struct matmul_fractals {
    uint32_t k_blocks, blocks;
    uint32_t src_k, src_o, dst_k, dst_o;
};

/* One load2d of a strided row of fractals; the shorter direction is the loop. */
struct matmul_load2d {
    uint32_t count, src_step, dst_step;   /* instructions, and from one to the next */
    uint32_t repeat, src_stride, dst_gap; /* of each */
};

OP_INLINE struct matmul_load2d matmul_plan_load(struct matmul_fractals f)
{
    if (f.k_blocks <= f.blocks) {
        return (struct matmul_load2d){f.k_blocks, f.src_k, f.dst_k, f.blocks, f.src_o, f.dst_o - 1};
    }
    return (struct matmul_load2d){f.blocks, f.src_o, f.dst_o, f.k_blocks, f.src_k, f.dst_k - 1};
}

/* One k step of A into ZZ fractals: A stored transposed stands with k along the rows, and each
 * fractal is turned. */
OP_INLINE void matmul_fill_a(uint32_t l0, uint32_t l1, uint32_t k1, uint32_t k_blocks,
                             uint32_t blocks, uint32_t depth_blocks, bool transposed)
{
    const uint32_t src_k = transposed ? 1 : blocks, src_o = transposed ? depth_blocks : 1;
    const struct matmul_load2d load =
        matmul_plan_load((struct matmul_fractals){k_blocks, blocks, src_k, src_o, 1, k_blocks});
    for (uint32_t i = 0; i < load.count; i++) {
        load_cbuf_to_ca((__ca__ half *)(uintptr_t)(l0 + i * load.dst_step * 512),
                        (__cbuf__ half *)(uintptr_t)l1, (uint16_t)(k1 * src_k + i * load.src_step),
                        (uint8_t)load.repeat, (uint16_t)load.src_stride, (uint16_t)load.dst_gap, 0,
                        transposed, inc);
    }
}

/* The same of B into ZN fractals: here it is the plain B that stands with k along the rows. */
OP_INLINE void matmul_fill_b(uint32_t l0, uint32_t l1, uint32_t k1, uint32_t k_blocks,
                             uint32_t blocks, uint32_t depth_blocks, bool transposed)
{
    const uint32_t src_k = transposed ? blocks : 1, src_o = transposed ? 1 : depth_blocks;
    const struct matmul_load2d load =
        matmul_plan_load((struct matmul_fractals){k_blocks, blocks, src_k, src_o, blocks, 1});
    for (uint32_t i = 0; i < load.count; i++) {
        load_cbuf_to_cb((__cb__ half *)(uintptr_t)(l0 + i * load.dst_step * 512),
                        (__cbuf__ half *)(uintptr_t)l1, (uint16_t)(k1 * src_k + i * load.src_step),
                        (uint8_t)load.repeat, (uint16_t)load.src_stride, (uint16_t)load.dst_gap, 0,
                        !transposed, inc);
    }
}
