/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, maxima and minima on the vector unit, in f32. The order of a sum depends on the shape
 * alone: rows of a group in pairs, groups one after the other; along a row 64 elements by the
 * vector unit's tree, twice, tiles one after the other.
 *
 * Flags: V -> MTE2 and MTE2 -> V 0,1: a slot of inputs free, filled; MTE3 -> V and V -> MTE3 2: the
 * results stored, ready; V -> S 1 and S -> V 1: lanes ready for the scalar unit, a word written by
 * it.
 */
#include "copy.h"
#include "element.h"
#include "reduce_vector_args.h"

#include <math.h>

enum {
    SLOT = 32768,      /* bytes of one group, as f32 */
    WIDE = 2 * SLOT,   /* the group as f32 if it is narrower */
    SUM = WIDE + SLOT, /* results: OP_REDUCE_CHUNK f32 */
    PARTS = SUM + OP_REDUCE_CHUNK * 4,
    FOLD = PARTS + 1024, /* half a group */
    TILE = SLOT / 4,     /* elements of a row at a time */
    EVENT_SUM = 2,
    LANES = 64,
    SHORT_ROWS = 240, /* rows of at most LANES elements at a time: one repeat each */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + LANES - 1) / LANES);
}

OP_INLINE float neutral(uint32_t mode)
{
    return mode == OP_REDUCE_VECTOR_SUM   ? 0.0f
           : mode == OP_REDUCE_VECTOR_MAX ? -INFINITY
                                          : INFINITY;
}

/* d = a joined with b, `count` elements. */
OP_INLINE void join(uint32_t mode, uint32_t d, uint32_t a, uint32_t b, uint32_t count)
{
    const uint8_t repeats = repeats_of(count);
    pipe_barrier(PIPE_V);
    if (mode == OP_REDUCE_VECTOR_SUM) {
        vadd(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
    } else if (mode == OP_REDUCE_VECTOR_MAX) {
        vmax(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        vmin(op_ub_f32(d), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* `count` elements of a slot as f32; where they are. */
OP_INLINE uint32_t widen(uint32_t ub, uint32_t type, uint32_t count)
{
    const uint8_t repeats = repeats_of(count);
    if (type == OP_TYPE_F32) {
        return ub;
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
#if __NPU_ARCH__ == 2201
    if (type == OP_TYPE_BF16) {
        vconv_bf162f32(op_ub_f32(WIDE), (__ubuf__ bfloat16_t *)(uintptr_t)ub, repeats, 1, 1, 8, 4);
        return WIDE;
    }
#endif
    vconv_f162f32(op_ub_f32(WIDE), op_ub_f16(ub), repeats, 1, 1, 8, 4);
    return WIDE;
}

OP_INLINE void begin(void)
{
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
}

OP_INLINE void end(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
    op_flush(); // tails of results
}

OP_INLINE void scale_and_store(const struct op_reduce_vector_args *t, uint64_t to, uint32_t count)
{
    if (t->scale != 1.0f) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, count);
        vmuls(op_ub_f32(SUM), op_ub_f32(SUM), t->scale, repeats_of(count), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_SUM);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_SUM);
    op_store(to, SUM, count * 4);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
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

/* One unit of reduce_columns: rows [first, first + rows) of `from`, `columns` wide, into SUM. */
OP_INLINE void reduce_chunk(const struct op_reduce_vector_args *t, uint64_t from, uint64_t rows,
                            uint32_t columns)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    const uint32_t row_bytes = op_units(columns * unit) * 32, wide_bytes = row_bytes / unit * 4;
    const uint32_t group = op_min(SLOT / wide_bytes, 255);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
    set_vector_mask(0, columns);
    vector_dup(op_ub_f32(SUM), neutral(t->mode), repeats_of(columns), 1, 1, 8, 8);
    uint32_t slot = 0;
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
        join(t->mode, SUM, SUM, at, columns);
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
}

__global__ __vector__ void reduce_columns(struct op_reduce_vector_args args)
{
    const struct op_reduce_vector_args t = args;
    (void)op_infinite_begin();
    const uint32_t unit = t.in_type == OP_TYPE_F32 ? 4 : 2;
    const uint64_t chunks = (t.inner + t.chunk - 1) / t.chunk, units = t.outer * t.pieces * chunks;
    const uint64_t first = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t last = op_min64(first + t.per_block, units);
    begin();
    for (uint64_t u = first; u < last; u++) {
        const uint64_t row = u / chunks, column = (u - row * chunks) * t.chunk;
        const uint64_t outer = row / t.pieces, skip = (row - outer * t.pieces) * t.piece;
        const uint32_t columns = (uint32_t)op_min64(t.chunk, t.inner - column);
        reduce_chunk(&t, t.in + ((outer * t.length + skip) * t.in_pitch + column) * unit,
                     op_min64(t.piece, t.length - skip), columns);
        scale_and_store(&t, t.out + (row * t.out_pitch + column) * 4, columns);
    }
    end();
}

OP_INLINE float lane(uint32_t ub)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)ub;
}

OP_INLINE float better(uint32_t mode, float x, float best)
{
    const bool wins = mode == OP_REDUCE_VECTOR_MAX ? x > best : x < best;
    return wins || x != x ? x : best;
}

/* The extreme of `count` elements: whole blocks of 8 folded onto one (a window of lanes may be
 * looked at twice, which an extreme does not mind), the rest by the scalar unit. */
OP_INLINE float extreme(uint32_t mode, uint32_t at, uint32_t count)
{
    uint32_t from = at, blocks = count / 8;
    while (blocks > 1) {
        const uint32_t half = (blocks + 1) / 2;
        set_vector_mask(0, half * 8);
        join(mode, FOLD, from, from + (blocks - half) * 32, half * 8);
        from = FOLD;
        blocks = half;
    }
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
    float best = neutral(mode);
    for (uint32_t i = 0; i < 8 && count >= 8; i++) {
        best = better(mode, lane(from + i * 4), best);
    }
    for (uint32_t i = count / 8 * 8; i < count; i++) {
        best = better(mode, lane(at + i * 4), best);
    }
    return best;
}

OP_INLINE float sum(uint32_t at, uint32_t count)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vcadd(op_ub_f32(PARTS), op_ub_f32(at), repeats_of(count), 1, 1, 8, 0);
    pipe_barrier(PIPE_V);
    // 128 parts at most.
    set_vector_mask(0, repeats_of(count));
    vcadd(op_ub_f32(PARTS), op_ub_f32(PARTS), repeats_of(repeats_of(count)), 1, 1, 8, 0);
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
    return lane(PARTS) + (repeats_of(count) > LANES ? lane(PARTS + 4) : 0.0f);
}

/* A row of any length. */
OP_INLINE float reduce_row(const struct op_reduce_vector_args *t, uint64_t from, uint64_t length)
{
    const uint32_t unit = t->in_type == OP_TYPE_F32 ? 4 : 2;
    float all = neutral(t->mode);
    uint32_t slot = 0;
    for (uint64_t first = 0; first < length; first += TILE, slot ^= 1) {
        const uint32_t count = (uint32_t)op_min64(TILE, length - first), ub = slot * SLOT;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load(ub, from + first * unit, count * unit);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        const uint32_t at = widen(ub, t->in_type, count);
        if (t->mode == OP_REDUCE_VECTOR_SUM) {
            all += sum(at, count);
        } else {
            all = better(t->mode, extreme(t->mode, at, count), all);
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
    return all;
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
    const uint32_t unit = t.in_type == OP_TYPE_F32 ? 4 : 2;
    const uint64_t first = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t last = op_min64(first + t.per_block, t.outer * t.pieces);
    const bool short_rows = t.mode == OP_REDUCE_VECTOR_SUM && t.pieces == 1 && t.length <= LANES;
    begin();
    for (uint64_t i = first; i < last; i += SHORT_ROWS) {
        const uint32_t now = (uint32_t)op_min64(SHORT_ROWS, last - i);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
        if (short_rows) {
            sum_short_rows(&t, i, now);
        } else {
            // The scalar unit writes where the vector unit did before.
            set_flag(PIPE_V, PIPE_S, 1);
            wait_flag(PIPE_V, PIPE_S, 1);
            for (uint32_t k = 0; k < now; k++) {
                const uint64_t outer = (i + k) / t.pieces,
                               skip = (i + k - outer * t.pieces) * t.piece;
                *(__ubuf__ volatile float *)(uintptr_t)(SUM + k * 4) =
                    reduce_row(&t, t.in + (outer * t.length + skip) * unit,
                               op_min64(t.piece, t.length - skip));
            }
            set_flag(PIPE_S, PIPE_V, 1);
            wait_flag(PIPE_S, PIPE_V, 1);
        }
        scale_and_store(&t, t.out + i * 4, now);
    }
    end();
}
