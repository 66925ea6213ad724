/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of normalisations in vector code: f32, or f16 computed in f32; weights, if any, are one for
 * each element of a row. A row is taken in pieces of at most TILE elements. Sums: within a piece by
 * the vector unit's tree over 64 elements twice, pieces in order in double.
 *
 * Flags: V -> MTE2 and MTE2 -> V 0,1: a slot of inputs free, filled; MTE3 -> V and V -> MTE3 0,1: a
 * slot of outputs free, filled; V -> S 1: sums done.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "../device/slots.h"
#include "norm_args.h"
#include "norm_far_device.h"

enum {
    TILE = 3584, /* 11 buffers of TILE f32 and the sums fit into the smallest UB, 192 KiB */
    BYTES = TILE * 4,
    IN = 0, /* two slots each */
    GRADIENT = IN + 2 * BYTES,
    WEIGHT = GRADIENT + 2 * BYTES,
    BIAS = WEIGHT + 2 * BYTES,
    OUT = BIAS + 2 * BYTES,
    WIDE = OUT + 2 * BYTES, /* f16 as f32; its second half is the gradient's */
    WIDE_GRADIENT = WIDE + BYTES,
    PARTS = WIDE_GRADIENT + BYTES, /* sums of 64 elements each, and their sum */
    TOTAL = PARTS + 256,
};

struct piece {
    uint64_t row, first; /* element of the row */
    uint32_t count, slot;
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

/* A buffer as f32. */
OP_INLINE uint32_t widen(uint32_t raw, uint32_t wide, uint32_t count, bool half_type)
{
    if (!half_type) {
        return raw;
    }
    vconv_f162f32(op_ub_f32(wide), op_ub_f16(raw), repeats_of(count), 1, 1, 8, 4);
    return wide;
}

/* Weights of a whole row that fit stay in UB: cores that load the same lines for every row wait for
 * each other. Pieces must begin at blocks of them. */
OP_INLINE bool weights_stay(const struct op_norm_rows_args *t)
{
    return t->length <= TILE && t->length % 8 == 0;
}

OP_INLINE uint32_t weights_at(const struct op_norm_rows_args *t, const struct piece *p,
                              uint32_t base)
{
    return weights_stay(t) ? base + (uint32_t)p->first * 4 : base + p->slot * BYTES;
}

OP_INLINE void load_weights(const struct op_norm_rows_args *t)
{
    if (t->weight && weights_stay(t)) {
        op_load(WEIGHT, t->weight, (uint32_t)t->length * 4);
    }
    if (t->bias && weights_stay(t)) {
        op_load(BIAS, t->bias, (uint32_t)t->length * 4);
    }
}

OP_INLINE void load(const struct op_norm_rows_args *t, const struct piece *p, bool gradient,
                    uint32_t unit)
{
    const uint64_t at = p->row * t->length + p->first;
    const uint32_t slot = p->slot * BYTES;
    wait_flag(PIPE_V, PIPE_MTE2, p->slot);
    op_load(IN + slot, t->in + at * unit, p->count * unit);
    if (gradient) {
        op_load(GRADIENT + slot, t->gradient + at * unit, p->count * unit);
    }
    if (t->weight && !weights_stay(t)) {
        op_load(WEIGHT + slot, t->weight + p->first * 4, p->count * 4);
    }
    if (t->bias && !weights_stay(t)) {
        op_load(BIAS + slot, t->bias + p->first * 4, p->count * 4);
    }
    set_flag(PIPE_MTE2, PIPE_V, p->slot);
    wait_flag(PIPE_MTE2, PIPE_V, p->slot);
    set_vector_mask(0, p->count);
}

OP_INLINE void add_number(uint32_t to, uint32_t from, float number, uint32_t count)
{
    pipe_barrier(PIPE_V);
    vadds(op_ub_f32(to), op_ub_f32(from), number, repeats_of(count), 1, 1, 8, 8);
}

OP_INLINE void multiply_number(uint32_t at, float number, uint32_t count)
{
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(at), op_ub_f32(at), number, repeats_of(count), 1, 1, 8, 8);
}

OP_INLINE void add(uint32_t to, uint32_t a, uint32_t b, uint32_t count)
{
    pipe_barrier(PIPE_V);
    vadd(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats_of(count), 1, 1, 1, 8, 8, 8);
}

OP_INLINE void multiply(uint32_t to, uint32_t a, uint32_t b, uint32_t count)
{
    pipe_barrier(PIPE_V);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats_of(count), 1, 1, 1, 8, 8, 8);
}

/* The sum of `count` f32; the mask is `count` before and after. */
OP_INLINE float sum(uint32_t at, uint32_t count)
{
    pipe_barrier(PIPE_V);
    vcadd(op_ub_f32(PARTS), op_ub_f32(at), repeats_of(count), 1, 1, 8, 0);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, repeats_of(count));
    vcadd(op_ub_f32(PARTS), op_ub_f32(PARTS), 1, 1, 1, 8, 0);
    set_vector_mask(0, count);
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
    return *(const __ubuf__ volatile float *)(uintptr_t)PARTS;
}

OP_INLINE void begin(bool half_type)
{
    if (!half_type) {
        (void)op_infinite_begin(); // f32 keeps what is not finite
    }
    set_mask_count();
    op_begin_slots();
}

/* Joins a piece's mean and squares to those of the elements before it. */
struct moments {
    double count, mean, squares;
};

OP_INLINE void join(struct moments *m, double count, double mean, double squares)
{
    const double distance = mean - m->mean, total = m->count + count;
    m->squares += squares + distance * distance * m->count * count / total;
    m->mean += distance * count / total;
    m->count = total;
}

/* Moments of a piece, which is left without its mean; OP_NORM_FAR says why in rounds. */
OP_INLINE void piece_moments(uint32_t x, uint32_t count, bool no_mean, double *mean,
                             double *squares)
{
    float part = no_mean ? 0 : sum(x, count) / (float)count;
    *mean = 0;
    for (int round = 0;; round++) {
        add_number(x, x, -part, count);
        multiply(WIDE_GRADIENT, x, x, count);
        *mean += (double)part;
        *squares = (double)sum(WIDE_GRADIENT, count);
        if (!op_norm_far(part, *squares, count) || round == OP_NORM_ROUNDS) {
            return;
        }
        part = sum(x, count) / (float)count;
    }
}

OP_INLINE void moments(const struct op_norm_rows_args *t, bool half_type)
{
    const struct op_span span = op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block);
    struct piece p = {.slot = 0};
    begin(half_type);
    for (p.row = span.begin; p.row < span.end; p.row++) {
        struct moments m = {0, 0, 0};
        for (p.first = 0; p.first < t->length; p.first += TILE, p.slot ^= 1) {
            p.count = (uint32_t)op_min64(TILE, t->length - p.first);
            load(t, &p, false, half_type ? 2 : 4);
            const uint32_t x = widen(IN + p.slot * BYTES, WIDE, p.count, half_type);
            double mean, squares;
            piece_moments(x, p.count, t->no_mean, &mean, &squares);
            join(&m, p.count, mean, squares);
            set_flag(PIPE_V, PIPE_MTE2, p.slot);
        }
        *(__gm__ volatile float *)(t->out + p.row * 8) = (float)m.mean;
        *(__gm__ volatile float *)(t->out + p.row * 8 + 4) = (float)m.squares;
    }
    op_end_slots();
    op_flush();
}

OP_INLINE void sums_of(const struct op_norm_rows_args *t, bool half_type)
{
    const struct op_span span = op_block_span(t->out, OP_TYPE_F64, t->rows, t->per_block);
    struct piece p = {.slot = 0};
    begin(half_type);
    load_weights(t);
    for (p.row = span.begin; p.row < span.end; p.row++) {
        const uint64_t mean_at = t->entry + p.row / t->entry_rows % t->entries * 4;
        const float mean = t->entry ? *(const __gm__ volatile float *)mean_at : 0;
        double gradient = 0, product = 0;
        for (p.first = 0; p.first < t->length; p.first += TILE, p.slot ^= 1) {
            p.count = (uint32_t)op_min64(TILE, t->length - p.first);
            load(t, &p, true, half_type ? 2 : 4);
            const uint32_t x = widen(IN + p.slot * BYTES, WIDE, p.count, half_type);
            const uint32_t g = widen(GRADIENT + p.slot * BYTES, WIDE_GRADIENT, p.count, half_type);
            if (t->weight) {
                multiply(g, g, weights_at(t, &p, WEIGHT), p.count);
            }
            gradient += (double)sum(g, p.count);
            add_number(x, x, -mean, p.count);
            multiply(x, x, g, p.count);
            product += (double)sum(x, p.count);
            set_flag(PIPE_V, PIPE_MTE2, p.slot);
        }
        *(__gm__ volatile float *)(t->out + p.row * 8) = (float)gradient;
        *(__gm__ volatile float *)(t->out + p.row * 8 + 4) = (float)product;
    }
    op_end_slots();
    op_flush();
}

OP_INLINE struct op_norm_entry entry_of(const struct op_norm_rows_args *t, uint64_t row)
{
    const uint64_t at = t->entry + row / t->entry_rows % t->entries * sizeof(struct op_norm_entry);
    return (struct op_norm_entry){
        *(const __gm__ volatile float *)at, *(const __gm__ volatile float *)(at + 4),
        *(const __gm__ volatile float *)(at + 8), *(const __gm__ volatile float *)(at + 12)};
}

/* One piece of the result as f32 at `to`. */
OP_INLINE void compute(const struct op_norm_rows_args *t, const struct piece *p,
                       const struct op_norm_entry *entry, uint32_t x, uint32_t g, uint32_t to,
                       bool gradient)
{
    add_number(x, x, -entry->mean, p->count);
    if (gradient) {
        if (t->weight) {
            multiply(g, g, weights_at(t, p, WEIGHT), p->count);
        }
        multiply_number(g, entry->scale, p->count);
        multiply_number(x, entry->slope, p->count);
        add(x, x, g, p->count);
    } else {
        multiply_number(x, entry->scale, p->count);
        if (t->weight) {
            multiply(x, x, weights_at(t, p, WEIGHT), p->count);
        }
    }
    if (!gradient && t->bias) {
        add(to, x, weights_at(t, p, BIAS), p->count);
    } else {
        add_number(to, x, entry->shift, p->count);
    }
}

OP_INLINE void apply(const struct op_norm_rows_args *t, bool gradient, bool half_type)
{
    const uint32_t unit = half_type ? 2 : 4;
    const struct op_span span = op_block_span(t->out, half_type ? OP_TYPE_F16 : OP_TYPE_F32,
                                              t->rows * t->length, t->per_block);
    struct piece p = {.slot = 0};
    begin(half_type);
    load_weights(t);
    for (uint64_t i = span.begin; i < span.end; i += p.count, p.slot ^= 1) {
        const uint32_t out = OUT + p.slot * BYTES;
        p.row = i / t->length;
        p.first = i - p.row * t->length;
        p.count = (uint32_t)op_min64(op_min64(TILE, t->length - p.first), span.end - i);
        const struct op_norm_entry entry = entry_of(t, p.row);
        load(t, &p, gradient, unit);
        wait_flag(PIPE_MTE3, PIPE_V, p.slot);
        const uint32_t x = widen(IN + p.slot * BYTES, WIDE, p.count, half_type);
        const uint32_t g =
            gradient ? widen(GRADIENT + p.slot * BYTES, WIDE_GRADIENT, p.count, half_type) : 0;
        compute(t, &p, &entry, x, g, half_type ? x : out, gradient);
        if (half_type) {
            pipe_barrier(PIPE_V);
            vconv_f322f16(op_ub_f16(out), op_ub_f32(x), repeats_of(p.count), 1, 1, 4, 8);
        }
        pipe_barrier(PIPE_V); // the next piece's f32 buffers are the same
        set_flag(PIPE_V, PIPE_MTE2, p.slot);
        set_flag(PIPE_V, PIPE_MTE3, p.slot);
        wait_flag(PIPE_V, PIPE_MTE3, p.slot);
        op_store(t->out + i * unit, out, p.count * unit);
        set_flag(PIPE_MTE3, PIPE_V, p.slot);
    }
    op_end_slots();
    op_flush();
}

#define NORM_ARGS struct op_norm_rows_args
#include "norm_kernels_device.inc"
