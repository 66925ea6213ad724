/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The passes of batch norm over planes of up to 4096 elements. No number of a row goes through the
 * scalar unit: sums stay in eight lanes, and what belongs to a row is a block of 32 bytes in UB
 * that instructions take again and again (block stride 0).
 */
#include "batch_norm_planes_args.h"
#include "element.h"
#include "norm_tile.h"

#include <stddef.h>

enum {
    ROW_BYTES = 32, /* of a row's block */
    FIRST = FREE,
    SECOND = FIRST + ROWS * ROW_BYTES,
    MEAN = SECOND + ROWS * ROW_BYTES,
    SCALE = MEAN + ROWS * ROW_BYTES,
    SLOPE = SCALE + ROWS * ROW_BYTES,
    SHIFT = SLOPE + ROWS * ROW_BYTES,
    INVERSE = SHIFT + ROWS * ROW_BYTES, /* 1 / elements of each lane */
};

enum operation { SUBTRACT, MULTIPLY, ADD };

OP_INLINE void operate(enum operation what, uint32_t at, uint32_t with, uint8_t repeats,
                       uint8_t pitch, uint8_t with_pitch)
{
    __ubuf__ float *x = op_ub_f32(at), *numbers = op_ub_f32(with);
    if (what == SUBTRACT) {
        vsub(x, x, numbers, repeats, 1, 1, 0, pitch, pitch, with_pitch);
    } else if (what == MULTIPLY) {
        vmul(x, x, numbers, repeats, 1, 1, 0, pitch, pitch, with_pitch);
    } else {
        vadd(x, x, numbers, repeats, 1, 1, 0, pitch, pitch, with_pitch);
    }
}

/* Each row with its block: 64 columns of all rows an instruction, or a row if the tile has fewer.
 */
OP_INLINE void combine(const struct tile *tile, enum operation what, uint32_t at, uint32_t numbers)
{
    const uint8_t repeats = take_rows(tile);
    if (tile->rows < repeats) {
        for (uint32_t r = 0; r < tile->rows; r++) {
            operate(what, at + r * tile->pitch * 4, numbers + r * ROW_BYTES, repeats, 8, 0);
        }
        return;
    }
    set_mask_norm();
    for (uint32_t from = 0; from < tile->count; from += 64) {
        const uint32_t left = tile->count - from;
        set_vector_mask(0, left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0));
        operate(what, at + from * 4, numbers, (uint8_t)tile->rows, (uint8_t)(tile->pitch / 8), 1);
    }
    set_mask_count();
}

/* The lanes of fold_rows, densely; times INVERSE if `mean`. */
OP_INLINE void gather_lanes(const struct tile *tile, uint32_t to, bool mean)
{
    const uint8_t repeats = repeats_of(tile->rows * OP_PLANE_LANES);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->rows * OP_PLANE_LANES);
    if (mean) {
        vmul(op_ub_f32(to), op_ub_f32(LANES), op_ub_f32(INVERSE), repeats, 1, 8, 0, 8, 64, 0);
    } else {
        vadds(op_ub_f32(to), op_ub_f32(LANES), 0.0f, repeats, 1, 8, 8, 64);
    }
}

OP_INLINE void put_ub(uint32_t at, float value)
{
    *(__ubuf__ volatile float *)(uintptr_t)at = value;
}

OP_INLINE void store_lanes(const struct op_planes_args *t, const struct tile *tile)
{
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store(t->first + tile->row * ROW_BYTES, FIRST, tile->rows * ROW_BYTES);
    op_store(t->second + tile->row * ROW_BYTES, SECOND, tile->rows * ROW_BYTES);
    set_flag(PIPE_MTE3, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
}

/* A block's rows. */
OP_INLINE struct op_span rows_of_block(const struct op_planes_args *t)
{
    const uint64_t begin = op_min64((uint64_t)get_block_idx() * t->per_block, t->rows);
    return (struct op_span){begin, op_min64(begin + t->per_block, t->rows)};
}

/* Numbers of the tile's rows: those of their channels, which begin again with each image. */
OP_INLINE void load_numbers(const struct op_planes_args *t, const struct tile *tile, uint32_t to,
                            uint32_t offset, uint32_t pitch)
{
    for (uint32_t done = 0, some; done < tile->rows; done += some) {
        const uint64_t channel = (tile->row + done) % t->channels;
        some = (uint32_t)op_min64(tile->rows - done, t->channels - channel);
        op_load_rows(to + done * ROW_BYTES, t->numbers + channel * pitch + offset, some, ROW_BYTES,
                     pitch, ROW_BYTES);
    }
}

OP_INLINE void moments(const struct op_planes_args *t, bool half_type)
{
    const struct op_span span = rows_of_block(t);
    struct tile tile = begin_tiles(t->length, half_type);
    for (uint32_t i = 0; i < OP_PLANE_LANES; i++) {
        put_ub(INVERSE + i * 4,
               1.0f / (float)((t->length + OP_PLANE_LANES - 1 - i) / OP_PLANE_LANES));
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        load(&tile, t->in, 0, half_type ? 2 : 4);
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type);
        fold_rows(&tile, x);
        gather_lanes(&tile, FIRST, true);
        combine(&tile, SUBTRACT, x, FIRST);
        multiply(&tile, x, x, x);
        fold_rows(&tile, x);
        gather_lanes(&tile, SECOND, false);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        store_lanes(t, &tile);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
}

OP_INLINE void sums_of(const struct op_planes_args *t, bool half_type)
{
    const struct op_span span = rows_of_block(t);
    struct tile tile = begin_tiles(t->length, half_type);
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        load(&tile, t->in, t->gradient, half_type ? 2 : 4);
        if (t->numbers) {
            load_numbers(t, &tile, MEAN, 0, ROW_BYTES);
        }
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type), g = widen(&tile, GRADIENT, G, half_type);
        fold_rows(&tile, g);
        gather_lanes(&tile, FIRST, false);
        if (t->numbers) {
            combine(&tile, SUBTRACT, x, MEAN);
        }
        multiply(&tile, x, x, g);
        fold_rows(&tile, x);
        gather_lanes(&tile, SECOND, false);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        store_lanes(t, &tile);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
}

OP_INLINE void load_entries(const struct op_planes_args *t, const struct tile *tile, bool gradient)
{
    const uint32_t pitch = sizeof(struct op_plane_entry);
    load_numbers(t, tile, MEAN, offsetof(struct op_plane_entry, mean), pitch);
    load_numbers(t, tile, SCALE, offsetof(struct op_plane_entry, scale), pitch);
    if (gradient) {
        load_numbers(t, tile, SLOPE, offsetof(struct op_plane_entry, slope), pitch);
    }
    load_numbers(t, tile, SHIFT, offsetof(struct op_plane_entry, shift), pitch);
}

OP_INLINE void apply(const struct op_planes_args *t, bool gradient, bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4;
    struct op_span span = rows_of_block(t);
    // Blocks that would share a line with the end of a row (copy.h) are one.
    if (t->length * unit % 32 != 0 && t->out % OP_LINE != 0) {
        span = (struct op_span){get_block_idx() ? t->rows : 0, t->rows};
    }
    struct tile tile = begin_tiles(t->length, half_type);
    for (uint64_t row = span.begin; row < span.end; row += tile.rows) {
        take_tile(&tile, row, span.end);
        load(&tile, t->in, gradient ? t->gradient : 0, unit);
        load_entries(t, &tile, gradient);
        loaded();
        const uint32_t x = widen(&tile, IN, X, half_type);
        combine(&tile, SUBTRACT, x, MEAN);
        if (gradient) {
            const uint32_t g = widen(&tile, GRADIENT, G, half_type);
            combine(&tile, MULTIPLY, g, SCALE);
            combine(&tile, MULTIPLY, x, SLOPE);
            const uint8_t repeats = take_all(&tile);
            vadd(op_ub_f32(x), op_ub_f32(x), op_ub_f32(g), repeats, 1, 1, 1, 8, 8, 8);
        } else {
            combine(&tile, MULTIPLY, x, SCALE);
        }
        combine(&tile, ADD, x, SHIFT);
        store(&tile, t->out, x, half_type);
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}

#define NORM_ARGS struct op_planes_args
#include "norm_kernels.inc"
