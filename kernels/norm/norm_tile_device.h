/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several short rows in UB at a time, for programs of normalisations: loads, f32 copies, and sums
 * of rows in lanes. A row's sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are
 * folded to 8.
 *
 * Flags. MTE2 -> V 0: loaded; V -> MTE2 0: inputs free; V -> MTE3 0: result ready; MTE3 -> V 0:
 * stored.
 */
#pragma once

#include "../device/gaps.h"
#include "../device/overflow.h"
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
    FREE = LANES + ROWS * LANE_BYTES, /* here a program's own begins */
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

/* Rows of `in`, and of `gradient` if that is not 0. */
OP_INLINE void load(const struct tile *tile, uint64_t in, uint64_t gradient, uint32_t unit)
{
    const uint64_t pitch = (uint64_t)tile->count * unit, at = tile->row * pitch;
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_load_rows(IN, in + at, tile->rows, tile->count * unit, pitch, tile->pitch * unit);
    if (gradient) {
        op_load_rows(GRADIENT, gradient + at, tile->rows, tile->count * unit, pitch,
                     tile->pitch * unit);
    }
}

OP_INLINE void loaded(void)
{
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
}

/* A buffer as f32 with nothing in its gaps, and where that is. */
OP_INLINE uint32_t widen(const struct tile *tile, uint32_t raw, uint32_t wide, bool half_type)
{
    if (half_type) {
        const uint8_t repeats = take_all(tile);
        vconv_f162f32(op_ub_f32(wide), op_ub_f16(raw), repeats, 1, 1, 8, 4);
    }
    const uint32_t x = half_type ? wide : raw;
    op_clear_gaps(x, tile->rows, tile->count, tile->pitch);
    return x;
}

/* The tile's f32 at `x` to rows of `out`, through the place of the input, which is free then. */
OP_INLINE void store(const struct tile *tile, uint64_t out, uint32_t x, bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4;
    const uint64_t pitch = (uint64_t)tile->count * unit;
    if (half_type) {
        const uint8_t repeats = take_all(tile);
        vconv_f322f16(op_ub_f16(IN), op_ub_f32(x), repeats, 1, 1, 4, 8);
    }
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store_rows(out + tile->row * pitch, IN, tile->rows, tile->count * unit, pitch,
                  tile->pitch * unit);
    set_flag(PIPE_MTE3, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    set_flag(PIPE_V, PIPE_MTE2, 0);
}

OP_INLINE void multiply(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = take_all(tile);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

/* Eight lanes of the sum of each row, at the beginning of its LANES. */
OP_INLINE void fold_rows(const struct tile *tile, uint32_t at)
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
}

/* Gaps between rows are converted with the rest: they must hold something. */
OP_INLINE struct tile begin_tiles(uint64_t length, bool half_type)
{
    const uint32_t granule = half_type ? 16 : 8;
    if (!half_type) {
        (void)op_infinite_begin(); // f32 keeps what is not finite
    }
    set_mask_count();
    set_vector_mask(0, TILE);
    for (uint32_t at = 0; at < LANES; at += BYTES) {
        vector_dup(op_ub_f32(at), 0.0f, repeats_of(TILE), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    return (struct tile){.count = (uint32_t)length,
                         .pitch = ((uint32_t)length + granule - 1) / granule * granule};
}

OP_INLINE void take_tile(struct tile *tile, uint64_t row, uint64_t end_row)
{
    tile->row = row;
    tile->rows = (uint32_t)op_min64(op_min(TILE / tile->pitch, ROWS), end_row - row);
}
