/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in UB joined to one number each, in an order that depends on their length alone: lane i of
 * 64 takes elements i, i + 64, ... in order, lanes are joined by the vector unit's tree, products
 * half on half. */
#pragma once

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
