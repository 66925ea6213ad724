/* SPDX-License-Identifier: Apache-2.0 */
/* The vector workloads behind published measurements, written as those examples describe them. */
#include <leo/device.h>

/* Tile `index` of a share that is contiguous for each block. */
static uint32_t share_first(uint32_t tiles)
{
    return (uint32_t)((uint64_t)tiles * get_block_idx() / get_block_num());
}

static uint32_t share_end(uint32_t tiles)
{
    return (uint32_t)((uint64_t)tiles * (get_block_idx() + 1) / get_block_num());
}

/* z = x + y, tile by tile; `buffers` tiles of each tensor in UB, one behind the other. */
__global__ __vector__ void stream_add(__gm__ const half *x, __gm__ const half *y, __gm__ half *z,
                                      uint32_t tiles, uint32_t tile_elems, uint32_t buffers)
{
    uint64_t bytes = (uint64_t)tile_elems * 2;
    uint16_t blocks = (uint16_t)(bytes / 32);
    uint32_t first = share_first(tiles), end = share_end(tiles);

    set_mask_count();
    set_vector_mask(0, tile_elems);
    for (uint32_t b = 0; b < buffers; b++) {
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t tile = first; tile < end; tile++) {
        uint32_t b = (tile - first) % buffers;
        __ubuf__ half *ub_x = (__ubuf__ half *)(b * bytes);
        __ubuf__ half *ub_y = (__ubuf__ half *)((buffers + b) * bytes);
        __ubuf__ half *ub_z = (__ubuf__ half *)((2 * buffers + b) * bytes);
        uint64_t at = (uint64_t)tile * tile_elems;

        wait_flag(PIPE_V, PIPE_MTE2, b);
        copy_gm_to_ubuf(ub_x, x + at, 0, 1, blocks, 0, 0);
        copy_gm_to_ubuf(ub_y, y + at, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE2, PIPE_V, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
        vadd(ub_z, ub_x, ub_y, 1, 1, 1, 1, 8, 8, 8);
        set_flag(PIPE_V, PIPE_MTE2, b);
        set_flag(PIPE_V, PIPE_MTE3, b);
        wait_flag(PIPE_V, PIPE_MTE3, b);
        copy_ubuf_to_gm(z + at, ub_z, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, b);
    }
    for (uint32_t b = 0; b < buffers; b++) {
        wait_flag(PIPE_V, PIPE_MTE2, b);
        wait_flag(PIPE_MTE3, PIPE_V, b);
    }
}

/* `count` additions of f32 at given UB addresses. */
__global__ __vector__ void ub_vadd(uint32_t elems, uint32_t count, uint32_t src0, uint32_t src1,
                                   uint32_t dst)
{
    uint8_t repeats = (uint8_t)(elems / 64);

    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t i = 0; i < count; i++) {
        vadd((__ubuf__ float *)(uint64_t)dst, (__ubuf__ float *)(uint64_t)src0,
             (__ubuf__ float *)(uint64_t)src1, repeats, 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
    }
}

/* Loads a row-major f16 matrix tile by tile and drops it; a row pitch that is no multiple of 32
 * bytes takes the byte-wise copy. */
__global__ __vector__ void gm_to_ub(__gm__ const half *x, uint32_t rows, uint32_t cols,
                                    uint32_t tile_rows, uint32_t tile_cols, uint32_t passes)
{
    uint32_t across = (cols + tile_cols - 1) / tile_cols;
    uint32_t tiles = (rows + tile_rows - 1) / tile_rows * across;
    uint32_t first = share_first(tiles), end = share_end(tiles);

    for (uint32_t pass = 0; pass < passes; pass++) {
        // No division in the loop: a copy of 128 bytes takes less time than one.
        uint32_t row = first / across * tile_rows, col = first % across * tile_cols;
        for (uint32_t tile = first; tile < end; tile++) {
            uint32_t high = rows - row < tile_rows ? rows - row : tile_rows;
            uint32_t wide = cols - col < tile_cols ? cols - col : tile_cols;
            __gm__ const half *from = x + (uint64_t)row * cols + col;
            if (cols % 16 == 0) {
                copy_gm_to_ubuf((__ubuf__ half *)0, from, 0, (uint16_t)high, (uint16_t)(wide / 16),
                                (uint16_t)((cols - wide) / 16), 0);
            } else {
                copy_gm_to_ubuf_align_b16((__ubuf__ half *)0, from, 0, (uint16_t)high, wide * 2, 0,
                                          0, (cols - wide) * 2, 0);
            }
            col += tile_cols;
            if (col >= cols) {
                col = 0;
                row += tile_rows;
            }
        }
    }
}
