/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matmul of the coupled core. Its DMA makes no fractals: rows come to UB as they are, and on the
 * way from there to L1 (MTE3) each block of 16 columns becomes an NZ column. The result goes
 * through the vector unit and UB to GM.
 */
#include "../device/clean_l0c_1001.h"
#include "../device/copy.h"
#include "../device/slots.h"
#include "matmul_args.h"

#define MATMUL_UNIT     2
#define MATMUL_IN_PIPE  PIPE_MTE3
#define MATMUL_OUT_PIPE PIPE_V

/* The result leaves in slabs of up to 128 rows of 64 columns: whole 128-byte lines of either type.
 */
enum {
    SLAB_ROWS = 128,
    SLAB_BLOCKS = 4,
    STAGE_BYTES = 32768, /* of a matrix on its way in */
    STAGES = 4,
    ROWS_BY_COLUMNS = 256, /* rows of which a stage slot holds a line of 128 bytes each */
    UB_STAGE = 0,
    UB_NZ = UB_STAGE + STAGES * STAGE_BYTES, /* a slab as it comes from L0C */
    UB_NZ_BYTES = SLAB_ROWS * SLAB_BLOCKS * 64,
    UB_ND = UB_NZ + UB_NZ_BYTES, /* a slab in rows, two slots */
    UB_ND_BYTES = SLAB_ROWS * SLAB_BLOCKS * 64,
    UB_BIAS = UB_ND + 2 * UB_ND_BYTES, /* 1 KiB a slot */
};

/** How a matrix is cut into pieces of a stage slot: by columns while they stay whole lines of
 * global memory, for few and long instructions on the way to L1; else by rows. */
struct matmul_cut {
    uint32_t rows, blocks; /* rows of each or 0: all of them; blocks of 16 columns */
};

OP_INLINE struct matmul_cut matmul_cut_of(uint32_t rows, uint32_t columns, uint32_t pieces)
{
    (void)pieces; // stage slots are pieces enough
    if (rows <= ROWS_BY_COLUMNS) {
        return (struct matmul_cut){0, STAGE_BYTES / (rows * 32)};
    }
    return (struct matmul_cut){STAGE_BYTES / (op_blocks(columns) * 32), 0};
}

OP_INLINE uint32_t matmul_pieces(struct matmul_cut cut, uint32_t rows, uint32_t columns)
{
    return cut.rows ? (rows + cut.rows - 1) / cut.rows
                    : (op_blocks(columns) + cut.blocks - 1) / cut.blocks;
}

/* Flags MTE3 -> MTE2 0 to 3: stage slot free; MTE2 -> MTE3: filled. */
OP_INLINE void matmul_load(struct matmul_cut cut, uint32_t l1, uint64_t gm, uint32_t rows,
                           uint32_t columns, uint32_t rows_padded, uint32_t pitch, uint32_t piece,
                           uint32_t turn)
{
    const uint32_t row = piece * cut.rows, block = piece * cut.blocks, slot = turn % STAGES;
    const uint32_t now = cut.rows ? op_min(cut.rows, rows - row) : rows,
                   left = columns - block * 16,
                   width = cut.rows ? left : op_min(cut.blocks * 16, left),
                   blocks = op_blocks(width);
    const uint32_t stage = UB_STAGE + slot * STAGE_BYTES;
    wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
    op_load_rows(stage, gm + ((uint64_t)row * pitch + block * 16) * 2, now, width * 2,
                 (uint64_t)pitch * 2, blocks * 32);
    set_flag(PIPE_MTE2, PIPE_MTE3, slot);
    wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
    for (uint32_t i = 0; i < blocks; i++) {
        copy_ubuf_to_cbuf((__cbuf__ void *)(uintptr_t)(l1 + ((block + i) * rows_padded + row) * 32),
                          (__ubuf__ void *)(uintptr_t)(stage + i * 32), 0, (uint16_t)now, 1,
                          (uint16_t)(blocks - 1), 0);
    }
    set_flag(PIPE_MTE3, PIPE_MTE2, slot);
}

OP_INLINE void matmul_load_bias(const struct op_matmul_args *t, uint32_t n0, uint32_t columns,
                                uint32_t slot)
{
    wait_flag(PIPE_V, PIPE_MTE2, slot);
    op_load(UB_BIAS + slot * 1024, t->bias + n0 * 4, columns * 4);
    set_flag(PIPE_MTE2, PIPE_V, slot);
}

OP_INLINE void matmul_begin_tile(const struct op_matmul_args *t, uint32_t columns, uint32_t slot)
{
    (void)t, (void)columns, (void)slot;
}

// The bias is added on the way out: this generation has no bias table.
OP_INLINE void matmul_multiply(const struct op_matmul_args *t, uint32_t l0, uint32_t m, uint32_t k,
                               uint32_t n, bool first)
{
    (void)t;
    mad((__cc__ float *)0, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0,
        op_mad(m, k, n, false, first));
}

/* What the load of the last block of 32 bytes took from behind the bias. */
OP_INLINE void clear_bias_tail(uint32_t bias, uint32_t columns)
{
    if (columns % 8) {
        set_vector_mask(0, 0xffu << columns % 8 & 0xff);
        vector_dup(op_ub_f32(bias + columns / 8 * 32), 0.0f, 1, 1, 1, 8, 8);
        set_vector_mask(~0ull, ~0ull);
        pipe_barrier(PIPE_V);
    }
}

/* Adds the bias to column blocks of f32: 8 columns of 8 rows a repeat, the same 8 biases for all.
 * Distances in 32 B. */
OP_INLINE void add_bias(uint32_t to, uint32_t bias, uint32_t blocks, uint32_t m_blocks,
                        uint32_t block_step, uint32_t row_step)
{
    for (uint32_t i = 0; i < blocks * 2; i++) {
        const uint32_t column = i / 2 * m_blocks * 1024 + i % 2 * 32;
        vadd(op_ub_f32(to + i / 2 * block_step * 32 + i % 2 * 32), op_ub_f32(UB_NZ + column),
             op_ub_f32(bias + i * 32), (uint8_t)(m_blocks * 2), (uint8_t)row_step, 2, 0,
             (uint8_t)(row_step * 8), 16, 0);
    }
}

/* NZ columns of `units` 32-byte blocks a row become rows. */
OP_INLINE void make_rows(uint32_t nd, uint32_t blocks, uint32_t m_blocks, uint32_t units)
{
    for (uint32_t i = 0; i < blocks; i++) {
        copy_ubuf_to_ubuf((__ubuf__ void *)(uintptr_t)(nd + i * units * 32),
                          (__ubuf__ void *)(uintptr_t)(UB_NZ + i * m_blocks * 16 * units * 32), 0,
                          (uint16_t)(m_blocks * 16), (uint16_t)units, 0,
                          (uint16_t)((SLAB_BLOCKS - 1) * units));
    }
}

OP_INLINE void slab_f32(uint32_t nd, uint32_t bias, uint32_t blocks, uint32_t m_blocks, bool relu)
{
    if (!bias) {
        make_rows(nd, blocks, m_blocks, 2);
        return;
    }
    add_bias(nd, bias, blocks, m_blocks, 2, SLAB_BLOCKS * 2);
    if (relu) {
        pipe_barrier(PIPE_V);
        // In two halves: an instruction repeats at most 255 times.
        const uint32_t rows = m_blocks * 8, repeats = rows * SLAB_BLOCKS / 4;
        for (uint32_t i = 0; i < 2; i++) {
            __ubuf__ float *at = op_ub_f32(nd + i * rows * SLAB_BLOCKS * 64);
            vmaxs(at, at, 0.0f, (uint8_t)repeats, 1, 1, 8, 8);
        }
    }
}

OP_INLINE void slab_f16(uint32_t nd, uint32_t bias, uint32_t blocks, uint32_t m_blocks, bool relu)
{
    if (!bias) {
        make_rows(nd, blocks, m_blocks, 1);
        return;
    }
    add_bias(UB_NZ, bias, blocks, m_blocks, m_blocks * 32, 2);
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < blocks; i++) {
        __ubuf__ float *at = op_ub_f32(UB_NZ + i * m_blocks * 1024);
        const uint8_t repeats = (uint8_t)(m_blocks * 4);
        if (relu) {
            vmaxs(at, at, 0.0f, repeats, 1, 1, 8, 8);
            pipe_barrier(PIPE_V);
        }
        // Four rows a repeat, each to its own row of the slab.
        vconv_f322f16(op_ub_f16(nd + i * 32), at, repeats, SLAB_BLOCKS, 1, SLAB_BLOCKS * 4, 8);
    }
}

/* Takes column blocks `block`.. of rows `row`.. from L0C; they end as rows at `nd`, SLAB_BLOCKS *
 * 16 elements apart. */
OP_INLINE void convert_slab(const struct op_matmul_args *t, uint32_t block, uint32_t blocks,
                            uint32_t row, uint32_t m_blocks, uint32_t tile_m_blocks, uint32_t nd,
                            uint32_t bias)
{
    const bool relu = t->flags & OP_MATMUL_RELU, out_f16 = t->flags & OP_MATMUL_OUT_F16;
    const uint16_t gap = (uint16_t)(tile_m_blocks - m_blocks);
    __cc__ float *from = (__cc__ float *)(uintptr_t)((block * tile_m_blocks + row / 16) * 1024);
    __ubuf__ void *nz = (__ubuf__ void *)(uintptr_t)UB_NZ;
    pipe_barrier(PIPE_V); // the slab before has left UB_NZ
    if (bias || (!relu && !out_f16)) {
        copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)blocks, (uint16_t)m_blocks, gap, 0,
                               CRMODE_NONE);
    } else if (!out_f16) {
        copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)blocks, (uint16_t)m_blocks, gap, 0,
                               CRMODE_NONE_RELU);
    } else if (relu) {
        copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)blocks, (uint16_t)m_blocks, gap, 0,
                               CRMODE_F32toF16_RELU);
    } else {
        copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)blocks, (uint16_t)m_blocks, gap, 0,
                               CRMODE_F32toF16_NONE);
    }
    pipe_barrier(PIPE_V);
    if (out_f16) {
        slab_f16(nd, bias, blocks, m_blocks, relu);
    } else {
        slab_f32(nd, bias, blocks, m_blocks, relu);
    }
}

OP_INLINE void matmul_store(const struct op_matmul_args *t, uint64_t out, uint32_t m0, uint32_t n0,
                            uint32_t rows, uint32_t columns, uint32_t slot)
{
    const uint32_t n_blocks = op_blocks(columns), m_blocks = op_blocks(rows);
    const uint32_t unit = t->flags & OP_MATMUL_OUT_F16 ? 2 : 4;
    uint32_t p = 0;
    if (t->flags & OP_MATMUL_BIAS) {
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        clear_bias_tail(UB_BIAS + slot * 1024, columns);
    }
    for (uint32_t row = 0; row < rows; row += SLAB_ROWS) {
        for (uint32_t block = 0; block < n_blocks; block += SLAB_BLOCKS, p ^= 1) {
            const uint32_t blocks = op_min(SLAB_BLOCKS, n_blocks - block),
                           nd = UB_ND + p * UB_ND_BYTES;
            const uint32_t bias =
                t->flags & OP_MATMUL_BIAS ? UB_BIAS + slot * 1024 + block * 64 : 0;
            wait_flag(PIPE_MTE3, PIPE_V, p);
            convert_slab(t, block, blocks, row, op_min(SLAB_ROWS / 16, m_blocks - row / 16),
                         m_blocks, nd, bias);
            set_flag(PIPE_V, PIPE_MTE3, p);
            wait_flag(PIPE_V, PIPE_MTE3, p);
            op_store_rows(out + ((uint64_t)(m0 + row) * t->out_pitch + n0 + block * 16) * unit, nd,
                          op_min(SLAB_ROWS, rows - row),
                          op_min(blocks * 16, columns - block * 16) * unit,
                          (uint64_t)t->out_pitch * unit, SLAB_BLOCKS * 16 * unit);
            set_flag(PIPE_MTE3, PIPE_V, p);
        }
    }
    if (t->flags & OP_MATMUL_BIAS) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
}

#include "matmul_cube_device.inc"

__global__ __aicore__ void op_matmul(struct op_matmul_args args)
{
    const struct op_matmul_args t = args;
    if ((t.flags & OP_MATMUL_OUT_F16) && (t.m % 16 || t.n % 16)) {
        op_clean_l0c(t.l0c_blocks);
        // Nor what UB has behind the last bias: both slots.
        vector_dup(op_ub_f32(UB_BIAS), 0.0f, 8, 1, 1, 8, 8);
        pipe_barrier(PIPE_ALL);
    }
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    op_begin_slots();
    for (uint32_t i = 0; i < STAGES; i++) {
        set_flag(PIPE_MTE3, PIPE_MTE2, i);
    }
    matmul_run(&t);
    op_end_slots();
    for (uint32_t i = 0; i < STAGES; i++) {
        wait_flag(PIPE_MTE3, PIPE_MTE2, i);
    }
}
