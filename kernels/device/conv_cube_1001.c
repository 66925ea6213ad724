/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of the coupled core: the first version of img2col, results through the vector unit
 * and UB to GM.
 *
 * Flags besides those of conv_cube.inc. V -> MTE3 0,1: slot of UB filled; MTE3 -> V 0,1: free.
 */
#include "clean_l0c_1001.h"
#include "conv_windows.h"

#define CONV_OUT_PIPE PIPE_V

/* Results leave in slabs of column blocks, two slots. */
enum { SLAB_BYTES = 65536 };

#define CONV_WINDOW(name, l0, l1, f, left, top, unit, jump, mode, repeat)                          \
    name(l0, (__cbuf__ half *)(uintptr_t)(l1), (uint8_t)(unit)->column, (uint8_t)(unit)->row,      \
         (int16_t)(left), (int16_t)(top), (uint16_t)(unit)->group, (f).stride_w, (f).stride_h,     \
         (f).width, (f).height, (f).dilation_w, (f).dilation_h, (uint8_t)(jump), mode,             \
         (uint8_t)(repeat), CSIZE0)

/* Units from `at` on, of `images` maps that lie `bytes` apart: the first map's windows stand first
 * in a column of fractals. */
OP_INLINE void conv_windows_left(const struct conv_span *span, struct conv_unit *at, uint32_t l0,
                                 uint32_t l1, uint32_t images, uint32_t bytes)
{
    const uint32_t blocks = op_blocks(span->rows), step = blocks * span->units * 512;
    for (uint32_t i = 0; i < span->units; i++, conv_next_unit(span->filter, at)) {
        uint32_t to = l0 + i * 512, from = l1;
        for (uint32_t image = 0; image < images; image++) {
            CONV_WINDOW(img2col_cbuf_to_ca, (__ca__ half *)(uintptr_t)to, from, span->filter,
                        span->left, span->top, at, span->units, 1, blocks);
            to += step;
            from += bytes;
        }
    }
}

/* Fractals of 16 bits are turned on the way. */
OP_INLINE void conv_windows_right(const struct conv_span *span, const struct conv_unit *at,
                                  uint32_t l0, uint32_t l1)
{
    uint32_t row = span->first / span->out_width, column = span->first - row * span->out_width;
    for (uint32_t i = 0; i < op_blocks(span->rows); i++) {
        CONV_WINDOW(img2col_cbuf_to_cb, (__cb__ half *)(uintptr_t)(l0 + i * span->units * 512), l1,
                    span->filter, (int32_t)(column * span->filter.stride_w) - span->pad_l,
                    (int32_t)(row * span->filter.stride_h) - span->pad_t, at, 1, 0, span->units);
        for (column += 16; column >= span->out_width; column -= span->out_width) {
            row++;
        }
    }
}

OP_INLINE void conv_multiply(const struct op_conv_cube_args *t, uint32_t l0c, uint32_t l0,
                             uint32_t m, uint32_t k, uint32_t n, bool first)
{
    (void)t;
    mad((__cc__ float *)(uintptr_t)l0c, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0,
        op_mad(m, k, n, false, first));
}

/* Fractals of L0C to UB. */
#define CONV_EMPTY(with_relu, without)                                                             \
    do {                                                                                           \
        if (t->flags & OP_CONV_CUBE_RELU) {                                                        \
            copy_matrix_cc_to_ubuf(ub, from, 0, (uint16_t)count, (uint16_t)fractals,               \
                                   (uint16_t)(all - fractals), 0, with_relu);                      \
        } else {                                                                                   \
            copy_matrix_cc_to_ubuf(ub, from, 0, (uint16_t)count, (uint16_t)fractals,               \
                                   (uint16_t)(all - fractals), 0, without);                        \
        }                                                                                          \
    } while (0)

OP_INLINE void conv_store(const struct op_conv_cube_args *t, uint64_t out, uint32_t unit,
                          uint32_t blocks, uint32_t rows, uint32_t l0c, uint32_t all_rows)
{
    const uint32_t fractals = op_blocks(rows), all = all_rows / 16;
    const uint32_t slab = op_min(SLAB_BYTES / (fractals * 256 * unit), blocks);
    const uint32_t units = rows * unit / 2; // blocks of 32 bytes of a column
    uint32_t p = 0;
    for (uint32_t block = 0; block < blocks; block += slab, p ^= 1) {
        const uint32_t count = op_min(slab, blocks - block);
        __ubuf__ void *ub = (__ubuf__ void *)(uintptr_t)(p * SLAB_BYTES);
        __cc__ float *from = (__cc__ float *)(uintptr_t)(l0c + block * all * 1024);
        wait_flag(PIPE_MTE3, PIPE_V, p);
        if (unit == 4) {
            CONV_EMPTY(CRMODE_NONE_RELU, CRMODE_NONE);
        } else {
            CONV_EMPTY(CRMODE_F32toF16_RELU, CRMODE_F32toF16_NONE);
        }
        set_flag(PIPE_V, PIPE_MTE3, p);
        wait_flag(PIPE_V, PIPE_MTE3, p);
        copy_ubuf_to_gm((__gm__ void *)(out + (uint64_t)(block * t->out_n1)), ub, 0,
                        (uint16_t)count, (uint16_t)units, (uint16_t)(fractals * 8 * unit - units),
                        (uint16_t)((uint64_t)t->out_n1 / 32 - units));
        set_flag(PIPE_MTE3, PIPE_V, p);
    }
}

#include "conv_cube.inc"

OP_INLINE void run(const struct op_conv_cube_args *args, bool weight)
{
    const struct op_conv_cube_args t = *args;
    set_padding(0);
    if (!weight && t.out_width * t.out_height % 16) {
        op_clean_l0c();
    }
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
    conv_run(&t, weight);
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

__global__ __aicore__ void op_conv(struct op_conv_cube_args args)
{
    run(&args, false);
}

__global__ __aicore__ void op_conv_weight(struct op_conv_cube_args args)
{
    run(&args, true);
}
