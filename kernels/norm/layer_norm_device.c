/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer norm and root mean square norm in one pass over memory: rows stay in UB from their sums to
 * their result. While the scalar unit reads a tile's numbers, the vector unit is at work on the
 * tile before or after it. Flags and sums as in row_tile.h; beside them MTE2 -> V 3: weights
 * loaded; MTE3
 * -> S 0 and S -> MTE3 0: statistics stored, and ready.
 */
#include "../device/row_tile.h"
#include "layer_norm_args.h"
#include "norm_far_device.h"

enum {
    STATISTICS = 512, /* rows whose mean and deviation wait in UB */
    MEANS = ROWS_END,
    INVERSES = MEANS + STATISTICS * 4,
    EVENT_WEIGHTS = 3,
    EVENT_STATISTICS = 0,
};

struct norm {
    struct work work;
    const struct op_layer_norm_args *t;
    uint32_t weight, bias; /* buffers */
    float share;           /* 1 / length */
    float root;            /* of the length */
};

/* A row of weights; each begins at an odd row (HW-VEC-41). */
OP_INLINE uint32_t weight_bytes(uint64_t length)
{
    return ((uint32_t)length * 4 + 2 * ROW_BYTES - 1) / (2 * ROW_BYTES) * (2 * ROW_BYTES);
}

OP_INLINE void lay_out_weights(struct norm *n)
{
    n->weight = n->work.wide_b + ROW_BYTES;
    n->bias = n->weight + weight_bytes(n->t->length);
}

OP_INLINE void load_weights(const struct norm *n)
{
    const uint32_t bytes = (uint32_t)n->t->length * 4;
    if (n->t->weight) {
        op_load(n->weight, n->t->weight, bytes);
    }
    if (n->t->bias) {
        op_load(n->bias, n->t->bias, bytes);
    }
    set_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
}

/* Adds the squares of the rows' elements to their lanes. */
OP_INLINE void sum_squares(const struct tile *tile, uint32_t x)
{
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, x, r));
        vmla(op_ub_f32(LANES + r * LANE_BYTES), row, row, repeats, 1, 1, 1, 0, 8, 8);
    }
}

/* Sums of up to 2^13 equal f16 or bf16 are exact; then the division has to be, or the error of a
 * large mean counts as deviation. */
OP_INLINE void take_exact_means(const struct norm *n, uint32_t rows, float *minus)
{
    const float length = (float)n->t->length;
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    for (uint32_t r = 0; r < rows; r++) {
        const float sum = *(const __ubuf__ volatile float *)(uintptr_t)(NUMBERS + r * 4);
        const float mean = -sum * n->share;
        // An infinite mean leaves NaN, which the maximum takes for a number: it stays infinite.
        const float rest = __builtin_fmaxf(-__builtin_fmaf(mean, length, sum), -__FLT_MAX__);
        minus[r] = __builtin_fmaf(rest, n->share, mean);
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}

/* Means go out of the rows, which stay where they are; their minus. */
OP_INLINE void take_means(const struct norm *n, const struct tile *tile, float *minus)
{
    const uint32_t x = wide_at(&n->work, tile);
    if (n->t->no_mean) {
        for (uint32_t r = 0; r < tile->rows; r++) {
            minus[r] = 0;
        }
        return;
    }
    if (n->work.narrow) {
        take_exact_means(n, tile->rows, minus);
    } else {
        take_numbers(tile->rows, NUMBERS, EVENT_LANES, -n->share, minus);
    }
    shift_rows(tile, x, x, minus);
}

/* Of rows whose mean is 0, for the scalar unit: 1 / sqrt(sum of squares + length * eps), the latter
 * in parts that the lanes begin with. Then lanes are free. */
OP_INLINE void give_inverses(const struct norm *n, const struct tile *tile)
{
    __ubuf__ float *sums = op_ub_f32(SECOND_NUMBERS);
    set_lanes(tile->rows, n->t->eps * (float)n->t->length / 64);
    pipe_barrier(PIPE_V);
    sum_squares(tile, wide_at(&n->work, tile));
    pipe_barrier(PIPE_V);
    join_lanes(tile->rows, SECOND_NUMBERS);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->rows);
    vrsqrt(sums, sums, 1, 1, 1, 8, 8);
    set_flag(PIPE_V, PIPE_S, EVENT_SECOND);
}

OP_INLINE void multiply_weights(const struct tile *tile, uint32_t to, uint32_t from,
                                uint32_t weight)
{
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmul(op_ub_f32(at_row(tile, to, r)), op_ub_f32(at_row(tile, from, r)), op_ub_f32(weight),
             repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* Whether the rounding of a mean counts beside what deviates from it. */
OP_INLINE bool means_are_far(uint32_t rows, const float *minus, const float *inverse)
{
    bool far = false;
    for (uint32_t r = 0; r < rows; r++) {
        far |= __builtin_fabsf(minus[r]) * inverse[r] > OP_NORM_FAR;
    }
    return far;
}

/* The mean of what is left of a tile's rows goes out of them until it counts no more. Lanes are
 * those of the next tile after. */
OP_INLINE void refine_means(const struct norm *n, const struct tile *tile, const struct tile *next,
                            float *minus, float *inverse)
{
    const uint32_t x = wide_at(&n->work, tile);
    const float *part = minus;
    float rest[OP_ROW_TILE_ROWS];
    for (int round = 0; round < OP_NORM_ROUNDS && means_are_far(tile->rows, part, inverse);
         round++) {
        begin_sums(tile->rows);
        add_lanes(tile, x);
        pipe_barrier(PIPE_V);
        join_lanes(tile->rows, NUMBERS);
        set_flag(PIPE_V, PIPE_S, EVENT_LANES);
        take_numbers(tile->rows, NUMBERS, EVENT_LANES, -n->share, rest);
        add_numbers(tile, x, x, rest);
        for (uint32_t r = 0; r < tile->rows; r++) {
            minus[r] += rest[r];
        }
        give_inverses(n, tile);
        take_numbers(tile->rows, SECOND_NUMBERS, EVENT_SECOND, n->root, inverse);
        part = rest;
    }
    if (part == rest && next->rows > 0) {
        begin_sums(next->rows);
    }
}

/* All that weights and biases do, where the rows are. */
OP_INLINE void weigh_rows(const struct norm *n, const struct tile *tile, uint32_t x)
{
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmadd(op_ub_f32(at_row(tile, x, r)), op_ub_f32(n->weight), op_ub_f32(n->bias), repeats, 1,
              1, 1, 8, 8, 8);
    }
}

OP_INLINE void add_biases(const struct tile *tile, uint32_t at, uint32_t bias)
{
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, at, r));
        vadd(row, row, op_ub_f32(bias), repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* The sums of a tile's rows, for the scalar unit. */
OP_INLINE void give_sums(const struct norm *n, const struct tile *tile)
{
    if (tile->rows > 0 && !n->t->no_mean) {
        join_lanes(tile->rows, NUMBERS);
        set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    }
}

/* Steps of a tile's end beside those of the next one's beginning; rows of either may be none. */
OP_INLINE void finish_rows(const struct norm *n, const struct tile *tile, const struct tile *next,
                           const float *inverse)
{
    const uint32_t x = wide_at(&n->work, tile),
                   made = n->work.narrow ? x : n->work.out[tile->parity];
    pipe_barrier(PIPE_V);
    if (tile->rows > 0) {
        begin_result(tile);
        scale_rows(tile, n->t->weight ? x : made, x, inverse);
    }
    if (!n->t->no_mean) {
        sum_rows(next, wide_at(&n->work, next));
    }
    pipe_barrier(PIPE_V);
    give_sums(n, next);
    if (n->t->weight && n->t->bias && made == x) {
        weigh_rows(n, tile, x);
    } else if (n->t->weight) {
        multiply_weights(tile, made, x, n->weight);
    }
    if (n->t->bias && !(n->t->weight && made == x)) {
        pipe_barrier(PIPE_V);
        add_biases(tile, made, n->bias);
    }
    if (tile->rows > 0) {
        pipe_barrier(PIPE_V);
        give_rows(&n->work, tile);
    }
}

OP_INLINE void put(uint32_t at, float value)
{
    *(__ubuf__ volatile float *)(uintptr_t)at = value;
}

/* The statistics of `count` rows from `row` on. */
OP_INLINE void store_statistics(const struct op_layer_norm_args *t, uint64_t row, uint32_t count)
{
    set_flag(PIPE_S, PIPE_MTE3, EVENT_STATISTICS);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_STATISTICS);
    if (t->mean) {
        op_store(t->mean + row * 4, MEANS, count * 4);
    }
    if (t->inverse) {
        op_store(t->inverse + row * 4, INVERSES, count * 4);
    }
    set_flag(PIPE_MTE3, PIPE_S, EVENT_STATISTICS);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_STATISTICS);
}

OP_INLINE float get(uint32_t at)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)at;
}

/* Whole lines of the statistics; the rest moves to the front. How many have gone. */
OP_INLINE uint32_t store_lines(const struct op_layer_norm_args *t, uint64_t row, uint32_t count)
{
    const uint32_t gone = count / 16 * 16;
    store_statistics(t, row, gone);
    for (uint32_t i = gone; i < count; i++) {
        put(MEANS + (i - gone) * 4, get(MEANS + i * 4));
        put(INVERSES + (i - gone) * 4, get(INVERSES + i * 4));
    }
    return gone;
}

/* A tile's mean and deviation stay until they fill lines. */
OP_INLINE void keep_statistics(const struct norm *n, const struct tile *tile,
                               const struct tile *next, const float *minus, const float *inverse,
                               uint64_t *first)
{
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint32_t at = (uint32_t)(tile->row + r - *first) * 4;
        put(MEANS + at, -minus[r]);
        put(INVERSES + at, inverse[r]);
    }
    const uint32_t waiting = tile->rows > 0 ? (uint32_t)(tile->row + tile->rows - *first) : 0;
    if (next->rows == 0) {
        store_statistics(n->t, *first, waiting);
    } else if (waiting + next->rows > STATISTICS) {
        *first += store_lines(n->t, *first, waiting);
    }
}

/* The first steps of the first tile. */
OP_INLINE void begin_rows(const struct norm *n, const struct tile *tile)
{
    const struct tile none = {.rows = 0};
    pipe_barrier(PIPE_V);
    set_lanes(tile->rows, 0);
    take_rows(&n->work, tile);
    free_narrow(&n->work, tile);
    finish_rows(n, &none, tile, NULL);
}

/* What needs no vector unit is done while that has most to do. */
OP_INLINE void run(const struct norm *n, uint64_t begin, uint64_t end)
{
    float minus[2][OP_ROW_TILE_ROWS], inverse[2][OP_ROW_TILE_ROWS];
    uint64_t first = begin; // row of the first statistics in UB
    struct tile done = {.rows = 0}, tile = first_tile(&n->work, begin, end);
    load(&n->work, &tile);
    struct tile next = next_tile(&n->work, &tile, end);
    load_weights(n);
    begin_rows(n, &tile);
    while (tile.rows > 0) {
        const uint32_t now = tile.parity, before = now ^ 1;
        pipe_barrier(PIPE_V);
        take_means(n, &tile, minus[now]);
        give_inverses(n, &tile);
        if (next.rows > 0) {
            set_lanes(next.rows, 0);
            take_rows(&n->work, &next);
            free_narrow(&n->work, &next);
        }
        struct tile ahead = {.rows = 0};
        if (loads_early(&n->work)) {
            ahead = next_tile(&n->work, &next, end);
        }
        keep_statistics(n, &done, &tile, minus[before], inverse[before], &first);
        take_numbers(tile.rows, SECOND_NUMBERS, EVENT_SECOND, n->root, inverse[now]);
        if (!n->work.narrow) {
            refine_means(n, &tile, &next, minus[now], inverse[now]);
        }
        finish_rows(n, &tile, &next, inverse[now]);
        if (!loads_early(&n->work)) {
            ahead = next_tile(&n->work, &next, end);
        }
        done = tile;
        tile = next;
        next = ahead;
    }
    keep_statistics(n, &done, &tile, minus[done.parity], inverse[done.parity], &first);
}

__global__ __vector__ void layer_norm(struct op_layer_norm_args args)
{
    const struct op_layer_norm_args t = args;
    const uint32_t weights = 2 * weight_bytes(t.length) + ROW_BYTES;
    struct norm n = {.work = lay_out_ahead(t.type, t.length, 0, weights),
                     .t = &t,
                     .share = 1.0f / (float)t.length,
                     .root = __builtin_sqrtf((float)t.length)};
    n.work.in_a = t.in;
    n.work.to = t.out;
    n.work.saturate = op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    lay_out_weights(&n);
    begin_work(&n.work);
    run(&n, begin, op_min64(begin + t.per_block, t.rows));
    end_work(&n.work);
}
