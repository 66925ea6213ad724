/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of f32 on the vector unit, for chips whose cube has none: a row of b times an element of
 * a is added to a row of the result, with one rounding. Elements of a are scalars of instructions.
 *
 * Sums of 32 products are made of two chains, of even and of odd k, and are added to the sum of
 * those before: an error of at most (18 + k / 32) roundings, whatever the number of cores.
 *
 * Flags, by slot 0, 1. MTE2 -> V, MTE2 -> S: a chunk of both operands is loaded; V -> MTE2, S ->
 * MTE2: it is used. V -> MTE3 0, MTE3 -> V 0: the tile is ready, it is stored.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "matmul_vector_args.h"

enum {
    SUMS = OP_LANES_ROWS * OP_LANES_COLUMNS * 4,
    EVEN = 0,
    ODD = EVEN + SUMS,
    TOTAL = ODD + SUMS,
    RIGHT = TOTAL + SUMS, /* two chunks of b */
    RIGHT_BYTES = OP_LANES_CHUNK * OP_LANES_COLUMNS * 4,
    LEFT = RIGHT + 2 * RIGHT_BYTES, /* two of a */
    LEFT_PITCH = OP_LANES_CHUNK * 4,
    LEFT_BYTES = OP_LANES_ROWS * LEFT_PITCH,
};

/* A tile of the result, and its operands from k = 0 on. */
struct tile {
    uint64_t a, b, out;
    uint32_t rows, columns, pitch; /* pitch: columns, whole blocks */
};

OP_INLINE struct tile tile_of(const struct op_matmul_vector_args *t, uint32_t index)
{
    const uint32_t wide = (t->n + t->tile_n - 1) / t->tile_n,
                   high = (t->m + t->tile_m - 1) / t->tile_m;
    uint32_t matrix = index / (wide * high);
    const uint32_t rest = index - matrix * wide * high, row = rest / wide * t->tile_m,
                   column = rest % wide * t->tile_n;
    struct tile tile = {.a = t->a + (uint64_t)row * t->a_pitch * 4,
                        .b = t->b + (uint64_t)column * 4,
                        .out = t->out + ((uint64_t)row * t->out_pitch + column) * 4,
                        .rows = op_min(t->tile_m, t->m - row),
                        .columns = op_min(t->tile_n, t->n - column)};
    tile.pitch = (tile.columns + 7) / 8 * 8;
    for (uint32_t d = OP_MATMUL_BATCH_DIMS; d-- > 0;) {
        const uint32_t above = matrix / t->batch_dim[d], at = matrix - above * t->batch_dim[d];
        tile.a += at * t->a_batch[d];
        tile.b += at * t->b_batch[d];
        tile.out += at * t->out_batch[d];
        matrix = above;
    }
    return tile;
}

OP_INLINE void load_chunk(const struct op_matmul_vector_args *t, const struct tile *tile,
                          uint32_t from, uint32_t count, uint32_t slot)
{
    wait_flag(PIPE_V, PIPE_MTE2, slot);
    wait_flag(PIPE_S, PIPE_MTE2, slot);
    op_load_rows(LEFT + slot * LEFT_BYTES, tile->a + (uint64_t)from * 4, tile->rows, count * 4,
                 (uint64_t)t->a_pitch * 4, LEFT_PITCH);
    op_load_rows(RIGHT + slot * RIGHT_BYTES, tile->b + (uint64_t)from * t->b_pitch * 4, count,
                 tile->columns * 4, (uint64_t)t->b_pitch * 4, tile->pitch * 4);
    set_flag(PIPE_MTE2, PIPE_V, slot);
    set_flag(PIPE_MTE2, PIPE_S, slot);
}

/* sums (+)= row of b times an element. */
OP_INLINE void add_row(uint32_t sums, uint32_t row, float by, bool first, uint8_t repeats)
{
    if (first) {
        vmuls(op_ub_f32(sums), op_ub_f32(row), by, repeats, 1, 1, 8, 8);
    } else {
        vaxpy(op_ub_f32(sums), op_ub_f32(row), by, repeats, 1, 1, 8, 8);
    }
}

/* EVEN and ODD of a chunk. */
OP_INLINE void multiply(const struct tile *tile, uint32_t count, uint32_t slot)
{
    const uint32_t row_bytes = tile->pitch * 4;
    const uint8_t repeats = (uint8_t)((tile->pitch + 63) / 64);
    uint32_t row = RIGHT + slot * RIGHT_BYTES;
    set_vector_mask(0, tile->pitch);
    for (uint32_t k = 0; k < count; k += 2, row += 2 * row_bytes) {
        uint32_t left = LEFT + slot * LEFT_BYTES + k * 4, at = 0;
        pipe_barrier(PIPE_V);
        for (uint32_t i = 0; i < tile->rows; i++, left += LEFT_PITCH, at += row_bytes) {
            // Two elements in one load: the scalar unit waits for each.
            const union {
                uint64_t word;
                float element[2];
            } pair = {.word = *(const __ubuf__ volatile uint64_t *)(uintptr_t)left};
            add_row(EVEN + at, row, pair.element[0], k == 0, repeats);
            if (k + 1 < count) {
                add_row(ODD + at, row + row_bytes, pair.element[1], k == 0, repeats);
            }
        }
    }
}

/* TOTAL (+)= EVEN + ODD */
OP_INLINE void add_sums(const struct tile *tile, uint32_t count, bool first)
{
    const uint32_t all = tile->rows * tile->pitch;
    const uint8_t repeats = (uint8_t)((all + 63) / 64);
    set_vector_mask(0, all);
    if (count > 1) {
        pipe_barrier(PIPE_V);
        vadd(op_ub_f32(EVEN), op_ub_f32(EVEN), op_ub_f32(ODD), repeats, 1, 1, 1, 8, 8, 8);
    }
    pipe_barrier(PIPE_V);
    if (first) {
        vadds(op_ub_f32(TOTAL), op_ub_f32(EVEN), 0.0f, repeats, 1, 1, 8, 8);
    } else {
        vadd(op_ub_f32(TOTAL), op_ub_f32(TOTAL), op_ub_f32(EVEN), repeats, 1, 1, 1, 8, 8, 8);
    }
    pipe_barrier(PIPE_V);
}

OP_INLINE void run_tile(const struct op_matmul_vector_args *t, const struct tile *tile)
{
    uint32_t slot = 0;
    load_chunk(t, tile, 0, op_min(t->k, OP_LANES_CHUNK), slot);
    for (uint32_t from = 0; from < t->k; from += OP_LANES_CHUNK, slot ^= 1) {
        const uint32_t count = op_min(t->k - from, OP_LANES_CHUNK), next = from + count;
        if (next < t->k) {
            load_chunk(t, tile, next, op_min(t->k - next, OP_LANES_CHUNK), slot ^ 1);
        }
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_S, slot);
        multiply(tile, count, slot);
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_S, PIPE_MTE2, slot);
        if (from == 0) {
            wait_flag(PIPE_MTE3, PIPE_V, 0);
        }
        add_sums(tile, count, from == 0);
    }
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store_rows(tile->out, TOTAL, tile->rows, tile->pitch * 4, (uint64_t)t->out_pitch * 4,
                  tile->pitch * 4);
    set_flag(PIPE_MTE3, PIPE_V, 0);
}

__global__ __vector__ void matmul_vector(struct op_matmul_vector_args args)
{
    const struct op_matmul_vector_args t = args;
    const uint32_t tiles = (t.n + t.tile_n - 1) / t.tile_n * ((t.m + t.tile_m - 1) / t.tile_m) *
                           t.batch_dim[0] * t.batch_dim[1] * t.batch_dim[2];
    (void)op_infinite_begin(); // sums keep what is not finite
    set_mask_count();
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_S, PIPE_MTE2, slot);
    }
    set_flag(PIPE_MTE3, PIPE_V, 0);
    for (uint32_t i = (uint32_t)get_block_idx(); i < tiles; i += (uint32_t)get_block_num()) {
        const struct tile tile = tile_of(&t, i);
        run_tile(&t, &tile);
    }
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_S, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    op_flush();
}
