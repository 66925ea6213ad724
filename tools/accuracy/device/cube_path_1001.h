/* SPDX-License-Identifier: Apache-2.0 */
/* To L1 and from L0C on a coupled chip, both through UB: its DMA makes no fractals, so the way to
 * L1 (MTE3) does, a column of 16 elements at a time; the vector unit takes results out of L0C.
 * Sizes are whole blocks of 16. */
#pragma once

#define CUBE_KERNEL __aicore__
#define CUBE_IN     PIPE_MTE3
#define CUBE_OUT    PIPE_V

enum {
    STAGE_BYTES = 32768, /* of a matrix on its way in, two slots */
    SLAB_ROWS = 128,     /* of a result on its way out, */
    SLAB_BLOCKS = 4,     /* of 16 columns */
    SLAB_BYTES = SLAB_ROWS * SLAB_BLOCKS * 64,
    UB_NZ = 2 * STAGE_BYTES,    /* a slab as it comes from L0C */
    UB_ND = UB_NZ + SLAB_BYTES, /* in rows, two slots */
};

/* Flags MTE3 -> MTE2 0, 1: a stage slot is free; MTE3 -> V 0, 1: a slab of rows is. */
static void cube_begin(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_MTE2, i);
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
}

static void cube_end(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_MTE2, i);
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

/* rows x columns of a matrix, `pitch` elements a row, to NZ columns of `padded` rows. */
static void cube_fill(uint32_t *turn, __cbuf__ half *l1, __gm__ const half *from, uint32_t rows,
                      uint32_t columns, uint32_t pitch, uint32_t padded)
{
    const uint32_t most_rows = STAGE_BYTES / 32, blocks = columns / 16;
    for (uint32_t row = 0; row < rows; row += most_rows) {
        const uint32_t high = min_of(most_rows, rows - row), most = STAGE_BYTES / (high * 32);
        for (uint32_t block = 0; block < blocks; block += most, *turn += 1) {
            const uint32_t wide = min_of(most, blocks - block), slot = *turn & 1;
            __ubuf__ uint8_t *stage = (__ubuf__ uint8_t *)(uint64_t)(slot * STAGE_BYTES);
            wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
            copy_gm_to_ubuf(stage, from + (uint64_t)row * pitch + block * 16, 0, (uint16_t)high,
                            (uint16_t)wide, (uint16_t)(pitch / 16 - wide), 0);
            set_flag(PIPE_MTE2, PIPE_MTE3, slot);
            wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
            for (uint32_t i = 0; i < wide; i++) {
                copy_ubuf_to_cbuf(l1 + ((block + i) * padded + row) * 16, stage + i * 32, 0,
                                  (uint16_t)high, 1, (uint16_t)(wide - 1), 0);
            }
            set_flag(PIPE_MTE3, PIPE_MTE2, slot);
        }
    }
}

static void cube_mad(__cc__ float *l0c, __ca__ half *l0a, __cb__ half *l0b, uint32_t m, uint32_t k,
                     uint32_t n, uint32_t unit_flag, bool first)
{
    (void)unit_flag; // a later generation's
    mad(l0c, l0a, l0b, (uint16_t)m, (uint16_t)k, (uint16_t)n, first);
}

/* The tile at the beginning of L0C to rows of `pitch` elements, slab by slab. */
static void cube_store(__gm__ void *to, uint32_t rows, uint32_t columns, uint32_t pitch, bool f32,
                       uint32_t unit_flag)
{
    const uint32_t units = f32 ? 2 : 1, tile_m = fractals(rows), tile_n = columns / 16;
    uint32_t turn = 0;
    (void)unit_flag;
    for (uint32_t row = 0; row < rows; row += SLAB_ROWS) {
        for (uint32_t block = 0; block < tile_n; block += SLAB_BLOCKS, turn ^= 1) {
            const uint32_t high = min_of(SLAB_ROWS, rows - row), m = fractals(high);
            const uint32_t wide = min_of(SLAB_BLOCKS, tile_n - block);
            __ubuf__ uint8_t *nz = (__ubuf__ uint8_t *)(uint64_t)UB_NZ;
            __ubuf__ uint8_t *nd = (__ubuf__ uint8_t *)(uint64_t)(UB_ND + turn * SLAB_BYTES);
            __cc__ float *from = (__cc__ float *)(uint64_t)((block * tile_m + row / 16) * 1024);
            wait_flag(PIPE_MTE3, PIPE_V, turn);
            pipe_barrier(PIPE_V); // the slab before has left UB_NZ
            if (f32) {
                copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)wide, (uint16_t)m,
                                       (uint16_t)(tile_m - m), 0, CRMODE_NONE);
            } else {
                copy_matrix_cc_to_ubuf(nz, from, 0, (uint16_t)wide, (uint16_t)m,
                                       (uint16_t)(tile_m - m), 0, CRMODE_F32toF16_NONE);
            }
            pipe_barrier(PIPE_V);
            for (uint32_t i = 0; i < wide; i++) {
                copy_ubuf_to_ubuf(nd + i * units * 32, nz + i * m * 16 * units * 32, 0,
                                  (uint16_t)(m * 16), (uint16_t)units, 0,
                                  (uint16_t)((SLAB_BLOCKS - 1) * units));
            }
            set_flag(PIPE_V, PIPE_MTE3, turn);
            wait_flag(PIPE_V, PIPE_MTE3, turn);
            copy_ubuf_to_gm(
                (__gm__ uint8_t *)to + ((uint64_t)row * pitch + block * 16) * (units * 2), nd, 0,
                (uint16_t)high, (uint16_t)(wide * units), (uint16_t)((SLAB_BLOCKS - wide) * units),
                (uint16_t)((pitch / 16 - wide) * units));
            set_flag(PIPE_MTE3, PIPE_V, turn);
        }
    }
}
