/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the split generation's cube core: the second version of img2col, results by the
 * fixpipe. */
#include "inline.h"

#include "conv_cube_args.h"

#define CONV_OUT_PIPE PIPE_FIX

#define CONV_WINDOWS(name, space, l0, l1, groups, first, rows, unit, units)                        \
    name((space half *)(uintptr_t)(l0), (__cbuf__ half *)(uintptr_t)(l1),                          \
         (uint16_t)((units) * 16), (uint16_t)(rows), (uint16_t)((unit) * 16), (uint16_t)(first),   \
         (uint8_t)t->stride_w, (uint8_t)t->stride_h, (uint8_t)t->filter_w, (uint8_t)t->filter_h,   \
         (uint8_t)t->dilation_w, (uint8_t)t->dilation_h, false, false, false, false,               \
         (uint16_t)((groups) * 16))

#define conv_windows_left(t, view, l0, l1, groups, first, rows, unit, units)                       \
    CONV_WINDOWS(img2colv2_cbuf_to_ca, __ca__, l0, l1, groups, first, rows, unit, units)
#define conv_windows_right(t, view, l0, l1, groups, first, rows, unit, units)                      \
    CONV_WINDOWS(img2colv2_cbuf_to_cb, __cb__, l0, l1, groups, first, rows, unit, units)

OP_INLINE void conv_multiply(const struct op_conv_cube_args *t, uint32_t l0, uint32_t m, uint32_t k,
                             uint32_t n, bool first)
{
    __cc__ float *sum = (__cc__ float *)0;
    const uint64_t word = op_mad(m, k, n, false, first);
    if (t->flags & OP_CONV_CUBE_BF16) {
        mad(sum, (__ca__ bfloat16_t *)(uintptr_t)l0, (__cb__ bfloat16_t *)(uintptr_t)l0, word);
    } else {
        mad(sum, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0, word);
    }
}

OP_INLINE void conv_store(const struct op_conv_cube_args *t, uint64_t out, uint32_t unit,
                          uint32_t blocks, uint32_t rows, uint32_t row, uint32_t all_rows)
{
    __cc__ float *from = (__cc__ float *)(uintptr_t)(row * 64);
    const uint32_t step = (uint32_t)((uint64_t)t->out_n1 / 32);
    if (unit == 4) {
        copy_matrix_cc_to_gm((__gm__ float *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, NoQuant, 0, false, false);
    } else if (t->flags & OP_CONV_CUBE_OUT_BF16) {
        copy_matrix_cc_to_gm((__gm__ half *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, F322BF16, 0, false, false);
    } else {
        copy_matrix_cc_to_gm((__gm__ half *)out, from, 0, (uint16_t)(blocks * 16), (uint16_t)rows,
                             step, (uint16_t)all_rows, 0, F322F16, 0, false, false);
    }
}

#include "conv_cube.inc"

__global__ __cube__ void op_conv(struct op_conv_cube_args args)
{
    const struct op_conv_cube_args t = args;
    set_padding(0);
    conv_run(&t, false);
}

__global__ __cube__ void op_conv_weight(struct op_conv_cube_args args)
{
    const struct op_conv_cube_args t = args;
    set_padding(0);
    conv_run(&t, true);
}
