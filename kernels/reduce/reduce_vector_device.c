/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, products, maxima and minima on the vector unit, in f32. The order of a sum or product
 * depends on the shape alone: rows of a group in pairs, groups one after the other; along a row
 * lane i of 64 takes elements i, i + 64, ... in order, lanes are joined by the vector unit's tree,
 * products half on half.
 *
 * Elements are first changed as `step` says (reduce_vector_steps_device.h).
 *
 * Flags: V -> MTE2 and MTE2 -> V 0,1: a slot of inputs free, filled; MTE3 -> V and V -> MTE3 2,3:
 * the results of a slot stored, ready. reduce_rows has one slot of results. S -> MTE2 and MTE2 -> S
 * 0: numbers of rows used up, there.
 */
#include "reduce_lanes_device.h"
#include "reduce_vector_steps_device.h"

OP_INLINE void begin(const struct op_reduce_vector_args *t)
{
    set_mask_count();
    begin_steps(t, TILE);
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
        step_elements(t->step, at, now * (row_bytes / unit));
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
    begin(&t);
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

/* Joins `rows` rows of `length` elements from `from` on, which are elements `skip` of theirs,
 * without gaps, to the lanes from row `lanes` on; more than one row: each is a tile at most.
 * `number`: of the first row, among those loaded. */
OP_INLINE void take_rows(const struct op_reduce_vector_args *t, uint64_t from, uint32_t rows,
                         uint64_t length, uint64_t skip, uint32_t lanes, uint32_t number,
                         uint32_t *slot)
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
        step_rows(t, at, rows, pitch, count, number, skip + first);
        take_lanes(t->mode, at, rows, count, pitch, lanes);
        set_flag(PIPE_V, PIPE_MTE2, *slot);
    }
}

/* Outputs [first, first + count) of reduce_rows, at SUM. */
OP_INLINE void reduce_outputs(const struct op_reduce_vector_args *t, uint64_t first, uint32_t count,
                              uint32_t *slot)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    const uint64_t row = first / t->pieces;
    load_numbers(t, row, (uint32_t)((first + count - 1) / t->pieces - row) + 1);
    if (t->pieces > 1 || t->length > TILE) {
        for (uint32_t k = 0; k < count; k++) {
            const uint64_t outer = (first + k) / t->pieces,
                           skip = (first + k - outer * t->pieces) * t->piece;
            begin_lanes(t->mode, 1);
            take_rows(t, t->in + (outer * t->length + skip) * unit, 1,
                      op_min64(t->piece, t->length - skip), skip, 0, (uint32_t)(outer - row), slot);
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
                      0, r, k + r, slot);
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
    load_numbers(t, row, rows);
    for (uint32_t i = 0; i < rows; i += at_once, slot ^= 1) {
        const uint32_t now = op_min(at_once, rows - i), ub = slot * SLOT;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load_rows(ub, t->in + (row + i) * length * unit, now, length * unit, length * unit,
                     row_bytes);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        const uint32_t at = widen(ub, t->in_type, now * wide);
        step_rows(t, at, now, wide, length, i, 0);
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
    begin(&t);
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
