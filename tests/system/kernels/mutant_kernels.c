/* SPDX-License-Identifier: Apache-2.0 */
/* Correct kernels of one core each, to take synchronisation away from. */
#include <leo/device.h>

enum { ROWS = 8, COLUMNS = 64, TILES = 3 };

__ubuf_array__ float tile[ROWS * COLUMNS];
__ubuf_array__ float square[ROWS * COLUMNS];
__ubuf_array__ float sums[ROWS];

/* y = (x - mean) / sqrt(variance + 1e-5), of rows of 64: sums on the vector unit, a number a row on
 * the scalar unit. */
__global__ __vector__ void layernorm(__gm__ const float *x, __gm__ float *y)
{
    set_vector_mask(0, ~UINT64_C(0));
    for (int t = 0; t < TILES; t++) {
        if (t > 0) {
            wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }
        copy_gm_to_ubuf(tile, x + t * ROWS * COLUMNS, 0, 1, ROWS * COLUMNS / 8, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        vcadd(sums, tile, ROWS, 1, 1, 8);
        set_flag(PIPE_V, PIPE_S, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
        for (int i = 0; i < ROWS; i++) {
            vadds(tile + i * COLUMNS, tile + i * COLUMNS, -sums[i] / COLUMNS, 1, 1, 1, 8, 8);
        }
        pipe_barrier(PIPE_V);
        vmul(square, tile, tile, ROWS, 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
        vcadd(sums, square, ROWS, 1, 1, 8);
        set_flag(PIPE_V, PIPE_S, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_S, EVENT_ID1);
        for (int i = 0; i < ROWS; i++) {
            float scale = 1 / __builtin_sqrtf(sums[i] / COLUMNS + 1e-5f);
            vmuls(tile + i * COLUMNS, tile + i * COLUMNS, scale, 1, 1, 1, 8, 8);
        }
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(y + t * ROWS * COLUMNS, tile, 0, 1, ROWS * COLUMNS / 8, 0, 0);
        if (t < TILES - 1) {
            set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }
    }
}

__ubuf_array__ float halves[2][ROWS * COLUMNS];
__ubuf_array__ float most[2][ROWS * 8];

/* y = softmax of rows of 64, two tiles at a time: the next one is loaded while this one is worked
 * at. */
__global__ __vector__ void softmax(__gm__ const float *x, __gm__ float *y)
{
    set_vector_mask(0, ~UINT64_C(0));
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
    for (int t = 0; t < 2 * TILES; t++) {
        __ubuf__ float *half_tile = halves[t & 1], *number = most[t & 1];
        event_t event = t & 1 ? EVENT_ID1 : EVENT_ID0;
        wait_flag(PIPE_MTE3, PIPE_MTE2, event);
        copy_gm_to_ubuf(half_tile, x + t * ROWS * COLUMNS, 0, 1, ROWS * COLUMNS / 8, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, event);
        wait_flag(PIPE_MTE2, PIPE_V, event);
        vcmax(number, half_tile, ROWS, 1, 1, 8, ONLY_VALUE);
        set_flag(PIPE_V, PIPE_S, event);
        wait_flag(PIPE_V, PIPE_S, event);
        for (int i = 0; i < ROWS; i++) {
            vadds(half_tile + i * COLUMNS, half_tile + i * COLUMNS, -number[i], 1, 1, 1, 8, 8);
        }
        pipe_barrier(PIPE_V);
        vexp(half_tile, half_tile, ROWS, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vcadd(number, half_tile, ROWS, 1, 1, 8);
        set_flag(PIPE_V, PIPE_S, event);
        wait_flag(PIPE_V, PIPE_S, event);
        for (int i = 0; i < ROWS; i++) {
            vmuls(half_tile + i * COLUMNS, half_tile + i * COLUMNS, 1 / number[i], 1, 1, 1, 8, 8);
        }
        set_flag(PIPE_V, PIPE_MTE3, event);
        wait_flag(PIPE_V, PIPE_MTE3, event);
        copy_ubuf_to_gm(y + t * ROWS * COLUMNS, half_tile, 0, 1, ROWS * COLUMNS / 8, 0, 0);
        set_flag(PIPE_MTE3, PIPE_MTE2, event);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

enum { SIDE = 8, FILTER = 3, CHANNELS = 16, PIXELS = 48, TAPS = FILTER * FILTER };

__cbuf_array__ half l1_map[SIDE * SIDE * CHANNELS];
__cbuf_array__ half l1_filter[TAPS * CHANNELS * 16];
__ca_array__ half l0_windows[PIXELS * TAPS * CHANNELS];
__cb_array__ half l0_filter[TAPS * CHANNELS * 16];
__cc_array__ float l0_pixels[PIXELS * 16];

/* 3 x 3 convolutions of maps of 8 x 8 with 16 channels to 16. */
__global__ __cube__ void convolution(__gm__ const half *map, __gm__ const half *filter,
                                     __gm__ float *out)
{
    set_padding(0);
    set_fmatrix(SIDE | SIDE << 16);
    set_l3d_rpt(1 | 1 << 16);
    copy_gm_to_cbuf(l1_filter, filter, 0, 1, TAPS * CHANNELS * 16 * 2 / 32, 0, 0);
    for (int t = 0; t < TILES; t++) {
        if (t > 0) {
            wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
        }
        copy_gm_to_cbuf(l1_map, map + t * SIDE * SIDE * CHANNELS, 0, 1,
                        SIDE * SIDE * CHANNELS * 2 / 32, 0, 0);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        if (t > 0) {
            wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
        }
        img2colv2_cbuf_to_ca(l0_windows, l1_map, TAPS * CHANNELS, 36, 0, 0, 1, 1, FILTER, FILTER, 1,
                             1, false, false, false, false, CHANNELS);
        load_cbuf_to_cb(l0_filter, l1_filter, 0, TAPS, 1, 0, 0, true, inc);
        if (t < TILES - 1) {
            set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
        }
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        if (t > 0) {
            wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
        }
        mad(l0_pixels, l0_windows, l0_filter, 36, TAPS * CHANNELS, 16, true);
        if (t < TILES - 1) {
            set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
        }
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        copy_matrix_cc_to_gm(out + t * 36 * 16, l0_pixels, 0, 16, 36, 16, PIXELS, 0, NoQuant, 0,
                             false, true);
        if (t < TILES - 1) {
            set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
        }
    }
}

/* Block 0 stores a number with its scalar unit, block 1 reads it. */
__global__ __vector__ void told(__gm__ int64_t *number, __gm__ int64_t *seen)
{
    if (get_block_idx() == 0) {
        number[0] = 7;
        dcci(number, SINGLE_CACHE_LINE);
        dsb(DSB_DDR);
    }
    leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, 2);
    leo_cross_wait(2);
    if (get_block_idx() == 1) {
        seen[0] = number[0];
    }
}
