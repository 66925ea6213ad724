/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions of the coupled core: the first version of img2col, results through the vector unit
 * and UB to GM.
 *
 * Flags besides those of conv_cube.inc. V -> MTE3 0,1: slot of UB filled; MTE3 -> V 0,1: free.
 */
#include "inline.h"

#include "conv_cube_args.h"

#define CONV_OUT_PIPE PIPE_V

struct conv_view;

/* Results leave in slabs of column blocks, two slots. */
enum { SLAB_BYTES = 65536 };

#define CONV_WINDOW(name, l0, l1, corner, unit, jump, mode, repeat)                                \
    name(l0, (__cbuf__ half *)(uintptr_t)(l1), (uint8_t)((unit) % t->filter_w),                    \
         (uint8_t)((unit) / t->filter_w % t->filter_h), (corner).left, (corner).top,               \
         (uint16_t)((unit) / (t->filter_w * t->filter_h)), (uint8_t)t->stride_w,                   \
         (uint8_t)t->stride_h, (uint8_t)t->filter_w, (uint8_t)t->filter_h, (uint8_t)t->dilation_w, \
         (uint8_t)t->dilation_h, (uint8_t)(jump), mode, (uint8_t)(repeat), CSIZE0)

struct corner {
    int16_t left, top;
};

OP_INLINE struct corner corner_of(const struct op_conv_cube_args *t, uint32_t pad_t,
                                  uint32_t window)
{
    const uint32_t row = window / t->out_width, column = window - row * t->out_width;
    return (struct corner){(int16_t)((int32_t)(column * t->stride_w) - (int32_t)t->pad_l),
                           (int16_t)((int32_t)(row * t->stride_h) - (int32_t)pad_t)};
}

OP_INLINE void windows_left(const struct op_conv_cube_args *t, uint32_t pad_t, uint32_t l0,
                            uint32_t l1, uint32_t first, uint32_t rows, uint32_t unit,
                            uint32_t units)
{
    const struct corner corner = corner_of(t, pad_t, first);
    for (uint32_t i = 0; i < units; i++) {
        CONV_WINDOW(img2col_cbuf_to_ca, (__ca__ half *)(uintptr_t)(l0 + i * 512), l1, corner,
                    unit + i, units, 1, op_blocks(rows));
    }
}

/* Fractals of 16 bits are turned on the way. */
OP_INLINE void windows_right(const struct op_conv_cube_args *t, uint32_t pad_t, uint32_t l0,
                             uint32_t l1, uint32_t first, uint32_t rows, uint32_t unit,
                             uint32_t units)
{
    for (uint32_t i = 0; i < op_blocks(rows); i++) {
        const struct corner corner = corner_of(t, pad_t, first + i * 16);
        CONV_WINDOW(img2col_cbuf_to_cb, (__cb__ half *)(uintptr_t)(l0 + i * units * 512), l1,
                    corner, unit, 1, 0, units);
    }
}

#define conv_windows_left(t, view, l0, l1, groups, first, rows, unit, units)                       \
    windows_left(t, (view)->pad_t, l0, l1, first, rows, unit, units)
#define conv_windows_right(t, view, l0, l1, groups, first, rows, unit, units)                      \
    windows_right(t, (view)->pad_t, l0, l1, first, rows, unit, units)

OP_INLINE void conv_multiply(const struct op_conv_cube_args *t, uint32_t l0, uint32_t m, uint32_t k,
                             uint32_t n, bool first)
{
    (void)t;
    mad((__cc__ float *)0, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0,
        op_mad(m, k, n, false, first));
}

OP_INLINE void conv_store(const struct op_conv_cube_args *t, uint64_t out, uint32_t unit,
                          uint32_t blocks, uint32_t rows, uint32_t row, uint32_t all_rows)
{
    const uint32_t fractals = op_blocks(rows), all = all_rows / 16;
    const uint32_t slab = op_min(SLAB_BYTES / (fractals * 256 * unit), blocks);
    const uint32_t units = rows * unit / 2; // blocks of 32 bytes of a column
    uint32_t p = 0;
    for (uint32_t block = 0; block < blocks; block += slab, p ^= 1) {
        const uint32_t count = op_min(slab, blocks - block);
        __ubuf__ void *ub = (__ubuf__ void *)(uintptr_t)(p * SLAB_BYTES);
        __cc__ float *from = (__cc__ float *)(uintptr_t)((block * all + row / 16) * 1024);
        wait_flag(PIPE_MTE3, PIPE_V, p);
        if (unit == 4) {
            copy_matrix_cc_to_ubuf(ub, from, 0, (uint16_t)count, (uint16_t)fractals,
                                   (uint16_t)(all - fractals), 0, CRMODE_NONE);
        } else {
            copy_matrix_cc_to_ubuf(ub, from, 0, (uint16_t)count, (uint16_t)fractals,
                                   (uint16_t)(all - fractals), 0, CRMODE_F32toF16_NONE);
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
