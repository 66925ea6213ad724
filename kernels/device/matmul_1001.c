/* SPDX-License-Identifier: Apache-2.0 */
/* Matmul of the coupled core: plain DMA makes the fractals, the vector unit takes the result out through UB. */
#include "inline.h"

#include "args.h"

#define MATMUL_OUT_PIPE PIPE_V

/* UB: a slab of the result, 64 columns of up to 256 rows, twice as f32 and twice as f16; the bias. */
enum {
    SLAB_BLOCKS = 4,
    UB_F32 = 0,
    UB_F32_BYTES = 65536,
    UB_F16 = 0x20000,
    UB_F16_BYTES = 32768,
    UB_BIAS_RAW = 0x30000, /* 1 KiB a slot */
    UB_BIAS = 0x30800,     /* 16 columns four times over, 256 B a column block */
    MAX_GAP = 65535,
};

/* Columns of 16 become NZ columns. A row pitch that is a multiple of 32 B lets one instruction fetch a column of all
 * rows; otherwise a row is one instruction. Reads less than 32 B beyond a row's end: a tensor's allocation has them. */
OP_INLINE void matmul_load(uint32_t l1, uint64_t gm, uint32_t rows, uint32_t columns, uint32_t rows_padded,
                           uint32_t pitch)
{
    const uint32_t blocks = op_blocks(columns);
    if (pitch % 16 == 0 && pitch / 16 - 1 <= MAX_GAP) {
        for (uint32_t i = 0; i < blocks; i++) {
            copy_gm_to_cbuf((__cbuf__ void *)(uintptr_t)(l1 + i * rows_padded * 32), (__gm__ void *)(gm + i * 32), 0,
                            (uint16_t)rows, 1, (uint16_t)(pitch / 16 - 1), 0, PAD_NONE);
        }
        return;
    }
    for (uint32_t i = 0; i < rows; i++) {
        copy_gm_to_cbuf((__cbuf__ void *)(uintptr_t)(l1 + i * 32), (__gm__ void *)(gm + (uint64_t)i * pitch * 2), 0,
                        (uint16_t)blocks, 1, 0, (uint16_t)(rows_padded - 1), PAD_NONE);
    }
}

OP_INLINE void matmul_load_bias(const struct op_matmul_args *t, uint32_t n0, uint32_t columns, uint32_t slot)
{
    wait_flag(PIPE_V, PIPE_MTE2, slot);
    copy_gm_to_ubuf((__ubuf__ void *)(uintptr_t)(UB_BIAS_RAW + slot * 1024), (__gm__ void *)(t->bias + n0 * 4), 0, 1,
                    (uint16_t)op_units(columns * 4), 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, slot);
}

OP_INLINE void matmul_begin_tile(const struct op_matmul_args *t, uint32_t columns, uint32_t slot)
{
    (void)t, (void)columns, (void)slot;
}

OP_INLINE void matmul_multiply(uint32_t l0, uint32_t m, uint32_t k, uint32_t n, bool first, bool bias)
{
    (void)bias; // added on the way out: this generation has no bias table
    mad((__cc__ float *)0, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0, (uint16_t)m, (uint16_t)k,
        (uint16_t)n, first);
}

/* Four copies of each column block's bias side by side: one repeat of vadd covers four rows of 16 columns. */
OP_INLINE void spread_bias(uint32_t n_blocks, uint32_t slot)
{
    wait_flag(PIPE_MTE2, PIPE_V, slot);
    for (uint32_t i = 0; i < 4; i++) {
        copy_ubuf_to_ubuf((__ubuf__ void *)(uintptr_t)(UB_BIAS + i * 64),
                          (__ubuf__ void *)(uintptr_t)(UB_BIAS_RAW + slot * 1024), 0, (uint16_t)n_blocks, 2, 0, 6);
    }
    set_flag(PIPE_V, PIPE_MTE2, slot);
    pipe_barrier(PIPE_V);
}

/* Takes `blocks` column blocks from L0C into UB in the output's type. Returns where they are. */
OP_INLINE uint32_t convert_slab(const struct op_matmul_args *t, uint32_t block, uint32_t blocks, uint32_t m_blocks,
                                uint32_t half_slot)
{
    const uint32_t f32 = UB_F32 + half_slot * UB_F32_BYTES, f16 = UB_F16 + half_slot * UB_F16_BYTES;
    const uint16_t fractals = (uint16_t)(blocks * m_blocks);
    const bool relu = t->flags & OP_MATMUL_RELU, out_f16 = t->flags & OP_MATMUL_OUT_F16;
    __cc__ float *from = (__cc__ float *)(uintptr_t)(block * m_blocks * 1024);

    if (!(t->flags & OP_MATMUL_BIAS)) {
        if (out_f16 && relu) {
            copy_matrix_cc_to_ubuf(op_ub_f16(f16), from, 0, 1, fractals, 0, 0, CRMODE_F32toF16_RELU);
        } else if (out_f16) {
            copy_matrix_cc_to_ubuf(op_ub_f16(f16), from, 0, 1, fractals, 0, 0, CRMODE_F32toF16_NONE);
        } else if (relu) {
            copy_matrix_cc_to_ubuf(op_ub_f32(f32), from, 0, 1, fractals, 0, 0, CRMODE_NONE_RELU);
        } else {
            copy_matrix_cc_to_ubuf(op_ub_f32(f32), from, 0, 1, fractals, 0, 0, CRMODE_NONE);
        }
        return out_f16 ? f16 : f32;
    }
    copy_matrix_cc_to_ubuf(op_ub_f32(f32), from, 0, 1, fractals, 0, 0, CRMODE_NONE);
    pipe_barrier(PIPE_V);
    const uint8_t repeat = (uint8_t)(m_blocks * 4);
    for (uint32_t i = 0; i < blocks; i++) {
        __ubuf__ float *at = op_ub_f32(f32 + i * m_blocks * 1024);
        vadd(at, at, op_ub_f32(UB_BIAS + (block + i) * 256), repeat, 1, 1, 1, 8, 8, 0);
        if (relu) {
            pipe_barrier(PIPE_V);
            vmaxs(at, at, 0.0f, repeat, 1, 1, 8, 8);
        }
        if (out_f16) {
            pipe_barrier(PIPE_V);
            vconv_f322f16(op_ub_f16(f16 + i * m_blocks * 512), at, repeat, 1, 1, 4, 8);
        }
    }
    return out_f16 ? f16 : f32;
}

/* Rows whose pitch is no multiple of 32 B: whole blocks by DMA row by row, the last few elements by the scalar unit,
 * so that nothing outside the tile is written. `unit` = bytes of an element. */
OP_INLINE void store_ragged(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t columns, uint32_t m_blocks,
                            uint64_t pitch_bytes, uint32_t unit)
{
    const uint32_t block_units = unit / 2, whole = columns / 16;
    const uint32_t per_unit = 32 / unit, tail_units = columns % 16 / per_unit, tail = columns % per_unit;
    const uint32_t column_bytes = m_blocks * 16 * 16 * unit, row_bytes = 16 * unit;
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t to = gm + r * pitch_bytes;
        if (whole) {
            copy_ubuf_to_gm((__gm__ void *)to, (__ubuf__ void *)(uintptr_t)(ub + r * row_bytes), 0, (uint16_t)whole,
                            (uint16_t)block_units, (uint16_t)((m_blocks * 16 - 1) * block_units), 0);
        }
        if (tail_units) {
            copy_ubuf_to_gm((__gm__ void *)(to + whole * row_bytes),
                            (__ubuf__ void *)(uintptr_t)(ub + whole * column_bytes + r * row_bytes), 0, 1,
                            (uint16_t)tail_units, 0, 0);
        }
    }
    if (tail == 0) {
        return;
    }
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    const uint32_t first = columns - tail;
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = first; c < columns; c++) {
            const uint32_t from = ub + c / 16 * column_bytes + r * row_bytes + c % 16 * unit;
            const uint64_t to = gm + r * pitch_bytes + c * unit;
            if (unit == 2) {
                *(__gm__ volatile uint16_t *)to = *(__ubuf__ volatile uint16_t *)(uintptr_t)from;
            } else {
                *(__gm__ volatile uint32_t *)to = *(__ubuf__ volatile uint32_t *)(uintptr_t)from;
            }
        }
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
}

OP_INLINE void store_slab(const struct op_matmul_args *t, uint32_t ub, uint64_t gm, uint32_t rows, uint32_t columns,
                          uint32_t m_blocks)
{
    const uint32_t unit = t->flags & OP_MATMUL_OUT_F16 ? 2 : 4, block_units = unit / 2;
    const uint64_t pitch_bytes = (uint64_t)t->n * unit;
    if (pitch_bytes % 32 || pitch_bytes / 32 > MAX_GAP) {
        if (unit == 2) {
            store_ragged(ub, gm, rows, columns, m_blocks, pitch_bytes, 2);
        } else {
            store_ragged(ub, gm, rows, columns, m_blocks, pitch_bytes, 4);
        }
        return;
    }
    for (uint32_t i = 0; i * 16 < columns; i++) {
        const uint32_t units = op_units(op_min(columns - i * 16, 16) * unit);
        copy_ubuf_to_gm((__gm__ void *)(gm + i * 16 * unit), (__ubuf__ void *)(uintptr_t)(ub + i * m_blocks * 256 * unit),
                        0, (uint16_t)rows, (uint16_t)units, (uint16_t)(block_units - units),
                        (uint16_t)(pitch_bytes / 32 - units));
    }
}

OP_INLINE void matmul_store(const struct op_matmul_args *t, uint32_t m0, uint32_t n0, uint32_t rows, uint32_t columns,
                            uint32_t slot)
{
    const uint32_t n_blocks = op_blocks(columns), m_blocks = op_blocks(rows);
    const uint32_t unit = t->flags & OP_MATMUL_OUT_F16 ? 2 : 4;
    if (t->flags & OP_MATMUL_BIAS) {
        spread_bias(n_blocks, slot);
    }
    for (uint32_t block = 0, p = 0; block < n_blocks; block += SLAB_BLOCKS, p ^= 1) {
        const uint32_t blocks = op_min(SLAB_BLOCKS, n_blocks - block);
        wait_flag(PIPE_MTE3, PIPE_V, p);
        const uint32_t ub = convert_slab(t, block, blocks, m_blocks, p);
        set_flag(PIPE_V, PIPE_MTE3, p);
        wait_flag(PIPE_V, PIPE_MTE3, p);
        store_slab(t, ub, t->out + ((uint64_t)m0 * t->n + n0 + block * 16) * unit, rows,
                   op_min(blocks * 16, columns - block * 16), m_blocks);
        set_flag(PIPE_MTE3, PIPE_V, p);
    }
}

#include "matmul.h"

__global__ __aicore__ void op_matmul(struct op_matmul_args args)
{
    const struct op_matmul_args t = args;
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
    matmul_run(&t);
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}
