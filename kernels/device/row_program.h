/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of programs over dense rows that the generator makes of rows' expressions
 * (gen/row_programs.py), in f32 whatever the type. A program has stages: each but the last ends
 * with a number of each row (its largest element, its sum), which the next one takes. Short rows go
 * several at a time, long ones in pieces, which are read again for each stage. While the scalar
 * unit reads a tile's numbers, the vector unit is at work on the tile before or after it. Flags and
 * sums as in row_tile.h.
 *
 * Included by the generated programs alone, behind the constants that say what a program does
 * (ROW_INPUTS and so on).
 */
#pragma once

#include "row_program_args.h"
#include "row_tile.h"

#include <math.h>
#include <stddef.h>

/** Where values of a tile are, as f32. */
struct places {
    uint32_t in[2];
    uint32_t spare; /* of a value beside them */
    uint32_t made;  /* of the result: may be one of the others */
};

/* The generated program's: the steps of a stage; `ends`: with those for its number. */
OP_INLINE void run_stage(const struct work *w, const struct tile *tile, const struct places *at,
                         uint32_t stage, bool ends, const float *numbers);

/* ---- steps on all elements, each behind a barrier ---- */

OP_INLINE void row_exp(const struct tile *tile, uint32_t to, uint32_t a)
{
    const uint8_t repeats = all_of(tile);
    vexp(op_ub_f32(to), op_ub_f32(a), repeats, 1, 1, 8, 8);
}

OP_INLINE void row_sub(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = all_of(tile);
    vsub(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void row_mul(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    multiply(tile, to, a, b);
}

/* ---- largest elements ---- */

OP_INLINE float number_at(uint32_t at)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)at;
}

/* Those of f16 are taken as they were loaded: 128 lanes a row. */
OP_INLINE bool has_half_lanes(const struct work *w)
{
    return w->type == OP_TYPE_F16;
}

OP_INLINE void reset_maxima(const struct work *w, uint32_t rows)
{
    if (has_half_lanes(w)) {
        set_vector_mask(0, rows * 128);
        vector_dup(op_ub_f16(LANES), (half)-INFINITY, (uint8_t)rows, 1, 1, 8, 8);
    } else {
        set_lanes(rows, -INFINITY);
    }
}

OP_INLINE void keep_columns(const struct work *w, const struct tile *tile, uint32_t a)
{
    const uint32_t lanes = has_half_lanes(w) ? 128 : 64;
    const uint8_t rows = (uint8_t)tile->rows;
    set_mask_norm();
    for (uint32_t first = 0; first < tile->count; first += lanes) {
        if (first > 0) {
            pipe_barrier(PIPE_V);
        }
        take_columns(tile, first);
        if (has_half_lanes(w)) {
            const uint32_t left = tile->count - first;
            set_vector_mask(left > 64 ? ~0ull >> (128 - op_min(128, left)) : 0,
                            ~0ull >> (64 - op_min(64, left)));
            vmax(op_ub_f16(LANES), op_ub_f16(LANES), op_ub_f16(w->a[tile->slot] + first * 2), rows,
                 1, 1, 1, 8, 8, (uint8_t)(tile->pitch / 16));
        } else {
            vmax(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(a + first * 4), rows, 1, 1, 1, 8, 8,
                 (uint8_t)(tile->pitch / 8));
        }
    }
    set_mask_count();
}

/* Keeps the larger ones of the rows' elements and their lanes. `a`: the first input as f32. */
OP_INLINE void keep_lanes(const struct work *w, const struct tile *tile, uint32_t a)
{
    if (tile->by_columns) {
        keep_columns(w, tile, a);
        return;
    }
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint32_t lanes = LANES + r * LANE_BYTES;
        if (has_half_lanes(w)) {
            vmax(op_ub_f16(lanes), op_ub_f16(lanes),
                 op_ub_f16(w->a[tile->slot] + r * tile->pitch * 2),
                 (uint8_t)((tile->count + 127) / 128), 1, 1, 1, 0, 0, 8);
        } else {
            vmax(op_ub_f32(lanes), op_ub_f32(lanes), op_ub_f32(at_row(tile, a, r)),
                 repeats_of(tile->count), 1, 1, 1, 0, 0, 8);
        }
    }
}

#if __NPU_ARCH__ == 2201
/* Lanes to one number a row. */
OP_INLINE void join_wide_maxima(uint32_t rows, uint32_t numbers)
{
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcmax(op_ub_f32(numbers), op_ub_f32(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    set_mask_count();
}

OP_INLINE float wide_maximum(uint32_t row, uint32_t numbers)
{
    return number_at(numbers + row * 4);
}
#else
/* The coupled core has no maximum of f32 lanes: 64 lanes to 8, of all rows, */
OP_INLINE void join_wide_maxima(uint32_t rows, uint32_t numbers)
{
    __ubuf__ float *lanes = op_ub_f32(LANES);
    (void)numbers;
    set_mask_norm();
    for (uint32_t width = 32; width >= 8; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        vmax(lanes, lanes, op_ub_f32(LANES + width * 4), (uint8_t)rows, 1, 1, 1, 8, 8, 8);
    }
    set_mask_count();
}

/* A float as a whole number of the same order, with NaN of either sign above all: floats are slow
 * on the scalar unit. */
enum { LEAST_ORDER = 0x007fffff }; /* what -inf would be without it */

OP_INLINE uint32_t order_of(uint32_t bits)
{
    return (bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000u)) - LEAST_ORDER;
}

OP_INLINE float float_of(uint32_t order)
{
    const uint32_t key = order + LEAST_ORDER, bits = key & 0x80000000u ? key ^ 0x80000000u : ~key;
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

/* which the scalar unit joins, two a load. */
OP_INLINE float wide_maximum(uint32_t row, uint32_t numbers)
{
    uint32_t most = 0;
    (void)numbers;
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t two =
            *(const __ubuf__ volatile uint64_t *)(uintptr_t)(LANES + row * LANE_BYTES + i * 8);
        const uint32_t lower = order_of((uint32_t)two), upper = order_of((uint32_t)(two >> 32));
        most = lower > most ? lower : most;
        most = upper > most ? upper : most;
    }
    return float_of(most);
}
#endif

OP_INLINE void join_maxima(const struct work *w, uint32_t rows, uint32_t numbers)
{
    if (!has_half_lanes(w)) {
        join_wide_maxima(rows, numbers);
        return;
    }
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    vcmax(op_ub_f16(HALF_NUMBERS), op_ub_f16(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    set_mask_count();
}

OP_INLINE float maximum(const struct work *w, uint32_t row, uint32_t numbers)
{
    return has_half_lanes(w)
               ? (float)*(const __ubuf__ volatile half *)(uintptr_t)(HALF_NUMBERS + row * 2)
               : wide_maximum(row, numbers);
}

/* ---- numbers of rows ---- */

/* Whether a word of the program is said of a number. */
OP_INLINE bool has(uint32_t word, uint32_t fold)
{
    return word >> fold & 1;
}

OP_INLINE bool is_maximum(uint32_t fold)
{
    return has(ROW_MAXIMA, fold);
}

OP_INLINE uint32_t numbers_at(uint32_t fold)
{
    return fold ? SECOND_NUMBERS : NUMBERS;
}

OP_INLINE uint32_t event_of(uint32_t fold)
{
    return fold ? EVENT_SECOND : EVENT_LANES;
}

/* Whether a tile's numbers stay with the vector unit. */
OP_INLINE bool stay(const struct tile *tile)
{
    return __NPU_ARCH__ == 2201 && tile->by_columns;
}

/* Before the first elements of rows; no barrier. */
OP_INLINE void begin_fold(const struct work *w, const struct tile *tile, uint32_t fold, bool ends)
{
    if (!ends || tile->first > 0) {
        return;
    }
    if (is_maximum(fold)) {
        reset_maxima(w, tile->rows);
    } else {
        set_lanes(tile->rows, 0);
    }
}

/* A tile's elements to their lanes. */
OP_INLINE void fold_rows(const struct work *w, const struct tile *tile, uint32_t fold,
                         uint32_t from)
{
    pipe_barrier(PIPE_V);
    if (is_maximum(fold)) {
        keep_lanes(w, tile, from);
    } else {
        sum_rows(tile, from);
    }
}

/* Lanes to what the scalar unit reads; behind a barrier. Lanes are free once it has. */
OP_INLINE void give_numbers(const struct work *w, const struct tile *tile, uint32_t fold)
{
    __ubuf__ float *numbers = op_ub_f32(numbers_at(fold));
    if (is_maximum(fold)) {
        join_maxima(w, tile->rows, numbers_at(fold));
    } else {
        join_lanes(tile->rows, numbers_at(fold));
    }
    if (has(ROW_RECIPROCALS | ROW_LOGARITHMS, fold)) {
        set_vector_mask(0, tile->rows);
        pipe_barrier(PIPE_V);
    }
    if (has(ROW_RECIPROCALS, fold)) {
        vrec(numbers, numbers, 1, 1, 1, 8, 8);
    } else if (has(ROW_LOGARITHMS, fold)) {
        vln(numbers, numbers, 1, 1, 1, 8, 8);
    }
    if (!stay(tile)) {
        set_flag(PIPE_V, PIPE_S, event_of(fold));
    }
}

/* Numbers that stay, to BLOCKS. */
OP_INLINE void spread_all(const struct work *w, uint32_t rows, uint32_t fold)
{
    __ubuf__ float *numbers = op_ub_f32(numbers_at(fold));
    pipe_barrier(PIPE_V);
    set_vector_mask(0, rows);
    if (is_maximum(fold) && has_half_lanes(w)) {
        vconv_f162f32(numbers, op_ub_f16(HALF_NUMBERS), 1, 1, 1, 8, 4);
        pipe_barrier(PIPE_V);
    }
    if (has(ROW_MINUS, fold)) {
        vmuls(numbers, numbers, -1.0f, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    spread_numbers(rows, numbers_at(fold));
}

/* What steps on rows take: numbers in `out`, or NULL for those of BLOCKS. */
OP_INLINE const float *take_row_numbers(const struct work *w, const struct tile *tile,
                                        uint32_t fold, float *out)
{
    if (stay(tile)) {
        spread_all(w, tile->rows, fold);
        return NULL;
    }
    wait_flag(PIPE_V, PIPE_S, event_of(fold));
    for (uint32_t r = 0; r < tile->rows; r++) {
        const float number = is_maximum(fold) ? maximum(w, r, numbers_at(fold))
                                              : number_at(numbers_at(fold) + r * 4);
        out[r] = has(ROW_MINUS, fold) ? -number : number;
    }
    set_flag(PIPE_S, PIPE_V, event_of(fold));
    wait_flag(PIPE_S, PIPE_V, event_of(fold));
    if (!tile->by_columns) {
        return out;
    }
    pipe_barrier(PIPE_V);
    set_vector_mask(0, BLOCK_BYTES / 4);
    for (uint32_t r = 0; r < tile->rows; r++) {
        spread_number(r, out[r]);
    }
    return NULL;
}

/* ---- one input, two numbers: tiles beside each other ---- */

OP_INLINE struct places places_ahead(const struct work *w, const struct tile *tile)
{
    const uint32_t x = wide_at(w, tile), out = w->out[tile->parity];
    return (struct places){{x, 0}, w->narrow ? w->wide_b : out, w->narrow ? x : out};
}

/* A tile to the lanes of its first numbers. */
OP_INLINE void begin_rows(const struct work *w, const struct tile *tile)
{
    const struct places at = places_ahead(w, tile);
    take_rows(w, tile);
    run_stage(w, tile, &at, 0, true, NULL);
    free_narrow(w, tile);
}

OP_INLINE void run_ahead(const struct work *w, struct tile tile, uint64_t end)
{
    float numbers[OP_ROW_TILE_ROWS];
    load(w, &tile);
    struct tile next = next_tile(w, &tile, end);
    pipe_barrier(PIPE_V);
    begin_rows(w, &tile);
    pipe_barrier(PIPE_V);
    give_numbers(w, &tile, 0);
    while (tile.rows > 0) {
        const struct places at = places_ahead(w, &tile);
        const float *taken = take_row_numbers(w, &tile, 0, numbers);
        begin_result(&tile);
        run_stage(w, &tile, &at, 1, true, taken);
        pipe_barrier(PIPE_V);
        give_numbers(w, &tile, 1);
        if (next.rows > 0) {
            begin_rows(w, &next);
        }
        struct tile ahead = {.rows = 0};
        if (loads_early(w)) {
            ahead = next_tile(w, &next, end);
        }
        taken = take_row_numbers(w, &tile, 1, numbers);
        run_stage(w, &tile, &at, 2, true, taken);
        if (next.rows > 0) {
            give_numbers(w, &next, 0);
        }
        pipe_barrier(PIPE_V);
        give_rows(w, &tile);
        if (!loads_early(w)) {
            ahead = next_tile(w, &next, end);
        }
        tile = next;
        next = ahead;
    }
}

/* ---- tiles, or pieces of rows, one after the other ---- */

/* Stages from `first` up to `last`, whose number goes to its lanes. */
OP_INLINE void run_stages(const struct work *w, const struct tile *tile, const struct places *at,
                          uint32_t first, uint32_t last, const float *const *numbers)
{
    for (uint32_t stage = first; stage <= last; stage++) {
        run_stage(w, tile, at, stage, stage == last, stage ? numbers[stage - 1] : NULL);
    }
}

OP_INLINE struct places begin_tile(const struct work *w, const struct tile *tile)
{
    struct places at = {.spare = made_at(w, tile), .made = made_at(w, tile)};
    take_inputs(w, tile, &at.in[0], &at.in[1]);
    begin_result(tile);
    return at;
}

/* Whole rows stay in UB from the first stage to the last one. */
OP_INLINE void run_tile(const struct work *w, const struct tile *tile)
{
    float numbers[OP_ROW_TILE_ROWS];
    const float *taken = NULL;
    const struct places at = begin_tile(w, tile);
    for (uint32_t stage = 0; stage < ROW_FOLDS; stage++) {
        run_stage(w, tile, &at, stage, true, taken);
        pipe_barrier(PIPE_V);
        give_numbers(w, tile, stage);
        taken = take_row_numbers(w, tile, stage, numbers);
    }
    run_stage(w, tile, &at, ROW_FOLDS, true, taken);
    free_inputs(tile);
    store(w, tile);
}

/* One pass over the pieces of a row, to the end of a stage. */
OP_INLINE void run_pass(const struct work *w, struct tile *tile, uint32_t stage,
                        const float *const *numbers)
{
    for (tile->first = 0; tile->first < w->length; tile->first += w->most, tile->slot ^= 1) {
        tile->parity = tile->slot;
        set_count(w, tile, op_min64(w->most, w->length - tile->first));
        load(w, tile);
        const struct places at = begin_tile(w, tile);
        run_stages(w, tile, &at, 0, stage, numbers);
        free_inputs(tile);
        if (stage == ROW_FOLDS) {
            store(w, tile);
        } else {
            drop_result(tile);
        }
    }
}

OP_INLINE void run_long(const struct work *w, struct tile *tile)
{
    float number[ROW_FOLDS];
    const float *numbers[ROW_FOLDS] = {NULL};
    for (uint32_t stage = 0; stage < ROW_FOLDS; stage++) {
        run_pass(w, tile, stage, numbers);
        pipe_barrier(PIPE_V);
        give_numbers(w, tile, stage);
        numbers[stage] = take_row_numbers(w, tile, stage, &number[stage]);
    }
    run_pass(w, tile, ROW_FOLDS, numbers);
}

OP_INLINE void run_tiles(const struct work *w, struct tile tile, uint64_t end)
{
    load(w, &tile);
    while (tile.rows > 0) {
        const struct tile next = next_tile(w, &tile, end);
        run_tile(w, &tile);
        tile = next;
    }
}

OP_INLINE void run_rows(const struct op_row_program_args *args)
{
    const struct op_row_program_args t = *args;
    const bool ahead = ROW_INPUTS == 1 && ROW_FOLDS == 2;
    const uint32_t extra = ROW_SPARE && t.type != OP_TYPE_F32 ? 4 : 0;
    struct work w = ahead ? lay_out_ahead(t.type, t.length, extra, 0)
                          : lay_out(t.type, t.length, OP_ROW_TILE_LEAST, true);
    w.in_a = t.in[0];
    w.in_b = t.in[1];
    w.to = t.out;
    w.saturate = op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.rows);
    begin_work(&w);
    set_vector_mask(0, 2 * OP_ROW_TILE_ROWS); // numbers are spread by eight rows
    vector_dup(op_ub_f32(NUMBERS), 0.0f, 2 * OP_ROW_TILE_ROWS / 64, 1, 1, 8, 8);
    struct tile tile = first_tile(&w, begin, end);
    if (w.length > w.most) {
        for (; tile.row < end; tile.row++) {
            run_long(&w, &tile);
        }
    } else if (ahead) {
        run_ahead(&w, tile, end);
    } else {
        run_tiles(&w, tile, end);
    }
    end_work(&w);
}
