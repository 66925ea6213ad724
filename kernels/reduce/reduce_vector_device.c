/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, products, maxima and minima on the vector unit, in f32. The order of a sum or product
 * depends on the shape alone: rows of a group in pairs, groups one after the other; along a row
 * lane i of 64 takes elements i, i + 64, ... in order, lanes are joined by the vector unit's tree,
 * products half on half.
 *
 * Flags: V -> MTE2 and MTE2 -> V 0,1: a slot of inputs free, filled; MTE3 -> V and V -> MTE3 2,3:
 * the results of a slot stored, ready. reduce_rows has one slot of results.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "../device/widen.h"
#include "reduce_vector_args.h"

#include <math.h>

enum {
    SLOT = 32768,      /* bytes of one group, as f32 */
    WIDE = 2 * SLOT,   /* the group as f32 if it is narrower */
    SUM = WIDE + SLOT, /* results: OP_REDUCE_CHUNK f32 a slot */
    SUM_SLOT = OP_REDUCE_CHUNK * 4,
    ROW_LANES = 131072, /* LANES f32 a row; in another bank than what is joined to them */
    ROWS = 64,          /* at a time */
    TILE = SLOT / 4,    /* elements of a row at a time */
    EVENT_SUM = 2,
    LANES = 64,
    PICKED = ROW_LANES + ROWS * LANES * 4, /* 8 lanes of ROWS rows, lane by lane */
    SHORT_ROWS = 240, /* rows of at most LANES elements at a time: one repeat each */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + LANES - 1) / LANES);
}

OP_INLINE float neutral(uint32_t mode)
{
    return mode == OP_REDUCE_VECTOR_SUM    ? 0.0f
           : mode == OP_REDUCE_VECTOR_PROD ? 1.0f
           : mode == OP_REDUCE_VECTOR_MAX  ? -INFINITY
                                           : INFINITY;
}

/* d = a joined with b; blocks from one repeat of d and a, and of b, to the next. */
OP_INLINE void join_repeats(uint32_t mode, uint32_t d, uint32_t a, uint32_t b, uint8_t repeats,
                            uint8_t step, uint8_t b_step)
{
    switch (mode) {
    case OP_REDUCE_VECTOR_SUM:
        vadd(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, step, step, b_step);
        break;
    case OP_REDUCE_VECTOR_PROD:
        vmul(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, step, step, b_step);
        break;
    case OP_REDUCE_VECTOR_MAX:
        vmax(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, step, step, b_step);
        break;
    default:
        vmin(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, step, step, b_step);
    }
}

/* d = a joined with b, `count` elements. */
OP_INLINE void join(uint32_t mode, uint32_t d, uint32_t a, uint32_t b, uint32_t count)
{
    pipe_barrier(PIPE_V);
    join_repeats(mode, d, a, b, repeats_of(count), 8, 8);
}

/* `count` elements of a slot as f32; where they are. */
OP_INLINE uint32_t widen(uint32_t ub, uint32_t type, uint32_t count)
{
    if (type == OP_TYPE_F32) {
        return ub;
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    op_widen(WIDE, ub, type, repeats_of(count));
    return WIDE;
}

OP_INLINE void begin(void)
{
    set_mask_count();
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_MTE3, PIPE_V, EVENT_SUM + slot);
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
}

OP_INLINE void end(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM + slot);
    }
    op_flush(); // tails of results
}

/* The results of a slot. */
OP_INLINE void scale_and_store(const struct op_reduce_vector_args *t, uint64_t to, uint32_t slot,
                               uint32_t count)
{
    const uint32_t sum = SUM + slot * SUM_SLOT, event = EVENT_SUM + slot;
    if (t->scale != 1.0f) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, count);
        vmuls(op_ub_f32(sum), op_ub_f32(sum), t->scale, repeats_of(count), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE3, event);
    wait_flag(PIPE_V, PIPE_MTE3, event);
    op_store(to, sum, count * 4);
    set_flag(PIPE_MTE3, PIPE_V, event);
}

/* The rows of a group into its first one: the second half onto the first, again and again. */
OP_INLINE void fold_rows(uint32_t mode, uint32_t at, uint32_t rows, uint32_t row_bytes)
{
    while (rows > 1) {
        const uint32_t half = (rows + 1) / 2, count = (rows - half) * (row_bytes / 4);
        set_vector_mask(0, count);
        join(mode, at, at, at + half * row_bytes, count);
        rows = half;
    }
}

/* One unit of reduce_columns: `rows` rows at `from`, `columns` wide, into slot `out` of results.
 * `in`: slot of inputs to begin with, and afterwards the next one. */
OP_INLINE void reduce_chunk(const struct op_reduce_vector_args *t, uint64_t from, uint64_t rows,
                            uint32_t columns, uint32_t out, uint32_t *in)
{
    const uint32_t sum = SUM + out * SUM_SLOT;
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    const uint32_t row_bytes = op_units(columns * unit) * 32, wide_bytes = row_bytes / unit * 4;
    const uint32_t group = op_min(SLOT / wide_bytes, 255);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM + out);
    set_vector_mask(0, columns);
    vector_dup(op_ub_f32(sum), neutral(t->mode), repeats_of(columns), 1, 1, 8, 8);
    uint32_t slot = *in;
    for (uint64_t row = 0; row < rows; row += group, slot ^= 1) {
        const uint32_t now = (uint32_t)op_min64(group, rows - row);
        const uint32_t ub = slot * SLOT;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load_rows(ub, from + row * t->in_pitch * unit, now, columns * unit, t->in_pitch * unit,
                     row_bytes);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        const uint32_t at = widen(ub, t->in_type, now * (row_bytes / unit));
        fold_rows(t->mode, at, now, wide_bytes);
        set_vector_mask(0, columns);
        join(t->mode, sum, sum, at, columns);
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
    *in = slot;
}

__global__ __vector__ void reduce_columns(struct op_reduce_vector_args args)
{
    const struct op_reduce_vector_args t = args;
    (void)op_infinite_begin();
    const uint32_t unit = t.in_type == OP_TYPE_F32 ? 4 : 2;
    const uint64_t chunks = (t.inner + t.chunk - 1) / t.chunk, units = t.outer * t.pieces * chunks;
    const uint64_t first = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t last = op_min64(first + t.per_block, units);
    uint32_t in = 0, out = 0;
    begin();
    for (uint64_t u = first; u < last; u++, out ^= 1) {
        const uint64_t row = u / chunks, column = (u - row * chunks) * t.chunk;
        const uint64_t outer = row / t.pieces, skip = (row - outer * t.pieces) * t.piece;
        const uint32_t columns = (uint32_t)op_min64(t.chunk, t.inner - column);
        reduce_chunk(&t, t.in + ((outer * t.length + skip) * t.in_pitch + column) * unit,
                     op_min64(t.piece, t.length - skip), columns, out, &in);
        scale_and_store(&t, t.out + (row * t.out_pitch + column) * 4, out, columns);
    }
    end();
}

/* The lanes of the rows in UB, which begin as nothing. */
OP_INLINE void begin_lanes(uint32_t mode, uint32_t rows)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, rows * LANES);
    vector_dup(op_ub_f32(ROW_LANES), neutral(mode), (uint8_t)rows, 1, 1, 8, 8);
}

/* Joins `count` elements of each row, `pitch` apart, to its lanes, the first ones those of row
 * `first`. */
OP_INLINE void take_lanes(uint32_t mode, uint32_t at, uint32_t rows, uint32_t count, uint32_t pitch,
                          uint32_t first)
{
    const uint8_t repeats = repeats_of(count);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t lanes = ROW_LANES + (first + r) * LANES * 4;
        join_repeats(mode, lanes, lanes, at + r * pitch * 4, repeats, 0, 8);
    }
}

/* Lanes that no instruction joins: 64 are folded to 8, which are then joined lane by lane. */
OP_INLINE void fold_lanes(uint32_t mode, uint32_t to, uint32_t rows)
{
    for (uint32_t width = LANES / 2; width >= 8; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        join_repeats(mode, ROW_LANES, ROW_LANES, ROW_LANES + width * 4, (uint8_t)rows, 8, 8);
    }
    // The sum of one lane is that lane: lane i of all rows, side by side.
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < 8; i++) {
        set_vector_mask(0, UINT64_C(1) << i);
        vcadd(op_ub_f32(PICKED + i * ROWS * 4), op_ub_f32(ROW_LANES), (uint8_t)rows, 1, 1, 8, 0);
    }
    set_vector_mask(0, ~UINT64_C(0) >> (64 - rows));
    for (uint32_t half = 4; half > 0; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            const uint32_t at = PICKED + i * ROWS * 4;
            join(mode, at, at, at + half * ROWS * 4, rows);
        }
    }
    pipe_barrier(PIPE_V);
    // Results of one row may lie anywhere, which a sum can write.
    if (rows == 1) {
        vcadd(op_ub_f32(to), op_ub_f32(PICKED), 1, 1, 1, 8, 0);
    } else {
        vmuls(op_ub_f32(to), op_ub_f32(PICKED), 1.0f, 1, 1, 1, 8, 8);
    }
}

#if __NPU_ARCH__ == 2201
OP_INLINE void extremes(uint32_t mode, uint32_t to, uint32_t rows)
{
    if (mode == OP_REDUCE_VECTOR_MAX) {
        vcmax(op_ub_f32(to), op_ub_f32(ROW_LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    } else {
        vcmin(op_ub_f32(to), op_ub_f32(ROW_LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    }
}
#else
#define extremes fold_lanes // the coupled core has no extreme of f32 lanes
#endif

/* The lanes of the rows to one number each, at `to`. */
OP_INLINE void end_lanes(uint32_t mode, uint32_t to, uint32_t rows)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, ~UINT64_C(0));
    if (mode == OP_REDUCE_VECTOR_SUM) {
        vcadd(op_ub_f32(to), op_ub_f32(ROW_LANES), (uint8_t)rows, 1, 1, 8, 0);
    } else if (mode == OP_REDUCE_VECTOR_PROD) {
        fold_lanes(mode, to, rows);
    } else {
        extremes(mode, to, rows);
    }
    set_mask_count();
}

/* Joins `rows` rows of `length` elements from `from` on, without gaps, to the lanes from row
 * `lanes` on; more than one row: each is a tile at most. */
OP_INLINE void take_rows(const struct op_reduce_vector_args *t, uint64_t from, uint32_t rows,
                         uint64_t length, uint32_t lanes, uint32_t *slot)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    for (uint64_t first = 0; first < length; first += TILE, *slot ^= 1) {
        const uint32_t count = (uint32_t)op_min64(TILE, length - first), ub = *slot * SLOT;
        const uint32_t row_bytes = op_units(count * unit) * 32, pitch = row_bytes / unit;
        wait_flag(PIPE_V, PIPE_MTE2, *slot);
        op_load_rows(ub, from + first * unit, rows, count * unit, length * unit, row_bytes);
        set_flag(PIPE_MTE2, PIPE_V, *slot);
        wait_flag(PIPE_MTE2, PIPE_V, *slot);
        const uint32_t at = widen(ub, t->in_type, rows * pitch);
        take_lanes(t->mode, at, rows, count, pitch, lanes);
        set_flag(PIPE_V, PIPE_MTE2, *slot);
    }
}

/* Outputs [first, first + count) of reduce_rows, at SUM. */
OP_INLINE void reduce_outputs(const struct op_reduce_vector_args *t, uint64_t first, uint32_t count,
                              uint32_t *slot)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    if (t->pieces > 1 || t->length > TILE) {
        for (uint32_t k = 0; k < count; k++) {
            const uint64_t outer = (first + k) / t->pieces,
                           skip = (first + k - outer * t->pieces) * t->piece;
            begin_lanes(t->mode, 1);
            take_rows(t, t->in + (outer * t->length + skip) * unit, 1,
                      op_min64(t->piece, t->length - skip), 0, slot);
            end_lanes(t->mode, SUM + k * 4, 1);
        }
        return;
    }
    const uint32_t length = (uint32_t)t->length, pitch = op_units(length * unit) * 32 / unit;
    const uint32_t group = op_min(TILE / pitch, ROWS);
    for (uint32_t k = 0; k < count; k += ROWS) {
        const uint32_t rows = op_min(ROWS, count - k);
        begin_lanes(t->mode, rows);
        for (uint32_t r = 0; r < rows; r += group) {
            take_rows(t, t->in + (first + k + r) * length * unit, op_min(group, rows - r), length,
                      r, slot);
        }
        end_lanes(t->mode, SUM + k * 4, rows);
    }
}

/* Rows of at most LANES elements, whole: one repeat sums one. */
OP_INLINE void sum_short_rows(const struct op_reduce_vector_args *t, uint64_t row, uint32_t rows)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2, length = (uint32_t)t->length;
    const uint32_t row_bytes = op_units(length * unit) * 32, wide = row_bytes / unit;
    const uint32_t at_once = SLOT / (wide * 4);
    uint32_t slot = 0;
    for (uint32_t i = 0; i < rows; i += at_once, slot ^= 1) {
        const uint32_t now = op_min(at_once, rows - i), ub = slot * SLOT;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load_rows(ub, t->in + (row + i) * length * unit, now, length * unit, length * unit,
                     row_bytes);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        const uint32_t at = widen(ub, t->in_type, now * wide);
        pipe_barrier(PIPE_V);
        set_mask_norm();
        set_vector_mask(0, length == LANES ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1);
        vcadd(op_ub_f32(SUM + i * 4), op_ub_f32(at), (uint8_t)now, 1, 1, (uint16_t)(wide / 8), 0);
        set_mask_count();
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
}

__global__ __vector__ void reduce_rows(struct op_reduce_vector_args args)
{
    const struct op_reduce_vector_args t = args;
    (void)op_infinite_begin();
    const uint64_t first = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t last = op_min64(first + t.per_block, t.outer * t.pieces);
    const bool short_rows = t.mode == OP_REDUCE_VECTOR_SUM && t.pieces == 1 && t.length <= LANES;
    uint32_t slot = 0;
    begin();
    for (uint64_t i = first; i < last; i += SHORT_ROWS) {
        const uint32_t now = (uint32_t)op_min64(SHORT_ROWS, last - i);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
        if (short_rows) {
            sum_short_rows(&t, i, now);
        } else {
            reduce_outputs(&t, i, now, &slot);
        }
        scale_and_store(&t, t.out + i * 4, 0, now);
    }
    end();
}
