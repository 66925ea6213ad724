/* SPDX-License-Identifier: Apache-2.0 */
/* What reductions do with elements in UB before they are joined (enum op_reduce_step). */
#pragma once

#include "../device/copy.h"
#include "../device/element.h"
#include "reduce_vector_args.h"

enum {
    STEPS = 151552,    /* behind everything of reduce_vector_device.c */
    STEP_ONES = STEPS, /* of one repeat each */
    STEP_ZEROS = STEP_ONES + 256,
    STEP_FAR = STEP_ZEROS + 256, /* beyond every place */
    STEP_MASK = STEP_FAR + 256,
    STEP_BESIDE = STEP_MASK + 1024, /* numbers of rows */
    STEP_RAMP = STEP_BESIDE + 1024, /* 0, 1, 2, ... */
    STEP_LANES = 64,
    EVENT_BESIDE = 0,
};

OP_INLINE uint8_t step_repeats(uint32_t count)
{
    return (uint8_t)((count + STEP_LANES - 1) / STEP_LANES);
}

OP_INLINE __ubuf__ uint8_t *step_bits(uint32_t at)
{
    return (__ubuf__ uint8_t *)(uintptr_t)at;
}

/* 0, 1, 2, ...: the scalar unit writes a block, sums double it. */
OP_INLINE void make_ramp(uint32_t count)
{
    for (uint32_t i = 0; i < 8; i++) {
        *(__ubuf__ volatile float *)(uintptr_t)(STEP_RAMP + i * 4) = (float)i;
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    for (uint32_t have = 8; have < count; have *= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, have);
        vadds(op_ub_f32(STEP_RAMP + have * 4), op_ub_f32(STEP_RAMP), (float)have,
              step_repeats(have), 1, 1, 8, 8);
    }
}

OP_INLINE bool is_of_rows(uint32_t step)
{
    return step >= OP_REDUCE_AWAY;
}

OP_INLINE void begin_step_numbers(void)
{
    set_vector_mask(0, STEP_LANES);
    vector_dup(op_ub_f32(STEP_ONES), 1.0f, 1, 1, 1, 8, 8);
    vector_dup(op_ub_f32(STEP_ZEROS), 0.0f, 1, 1, 1, 8, 8);
    vector_dup(op_ub_f32(STEP_FAR), (float)OP_REDUCE_FAR, 1, 1, 1, 8, 8);
}

/* `tile`: elements of a row that are there at once. Masks count. */
OP_INLINE void begin_steps(const struct op_reduce_vector_args *t, uint32_t tile)
{
    if (t->step == OP_REDUCE_AS_IT_IS) {
        return;
    }
    begin_step_numbers();
    if (t->step == OP_REDUCE_PLACE) {
        make_ramp((uint32_t)op_min64(t->length, tile));
    }
}

/* d = the mask's bits ? a : b, each of one repeat or of as many as d. */
OP_INLINE void choose(uint32_t mask, uint32_t d, uint32_t a, uint8_t a_step, uint32_t b,
                      uint8_t b_step, uint8_t repeats)
{
    pipe_barrier(PIPE_V);
    set_selmask_addr(step_bits(mask));
    vsel(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, a_step, b_step, 2);
}

/* Steps of single elements: `count` f32 at `at`. */
OP_INLINE void step_elements(uint32_t step, uint32_t at, uint32_t count)
{
    const uint8_t repeats = step_repeats(count);
    if (step == OP_REDUCE_AS_IT_IS || is_of_rows(step)) {
        return;
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    if (step == OP_REDUCE_SQUARE) {
        vmul(op_ub_f32(at), op_ub_f32(at), op_ub_f32(at), repeats, 1, 1, 1, 8, 8, 8);
    } else if (step == OP_REDUCE_SIZE) {
        vabs(op_ub_f32(at), op_ub_f32(at), repeats, 1, 1, 8, 8);
    } else if (step == OP_REDUCE_IS_SET) {
        vcmpvs_ne(step_bits(STEP_MASK), op_ub_f32(at), 0, repeats, 1, 1, 8, 8);
        choose(STEP_MASK, at, STEP_ONES, 0, STEP_ZEROS, 0, repeats);
    } else {
        vcmpv_eq(step_bits(STEP_MASK), op_ub_f32(at), op_ub_f32(at), repeats, 1, 1, 1, 8, 8, 8);
        choose(STEP_MASK, at, at, 8, STEP_ZEROS, 0, repeats);
    }
}

/* Steps of rows: `count` f32 at `at`, from element `first` of a row on, whose number is `number`.
 */
OP_INLINE void step_row(uint32_t step, uint32_t at, uint32_t count, float number, uint64_t first)
{
    const uint8_t repeats = step_repeats(count);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    if (step != OP_REDUCE_PLACE) {
        vadds(op_ub_f32(at), op_ub_f32(at), -number, repeats, 1, 1, 8, 8);
        if (step == OP_REDUCE_AWAY_SQUARE) {
            pipe_barrier(PIPE_V);
            vmul(op_ub_f32(at), op_ub_f32(at), op_ub_f32(at), repeats, 1, 1, 1, 8, 8, 8);
        }
        return;
    }
    // The extreme of a row with NaN is NaN.
    if (number == number) {
        vcmpvs_eq(step_bits(STEP_MASK), op_ub_f32(at), number, repeats, 1, 1, 8, 8);
    } else {
        vcmpv_ne(step_bits(STEP_MASK), op_ub_f32(at), op_ub_f32(at), repeats, 1, 1, 1, 8, 8, 8);
    }
    choose(STEP_MASK, at, STEP_RAMP, 8, STEP_FAR, 0, repeats);
    if (first) {
        pipe_barrier(PIPE_V);
        vadds(op_ub_f32(at), op_ub_f32(at), (float)first, repeats, 1, 1, 8, 8);
    }
}

/* The numbers of `rows` rows from `row` on, for number_of. */
OP_INLINE void load_numbers(const struct op_reduce_vector_args *t, uint64_t row, uint32_t rows)
{
    if (!is_of_rows(t->step)) {
        return;
    }
    set_flag(PIPE_S, PIPE_MTE2, EVENT_BESIDE);
    wait_flag(PIPE_S, PIPE_MTE2, EVENT_BESIDE);
    op_load(STEP_BESIDE, t->beside + row * 4, rows * 4);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_BESIDE);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_BESIDE);
}

/* Steps of `rows` rows, `pitch` elements apart, of `count` elements each; their numbers begin with
 * the one at `number` of those loaded. */
OP_INLINE void step_rows(const struct op_reduce_vector_args *t, uint32_t at, uint32_t rows,
                         uint32_t pitch, uint32_t count, uint32_t number, uint64_t first)
{
    step_elements(t->step, at, rows * pitch);
    for (uint32_t r = 0; is_of_rows(t->step) && r < rows; r++) {
        const float own =
            *(const __ubuf__ volatile float *)(uintptr_t)(STEP_BESIDE + (number + r) * 4);
        step_row(t->step, at + r * pitch * 4, count, own, first);
    }
}
