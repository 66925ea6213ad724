/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of layer norm and root mean square norm in one pass over memory. Gradients of weights
 * and biases are sums over rows, where each row waits for the one before: they ride beside steps
 * that have a barrier anyway, and while the scalar unit reads a tile's sums. Flags and sums as in
 * row_tile.h; beside them MTE2 -> V 3: weights loaded; MTE2 -> S 0 and S -> MTE2 0: statistics
 * loaded, and read; V -> MTE3 2: sums of the weights are ready.
 */
#include "../device/row_tile.h"
#include "layer_norm_gradient_args.h"

enum {
    TILE_ROWS = OP_ROW_TILE_ROWS / 2, /* two sums a row */
    STATISTICS = 512,                 /* rows whose mean and deviation wait in UB */
    MEANS = ROWS_END,
    INVERSES = MEANS + STATISTICS * 4,
    PRODUCT_LANES = LANES + TILE_ROWS * LANE_BYTES,
    EVENT_WEIGHTS = 3,
    EVENT_STATISTICS = 0,
    EVENT_PARTS = 2,
};

struct gradient {
    struct work work;
    const struct op_layer_norm_gradient_args *t;
    uint32_t weight, by_weight, by_bias; /* buffers of a row */
    uint64_t known, end;                 /* statistics in UB: rows [known, ..), none beyond end */
};

/* What is known of a tile's rows; factor: of the sum of products. */
struct statistics {
    float minus[TILE_ROWS], inverse[TILE_ROWS], factor[TILE_ROWS];
};

/* A tile at work. */
struct rows {
    struct tile tile;
    const struct statistics *known;
    uint32_t c, dy, products; /* f32; dy times the weight later */
    uint32_t biases, weights; /* rows that are in the sums over rows */
};

/* Rows of f32 lie behind the buffers. */
OP_INLINE uint32_t row_bytes(uint64_t length)
{
    return ((uint32_t)length * 4 + 2 * ROW_BYTES - 1) / (2 * ROW_BYTES) * (2 * ROW_BYTES);
}

OP_INLINE uint32_t most_of(uint64_t length)
{
    enum { ELEMENT_BYTES = 24, GRANULE = 128 }; // as lay_out has it, of two inputs
    const uint32_t other = 3 * row_bytes(length) + 6 * ROW_BYTES;
    return op_min((LANES - other) / ELEMENT_BYTES / GRANULE, REPEATS_MAX * 64 / GRANULE) * GRANULE;
}

OP_INLINE void lay_out_rows(struct gradient *g)
{
    const struct work *w = &g->work;
    const uint32_t bytes = row_bytes(w->length),
                   behind = w->narrow ? w->wide_b + w->most * 4 : w->wide_a;
    // Of two operands one begins at an odd row (HW-VEC-41): dy, and products of narrow types.
    g->work.made += w->narrow ? ROW_BYTES : 0;
    g->weight = (behind + 4 * ROW_BYTES - 1) / (2 * ROW_BYTES) * (2 * ROW_BYTES);
    g->by_bias = g->weight + bytes;
    g->by_weight = g->by_bias + bytes + (w->narrow ? 0 : ROW_BYTES);
}

OP_INLINE void begin_rows(const struct gradient *g)
{
    const uint32_t count = g->t->pitch;
    if (g->t->weight) {
        op_load(g->weight, g->t->weight, (uint32_t)g->t->length * 4);
    }
    set_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_WEIGHTS);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vector_dup(op_ub_f32(g->by_weight), 0.0f, repeats_of(count), 1, 1, 8, 8);
    vector_dup(op_ub_f32(g->by_bias), 0.0f, repeats_of(count), 1, 1, 8, 8);
}

OP_INLINE float number(uint32_t at)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)at;
}

/* The statistics of a tile's rows; `minus`: 0 without means. */
OP_INLINE void take_statistics(struct gradient *g, const struct tile *tile,
                               struct statistics *known)
{
    const float share = -1.0f / (float)g->t->length;
    if (tile->row + tile->rows > g->known + STATISTICS || tile->row < g->known) {
        const uint32_t count = (uint32_t)op_min64(STATISTICS, g->end - tile->row);
        g->known = tile->row;
        set_flag(PIPE_S, PIPE_MTE2, EVENT_STATISTICS);
        wait_flag(PIPE_S, PIPE_MTE2, EVENT_STATISTICS);
        if (g->t->mean) {
            op_load(MEANS, g->t->mean + g->known * 4, count * 4);
        }
        op_load(INVERSES, g->t->inverse + g->known * 4, count * 4);
        set_flag(PIPE_MTE2, PIPE_S, EVENT_STATISTICS);
        wait_flag(PIPE_MTE2, PIPE_S, EVENT_STATISTICS);
    }
    const uint32_t first = (uint32_t)(tile->row - g->known) * 4;
    for (uint32_t r = 0; r < tile->rows; r++) {
        const float inverse = number(INVERSES + first + r * 4);
        known->minus[r] = g->t->mean ? -number(MEANS + first + r * 4) : 0;
        known->inverse[r] = inverse;
        known->factor[r] = share * inverse * inverse * inverse;
    }
}

/* Whether sums over rows go row by row; of more short rows than a row has columns of 64 lanes,
 * column by column. */
OP_INLINE bool rides(const struct tile *tile)
{
    return tile->rows <= (tile->count + 63) / 64;
}

/* The next row of dy into its sum. */
OP_INLINE void ride_bias(const struct gradient *g, struct rows *r)
{
    if (rides(&r->tile) && r->biases < r->tile.rows) {
        set_vector_mask(0, r->tile.count);
        vadd(op_ub_f32(g->by_bias), op_ub_f32(g->by_bias),
             op_ub_f32(at_row(&r->tile, r->dy, r->biases++)), repeats_of(r->tile.count), 1, 1, 1, 8,
             8, 8);
    }
}

/* The next row of products, times 1 / deviation. */
OP_INLINE void ride_weight(const struct gradient *g, struct rows *r)
{
    if (rides(&r->tile) && r->weights < r->tile.rows) {
        const uint32_t row = r->weights++;
        set_vector_mask(0, r->tile.count);
        vaxpy(op_ub_f32(g->by_weight), op_ub_f32(at_row(&r->tile, r->products, row)),
              r->known->inverse[row], repeats_of(r->tile.count), 1, 1, 8, 8);
    }
}

OP_INLINE void add_columns(const struct tile *tile, uint32_t sum, uint32_t rows)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    for (uint32_t first = 0; first < tile->count; first += 64) {
        __ubuf__ float *to = op_ub_f32(sum + first * 4);
        set_vector_mask(0, ~0ull >> (64 - op_min(64, tile->count - first)));
        vadd(to, to, op_ub_f32(rows + first * 4), (uint8_t)tile->rows, 1, 1, 1, 0, 0,
             (uint8_t)(tile->pitch / 8));
    }
    set_mask_count();
}

/* The rows of dy that are left, before dy is overwritten. */
OP_INLINE void end_biases(const struct gradient *g, struct rows *r)
{
    if (!rides(&r->tile)) {
        add_columns(&r->tile, g->by_bias, r->dy);
    }
    while (rides(&r->tile) && r->biases < r->tile.rows) {
        pipe_barrier(PIPE_V);
        ride_bias(g, r);
        ride_weight(g, r);
    }
}

/* The same of products. */
OP_INLINE void end_weights(const struct gradient *g, struct rows *r)
{
    while (rides(&r->tile) && r->weights < r->tile.rows) {
        pipe_barrier(PIPE_V);
        ride_weight(g, r);
    }
    if (!rides(&r->tile)) {
        multiply_numbers(&r->tile, r->products, r->products, r->known->inverse);
        add_columns(&r->tile, g->by_weight, r->products);
    }
}

/* Sums of products * weight along rows. */
OP_INLINE void sum_products(const struct gradient *g, const struct rows *r)
{
    const uint8_t repeats = repeats_of(r->tile.count);
    set_vector_mask(0, r->tile.count);
    for (uint32_t i = 0; i < r->tile.rows; i++) {
        __ubuf__ float *lanes = op_ub_f32(PRODUCT_LANES + i * LANE_BYTES),
                       *row = op_ub_f32(at_row(&r->tile, r->products, i));
        if (g->t->weight) {
            vmla(lanes, row, op_ub_f32(g->weight), repeats, 1, 1, 1, 0, 8, 8);
        } else {
            vadd(lanes, lanes, row, repeats, 1, 1, 1, 0, 0, 8);
        }
    }
}

OP_INLINE void weigh(const struct gradient *g, const struct rows *r)
{
    const uint8_t repeats = repeats_of(r->tile.count);
    set_vector_mask(0, r->tile.count);
    for (uint32_t i = 0; g->t->weight && i < r->tile.rows; i++) {
        __ubuf__ float *row = op_ub_f32(at_row(&r->tile, r->dy, i));
        vmul(row, row, op_ub_f32(g->weight), repeats, 1, 1, 1, 8, 8, 8);
    }
}

/* c = x - mean, and products = c * dy. */
OP_INLINE void take_products(const struct gradient *g, struct rows *r)
{
    const uint32_t rows = r->tile.rows;
    pipe_barrier(PIPE_V);
    if (g->t->mean) {
        shift_rows(&r->tile, r->c, r->c, r->known->minus);
    }
    ride_bias(g, r);
    set_lanes(rows, 0);
    set_vector_mask(0, rows * 64);
    vector_dup(op_ub_f32(PRODUCT_LANES), 0.0f, (uint8_t)rows, 1, 1, 8, 8);
    multiply(&r->tile, r->products, r->dy, r->c);
    ride_bias(g, r);
}

/* Sums of g and of products * weight along rows, on their way to the scalar unit. */
OP_INLINE void give_row_sums(const struct gradient *g, struct rows *r)
{
    pipe_barrier(PIPE_V);
    sum_products(g, r);
    ride_bias(g, r);
    ride_weight(g, r);
    end_biases(g, r);
    pipe_barrier(PIPE_V);
    weigh(g, r);
    ride_weight(g, r);
    pipe_barrier(PIPE_V);
    sum_rows(&r->tile, r->dy);
    pipe_barrier(PIPE_V);
    join_lanes(r->tile.rows, NUMBERS);
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcadd(op_ub_f32(SECOND_NUMBERS), op_ub_f32(PRODUCT_LANES), (uint8_t)r->tile.rows, 1, 1, 8, 0);
    set_mask_count();
    set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    end_weights(g, r);
}

/* What the sums make of a row: (g + of_row) * inverse + c * of_element. */
OP_INLINE void take_row_sums(const struct gradient *g, const struct rows *r, float *of_row,
                             float *of_element)
{
    const float share = -1.0f / (float)g->t->length;
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    for (uint32_t i = 0; i < r->tile.rows; i++) {
        of_row[i] = g->t->mean ? number(NUMBERS + i * 4) * share : 0;
        of_element[i] = number(SECOND_NUMBERS + i * 4) * r->known->factor[i];
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}

OP_INLINE void finish(const struct rows *r, uint32_t made, const float *of_row,
                      const float *of_element)
{
    const uint8_t repeats = repeats_of(r->tile.count);
    pipe_barrier(PIPE_V);
    scale_rows(&r->tile, made, r->c, of_element);
    shift_rows(&r->tile, r->dy, r->dy, of_row);
    pipe_barrier(PIPE_V);
    for (uint32_t i = 0; i < r->tile.rows; i++) {
        vaxpy(op_ub_f32(at_row(&r->tile, made, i)), op_ub_f32(at_row(&r->tile, r->dy, i)),
              r->known->inverse[i], repeats, 1, 1, 8, 8);
    }
}

OP_INLINE void give_rows_of(const struct gradient *g, const struct rows *r, uint32_t made)
{
    free_inputs(&r->tile);
    if (!g->t->out) {
        drop_result(&r->tile);
        return;
    }
    if (g->work.narrow) {
        pipe_barrier(PIPE_V);
        narrow(&g->work, &r->tile, made);
    }
    store_result(&g->work, &r->tile);
}

/* The tile after is on its way, and its statistics are taken to `then`, while the vector unit has
 * most to do. */
OP_INLINE struct tile run_rows(struct gradient *g, const struct tile *tile,
                               const struct statistics *now, struct statistics *then)
{
    float of_row[TILE_ROWS], of_element[TILE_ROWS];
    struct rows r = {.tile = *tile, .known = now, .products = made_at(&g->work, tile)};
    take_inputs(&g->work, tile, &r.c, &r.dy);
    begin_result(tile);
    take_products(g, &r);
    const struct tile next = next_tile(&g->work, tile, g->end);
    give_row_sums(g, &r);
    if (next.rows > 0) {
        take_statistics(g, &next, then);
    }
    take_row_sums(g, &r, of_row, of_element);
    const uint32_t made = g->work.narrow ? r.c : r.products;
    finish(&r, made, of_row, of_element);
    give_rows_of(g, &r, made);
    return next;
}

OP_INLINE void store_parts(const struct gradient *g)
{
    const uint32_t pitch = g->t->pitch * 4;
    const uint64_t to = g->t->parts + (uint64_t)get_block_idx() * 2 * pitch;
    set_flag(PIPE_V, PIPE_MTE3, EVENT_PARTS);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_PARTS);
    op_store(to, g->by_weight, pitch);
    op_store(to + pitch, g->by_bias, pitch);
}

__global__ __vector__ void layer_norm_gradient(struct op_layer_norm_gradient_args args)
{
    const struct op_layer_norm_gradient_args t = args;
    struct gradient g = {.work = lay_out(t.type, t.length, most_of(t.length), true), .t = &t};
    g.work.in_a = t.in;
    g.work.in_b = t.gradient;
    g.work.to = t.out;
    g.work.saturate = op_infinite_begin();
    lay_out_rows(&g);
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    g.end = op_min64(begin + t.per_block, t.rows);
    g.known = ~0ull - STATISTICS; // none
    begin_work(&g.work);
    struct tile tile = first_tile(&g.work, begin, g.end);
    tile.rows = op_min(tile.rows, TILE_ROWS);
    struct statistics known[2];
    load(&g.work, &tile);
    begin_rows(&g);
    take_statistics(&g, &tile, &known[tile.parity]);
    while (tile.rows > 0) {
        tile = run_rows(&g, &tile, &known[tile.parity], &known[tile.parity ^ 1]);
    }
    store_parts(&g);
    end_work(&g.work);
}
