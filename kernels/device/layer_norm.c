/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer norm and root mean square norm in one pass over memory: rows stay in UB from their sums to
 * their result. Flags and sums as in row_tile.h; beside them MTE2 -> V 3: weights loaded; MTE3 -> S
 * 0 and S -> MTE3 0: statistics stored, and ready.
 */
#include "layer_norm_args.h"
#include "row_tile.h"

enum {
    STATISTICS = 512, /* rows whose mean and deviation wait in UB */
    MEANS = HALF_NUMBERS + OP_ROW_TILE_ROWS * 4,
    INVERSES = MEANS + STATISTICS * 4,
    EVENT_WEIGHTS = 3,
    EVENT_STATISTICS = 0,
};

struct norm {
    struct work work;
    const struct op_layer_norm_args *t;
    uint32_t weight, bias; /* buffers */
};

/* Behind the buffers of one input, where two inputs would end; at odd rows (HW-VEC-41). */
OP_INLINE void lay_out_weights(struct norm *n)
{
    n->weight = OP_ROW_TILE_LEAST * 16 + ROW_BYTES;
    n->bias = n->weight + OP_ROW_TILE_LEAST * 4;
}

OP_INLINE void load_weights(const struct norm *n)
{
    const uint32_t bytes = (uint32_t)n->t->length * 4;
    if (n->t->weight) {
        op_load(n->weight, n->t->weight, bytes);
    }
    if (n->t->bias) {
        op_load(n->bias, n->t->bias, bytes);
    }
    set_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
}

/* 1 / length * the sums of the rows. */
OP_INLINE void end_means(const struct norm *n, uint32_t rows, float sign)
{
    __ubuf__ float *sums = op_ub_f32(NUMBERS);
    end_sums(rows);
    vmuls(sums, sums, sign / (float)n->t->length, 1, 1, 1, 8, 8);
}

/* Means go out of the rows, which stay where they are; their minus. */
OP_INLINE void take_means(const struct norm *n, const struct tile *tile, uint32_t x, float *minus)
{
    for (uint32_t r = 0; r < tile->rows; r++) {
        minus[r] = 0;
    }
    if (n->t->no_mean) {
        return;
    }
    begin_sums(tile->rows);
    add_lanes(tile, x);
    end_means(n, tile->rows, -1.0f);
    read_numbers(tile->rows, minus);
    add_numbers(tile, x, x, minus);
}

/* Adds the squares of the rows' elements to their lanes. */
OP_INLINE void add_squares(const struct tile *tile, uint32_t x)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, x, r));
        vmla(op_ub_f32(LANES + r * LANE_BYTES), row, row, repeats_of(tile->count), 1, 1, 1, 0, 8,
             8);
    }
}

/* 1 / deviations of rows whose mean is 0. */
OP_INLINE void take_inverses(const struct norm *n, const struct tile *tile, uint32_t x,
                             float *inverse)
{
    __ubuf__ float *sums = op_ub_f32(NUMBERS);
    begin_sums(tile->rows);
    add_squares(tile, x);
    end_means(n, tile->rows, 1.0f);
    pipe_barrier(PIPE_V);
    vadds(sums, sums, n->t->eps, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vrsqrt(sums, sums, 1, 1, 1, 8, 8);
    read_numbers(tile->rows, inverse);
}

OP_INLINE void multiply_weights(const struct tile *tile, uint32_t to, uint32_t from,
                                uint32_t weight)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmul(op_ub_f32(at_row(tile, to, r)), op_ub_f32(at_row(tile, from, r)), op_ub_f32(weight),
             repeats_of(tile->count), 1, 1, 1, 8, 8, 8);
    }
}

OP_INLINE void add_biases(const struct tile *tile, uint32_t at, uint32_t bias)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, at, r));
        vadd(row, row, op_ub_f32(bias), repeats_of(tile->count), 1, 1, 1, 8, 8, 8);
    }
}

OP_INLINE void run_rows(const struct norm *n, const struct tile *tile, float *minus, float *inverse)
{
    uint32_t x, none;
    const uint32_t made = made_at(&n->work, tile);
    take_inputs(&n->work, tile, &x, &none);
    begin_result(tile);
    take_means(n, tile, x, minus);
    take_inverses(n, tile, x, inverse);
    multiply_numbers(tile, n->t->weight ? x : made, x, inverse);
    if (n->t->weight) {
        multiply_weights(tile, made, x, n->weight);
    }
    if (n->t->bias) {
        add_biases(tile, made, n->bias);
    }
    free_inputs(tile);
    store(&n->work, tile);
}

OP_INLINE void put(uint32_t at, float value)
{
    *(__ubuf__ volatile float *)(uintptr_t)at = value;
}

/* The statistics of `count` rows from `row` on. */
OP_INLINE void store_statistics(const struct op_layer_norm_args *t, uint64_t row, uint32_t count)
{
    set_flag(PIPE_S, PIPE_MTE3, EVENT_STATISTICS);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_STATISTICS);
    if (t->mean) {
        op_store(t->mean + row * 4, MEANS, count * 4);
    }
    if (t->inverse) {
        op_store(t->inverse + row * 4, INVERSES, count * 4);
    }
    set_flag(PIPE_MTE3, PIPE_S, EVENT_STATISTICS);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_STATISTICS);
}

OP_INLINE float get(uint32_t at)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)at;
}

/* Whole lines of the statistics; the rest moves to the front. How many have gone. */
OP_INLINE uint32_t store_lines(const struct op_layer_norm_args *t, uint64_t row, uint32_t count)
{
    const uint32_t gone = count / 16 * 16;
    store_statistics(t, row, gone);
    for (uint32_t i = gone; i < count; i++) {
        put(MEANS + (i - gone) * 4, get(MEANS + i * 4));
        put(INVERSES + (i - gone) * 4, get(INVERSES + i * 4));
    }
    return gone;
}

OP_INLINE void run(const struct norm *n, uint64_t begin, uint64_t end)
{
    float minus[OP_ROW_TILE_ROWS], inverse[OP_ROW_TILE_ROWS];
    uint64_t first = begin; // row of the first statistics in UB
    struct tile tile = first_tile(&n->work, begin, end);
    load(&n->work, &tile);
    load_weights(n);
    while (tile.rows > 0) {
        const struct tile next = next_tile(&n->work, &tile, end);
        run_rows(n, &tile, minus, inverse);
        for (uint32_t r = 0; r < tile.rows; r++) {
            const uint32_t at = (uint32_t)(tile.row + r - first) * 4;
            put(MEANS + at, -minus[r]);
            put(INVERSES + at, inverse[r]);
        }
        const uint32_t waiting = (uint32_t)(tile.row + tile.rows - first);
        if (next.rows == 0) {
            store_statistics(n->t, first, waiting);
        } else if (waiting + next.rows > STATISTICS) {
            first += store_lines(n->t, first, waiting);
        }
        tile = next;
    }
}

__global__ __vector__ void layer_norm(struct op_layer_norm_args args)
{
    const struct op_layer_norm_args t = args;
    struct norm n = {.work = lay_out(t.type, t.length, OP_ROW_TILE_LEAST, false), .t = &t};
    n.work.in_a = t.in;
    n.work.to = t.out;
    n.work.saturate = op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    lay_out_weights(&n);
    begin_work(&n.work);
    run(&n, begin, op_min64(begin + t.per_block, t.rows));
    end_work();
}
