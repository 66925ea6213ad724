/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes of norm_vector.c over short rows, several at a time: instructions that take all rows
 * of a tile, and one a row where a number belongs to the row.
 *
 * A row's sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are folded to 8, which
 * the scalar unit adds up in order in double.
 *
 * Flags beside norm_tile.h's. V -> S 1 and S -> V 1: folded lanes, and that they are read.
 */
#include "../device/element.h"
#include "norm_far_device.h"
#include "norm_tile_device.h"

enum {
    WEIGHT = FREE,
    BIAS = WEIGHT + OP_NORM_SHORT * 4,
};

OP_INLINE void add_numbers(const struct tile *tile, uint32_t at, const float *numbers)
{
    const uint8_t repeats = take_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vadds(at_row(tile, at, r), at_row(tile, at, r), numbers[r], repeats, 1, 1, 8, 8);
    }
}

OP_INLINE void multiply_numbers(const struct tile *tile, uint32_t at, const float *numbers)
{
    const uint8_t repeats = take_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmuls(at_row(tile, at, r), at_row(tile, at, r), numbers[r], repeats, 1, 1, 8, 8);
    }
}

OP_INLINE void multiply_weights(const struct tile *tile, uint32_t at)
{
    const uint8_t repeats = take_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmul(at_row(tile, at, r), at_row(tile, at, r), op_ub_f32(WEIGHT), repeats, 1, 1, 1, 8, 8,
             8);
    }
}

OP_INLINE void add_biases(const struct tile *tile, uint32_t at)
{
    const uint8_t repeats = take_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vadd(at_row(tile, at, r), at_row(tile, at, r), op_ub_f32(BIAS), repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* The sum of each row. */
OP_INLINE void sum_rows(const struct tile *tile, uint32_t at, double *sums)
{
    fold_rows(tile, at);
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint32_t lanes = LANES + r * LANE_BYTES;
        double sum = 0;
        for (uint32_t i = 0; i < 8; i++) {
            sum += (double)*(const __ubuf__ volatile float *)(uintptr_t)(lanes + i * 4);
        }
        sums[r] = sum;
    }
    set_flag(PIPE_S, PIPE_V, 1);
    wait_flag(PIPE_S, PIPE_V, 1);
}

OP_INLINE float get(uint64_t addr, uint64_t index)
{
    return *(const __gm__ volatile float *)(addr + index * 4);
}

OP_INLINE void put_pair(uint64_t out, uint64_t row, float first, float second)
{
    *(__gm__ volatile float *)(out + row * 8) = first;
    *(__gm__ volatile float *)(out + row * 8 + 4) = second;
}

OP_INLINE struct tile begin(const struct op_norm_rows_args *t, bool half_type)
{
    const struct tile tile = begin_tiles(t->length, half_type);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    if (t->weight) {
        op_load(WEIGHT, t->weight, (uint32_t)t->length * 4);
    }
    if (t->bias) {
        op_load(BIAS, t->bias, (uint32_t)t->length * 4);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    return tile;
}

OP_INLINE void end(void)
{
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}

/* Moments of rows, which are left without their means; OP_NORM_FAR says why in rounds. */
OP_INLINE void tile_moments(const struct tile *tile, uint32_t x, bool no_mean, double *mean,
                            double *squares)
{
    float minus[ROWS];
    bool far = true;
    for (uint32_t r = 0; r < tile->rows; r++) {
        mean[r] = minus[r] = 0;
    }
    for (int round = 0; far && round <= OP_NORM_ROUNDS; round++) {
        if (!no_mean) {
            sum_rows(tile, x, squares);
            for (uint32_t r = 0; r < tile->rows; r++) {
                minus[r] = -(float)(squares[r] / (double)tile->count);
                mean[r] -= (double)minus[r];
            }
        }
        add_numbers(tile, x, minus);
        multiply(tile, G, x, x);
        sum_rows(tile, G, squares);
        far = false;
        for (uint32_t r = 0; r < tile->rows; r++) {
            far |= op_norm_far(minus[r], squares[r], tile->count);
        }
    }
}

OP_INLINE void moments(const struct op_norm_rows_args *t, bool half_type)
{
    const struct op_span span = op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block);
    struct tile tile = begin(t, half_type);
    double mean[ROWS], squares[ROWS];
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        load(&tile, t->in, 0, half_type ? 2 : 4);
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type);
        tile_moments(&tile, x, t->no_mean, mean, squares);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        for (uint32_t r = 0; r < tile.rows; r++) {
            put_pair(t->out, row + r, (float)mean[r], (float)squares[r]);
        }
    }
    end();
}

OP_INLINE void sums_of(const struct op_norm_rows_args *t, bool half_type)
{
    const struct op_span span = op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block);
    struct tile tile = begin(t, half_type);
    double gradient[ROWS], product[ROWS];
    float minus[ROWS];
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        for (uint32_t r = 0; r < tile.rows; r++) {
            minus[r] = t->entry ? -get(t->entry, (row + r) / t->entry_rows % t->entries) : 0;
        }
        load(&tile, t->in, t->gradient, half_type ? 2 : 4);
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type), g = widen(&tile, GRADIENT, G, half_type);
        if (t->weight) {
            multiply_weights(&tile, g);
        }
        sum_rows(&tile, g, gradient);
        add_numbers(&tile, x, minus);
        multiply(&tile, x, x, g);
        sum_rows(&tile, x, product);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        for (uint32_t r = 0; r < tile.rows; r++) {
            put_pair(t->out, row + r, (float)gradient[r], (float)product[r]);
        }
    }
    end();
}

/* What belongs to each row of a tile. */
struct entries {
    float minus_mean[ROWS], scale[ROWS], slope[ROWS], shift[ROWS];
};

OP_INLINE void get_entries(const struct op_norm_rows_args *t, const struct tile *tile,
                           struct entries *e)
{
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint64_t at = (tile->row + r) / t->entry_rows % t->entries * 4;
        e->minus_mean[r] = -get(t->entry, at);
        e->scale[r] = get(t->entry, at + 1);
        e->slope[r] = get(t->entry, at + 2);
        e->shift[r] = get(t->entry, at + 3);
    }
}

OP_INLINE void compute(const struct op_norm_rows_args *t, const struct tile *tile,
                       const struct entries *e, uint32_t x, uint32_t g, bool gradient)
{
    add_numbers(tile, x, e->minus_mean);
    if (gradient) {
        if (t->weight) {
            multiply_weights(tile, g);
        }
        multiply_numbers(tile, g, e->scale);
        multiply_numbers(tile, x, e->slope);
        const uint8_t repeats = take_all(tile);
        vadd(op_ub_f32(x), op_ub_f32(x), op_ub_f32(g), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        multiply_numbers(tile, x, e->scale);
        if (t->weight) {
            multiply_weights(tile, x);
        }
    }
    if (!gradient && t->bias) {
        add_biases(tile, x);
    } else {
        add_numbers(tile, x, e->shift);
    }
}

OP_INLINE void apply(const struct op_norm_rows_args *t, bool gradient, bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4;
    // Blocks that would share a line with the end of a row (copy.h) are one.
    const bool alone = t->length * unit % 32 != 0 && t->out % OP_LINE != 0;
    const uint64_t block = (uint64_t)get_block_idx(),
                   first = alone ? (block ? t->rows : 0) : block * t->per_block,
                   last = alone ? t->rows : op_min64(first + t->per_block, t->rows);
    struct tile tile = begin(t, half_type);
    struct entries e;
    for (uint64_t row = first; row < last; row += tile.rows) {
        take_tile(&tile, row, last);
        get_entries(t, &tile, &e);
        load(&tile, t->in, gradient ? t->gradient : 0, unit);
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type),
                       g = gradient ? widen(&tile, GRADIENT, G, half_type) : 0;
        compute(t, &tile, &e, x, g, gradient);
        store(&tile, t->out, x, half_type);
    }
    end();
}

#define NORM_ARGS struct op_norm_rows_args
#include "norm_kernels_device.inc"
