/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of the channels of a group, 32 lanes at most, and the join of the group's records.
 *
 * Flags. MTE2 -> V, V -> MTE2 3: numbers loaded, their place free. V -> MTE3, MTE3 -> V 3: results
 * ready, their place free. V -> S, S -> V 0: numbers for the scalar unit.
 */
#pragma once

#include "batch_norm_planes_tile_device.h"

/* ---- numbers of channels ---- */

OP_INLINE void multiply(const struct op_planes_args *t, uint32_t to, uint32_t a, uint32_t b)
{
    (void)take(t->width);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), 1, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void scale_by(const struct op_planes_args *t, uint32_t to, uint32_t a, float b)
{
    (void)take(t->width);
    vmuls(op_ub_f32(to), op_ub_f32(a), b, 1, 1, 1, 8, 8);
}

OP_INLINE void add(const struct op_planes_args *t, uint32_t to, uint32_t a, uint32_t b)
{
    (void)take(t->width);
    vadd(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), 1, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void subtract(const struct op_planes_args *t, uint32_t to, uint32_t a, uint32_t b)
{
    (void)take(t->width);
    vsub(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), 1, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void fill(const struct op_planes_args *t, uint32_t to, float value)
{
    (void)take(t->width);
    vector_dup(op_ub_f32(to), value, 1, 1, 1, 8, 8);
}

/* INVERSE = 1 / sqrt(VARIANCE + eps) */
OP_INLINE void invert(const struct op_planes_args *t)
{
    const uint32_t inverse = number_at(INVERSE);
    (void)take(t->width);
    vadds(op_ub_f32(inverse), op_ub_f32(number_at(VARIANCE)), t->eps, 1, 1, 1, 8, 8);
    (void)take(t->width);
    vsqrt(op_ub_f32(inverse), op_ub_f32(inverse), 1, 1, 1, 8, 8);
    fill(t, number_at(WORK), 1);
    (void)take(t->width);
    vdiv(op_ub_f32(inverse), op_ub_f32(number_at(WORK)), op_ub_f32(inverse), 1, 1, 1, 1, 8, 8, 8);
}

/* A block of each channel's number. */
OP_INLINE void spread(const struct op_planes_args *t, enum of_channel to, uint32_t from)
{
    pipe_barrier(PIPE_V);
#if __NPU_ARCH__ == 2201
    vbrcb((__ubuf__ uint32_t *)(uintptr_t)blocks_at(to), (__ubuf__ uint32_t *)(uintptr_t)from, 1, 8,
          (uint8_t)(t->width / 8));
#else
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    set_mask_count();
    set_vector_mask(0, OP_PLANE_LANES);
    for (uint32_t c = 0; c < t->width; c++) {
        const float value = *(const __ubuf__ volatile float *)(uintptr_t)(from + c * 4);
        vector_dup(op_ub_f32(blocks_at(to) + c * BLOCK), value, 1, 1, 1, 8, 8);
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
#endif
}

/* Numbers of the group's channels, or the same for all if there are none. */
OP_INLINE void load_numbers(const struct group *g, uint64_t from, enum number to)
{
    if (from) {
        op_load(number_at(to), from + g->first * 4, g->channels * 4);
    }
}

OP_INLINE void store_numbers(const struct group *g, uint64_t to, uint32_t from)
{
    if (to) {
        op_store(to + g->first * 4, from, g->channels * 4);
    }
}

OP_INLINE void wait_loaded(void)
{
    set_flag(PIPE_MTE2, PIPE_V, EVENT);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT);
}

/* Zeros in lanes of channels that are not there: they are computed with the rest, and what lies
 * behind the last channel's number in memory may be no number. */
OP_INLINE void clear_missing(const struct group *g)
{
    const uint32_t present = g->channels % 8;
    if (present == 0) {
        return;
    }
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, 0x100 - (UINT64_C(1) << present));
    vector_dup(op_ub_f32(number_at(MEAN) + g->channels / 8 * BLOCK), 0.0f, LOADED, 1, 1,
               NUMBER_BYTES / BLOCK, 8);
    set_mask_count();
}

/* ---- records of chunks ---- */

OP_INLINE uint32_t record_blocks(const struct op_planes_args *t)
{
    return 1 + 2 * t->width;
}

/* The records of a group as they pass through UB. */
struct records {
    uint32_t from, count;
};

OP_INLINE void load_records(const struct op_planes_args *t, const struct group *g,
                            struct records *r, uint32_t from)
{
    const uint32_t bytes = record_blocks(t) * BLOCK;
    r->from = from;
    r->count = op_min(LANES_BYTES / bytes, t->chunks - from);
    op_load(PARTS, t->parts + (g->index * t->chunks + from) * bytes, r->count * bytes);
}

/* The records from `from` on, if others are in UB. */
OP_INLINE void turn_records(const struct op_planes_args *t, const struct group *g,
                            struct records *r, uint32_t from)
{
    if (r->from != from) {
        set_flag(PIPE_V, PIPE_MTE2, EVENT);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT);
        load_records(t, g, r, from);
        wait_loaded();
    }
}

/* Adds blocks, `pitch` of them from record to record, to the channels' TOTAL. */
OP_INLINE void add_records(const struct op_planes_args *t, const struct records *r, uint32_t from,
                           uint32_t pitch)
{
    take_lanes(64);
    for (uint32_t c = 0; c < t->width; c += 8) {
        __ubuf__ float *total = op_ub_f32(blocks_at(TOTAL) + c * BLOCK);
        vadd(total, total, op_ub_f32(from + c * BLOCK), (uint8_t)r->count, 1, 1, 1, 0, 0,
             (uint8_t)pitch);
    }
}

/* PRODUCTS = `from` of each record times the elements of its lanes. */
OP_INLINE void weigh_records(const struct op_planes_args *t, const struct records *r, uint32_t from,
                             uint32_t pitch)
{
    take_lanes(64);
    for (uint32_t c = 0; c < t->width; c += 8) {
        vmul(op_ub_f32(PRODUCTS + c * BLOCK), op_ub_f32(from + c * BLOCK), op_ub_f32(PARTS),
             (uint8_t)r->count, 1, 1, 0, (uint8_t)t->width, (uint8_t)pitch,
             (uint8_t)record_blocks(t));
    }
}

OP_INLINE void clear_total(const struct op_planes_args *t)
{
    const uint8_t repeats = take(t->width * OP_PLANE_LANES);
    vector_dup(op_ub_f32(blocks_at(TOTAL)), 0.0f, repeats, 1, 1, 8, 8);
}

/* The channels' TOTAL as numbers. */
OP_INLINE void fold_total(const struct op_planes_args *t, enum number to)
{
    take_lanes(OP_PLANE_LANES);
    vcadd(op_ub_f32(number_at(to)), op_ub_f32(blocks_at(TOTAL)), (uint8_t)t->width, 1, 1, 1, 0);
    set_mask_count();
}

/* MEAN and VARIANCE of all records. */
OP_INLINE void join_moments(const struct op_planes_args *t, const struct group *g,
                            struct records *r)
{
    const uint32_t pitch = record_blocks(t), width = t->width, means = PARTS + BLOCK;
    clear_total(t);
    for (uint32_t from = 0; from < t->chunks; from += r->count) {
        turn_records(t, g, r, from);
        weigh_records(t, r, means, pitch);
        add_records(t, r, PRODUCTS, width);
    }
    fold_total(t, MEAN);
    scale_by(t, number_at(MEAN), number_at(MEAN), t->inverse_count);
    spread(t, CENTER, number_at(MEAN));
    clear_total(t);
    for (uint32_t from = 0; from < t->chunks; from += r->count) {
        turn_records(t, g, r, from);
        take_lanes(64);
        for (uint32_t c = 0; c < width; c += 8) {
            vsub(op_ub_f32(PRODUCTS + c * BLOCK), op_ub_f32(means + c * BLOCK),
                 op_ub_f32(blocks_at(CENTER) + c * BLOCK), (uint8_t)r->count, 1, 1, 1,
                 (uint8_t)width, (uint8_t)pitch, 0);
        }
        const uint8_t repeats = take(r->count * width * OP_PLANE_LANES);
        vmul(op_ub_f32(PRODUCTS), op_ub_f32(PRODUCTS), op_ub_f32(PRODUCTS), repeats, 1, 1, 1, 8, 8,
             8);
        weigh_records(t, r, PRODUCTS, width);
        add_records(t, r, PRODUCTS, width);
        add_records(t, r, means + width * BLOCK, pitch);
    }
    fold_total(t, VARIANCE);
    scale_by(t, number_at(VARIANCE), number_at(VARIANCE), t->inverse_count);
}

/* SUM and PRODUCT of all records. */
OP_INLINE void join_sums(const struct op_planes_args *t, const struct group *g, struct records *r)
{
    for (uint32_t second = 0; second < 2; second++) {
        clear_total(t);
        for (uint32_t from = 0; from < t->chunks; from += r->count) {
            turn_records(t, g, r, from);
            add_records(t, r, PARTS + (1 + second * t->width) * BLOCK, record_blocks(t));
        }
        fold_total(t, second ? PRODUCT : SUM);
    }
}
