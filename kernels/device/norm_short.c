/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes of norm_vector.c over short rows, several at a time: instructions that take all rows
 * of a tile, and one a row where a number belongs to the row.
 *
 * A row's sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are folded to 8, which
 * the scalar unit adds up in order in double.
 *
 * Flags. MTE2 -> V 0: loaded; V -> MTE2 0: inputs free; V -> MTE3 0: result ready; MTE3 -> V 0:
 * stored; V -> S 1 and S -> V 1: folded lanes, and that they are read.
 */
#include "copy.h"
#include "element.h"
#include "norm_args.h"

enum {
    TILE = 8192, /* elements of a buffer, gaps between rows included */
    ROWS = 64,   /* at a time */
    BYTES = TILE * 4,
    IN = 0,
    GRADIENT = IN + BYTES,
    X = GRADIENT + BYTES, /* f32 */
    G = X + BYTES,
    LANES = G + BYTES, /* 64 f32 a row */
    LANE_BYTES = 256,
    WEIGHT = LANES + ROWS * LANE_BYTES,
    BIAS = WEIGHT + OP_NORM_SHORT * 4,
};

/** Rows in UB. */
struct tile {
    uint64_t row;
    uint32_t rows, count, pitch; /* elements of a row, and from row to row */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE __ubuf__ float *at_row(const struct tile *tile, uint32_t base, uint32_t row)
{
    return op_ub_f32(base + row * tile->pitch * 4);
}

/* Before instructions on all elements of a tile, gaps included; returns their repeats. */
OP_INLINE uint8_t take_all(const struct tile *tile)
{
    const uint32_t count = tile->rows * tile->pitch;
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    return repeats_of(count);
}

/* Before instructions on single rows. */
OP_INLINE uint8_t take_rows(const struct tile *tile)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    return repeats_of(tile->count);
}

OP_INLINE void load(const struct op_norm_rows_args *t, const struct tile *tile, bool gradient,
                    uint32_t unit)
{
    const uint64_t at = tile->row * t->length * unit, pitch = t->length * unit;
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_load_rows(IN, t->in + at, tile->rows, tile->count * unit, pitch, tile->pitch * unit);
    if (gradient) {
        op_load_rows(GRADIENT, t->gradient + at, tile->rows, tile->count * unit, pitch,
                     tile->pitch * unit);
    }
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
}

/* A buffer as f32, and where that is. */
OP_INLINE uint32_t widen(const struct tile *tile, uint32_t raw, uint32_t wide, bool half_type)
{
    if (!half_type) {
        return raw;
    }
    const uint8_t repeats = take_all(tile);
    vconv_f162f32(op_ub_f32(wide), op_ub_f16(raw), repeats, 1, 1, 8, 4);
    return wide;
}

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

OP_INLINE void multiply(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = take_all(tile);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

/* The sum of each row. */
OP_INLINE void sum_rows(const struct tile *tile, uint32_t at, double *sums)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->rows * 64);
    vector_dup(op_ub_f32(LANES), 0.0f, (uint8_t)tile->rows, 1, 1, 8, 8);
    const uint8_t repeats = take_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *lanes = op_ub_f32(LANES + r * LANE_BYTES);
        vadd(lanes, lanes, at_row(tile, at, r), repeats, 1, 1, 1, 0, 0, 8);
    }
    set_mask_norm();
    for (uint32_t width = 32; width >= 8; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        vadd(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(LANES + width * 4), (uint8_t)tile->rows,
             1, 1, 1, 8, 8, 8);
    }
    set_mask_count();
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

/* Gaps between rows are computed with the rest: they must hold something. */
OP_INLINE struct tile begin(const struct op_norm_rows_args *t, bool half_type)
{
    const uint32_t granule = half_type ? 16 : 8;
    set_mask_count();
    set_vector_mask(0, TILE);
    for (uint32_t at = 0; at < LANES; at += BYTES) {
        vector_dup(op_ub_f32(at), 0.0f, repeats_of(TILE), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    if (t->weight) {
        op_load(WEIGHT, t->weight, (uint32_t)t->length * 4);
    }
    if (t->bias) {
        op_load(BIAS, t->bias, (uint32_t)t->length * 4);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    return (struct tile){.count = (uint32_t)t->length,
                         .pitch = ((uint32_t)t->length + granule - 1) / granule * granule};
}

OP_INLINE void end(void)
{
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}

OP_INLINE void take_tile(struct tile *tile, uint64_t row, uint64_t end_row)
{
    tile->row = row;
    tile->rows = (uint32_t)op_min64(op_min(TILE / tile->pitch, ROWS), end_row - row);
}

OP_INLINE void moments(const struct op_norm_rows_args *t, bool half_type)
{
    const struct op_span span = op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block);
    struct tile tile = begin(t, half_type);
    double sums[ROWS];
    float mean[ROWS], minus[ROWS];
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        load(t, &tile, false, half_type ? 2 : 4);
        const uint32_t x = widen(&tile, IN, X, half_type);
        if (!t->no_mean) {
            sum_rows(&tile, x, sums);
        }
        for (uint32_t r = 0; r < tile.rows; r++) {
            mean[r] = t->no_mean ? 0 : (float)(sums[r] / (double)tile.count);
            minus[r] = -mean[r];
        }
        add_numbers(&tile, x, minus);
        multiply(&tile, x, x, x);
        sum_rows(&tile, x, sums);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        for (uint32_t r = 0; r < tile.rows; r++) {
            put_pair(t->out, row + r, mean[r], (float)sums[r]);
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
        load(t, &tile, true, half_type ? 2 : 4);
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
        load(t, &tile, gradient, unit);
        const uint32_t x = widen(&tile, IN, X, half_type),
                       g = gradient ? widen(&tile, GRADIENT, G, half_type) : 0;
        compute(t, &tile, &e, x, g, gradient);
        if (half_type) {
            const uint8_t repeats = take_all(&tile);
            vconv_f322f16(op_ub_f16(IN), op_ub_f32(x), repeats, 1, 1, 4, 8);
        }
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        op_store_rows(t->out + row * t->length * unit, IN, tile.rows, tile.count * unit,
                      t->length * unit, tile.pitch * unit);
        // The result stands where the next input goes.
        set_flag(PIPE_MTE3, PIPE_V, 0);
        wait_flag(PIPE_MTE3, PIPE_V, 0);
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
    end();
}

#include "norm_kernels.inc"
