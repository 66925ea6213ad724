/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matmul pipeline both generations share: GM -> L1, L1 -> L0 (MTE1), L0 -> L0C (M), each double-buffered. A
 * generation's own file supplies, before it includes this one:
 *   MATMUL_IN_PIPE                                           the pipe that fills L1
 *   MATMUL_OUT_PIPE                                          the pipe that empties L0C
 *   matmul_pieces(rows, columns)                             in how many pieces it loads a matrix
 *   matmul_load(l1, gm, rows, columns, rows_padded, pitch, piece)
 *                                                            a piece of a row-major matrix into NZ fractals in L1
 *   matmul_load_bias(t, n0, columns, slot)                   bias of a tile, with its first chunk
 *   matmul_begin_tile(t, columns, slot)                      before the first mmad of a tile (MTE1)
 *   matmul_multiply(l0, m, k, n, first, bias)                one mmad
 *   matmul_store(t, m0, n0, rows, columns, slot)             L0C -> GM
 * slot: 0, 1 in turn over this block's tiles.
 *
 * Flags. in -> MTE1 0,1: half of L1 filled; MTE1 -> in 0,1: half of L1 free; MTE1 -> M 0,1: half of L0 filled;
 * M -> MTE1 0,1: half of L0 free; M -> out 0: L0C complete; out -> M 0: L0C free.
 */
#pragma once

#include "args.h"
#include "inline.h"

enum { MATMUL_L0_HALF = 32768 };

/** Where in the sequence of (tile, k chunk) pairs of this block. */
struct matmul_cursor {
    uint32_t tile, k0;
};

OP_INLINE struct matmul_cursor matmul_next(const struct op_matmul_args *t, struct matmul_cursor at)
{
    at.k0 += t->k_chunk;
    if (at.k0 >= t->k) {
        at.k0 = 0;
        at.tile += (uint32_t)get_block_num();
    }
    return at;
}

OP_INLINE uint32_t matmul_tiles_n(const struct op_matmul_args *t)
{
    return (t->n + t->tile_n - 1) / t->tile_n;
}

OP_INLINE uint32_t matmul_m0(const struct op_matmul_args *t, uint32_t tile)
{
    return tile / matmul_tiles_n(t) * t->tile_m;
}

OP_INLINE uint32_t matmul_n0(const struct op_matmul_args *t, uint32_t tile)
{
    return tile % matmul_tiles_n(t) * t->tile_n;
}

OP_INLINE uint32_t matmul_slot(uint32_t tile)
{
    return tile / (uint32_t)get_block_num() & 1;
}

/* A chunk on its way into L1: its two matrices, cut into pieces. */
struct matmul_load_state {
    struct matmul_cursor at;
    uint32_t half;
    uint32_t m0, n0, rows, columns, depth;
    uint32_t pieces_a, pieces;
    uint32_t next; /* piece to load */
};

OP_INLINE struct matmul_load_state matmul_load_begin(const struct op_matmul_args *t, struct matmul_cursor at, uint32_t half)
{
    struct matmul_load_state load = {.at = at, .half = half};
    load.m0 = matmul_m0(t, at.tile);
    load.n0 = matmul_n0(t, at.tile);
    load.rows = op_min(t->tile_m, t->m - load.m0);
    load.columns = op_min(t->tile_n, t->n - load.n0);
    load.depth = op_min(t->k_chunk, t->k - at.k0);
    load.pieces_a = t->flags & OP_MATMUL_TRANSPOSE_A ? matmul_pieces(load.depth, load.rows)
                                                     : matmul_pieces(load.rows, load.depth);
    load.pieces = load.pieces_a + (t->flags & OP_MATMUL_TRANSPOSE_B ? matmul_pieces(load.columns, load.depth)
                                                                    : matmul_pieces(load.depth, load.columns));
    return load;
}

OP_INLINE void matmul_load_piece(const struct op_matmul_args *t, const struct matmul_load_state *load)
{
    const uint32_t l1_a = load->half * t->l1_half, l1_b = l1_a + t->tile_m * t->k_chunk * 2;
    const uint32_t depth = load->depth, k0 = load->at.k0;
    if (load->next < load->pieces_a) {
        if (t->flags & OP_MATMUL_TRANSPOSE_A) {
            matmul_load(l1_a, t->a + ((uint64_t)k0 * t->m + load->m0) * 2, depth, load->rows, op_up16(depth), t->m,
                        load->next);
        } else {
            matmul_load(l1_a, t->a + ((uint64_t)load->m0 * t->k + k0) * 2, load->rows, depth, op_up16(load->rows), t->k,
                        load->next);
        }
    } else if (t->flags & OP_MATMUL_TRANSPOSE_B) {
        matmul_load(l1_b, t->b + ((uint64_t)load->n0 * t->k + k0) * 2, load->columns, depth, op_up16(load->columns), t->k,
                    load->next - load->pieces_a);
    } else {
        matmul_load(l1_b, t->b + ((uint64_t)k0 * t->n + load->n0) * 2, depth, load->columns, op_up16(depth), t->n,
                    load->next - load->pieces_a);
    }
}

/* Loads pieces until `part` of `parts` of them are under way. */
OP_INLINE void matmul_load_part(const struct op_matmul_args *t, struct matmul_load_state *load, uint32_t part, uint32_t parts)
{
    while (load->next < load->pieces && load->next * parts < part * load->pieces) {
        if (load->next == 0) {
            wait_flag(PIPE_MTE1, MATMUL_IN_PIPE, load->half);
            if (load->at.k0 == 0 && (t->flags & OP_MATMUL_BIAS)) {
                matmul_load_bias(t, load->n0, load->columns, matmul_slot(load->at.tile));
            }
        }
        matmul_load_piece(t, load);
        load->next++;
        if (load->next == load->pieces) {
            set_flag(MATMUL_IN_PIPE, PIPE_MTE1, load->half);
        }
    }
}

/* How a k step's fractals (k, o), o over rows of A or columns of B, stand in L1 and shall stand in L0: at
 * src_k * k + src_o * o and dst_k * k + dst_o * o. */
struct matmul_fractals {
    uint32_t k_blocks, blocks;
    uint32_t src_k, src_o, dst_k, dst_o;
};

/* One load2d of a strided row of fractals; the shorter direction is the loop. */
struct matmul_load2d {
    uint32_t count, src_step, dst_step;         /* instructions, and from one to the next */
    uint32_t repeat, src_stride, dst_gap;       /* of each */
};

OP_INLINE struct matmul_load2d matmul_plan_load(struct matmul_fractals f)
{
    if (f.k_blocks <= f.blocks) {
        return (struct matmul_load2d){f.k_blocks, f.src_k, f.dst_k, f.blocks, f.src_o, f.dst_o - 1};
    }
    return (struct matmul_load2d){f.blocks, f.src_o, f.dst_o, f.k_blocks, f.src_k, f.dst_k - 1};
}

/* One k step of A into ZZ fractals: A stored transposed stands with k along the rows, and each fractal is turned. */
OP_INLINE void matmul_fill_a(uint32_t l0, uint32_t l1, uint32_t k1, uint32_t k_blocks, uint32_t blocks,
                             uint32_t depth_blocks, bool transposed)
{
    const uint32_t src_k = transposed ? 1 : blocks, src_o = transposed ? depth_blocks : 1;
    const struct matmul_load2d load =
        matmul_plan_load((struct matmul_fractals){k_blocks, blocks, src_k, src_o, 1, k_blocks});
    for (uint32_t i = 0; i < load.count; i++) {
        load_cbuf_to_ca((__ca__ half *)(uintptr_t)(l0 + i * load.dst_step * 512), (__cbuf__ half *)(uintptr_t)l1,
                        (uint16_t)(k1 * src_k + i * load.src_step), (uint8_t)load.repeat, (uint16_t)load.src_stride,
                        (uint16_t)load.dst_gap, 0, transposed, inc);
    }
}

/* The same of B into ZN fractals: here it is the plain B that stands with k along the rows. */
OP_INLINE void matmul_fill_b(uint32_t l0, uint32_t l1, uint32_t k1, uint32_t k_blocks, uint32_t blocks,
                             uint32_t depth_blocks, bool transposed)
{
    const uint32_t src_k = transposed ? blocks : 1, src_o = transposed ? 1 : depth_blocks;
    const struct matmul_load2d load =
        matmul_plan_load((struct matmul_fractals){k_blocks, blocks, src_k, src_o, blocks, 1});
    for (uint32_t i = 0; i < load.count; i++) {
        load_cbuf_to_cb((__cb__ half *)(uintptr_t)(l0 + i * load.dst_step * 512), (__cbuf__ half *)(uintptr_t)l1,
                        (uint16_t)(k1 * src_k + i * load.src_step), (uint8_t)load.repeat, (uint16_t)load.src_stride,
                        (uint16_t)load.dst_gap, 0, !transposed, inc);
    }
}

/* Multiplies one chunk, and after each k step asks for its share of the next one: the unit queues are short, so the
 * scalar unit must not stand in front of a full one while another unit starves. `step` counts k steps since the
 * kernel's start and picks the half of L0. */
OP_INLINE uint32_t matmul_compute_chunk(const struct op_matmul_args *t, struct matmul_cursor at, uint32_t half,
                                        uint32_t step, struct matmul_load_state *next)
{
    const uint32_t rows = op_min(t->tile_m, t->m - matmul_m0(t, at.tile));
    const uint32_t columns = op_min(t->tile_n, t->n - matmul_n0(t, at.tile));
    const uint32_t depth = op_min(t->k_chunk, t->k - at.k0);
    const uint32_t m_blocks = op_blocks(rows), n_blocks = op_blocks(columns), depth_blocks = op_blocks(depth);
    const uint32_t l1_a = half * t->l1_half, l1_b = l1_a + t->tile_m * t->k_chunk * 2;
    const bool transpose_a = t->flags & OP_MATMUL_TRANSPOSE_A, transpose_b = t->flags & OP_MATMUL_TRANSPOSE_B;

    const uint32_t steps = (depth + t->k_step - 1) / t->k_step;
    uint32_t done = 0;

    wait_flag(MATMUL_IN_PIPE, PIPE_MTE1, half);
    for (uint32_t k0 = 0; k0 < depth; k0 += t->k_step, step++) {
        const uint32_t k = op_min(t->k_step, depth - k0), k1 = k0 / 16, k_blocks = op_blocks(k);
        const uint32_t l0 = step & 1;
        const bool first = at.k0 + k0 == 0;

        wait_flag(PIPE_M, PIPE_MTE1, l0);
        matmul_fill_a(l0 * MATMUL_L0_HALF, l1_a, k1, k_blocks, m_blocks, depth_blocks, transpose_a);
        matmul_fill_b(l0 * MATMUL_L0_HALF, l1_b, k1, k_blocks, n_blocks, depth_blocks, transpose_b);
        if (first) {
            matmul_begin_tile(t, columns, matmul_slot(at.tile));
        }
        set_flag(PIPE_MTE1, PIPE_M, l0);

        wait_flag(PIPE_MTE1, PIPE_M, l0);
        if (first) {
            wait_flag(MATMUL_OUT_PIPE, PIPE_M, 0);
        } else if (m_blocks * n_blocks < 10) {
            // A small accumulation chain outruns the Cube's own dependency tracking.
            pipe_barrier(PIPE_M);
        }
        matmul_multiply(l0 * MATMUL_L0_HALF, rows, k, columns, first, t->flags & OP_MATMUL_BIAS);
        set_flag(PIPE_M, PIPE_MTE1, l0);
        matmul_load_part(t, next, ++done, steps);
    }
    set_flag(PIPE_MTE1, MATMUL_IN_PIPE, half);
    return step;
}

OP_INLINE void matmul_run(const struct op_matmul_args *t)
{
    const uint32_t tiles = (t->m + t->tile_m - 1) / t->tile_m * matmul_tiles_n(t);
    struct matmul_cursor at = {(uint32_t)get_block_idx(), 0};
    if (at.tile >= tiles) {
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE1, MATMUL_IN_PIPE, i);
        set_flag(PIPE_M, PIPE_MTE1, i);
    }
    set_flag(MATMUL_OUT_PIPE, PIPE_M, 0);

    uint32_t half = 0, step = 0;
    struct matmul_load_state load = matmul_load_begin(t, at, half);
    matmul_load_part(t, &load, 1, 1);
    while (at.tile < tiles) {
        const struct matmul_cursor next = matmul_next(t, at);
        if (next.tile < tiles) {
            load = matmul_load_begin(t, next, half ^ 1);
        }
        step = matmul_compute_chunk(t, at, half, step, &load);
        if (next.k0 == 0) {
            const uint32_t m0 = matmul_m0(t, at.tile), n0 = matmul_n0(t, at.tile);
            set_flag(PIPE_M, MATMUL_OUT_PIPE, 0);
            wait_flag(PIPE_M, MATMUL_OUT_PIPE, 0);
            matmul_store(t, m0, n0, op_min(t->tile_m, t->m - m0), op_min(t->tile_n, t->n - n0),
                         matmul_slot(at.tile));
            set_flag(MATMUL_OUT_PIPE, PIPE_M, 0);
        }
        at = next;
        half ^= 1;
    }

    wait_flag(MATMUL_OUT_PIPE, PIPE_M, 0);
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_M, PIPE_MTE1, i);
        wait_flag(PIPE_MTE1, MATMUL_IN_PIPE, i);
    }
}
