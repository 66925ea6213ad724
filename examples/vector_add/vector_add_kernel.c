/* SPDX-License-Identifier: Apache-2.0 */
/* c = a + b in half precision: each block adds its share, tile by tile, through the unified buffer.
 */
#include <leo/device.h>

#define TILE 2048 /* elements a tile: three buffers of 4 KB */

__ubuf_array__ half ub_a[TILE];
__ubuf_array__ half ub_b[TILE];
__ubuf_array__ half ub_c[TILE];

/* `count` is a multiple of 16: copies move whole blocks of 32 bytes. */
__global__ __vector__ void vector_add(__gm__ const half *a, __gm__ const half *b, __gm__ half *c,
                                      uint32_t count)
{
    uint32_t tiles = (count + TILE - 1) / TILE;

    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
        uint32_t first = tile * TILE;
        uint32_t elems = count - first < TILE ? count - first : TILE;
        uint32_t blocks = elems / 16;           /* of 32 bytes */
        uint32_t repeats = (elems + 127) / 128; /* of 128 elements */

        copy_gm_to_ubuf(ub_a, a + first, 0, 1, blocks, 0, 0);
        copy_gm_to_ubuf(ub_b, b + first, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); /* the adds wait for both loads */
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        vadd(ub_c, ub_a, ub_b, repeats, 1, 1, 1, 8, 8, 8);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); /* the store waits for the adds */
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(c + first, ub_c, 0, 1, blocks, 0, 0);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0); /* the next tile's loads wait for this store */
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
}
