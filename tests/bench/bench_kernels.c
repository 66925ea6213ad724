/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose host time tests/bench/kernels.c measures. */
#include <leo/device.h>

enum { TILE = 8192, SMALL = 2048 }; /* elements of f16; of f32 */

/* z = x + y; each block a contiguous share of whole tiles, two of each tensor in UB. */
__global__ __vector__ void bench_stream_add(__gm__ const half *x, __gm__ const half *y,
                                            __gm__ half *z, uint32_t tiles)
{
    const uint32_t first = tiles * get_block_idx() / get_block_num(),
                   end = tiles * (get_block_idx() + 1) / get_block_num();
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t b = 0; b < 2; b++) {
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t tile = first; tile < end; tile++) {
        const uint32_t b = tile & 1;
        __ubuf__ half *ub_x = (__ubuf__ half *)(uint64_t)(b * TILE * 2);
        __ubuf__ half *ub_y = ub_x + 2 * TILE, *ub_z = ub_x + 4 * TILE;
        wait_flag(PIPE_V, PIPE_MTE2, b);
        copy_gm_to_ubuf(ub_x, x + (uint64_t)tile * TILE, 0, 1, TILE / 16, 0, 0);
        copy_gm_to_ubuf(ub_y, y + (uint64_t)tile * TILE, 0, 1, TILE / 16, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
        vadd(ub_z, ub_x, ub_y, TILE / 128, 1, 1, 1, 8, 8, 8);
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_V, PIPE_MTE3, b);
        wait_flag(PIPE_V, PIPE_MTE3, b);
        copy_ubuf_to_gm(z + (uint64_t)tile * TILE, ub_z, 0, 1, TILE / 16, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t b = 0; b < 2; b++) {
        wait_flag(PIPE_V, PIPE_MTE2, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
    }
}

/* About 2 us: one tile in, a few additions, out. */
__global__ __vector__ void bench_small(__gm__ const float *x, __gm__ float *y)
{
    const uint32_t first = get_block_idx() * SMALL;
    __ubuf__ float *ub = 0;
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    copy_gm_to_ubuf(ub, x + first, 0, 1, SMALL / 8, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    for (uint32_t i = 0; i < 8; i++) {
        vadds(ub, ub, 1.0f, SMALL / 64, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(y + first, ub, 0, 1, SMALL / 8, 0, 0);
}
