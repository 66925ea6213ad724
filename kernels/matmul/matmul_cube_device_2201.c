/* SPDX-License-Identifier: Apache-2.0 */
/* Matmul of the split generation's cube core: the DMA makes fractals, the fixpipe takes the result
 * to GM. */
#include "../device/inline.h"

#include "matmul_args.h"

#ifndef MATMUL_UNIT
#define MATMUL_UNIT 2
#endif
#define MATMUL_IN_PIPE  PIPE_MTE2
#define MATMUL_OUT_PIPE PIPE_FIX

enum {
    BT_FREE = 2,      /* M -> MTE1 flag: the bias table may be written */
    MAX_PITCH = 65535 /* elements, of one nd2nz */
};

/** Some rows at a time: cores that share a matrix begin with different ones. */
struct matmul_cut {
    uint32_t rows;
};

OP_INLINE struct matmul_cut matmul_cut_of(uint32_t rows, uint32_t columns, uint32_t pieces)
{
    (void)columns;
    return (struct matmul_cut){op_up16((rows + pieces - 1) / pieces)};
}

OP_INLINE uint32_t matmul_pieces(struct matmul_cut cut, uint32_t rows, uint32_t columns)
{
    (void)columns;
    return (rows + cut.rows - 1) / cut.rows;
}

OP_INLINE void make_fractals(uint32_t l1, uint64_t gm, uint32_t rows, uint32_t columns,
                             uint32_t pitch, uint32_t rows_padded)
{
    if (MATMUL_UNIT == 4) {
        copy_gm_to_cbuf_multi_nd2nz_b32s((__cbuf__ void *)(uintptr_t)l1, (__gm__ void *)gm, 0, 1,
                                         (uint16_t)rows, (uint16_t)columns, 0, (uint16_t)pitch,
                                         (uint16_t)rows_padded, 1, 0);
    } else {
        copy_gm_to_cbuf_multi_nd2nz_b16((__cbuf__ half *)(uintptr_t)l1, (__gm__ half *)gm, 0, 1,
                                        (uint16_t)rows, (uint16_t)columns, 0, (uint16_t)pitch,
                                        (uint16_t)rows_padded, 1, 0);
    }
}

OP_INLINE void matmul_load(struct matmul_cut cut, uint32_t l1, uint64_t gm, uint32_t rows,
                           uint32_t columns, uint32_t rows_padded, uint32_t pitch, uint32_t piece,
                           uint32_t turn)
{
    (void)turn;
    const uint32_t first = piece * cut.rows, some = op_min(cut.rows, rows - first);
    const uint64_t from = gm + (uint64_t)first * pitch * MATMUL_UNIT;
    l1 += first * 32;
    if (pitch <= MAX_PITCH) {
        make_fractals(l1, from, some, columns, pitch, rows_padded);
        return;
    }
    for (uint32_t i = 0; i < some; i++) {
        make_fractals(l1 + i * 32, from + (uint64_t)i * pitch * MATMUL_UNIT, 1, columns, columns,
                      rows_padded);
    }
}

/* The bias of a tile waits in L1 behind both halves, 1 KiB a slot. */
OP_INLINE uint32_t bias_l1(const struct op_matmul_args *t, uint32_t slot)
{
    return 2 * t->l1_half + slot * 1024;
}

OP_INLINE void matmul_load_bias(const struct op_matmul_args *t, uint32_t n0, uint32_t columns,
                                uint32_t slot)
{
    copy_gm_to_cbuf((__cbuf__ void *)(uintptr_t)bias_l1(t, slot), (__gm__ void *)(t->bias + n0 * 4),
                    0, 1, (uint16_t)op_units(columns * 4), 0, 0, PAD_NONE);
}

OP_INLINE void matmul_begin_tile(const struct op_matmul_args *t, uint32_t columns, uint32_t slot)
{
    if (t->flags & OP_MATMUL_BIAS) {
        wait_flag(PIPE_M, PIPE_MTE1, BT_FREE);
        copy_cbuf_to_bt(0, (__cbuf__ void *)(uintptr_t)bias_l1(t, slot), 0, 1,
                        (uint16_t)((columns * 4 + 63) / 64), 0, 0);
    }
}

OP_INLINE void matmul_multiply(const struct op_matmul_args *t, uint32_t l0, uint32_t m, uint32_t k,
                               uint32_t n, bool first)
{
    const bool bias = t->flags & OP_MATMUL_BIAS, from_table = first && bias;
    __cc__ float *sum = (__cc__ float *)0;
    const uint64_t word = op_mad(m, k, n, from_table, first && !bias);
    if (MATMUL_UNIT == 4) {
        mad(sum, (__ca__ float *)(uintptr_t)l0, (__cb__ float *)(uintptr_t)l0, word);
    } else if (t->flags & OP_MATMUL_BF16) {
        mad(sum, (__ca__ bfloat16_t *)(uintptr_t)l0, (__cb__ bfloat16_t *)(uintptr_t)l0, word);
    } else {
        mad(sum, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0, word);
    }
    if (from_table) {
        set_flag(PIPE_M, PIPE_MTE1, BT_FREE);
    }
}

OP_INLINE void matmul_store(const struct op_matmul_args *t, uint64_t out, uint32_t m0, uint32_t n0,
                            uint32_t rows, uint32_t columns, uint32_t slot)
{
    (void)slot;
    const uint64_t at = (uint64_t)m0 * t->out_pitch + n0;
    const uint8_t relu = t->flags & OP_MATMUL_RELU ? 1 : 0;
    __cc__ float *from = (__cc__ float *)0;
    if (t->flags & OP_MATMUL_OUT_F16) {
        copy_matrix_cc_to_gm((__gm__ half *)out + at, from, 0, (uint16_t)columns, (uint16_t)rows,
                             t->out_pitch, (uint16_t)op_up16(rows), 0, F322F16, relu, false, true);
    } else if (t->flags & OP_MATMUL_OUT_BF16) {
        copy_matrix_cc_to_gm((__gm__ half *)out + at, from, 0, (uint16_t)columns, (uint16_t)rows,
                             t->out_pitch, (uint16_t)op_up16(rows), 0, F322BF16, relu, false, true);
    } else {
        copy_matrix_cc_to_gm((__gm__ float *)out + at, from, 0, (uint16_t)columns, (uint16_t)rows,
                             t->out_pitch, (uint16_t)op_up16(rows), 0, NoQuant, relu, false, true);
    }
}

#include "matmul_cube_device.inc"

__global__ __cube__ void op_matmul(struct op_matmul_args args)
{
    const struct op_matmul_args t = args;
    if (MATMUL_UNIT == 4) {
        leo_set_hf32(t.flags & OP_MATMUL_HF32);
    }
    set_flag(PIPE_M, PIPE_MTE1, BT_FREE);
    matmul_run(&t);
    wait_flag(PIPE_M, PIPE_MTE1, BT_FREE);
}
