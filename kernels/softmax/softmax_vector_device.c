/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its relatives along dense rows on the vector unit, in f32 whatever the type. Short
 * rows go several at a time, long ones in pieces, which are read again for each pass. While the
 * scalar unit reads a tile's numbers, the vector unit is at work on the tile before or after it.
 * Flags and sums as in row_tile.h.
 */
#include "../device/row_tile.h"
#include "softmax_args.h"

#include <math.h>
#include <stddef.h>

struct softmax {
    struct work work;
    uint32_t mode;
};

/* Maxima of f16 are taken as they were loaded: 128 lanes a row. */
OP_INLINE bool has_half_lanes(const struct softmax *s)
{
    return s->work.type == OP_TYPE_F16;
}

OP_INLINE void reset_maxima(const struct softmax *s, uint32_t rows)
{
    if (has_half_lanes(s)) {
        set_vector_mask(0, rows * 128);
        vector_dup(op_ub_f16(LANES), (half)-INFINITY, (uint8_t)rows, 1, 1, 8, 8);
    } else {
        set_vector_mask(0, rows * 64);
        vector_dup(op_ub_f32(LANES), -INFINITY, (uint8_t)rows, 1, 1, 8, 8);
    }
}

OP_INLINE void keep_columns(const struct softmax *s, const struct tile *tile, uint32_t a)
{
    const uint32_t lanes = has_half_lanes(s) ? 128 : 64;
    const uint8_t rows = (uint8_t)tile->rows;
    set_mask_norm();
    for (uint32_t first = 0; first < tile->count; first += lanes) {
        if (first > 0) {
            pipe_barrier(PIPE_V);
        }
        take_columns(tile, first);
        if (has_half_lanes(s)) {
            const uint32_t left = tile->count - first;
            set_vector_mask(left > 64 ? ~0ull >> (128 - op_min(128, left)) : 0,
                            ~0ull >> (64 - op_min(64, left)));
            vmax(op_ub_f16(LANES), op_ub_f16(LANES), op_ub_f16(s->work.a[tile->slot] + first * 2),
                 rows, 1, 1, 1, 8, 8, (uint8_t)(tile->pitch / 16));
        } else {
            vmax(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(a + first * 4), rows, 1, 1, 1, 8, 8,
                 (uint8_t)(tile->pitch / 8));
        }
    }
    set_mask_count();
}

/* Keeps the larger ones of the rows' elements and their lanes. `a`: the elements as f32. */
OP_INLINE void keep_lanes(const struct softmax *s, const struct tile *tile, uint32_t a)
{
    const uint8_t repeats = repeats_of(tile->count),
                  half_repeats = (uint8_t)((tile->count + 127) / 128);
    if (tile->by_columns) {
        keep_columns(s, tile, a);
        return;
    }
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint32_t lanes = LANES + r * LANE_BYTES;
        if (has_half_lanes(s)) {
            vmax(op_ub_f16(lanes), op_ub_f16(lanes),
                 op_ub_f16(s->work.a[tile->slot] + r * tile->pitch * 2), half_repeats, 1, 1, 1, 0,
                 0, 8);
        } else {
            vmax(op_ub_f32(lanes), op_ub_f32(lanes), op_ub_f32(at_row(tile, a, r)), repeats, 1, 1,
                 1, 0, 0, 8);
        }
    }
}

/* Lanes to what the scalar unit reads as maxima of the rows. */
OP_INLINE void give_half_maxima(uint32_t rows)
{
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    vcmax(op_ub_f16(HALF_NUMBERS), op_ub_f16(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    set_mask_count();
}

OP_INLINE float half_maximum(uint32_t row)
{
    return (float)*(const __ubuf__ volatile half *)(uintptr_t)(HALF_NUMBERS + row * 2);
}

#if __NPU_ARCH__ == 2201
OP_INLINE void give_wide_maxima(uint32_t rows)
{
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcmax(op_ub_f32(NUMBERS), op_ub_f32(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    set_mask_count();
}

OP_INLINE float wide_maximum(uint32_t row)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)(NUMBERS + row * 4);
}
#else
/* The coupled core has no maximum of f32 lanes: 64 lanes to 8, of all rows, */
OP_INLINE void give_wide_maxima(uint32_t rows)
{
    __ubuf__ float *lanes = op_ub_f32(LANES);
    set_mask_norm();
    for (uint32_t width = 32; width >= 8; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        vmax(lanes, lanes, op_ub_f32(LANES + width * 4), (uint8_t)rows, 1, 1, 1, 8, 8, 8);
    }
    set_mask_count();
}

/* which the scalar unit joins, two a load. */
OP_INLINE float wide_maximum(uint32_t row)
{
    float most = -INFINITY;
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t two =
            *(const __ubuf__ volatile uint64_t *)(uintptr_t)(LANES + row * LANE_BYTES + i * 8);
        const uint32_t bits[2] = {(uint32_t)two, (uint32_t)(two >> 32)};
        for (uint32_t k = 0; k < 2; k++) {
            float lane;
            __builtin_memcpy(&lane, &bits[k], sizeof(lane));
            most = lane > most || lane != lane ? lane : most;
        }
    }
    return most;
}
#endif

/* Whether a tile's numbers stay with the vector unit. */
OP_INLINE bool stay(const struct tile *tile)
{
    return __NPU_ARCH__ == 2201 && tile->by_columns;
}

/* Behind a barrier; lanes are free once the scalar unit has taken the maxima. */
OP_INLINE void give_maxima(const struct softmax *s, const struct tile *tile)
{
    if (has_half_lanes(s)) {
        give_half_maxima(tile->rows);
    } else {
        give_wide_maxima(tile->rows);
    }
    if (!stay(tile)) {
        set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    }
}

/* Numbers of the rows times `factor` to BLOCKS. */
OP_INLINE void spread_times(uint32_t rows, uint32_t numbers, float factor)
{
    pipe_barrier(PIPE_V);
    if (factor != 1) {
        set_vector_mask(0, rows);
        vmuls(op_ub_f32(numbers), op_ub_f32(numbers), factor, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    spread_numbers(rows, numbers);
}

OP_INLINE float maximum(const struct softmax *s, uint32_t row)
{
    return has_half_lanes(s) ? half_maximum(row) : wide_maximum(row);
}

/* What is added to a row, minus its maximum: to `out`, or to BLOCKS. */
OP_INLINE void take_maxima(const struct softmax *s, const struct tile *tile, float *out)
{
    if (stay(tile)) {
        pipe_barrier(PIPE_V);
        if (has_half_lanes(s)) {
            set_vector_mask(0, tile->rows);
            vconv_f162f32(op_ub_f32(NUMBERS), op_ub_f16(HALF_NUMBERS), 1, 1, 1, 8, 4);
        }
        spread_times(tile->rows, NUMBERS, -1);
        return;
    }
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    if (tile->by_columns) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, BLOCK_BYTES / 4);
        for (uint32_t r = 0; r < tile->rows; r++) {
            spread_number(r, -maximum(s, r));
        }
    } else {
        for (uint32_t r = 0; r < tile->rows; r++) {
            out[r] = -maximum(s, r);
        }
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}

/* Sums, or what `mode` needs of them, for the scalar unit. */
OP_INLINE void give_sums(const struct tile *tile, uint32_t mode)
{
    __ubuf__ float *sums = op_ub_f32(SECOND_NUMBERS);
    pipe_barrier(PIPE_V);
    join_lanes(tile->rows, SECOND_NUMBERS);
    set_vector_mask(0, tile->rows);
    pipe_barrier(PIPE_V);
    if (mode == OP_SOFTMAX) {
        vrec(sums, sums, 1, 1, 1, 8, 8);
    } else if (mode == OP_SOFTMAX_LOG) {
        vln(sums, sums, 1, 1, 1, 8, 8);
    }
    if (!stay(tile)) {
        set_flag(PIPE_V, PIPE_S, EVENT_SECOND);
    }
}

/* To `out`, or to BLOCKS. */
OP_INLINE void take_sums(const struct tile *tile, uint32_t mode, float *out)
{
    const bool minus = mode == OP_SOFTMAX_LOG || mode == OP_SOFTMAX_BACKWARD;
    const float factor = minus ? -1 : 1;
    if (stay(tile)) {
        spread_times(tile->rows, SECOND_NUMBERS, factor);
        return;
    }
    take_numbers(tile->rows, SECOND_NUMBERS, EVENT_SECOND, factor, out);
    if (tile->by_columns) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, BLOCK_BYTES / 4);
        for (uint32_t r = 0; r < tile->rows; r++) {
            spread_number(r, out[r]);
        }
    }
}

/* What steps on rows take: numbers, or those of BLOCKS. */
OP_INLINE const float *numbers_of(const struct tile *tile, const float *numbers)
{
    return tile->by_columns ? NULL : numbers;
}

OP_INLINE void exponentials(const struct tile *tile, uint32_t to, uint32_t from)
{
    const uint8_t repeats = all_of(tile);
    vexp(op_ub_f32(to), op_ub_f32(from), repeats, 1, 1, 8, 8);
}

OP_INLINE void subtract(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = all_of(tile);
    vsub(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

/* From a - maximum and e^(a - maximum), both f32, the result in place of the latter. */
OP_INLINE void finish_forward(const struct softmax *s, const struct tile *tile, uint32_t a,
                              uint32_t made, const float *sums)
{
    if (s->mode == OP_SOFTMAX) {
        multiply_numbers(tile, made, made, sums);
    } else {
        add_numbers(tile, made, a, sums);
    }
}

OP_INLINE void finish_backward(const struct softmax *s, const struct tile *tile, uint32_t a,
                               uint32_t b, uint32_t made, const float *sums)
{
    if (s->mode == OP_SOFTMAX_BACKWARD) {
        add_numbers(tile, a, a, sums);
        multiply(tile, made, a, b);
    } else {
        exponentials(tile, made, b);
        multiply_numbers(tile, made, made, sums);
        subtract(tile, made, a, made);
    }
}

/* Adds a tile's terms of the backward sum to the lanes. */
OP_INLINE void take_terms(const struct softmax *s, const struct tile *tile, uint32_t a, uint32_t b,
                          uint32_t made)
{
    if (s->mode == OP_SOFTMAX_BACKWARD) {
        multiply(tile, made, a, b);
        add_lanes(tile, made);
    } else {
        add_lanes(tile, a);
    }
}

/* Whole rows of two inputs, which stay in UB from the first pass to the last one. */
OP_INLINE void run_backward(const struct softmax *s, const struct tile *tile)
{
    float sums[OP_ROW_TILE_ROWS];
    uint32_t a, b;
    const uint32_t made = made_at(&s->work, tile);
    take_inputs(&s->work, tile, &a, &b);
    begin_result(tile);
    begin_sums(tile->rows);
    take_terms(s, tile, a, b, made);
    give_sums(tile, s->mode);
    take_sums(tile, s->mode, sums);
    finish_backward(s, tile, a, b, made, numbers_of(tile, sums));
    free_inputs(tile);
    store(&s->work, tile);
}

/* Where a tile's exponentials are made: those of the logarithm are for their sum alone. */
OP_INLINE uint32_t exponentials_at(const struct softmax *s, const struct tile *tile)
{
    if (s->mode == OP_SOFTMAX) {
        return wide_at(&s->work, tile);
    }
    return s->work.narrow ? s->work.wide_b : s->work.out[tile->parity];
}

/* From elements less their maximum to the sums of their exponentials. */
OP_INLINE void give_exponentials(const struct softmax *s, const struct tile *tile)
{
    const uint32_t x = wide_at(&s->work, tile), to = exponentials_at(s, tile);
    exponentials(tile, to, x);
    add_lanes(tile, to);
    give_sums(tile, s->mode);
}

/* A tile to the maxima of its lanes. */
OP_INLINE void begin_rows(const struct softmax *s, const struct tile *tile)
{
    reset_maxima(s, tile->rows);
    take_rows(&s->work, tile);
    pipe_barrier(PIPE_V);
    keep_lanes(s, tile, wide_at(&s->work, tile));
    free_narrow(&s->work, tile);
}

/* The end of a tile, beside it what is left to do of the next one's maxima. */
OP_INLINE void finish_rows(const struct softmax *s, const struct tile *tile,
                           const struct tile *next, const float *sums)
{
    const uint32_t x = wide_at(&s->work, tile),
                   made = s->work.narrow ? x : s->work.out[tile->parity];
    pipe_barrier(PIPE_V);
    if (s->mode == OP_SOFTMAX) {
        scale_rows(tile, made, x, sums);
    } else {
        shift_rows(tile, made, x, sums);
    }
    if (next->rows > 0) {
        give_maxima(s, next);
    }
    pipe_barrier(PIPE_V);
    give_rows(&s->work, tile);
}

OP_INLINE void run_forward(const struct softmax *s, struct tile tile, uint64_t end)
{
    float most[OP_ROW_TILE_ROWS], sums[OP_ROW_TILE_ROWS];
    load(&s->work, &tile);
    struct tile next = next_tile(&s->work, &tile, end);
    pipe_barrier(PIPE_V);
    begin_rows(s, &tile);
    pipe_barrier(PIPE_V);
    give_maxima(s, &tile);
    while (tile.rows > 0) {
        const uint32_t x = wide_at(&s->work, &tile);
        take_maxima(s, &tile, most);
        pipe_barrier(PIPE_V);
        shift_rows(&tile, x, x, numbers_of(&tile, most));
        set_lanes(tile.rows, 0);
        begin_result(&tile);
        give_exponentials(s, &tile);
        if (next.rows > 0) {
            begin_rows(s, &next);
        }
        struct tile ahead = {.rows = 0};
        if (loads_early(&s->work)) {
            ahead = next_tile(&s->work, &next, end);
        }
        take_sums(&tile, s->mode, sums);
        finish_rows(s, &tile, &next, numbers_of(&tile, sums));
        if (!loads_early(&s->work)) {
            ahead = next_tile(&s->work, &next, end);
        }
        tile = next;
        next = ahead;
    }
}

enum pass { PASS_MAX, PASS_SUM, PASS_RESULT };

/* One pass over the pieces of a row. */
OP_INLINE void run_pass(const struct softmax *s, struct tile *tile, enum pass pass,
                        const float *most, const float *sums)
{
    const uint32_t step = s->work.most;
    for (tile->first = 0; tile->first < s->work.length; tile->first += step, tile->slot ^= 1) {
        tile->parity = tile->slot;
        uint32_t a, b;
        const uint32_t made = made_at(&s->work, tile);
        set_count(&s->work, tile, op_min64(step, s->work.length - tile->first));
        load(&s->work, tile);
        take_inputs(&s->work, tile, &a, &b);
        begin_result(tile);
        if (pass == PASS_MAX) {
            pipe_barrier(PIPE_V);
            keep_lanes(s, tile, a);
        } else if (!s->work.in_b) {
            add_numbers(tile, a, a, most);
            exponentials(tile, made, a);
        }
        if (pass == PASS_SUM && s->work.in_b) {
            take_terms(s, tile, a, b, made);
        } else if (pass == PASS_SUM) {
            add_lanes(tile, made);
        }
        if (pass == PASS_RESULT && s->work.in_b) {
            finish_backward(s, tile, a, b, made, sums);
        } else if (pass == PASS_RESULT) {
            finish_forward(s, tile, a, made, sums);
        }
        free_inputs(tile);
        if (pass == PASS_RESULT) {
            store(&s->work, tile);
        } else {
            drop_result(tile);
        }
    }
}

OP_INLINE void run_long(const struct softmax *s, struct tile *tile)
{
    float most[1] = {0}, sums[1] = {0};
    if (!s->work.in_b) {
        pipe_barrier(PIPE_V);
        reset_maxima(s, 1);
        run_pass(s, tile, PASS_MAX, most, sums);
        pipe_barrier(PIPE_V);
        give_maxima(s, tile);
        take_maxima(s, tile, most);
    }
    begin_sums(1);
    run_pass(s, tile, PASS_SUM, most, sums);
    give_sums(tile, s->mode);
    take_sums(tile, s->mode, sums);
    run_pass(s, tile, PASS_RESULT, most, sums);
}

OP_INLINE void run(const struct softmax *s, uint64_t begin, uint64_t end)
{
    struct tile tile = first_tile(&s->work, begin, end);
    if (s->work.length > s->work.most) {
        for (; tile.row < end; tile.row++) {
            run_long(s, &tile);
        }
        return;
    }
    if (!s->work.in_b) {
        run_forward(s, tile, end);
        return;
    }
    load(&s->work, &tile);
    while (tile.rows > 0) {
        const struct tile next = next_tile(&s->work, &tile, end);
        run_backward(s, &tile);
        tile = next;
    }
}

__global__ __vector__ void softmax_vector(struct op_softmax_vector_args args)
{
    const struct op_softmax_vector_args t = args;
    const bool backward = t.mode == OP_SOFTMAX_BACKWARD || t.mode == OP_SOFTMAX_LOG_BACKWARD;
    const uint32_t extra = t.mode == OP_SOFTMAX_LOG && t.type != OP_TYPE_F32 ? 4 : 0;
    struct softmax s = {.work = backward ? lay_out(t.type, t.length, OP_ROW_TILE_LEAST, true)
                                         : lay_out_ahead(t.type, t.length, extra, 0),
                        .mode = t.mode};
    s.work.in_a = t.a;
    s.work.in_b = backward ? t.b : 0;
    s.work.to = t.out;
    s.work.saturate = op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    begin_work(&s.work);
    set_vector_mask(0, 2 * OP_ROW_TILE_ROWS); // numbers are spread by eight rows
    vector_dup(op_ub_f32(NUMBERS), 0.0f, 2 * OP_ROW_TILE_ROWS / 64, 1, 1, 8, 8);
    run(&s, begin, op_min64(begin + t.per_block, t.rows));
    end_work(&s.work);
}
