/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variances, and extremes with their places, of rows that stand in UB: each is loaded once. Sums
 * have the order of reduce_rows (reduce_vector_device.c).
 *
 * Flags, event = slot: V -> MTE2: a slot of rows is free; MTE2 -> V: filled. Event 0: V -> S and S
 * -> V: numbers of rows are there, and where they are used; S -> MTE3 and MTE3 -> S: results.
 */
#include "reduce_lanes_device.h"
#include "reduce_vector_steps_device.h"
#include "reduce_whole_args.h"

enum {
    AT_ONCE = 192,                /* rows whose results are stored together: whole lines */
    FOUND = SUM,                  /* of a group of rows */
    FIRST = FOUND + ROWS * 4,     /* lists of AT_ONCE: means or extremes, */
    SECOND = FIRST + AT_ONCE * 4, /* what is left of the mean, */
    THIRD = SECOND + AT_ONCE * 4, /* squares, */
    PLACES = THIRD + AT_ONCE * 4, /* places, i64 */
    DIVISOR = PLACES + AT_ONCE * 8,
};

OP_INLINE volatile __ubuf__ float *number_at(uint32_t list, uint32_t i)
{
    return (volatile __ubuf__ float *)(uintptr_t)(list + i * 4);
}

OP_INLINE void numbers_to_scalar(void)
{
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
}

OP_INLINE void scalar_to_vector(void)
{
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
}

/* Rows in UB. */
struct group {
    uint32_t at, rows, count, pitch;
};

/* One number of each row, at `to`, which for sums may be anywhere. */
OP_INLINE void join_rows(uint32_t mode, const struct group *g, uint32_t to)
{
    begin_lanes(mode, g->rows);
    take_lanes(mode, g->at, g->rows, g->count, g->pitch, 0);
    end_lanes(mode, to, g->rows);
}

/* Numbers at FOUND into the list FIRST. */
OP_INLINE void keep(uint32_t first, uint32_t rows)
{
    numbers_to_scalar();
    for (uint32_t r = 0; r < rows; r++) {
        *number_at(FIRST, first + r) = *number_at(FOUND, r);
    }
    scalar_to_vector();
}

/* `step` of each row with its number of the list FIRST. */
OP_INLINE void step_all(uint32_t step, const struct group *g, uint32_t first)
{
    for (uint32_t r = 0; r < g->rows; r++) {
        step_row(step, g->at + r * g->pitch * 4, g->count, *number_at(FIRST, first + r), 0);
    }
}

OP_INLINE void scale_found(float scale, uint32_t rows)
{
    if (scale != 1.0f) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, rows);
        vmuls(op_ub_f32(FOUND), op_ub_f32(FOUND), scale, 1, 1, 1, 8, 8);
    }
}

OP_INLINE void find_moments(const struct op_reduce_whole_args *t, const struct group *g,
                            uint32_t first)
{
    join_rows(OP_REDUCE_VECTOR_SUM, g, FOUND);
    scale_found(t->mean_scale, g->rows);
    keep(first, g->rows);
    step_all(OP_REDUCE_AWAY, g, first);
    join_rows(OP_REDUCE_VECTOR_SUM, g, SECOND + first * 4);
    step_elements(OP_REDUCE_SQUARE, g->at, g->rows * g->pitch);
    join_rows(OP_REDUCE_VECTOR_SUM, g, THIRD + first * 4);
}

OP_INLINE void find_places(uint32_t mode, const struct group *g, uint32_t first)
{
    join_rows(mode, g, FOUND);
    keep(first, g->rows);
    step_all(OP_REDUCE_PLACE, g, first);
    join_rows(OP_REDUCE_VECTOR_MIN, g, FOUND);
    numbers_to_scalar();
    for (uint32_t r = 0; r < g->rows; r++) {
        *(volatile __ubuf__ int64_t *)(uintptr_t)(PLACES + (first + r) * 8) =
            (int64_t)*number_at(FOUND, r);
    }
    scalar_to_vector();
}

/* SECOND and THIRD to the variance, at THIRD: VarianceOfSums of reduce.op. */
OP_INLINE void end_moments(const struct op_reduce_whole_args *t, uint32_t count)
{
    const uint8_t repeats = repeats_of(count);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vmul(op_ub_f32(SECOND), op_ub_f32(SECOND), op_ub_f32(SECOND), repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(SECOND), op_ub_f32(SECOND), t->share, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsub(op_ub_f32(THIRD), op_ub_f32(THIRD), op_ub_f32(SECOND), repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vcmpvs_lt(step_bits(STEP_MASK), op_ub_f32(THIRD), 0, repeats, 1, 1, 8, 8);
    choose(STEP_MASK, THIRD, STEP_ZEROS, 0, THIRD, 8, repeats);
    pipe_barrier(PIPE_V);
    vdiv(op_ub_f32(THIRD), op_ub_f32(THIRD), op_ub_f32(DIVISOR), repeats, 1, 1, 1, 8, 8, 0);
    if (t->mode == OP_REDUCE_WHOLE_DEVIATION) {
        pipe_barrier(PIPE_V);
        vsqrt(op_ub_f32(THIRD), op_ub_f32(THIRD), repeats, 1, 1, 8, 8);
    }
}

OP_INLINE bool is_place(const struct op_reduce_whole_args *t)
{
    return t->mode == OP_REDUCE_WHOLE_MAX || t->mode == OP_REDUCE_WHOLE_MIN;
}

OP_INLINE void give(const struct op_reduce_whole_args *t, uint64_t row, uint32_t count)
{
    const bool place = is_place(t);
    if (!place) {
        end_moments(t, count);
    }
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    set_flag(PIPE_S, PIPE_MTE3, 0);
    wait_flag(PIPE_S, PIPE_MTE3, 0);
    if (t->out) {
        op_store(t->out + row * 4, place ? FIRST : THIRD, count * 4);
    }
    if (t->extra) {
        op_store(t->extra + row * (place ? 8 : 4), place ? PLACES : FIRST, count * (place ? 8 : 4));
    }
    set_flag(PIPE_MTE3, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
    set_flag(PIPE_MTE3, PIPE_S, 0);
    wait_flag(PIPE_MTE3, PIPE_S, 0);
}

OP_INLINE void load(const struct op_reduce_whole_args *t, uint64_t row, uint64_t end,
                    uint32_t group, uint32_t slot)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2, bytes = (uint32_t)t->length * unit;
    if (row < end) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load_rows(slot * SLOT, t->in + row * bytes, (uint32_t)op_min64(group, end - row), bytes,
                     bytes, op_units(bytes) * 32);
        set_flag(PIPE_MTE2, PIPE_V, slot);
    }
}

__global__ __vector__ void reduce_whole_rows(struct op_reduce_whole_args args)
{
    const struct op_reduce_whole_args t = args;
    (void)op_infinite_begin();
    const uint32_t unit = t.in_type == OP_TYPE_F32 ? 4 : 2, length = (uint32_t)t.length,
                   pitch = op_units(length * unit) * 32 / unit;
    uint32_t group = op_min(SLOT / 4 / pitch, ROWS), slot = 0;
    while (AT_ONCE % group) {
        group--;
    }
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows);
    set_mask_count();
    begin_step_numbers();
    set_vector_mask(0, LANES);
    vector_dup(op_ub_f32(DIVISOR), t.divisor, 1, 1, 1, 8, 8);
    if (is_place(&t)) {
        make_ramp(length);
    }
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
    }
    load(&t, begin, end, group, 0);
    for (uint64_t row = begin; row < end; row += group, slot ^= 1) {
        struct group g = {0, (uint32_t)op_min64(group, end - row), length, pitch};
        const uint32_t first = (uint32_t)((row - begin) % AT_ONCE);
        load(&t, row + group, end, group, slot ^ 1);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        g.at = widen(slot * SLOT, t.in_type, g.rows * pitch);
        if (is_place(&t)) {
            find_places(t.mode == OP_REDUCE_WHOLE_MAX ? OP_REDUCE_VECTOR_MAX : OP_REDUCE_VECTOR_MIN,
                        &g, first);
        } else {
            find_moments(&t, &g, first);
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        if (first + g.rows == AT_ONCE || row + g.rows == end) {
            give(&t, row - first, first + g.rows);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
    }
    op_flush();
}
