/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by index_lines_device.c. Elements by index out of UB on the vector unit: indices become
 * byte offsets, the table's lines are gathered by them. What an index names is known before it is
 * used: it is kept within the line, and the least and the most of all are looked at in the end.
 */
#pragma once

enum {
    RUN = 1920,                 /* words: indices of 4 bytes, or halves of 8 */
    PLACES = OP_LINES_TEMP,     /* indices, then byte offsets */
    PATTERN = PLACES + RUN * 4, /* where the lines and columns of a run begin */
    WORDS = PATTERN + RUN * 4,  /* of elements of 8 bytes: offsets of each place, twice */
    WIDE = WORDS + RUN * 4,     /* scratch: signs; offsets of halves */
    LANES = 64,
    MIN_PLACE = WIDE + RUN * 4,
    MAX_PLACE = MIN_PLACE + LANES * 4,
    UPPER_WORDS = MAX_PLACE + LANES * 4, /* 0, 4, 0, 4, ..: the halves of an element of 8 bytes */
    MIN_WIDTH = 32,                      /* [A] of a line: with fewer the scalar unit is as fast */
};

OP_INLINE void fold(uint32_t lanes, bool most)
{
    for (uint32_t half = LANES / 2; half >= 8; half /= 2) {
        set_vector_mask(0, half);
        if (most) {
            vmax(op_ub_s32(lanes), op_ub_s32(lanes), op_ub_s32(lanes + half * 4), 1, 1, 1, 1, 8, 8,
                 8);
        } else {
            vmin(op_ub_s32(lanes), op_ub_s32(lanes), op_ub_s32(lanes + half * 4), 1, 1, 1, 1, 8, 8,
                 8);
        }
        pipe_barrier(PIPE_V);
    }
}

/* 0, step, 2 * step, .. : from LANES of them on which the scalar unit has written. */
OP_INLINE void continue_steps(uint32_t at, uint32_t count, int32_t step)
{
    set_vector_mask(0, LANES);
    for (uint32_t i = LANES; i < count; i += LANES) {
        vadds(op_ub_s32(at + i * 4), op_ub_s32(at), (int32_t)i * step, 1, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
}

/* Places of words in elements of 8 bytes, and the bounds of indices so far. */
static void gather_begin(const struct op_index_lines_args *t)
{
    __ubuf__ volatile int32_t *words = op_ub_s32(WORDS), *upper = op_ub_s32(UPPER_WORDS);
    for (uint32_t i = 0; t->unit == 8 && i < LANES; i++) {
        words[i] = (int32_t)(i / 2 * 4);
        upper[i] = (int32_t)(i % 2 * 4);
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    set_mask_count();
    if (t->unit == 8) {
        continue_steps(WORDS, RUN, 2);
    }
    set_vector_mask(0, LANES);
    vector_dup(op_ub_s32(MIN_PLACE), 0, 1, 1, 1, 8, 8);
    vector_dup(op_ub_s32(MAX_PLACE), 0, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

/* Ends the block with a fault if an index was outside. */
static void gather_end(const struct op_index_lines_args *t)
{
    const int64_t limit = (int64_t)t->length;
    int64_t least = 0, most = 0;
    fold(MIN_PLACE, false);
    fold(MAX_PLACE, true);
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    for (uint32_t i = 0; i < 8; i++) {
        const int64_t low = ((__ubuf__ volatile int32_t *)op_ub_s32(MIN_PLACE))[i],
                      high = ((__ubuf__ volatile int32_t *)op_ub_s32(MAX_PLACE))[i];
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    leo_assert(least >= 0, "index %lld of a dimension of %lld", (long long)(least - limit),
               (long long)limit);
    leo_assert(most < limit, "index %lld of a dimension of %lld", (long long)most,
               (long long)limit);
}

/* PATTERN for `lines` lines of `width` columns. */
static void gather_pattern(const struct walk *w, uint32_t lines, uint32_t width)
{
    const int32_t fast = (int32_t)w->table_fast;
    if (fast == 0) {
        set_vector_mask(0, width);
        vector_dup(op_ub_s32(PATTERN), 0, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    } else {
        __ubuf__ volatile int32_t *columns = op_ub_s32(PATTERN);
        set_flag(PIPE_V, PIPE_S, 0);
        wait_flag(PIPE_V, PIPE_S, 0);
        for (uint32_t i = 0; i < LANES; i++) {
            columns[i] = (int32_t)i * fast;
        }
        set_flag(PIPE_S, PIPE_V, 0);
        wait_flag(PIPE_S, PIPE_V, 0);
        continue_steps(PATTERN, width, fast);
    }
    set_vector_mask(0, width);
    for (uint32_t line = 1; line < lines; line++) {
        vadds(op_ub_s32(PATTERN + line * width * 4), op_ub_s32(PATTERN),
              (int32_t)(line * w->table_slow), 1, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
}

/* Indices to places of their lines in bytes; negative ones count from the end. */
OP_INLINE void take_places(const struct op_index_lines_args *t, const struct walk *w,
                           uint32_t index, uint32_t count)
{
    const int32_t limit = (int32_t)t->length;
    uint32_t from = index;
    set_vector_mask(0, count);
    if (t->index_bytes == 8) {
        // What 32 bits do not hold is far outside either way.
        vconv_s642s32(op_ub_s32(PLACES), (__ubuf__ int64_t *)(uintptr_t)index, 1, 1, 1, 4, 8);
        pipe_barrier(PIPE_V);
        from = PLACES;
    }
    vshr(op_ub_s32(WIDE), op_ub_s32(from), 31, 1, 1, 1, 8, 8, false);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_s32(WIDE), op_ub_s32(WIDE), -limit, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadd(op_ub_s32(PLACES), op_ub_s32(from), op_ub_s32(WIDE), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmin(op_ub_s32(MIN_PLACE), op_ub_s32(MIN_PLACE), op_ub_s32(PLACES), 1, 1, 1, 1, 0, 0, 8);
    vmax(op_ub_s32(MAX_PLACE), op_ub_s32(MAX_PLACE), op_ub_s32(PLACES), 1, 1, 1, 1, 0, 0, 8);
    pipe_barrier(PIPE_V);
    vmaxs(op_ub_s32(PLACES), op_ub_s32(PLACES), 0, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vmins(op_ub_s32(PLACES), op_ub_s32(PLACES), limit - 1, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_s32(PLACES), op_ub_s32(PLACES), (int32_t)w->reach, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

/* `count` elements that stand without gaps, as their indices do. */
static void gather_run(const struct op_index_lines_args *t, const struct walk *w, uint32_t index,
                       uint32_t value, uint32_t count, uint64_t table)
{
    take_places(t, w, index, count);
    vadd(op_ub_s32(PLACES), op_ub_s32(PLACES), op_ub_s32(PATTERN), 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    if (t->unit == 2) {
        vgather((__ubuf__ uint16_t *)(uintptr_t)value, (__ubuf__ uint32_t *)(uintptr_t)PLACES,
                table, 8, 1);
    } else if (t->unit == 4) {
        vgather((__ubuf__ uint32_t *)(uintptr_t)value, (__ubuf__ uint32_t *)(uintptr_t)PLACES,
                table, 8, 1);
    } else {
        set_vector_mask(0, 2 * count);
        vgather((__ubuf__ uint32_t *)(uintptr_t)WIDE, (__ubuf__ uint32_t *)(uintptr_t)WORDS, PLACES,
                8, 1);
        pipe_barrier(PIPE_V);
        vadd(op_ub_s32(WIDE), op_ub_s32(WIDE), op_ub_s32(UPPER_WORDS), 1, 1, 1, 1, 8, 8, 0);
        pipe_barrier(PIPE_V);
        vgather((__ubuf__ uint32_t *)(uintptr_t)value, (__ubuf__ uint32_t *)(uintptr_t)WIDE, table,
                8, 1);
    }
    pipe_barrier(PIPE_V);
}

OP_INLINE uint32_t run_length(const struct op_index_lines_args *t)
{
    return t->unit == 8 ? RUN / 2 : RUN;
}

/* Whether lines follow each other without gaps, here and in PATTERN. */
OP_INLINE bool is_dense(const struct op_index_lines_args *t, const struct walk *w)
{
    return w->fast % 8 == 0 && w->index_slow == w->fast * t->index_bytes &&
           w->value_slow == w->fast * t->unit;
}

OP_INLINE bool can_gather(const struct op_index_lines_args *t, const struct walk *w)
{
    return t->unit > 1 && (w->fast >= MIN_WIDTH || is_dense(t, w));
}

/* A chunk whose indices are there: lines that follow each other without gaps are one run. */
static void gather_chunk(const struct op_index_lines_args *t, const struct walk *w,
                         struct gather_state *state)
{
    const uint32_t most = run_length(t), width = op_min(w->fast, most);
    const uint32_t lines = is_dense(t, w) && w->fast <= most ? op_min(most / w->fast, w->slow) : 1;
    if (state->width != width || state->lines < lines) {
        gather_pattern(w, lines, width);
        *state = (struct gather_state){.width = width, .lines = lines};
    }
    for (uint32_t line = 0; line < w->slow; line += lines) {
        const uint32_t now = op_min(lines, w->slow - line);
        for (uint32_t column = 0; column < w->fast; column += width) {
            gather_run(t, w, INDEX + line * w->index_slow + column * t->index_bytes,
                       VALUES + line * w->value_slow + column * t->unit,
                       now * op_min(width, w->fast - column),
                       TABLE + line * w->table_slow + column * w->table_fast);
        }
    }
}
