/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the split generation's cube core: the second version of img2col, results by the
 * fixpipe. CONV_UNIT_CHANNELS 8: of f32, whose blocks of 32 bytes and fractals of 512 move as those
 * of halves do; its fractals cannot be turned. */
#include "convolution_windows_device.h"

#define CONV_OUT_PIPE PIPE_FIX

#define CONV_WINDOWS(name, space, l0, l1, span)                                                    \
    name((space half *)(uintptr_t)(l0), (__cbuf__ half *)(uintptr_t)(l1),                          \
         (uint16_t)((span)->units * 16), (uint16_t)(span)->rows, (uint16_t)((span)->unit * 16),    \
         (uint16_t)(span)->first, (span)->filter.stride_w, (span)->filter.stride_h,                \
         (span)->filter.width, (span)->filter.height, (span)->filter.dilation_w,                   \
         (span)->filter.dilation_h, false, false, false, false, (uint16_t)((span)->groups * 16))

/** This version finds the units by itself. */
struct conv_left {
    uint32_t nothing;
};

OP_INLINE struct conv_left conv_left_begin(const struct conv_span *span, uint32_t units)
{
    (void)span, (void)units;
    return (struct conv_left){0};
}

/* `images` maps that lie `bytes` apart. */
OP_INLINE void conv_windows_left(const struct conv_span *span, struct conv_left *left, uint64_t l0,
                                 uint64_t l1, uint32_t images, uint64_t bytes, bool all)
{
    (void)left, (void)all;
    for (uint32_t image = 0; image < images; image++) {
        CONV_WINDOWS(img2colv2_cbuf_to_ca, __ca__, l0, l1, span);
        l0 += (uint64_t)span->column * span->units;
        l1 += bytes;
    }
}

OP_INLINE void conv_windows_right(const struct conv_span *span, const struct conv_unit *at,
                                  const struct conv_place *place, uint32_t l0, uint32_t l1)
{
    (void)at, (void)place;
    CONV_WINDOWS(img2colv2_cbuf_to_cb, __cb__, l0, l1, span);
}

/* `word`: of op_mad. */
OP_INLINE void conv_multiply(uint32_t flags, uint32_t l0c, uint64_t l0, uint64_t word)
{
    __cc__ float *sum = (__cc__ float *)(uintptr_t)l0c;
    if (CONV_UNIT_CHANNELS == 8) {
        mad(sum, (__ca__ float *)l0, (__cb__ float *)l0, word);
    } else if (flags & OP_CONVOLUTION_CUBE_BF16) {
        mad(sum, (__ca__ bfloat16_t *)l0, (__cb__ bfloat16_t *)l0, word);
    } else {
        mad(sum, (__ca__ half *)l0, (__cb__ half *)l0, word);
    }
}

OP_INLINE void conv_store(const struct op_convolution_cube_args *t, uint64_t out, uint32_t unit,
                          uint32_t blocks, uint32_t rows, uint32_t l0c, uint32_t all_rows)
{
    __cc__ float *from = (__cc__ float *)(uintptr_t)l0c;
    const uint32_t step = t->out_n1 / 32;
    const uint8_t relu = t->flags & OP_CONVOLUTION_CUBE_RELU ? 1 : 0;
    if (unit == 4) {
        copy_matrix_cc_to_gm((__gm__ float *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, NoQuant, relu, false, false);
    } else if (t->flags & OP_CONVOLUTION_CUBE_OUT_BF16) {
        copy_matrix_cc_to_gm((__gm__ half *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, F322BF16, relu, false, false);
    } else {
        copy_matrix_cc_to_gm((__gm__ half *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, F322F16, relu, false, false);
    }
}

/* `blocks` columns of a tile from `first` on: the rows of each image. */
OP_INLINE void conv_store_flat(const struct op_convolution_cube_args *t,
                               const struct conv_flat_tile *tile, uint32_t first, uint32_t blocks,
                               uint32_t l0c)
{
    const uint32_t unit = t->flags & OP_CONVOLUTION_CUBE_OUT_F32 ? 4 : 2;
    const uint32_t all_rows = op_up16(tile->rows);
    uint64_t to = t->out + (uint64_t)(tile->image * t->out_image) + (uint64_t)first * t->out_n1;
    uint32_t position = tile->position;
    for (uint32_t left = tile->rows; left > 0; position = 0, to += (uint64_t)t->out_image) {
        const uint32_t rows = op_min(left, tile->positions - position);
        conv_store(t, to + position * 16 * unit, unit, blocks, rows, l0c, all_rows);
        l0c += rows * 64;
        left -= rows;
    }
}

#include "convolution_cube_device.inc"
enum { CONV_PART_FLAGS = 6 };
#include "convolution_flat_device.inc"
#if CONV_UNIT_CHANNELS == 16
#include "convolution_weight_device.inc"
#endif

/* How f32 is multiplied. */
OP_INLINE void conv_begin(uint32_t flags)
{
    if (CONV_UNIT_CHANNELS == 8) {
        leo_set_hf32(flags & OP_CONVOLUTION_CUBE_HF32);
    }
}

__global__ __cube__ void op_convolution(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    conv_begin(t.flags);
    conv_run(&t);
}

__global__ __cube__ void op_convolution_phases(struct op_convolution_phases_args args)
{
    set_padding(0);
    conv_begin(args.phase[0].flags);
    conv_run_phases(&args);
}

__global__ __cube__ void op_convolution_flat(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    conv_begin(t.flags);
    conv_flat_run(&t);
}

__global__ __cube__ void op_convolution_strided(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    conv_begin(t.flags);
    conv_strided_run(&t);
}

#if CONV_UNIT_CHANNELS == 16
__global__ __cube__ void op_convolution_weight(struct op_convolution_cube_args args)
{
    const struct op_convolution_cube_args t = args;
    set_padding(0);
    conv_weight_run(&t);
}
#endif
