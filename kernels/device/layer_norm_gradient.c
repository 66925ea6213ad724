/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of layer norm and root mean square norm in one pass over memory. While the scalar unit
 * reads a tile's sums, the vector unit adds up the gradient of the weights. Flags and sums as in
 * row_tile.h; beside them MTE2 -> V 3: weights loaded; MTE2 -> S 0 and S -> MTE2 0: statistics
 * loaded, and read; V -> MTE3 2: sums of the weights are ready.
 */
#include "layer_norm_gradient_args.h"
#include "row_tile.h"

enum {
    TILE_ROWS = OP_ROW_TILE_ROWS / 2, /* two sums a row */
    STATISTICS = 512,                 /* rows whose mean and deviation wait in UB */
    MEANS = ROWS_END,
    INVERSES = MEANS + STATISTICS * 4,
    PRODUCT_NUMBERS = INVERSES + STATISTICS * 4,
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

/* Rows of f32 take the places that inputs of f32 leave free, or lie behind all others. */
OP_INLINE void lay_out_rows(struct gradient *g)
{
    const uint32_t bytes = OP_NORM_GRADIENT_MOST * 4, behind = g->work.wide_b + bytes + ROW_BYTES;
    // Of two operands, one begins at an odd row (HW-VEC-41).
    g->work.made += g->work.narrow ? ROW_BYTES : 0;
    g->weight = g->work.narrow ? behind : g->work.wide_a;
    g->by_weight = g->work.narrow ? behind + bytes : g->work.wide_b;
    g->by_bias = g->by_weight + bytes;
}

OP_INLINE void begin_rows(const struct gradient *g)
{
    const uint32_t count = (uint32_t)g->t->length;
    if (g->t->weight) {
        op_load(g->weight, g->t->weight, count * 4);
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

/* The statistics of a tile's rows, in UB; `minus`: 0 without means. */
OP_INLINE void take_statistics(struct gradient *g, const struct tile *tile, float *minus,
                               float *inverse)
{
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
        minus[r] = g->t->mean ? -number(MEANS + first + r * 4) : 0;
        inverse[r] = number(INVERSES + first + r * 4);
    }
}

/* Sums over rows: a row waits for the one before, so rows ride beside steps that wait anyway; of
 * more short rows than a row has columns of 64 lanes, column by column. */
OP_INLINE bool rides(const struct tile *tile)
{
    return tile->rows <= (tile->count + 63) / 64;
}

OP_INLINE void add_bias_row(const struct gradient *g, const struct tile *tile, uint32_t dy,
                            uint32_t row)
{
    if (rides(tile) && row < tile->rows) {
        set_vector_mask(0, tile->count);
        vadd(op_ub_f32(g->by_bias), op_ub_f32(g->by_bias), op_ub_f32(at_row(tile, dy, row)),
             repeats_of(tile->count), 1, 1, 1, 8, 8, 8);
    }
}

OP_INLINE void add_weight_row(const struct gradient *g, const struct tile *tile, uint32_t products,
                              const float *inverse, uint32_t row)
{
    if (rides(tile) && row < tile->rows) {
        set_vector_mask(0, tile->count);
        vaxpy(op_ub_f32(g->by_weight), op_ub_f32(at_row(tile, products, row)), inverse[row],
              repeats_of(tile->count), 1, 1, 8, 8);
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

/* Products of gradient and c, and all rows of the gradient into its sum. */
OP_INLINE void take_products(const struct gradient *g, const struct tile *tile, uint32_t products,
                             uint32_t dy, uint32_t c)
{
    add_bias_row(g, tile, dy, 0);
    multiply(tile, products, dy, c);
    add_bias_row(g, tile, dy, 1);
    for (uint32_t r = 2; rides(tile) && r < tile->rows; r++) {
        pipe_barrier(PIPE_V);
        add_bias_row(g, tile, dy, r);
    }
    if (!rides(tile)) {
        add_columns(tile, g->by_bias, dy);
    }
}

OP_INLINE void weigh(const struct gradient *g, const struct tile *tile, uint32_t dy)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->rows * 64);
    vector_dup(op_ub_f32(LANES), 0.0f, (uint8_t)tile->rows, 1, 1, 8, 8);
    vector_dup(op_ub_f32(PRODUCT_LANES), 0.0f, (uint8_t)tile->rows, 1, 1, 8, 8);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; g->t->weight && r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, dy, r));
        vmul(row, row, op_ub_f32(g->weight), repeats_of(tile->count), 1, 1, 1, 8, 8, 8);
    }
}

/* Sums of g and of products * weight along rows, on their way to the scalar unit. */
OP_INLINE void begin_row_sums(const struct gradient *g, const struct tile *tile, uint32_t weighted,
                              uint32_t products, const float *inverse)
{
    const uint8_t repeats = repeats_of(tile->count);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *lanes = op_ub_f32(LANES + r * LANE_BYTES),
                       *product_lanes = op_ub_f32(PRODUCT_LANES + r * LANE_BYTES),
                       *row = op_ub_f32(at_row(tile, products, r));
        vadd(lanes, lanes, op_ub_f32(at_row(tile, weighted, r)), repeats, 1, 1, 1, 0, 0, 8);
        if (g->t->weight) {
            vmla(product_lanes, row, op_ub_f32(g->weight), repeats, 1, 1, 1, 0, 8, 8);
        } else {
            vadd(product_lanes, product_lanes, row, repeats, 1, 1, 1, 0, 0, 8);
        }
    }
    add_weight_row(g, tile, products, inverse, 1);
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcadd(op_ub_f32(NUMBERS), op_ub_f32(LANES), (uint8_t)tile->rows, 1, 1, 8, 0);
    vcadd(op_ub_f32(PRODUCT_NUMBERS), op_ub_f32(PRODUCT_LANES), (uint8_t)tile->rows, 1, 1, 8, 0);
    set_mask_count();
    set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    add_weight_row(g, tile, products, inverse, 2);
    for (uint32_t r = 3; rides(tile) && r < tile->rows; r++) {
        pipe_barrier(PIPE_V);
        add_weight_row(g, tile, products, inverse, r);
    }
    if (!rides(tile)) {
        multiply_numbers(tile, products, products, inverse);
        add_columns(tile, g->by_weight, products);
    }
}

/* What the sums make of a row: g + of_row + c * of_element, all times inverse. */
OP_INLINE void end_row_sums(const struct gradient *g, const struct tile *tile, const float *inverse,
                            float *of_row, float *of_element)
{
    const float share = -1.0f / (float)g->t->length;
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    for (uint32_t r = 0; r < tile->rows; r++) {
        of_row[r] = g->t->mean ? number(NUMBERS + r * 4) * share : 0;
        of_element[r] = number(PRODUCT_NUMBERS + r * 4) * share * inverse[r] * inverse[r];
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}

OP_INLINE void finish(const struct tile *tile, uint32_t made, uint32_t weighted, uint32_t c,
                      const float *of_row, const float *of_element, const float *inverse)
{
    const uint8_t repeats = repeats_of(tile->count);
    add_numbers(tile, made, weighted, of_row);
    pipe_barrier(PIPE_V);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vaxpy(op_ub_f32(at_row(tile, made, r)), op_ub_f32(at_row(tile, c, r)), of_element[r],
              repeats, 1, 1, 8, 8);
    }
    multiply_numbers(tile, made, made, inverse);
}

OP_INLINE void run_rows(struct gradient *g, const struct tile *tile)
{
    float minus[TILE_ROWS], inverse[TILE_ROWS], of_row[TILE_ROWS], of_element[TILE_ROWS];
    uint32_t c, dy;
    const uint32_t made = made_at(&g->work, tile);
    take_statistics(g, tile, minus, inverse);
    take_inputs(&g->work, tile, &c, &dy);
    begin_result(tile);
    if (g->t->mean) {
        add_numbers(tile, c, c, minus);
    } else {
        pipe_barrier(PIPE_V);
    }
    take_products(g, tile, made, dy, c);
    weigh(g, tile, dy);
    add_weight_row(g, tile, made, inverse, 0);
    begin_row_sums(g, tile, dy, made, inverse);
    end_row_sums(g, tile, inverse, of_row, of_element);
    finish(tile, made, dy, c, of_row, of_element, inverse);
    free_inputs(tile);
    if (g->t->out) {
        store(&g->work, tile);
    } else {
        drop_result(tile);
    }
}

OP_INLINE void store_parts(const struct gradient *g)
{
    const uint32_t pitch = g->t->pitch * 4, bytes = (uint32_t)g->t->length * 4;
    const uint64_t to = g->t->parts + (uint64_t)get_block_idx() * 2 * pitch;
    set_flag(PIPE_V, PIPE_MTE3, EVENT_PARTS);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_PARTS);
    op_store(to, g->by_weight, bytes);
    op_store(to + pitch, g->by_bias, bytes);
}

__global__ __vector__ void layer_norm_gradient(struct op_layer_norm_gradient_args args)
{
    const struct op_layer_norm_gradient_args t = args;
    struct gradient g = {.work = lay_out(t.type, t.length, OP_NORM_GRADIENT_MOST, true), .t = &t};
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
    load(&g.work, &tile);
    begin_rows(&g);
    while (tile.rows > 0) {
        const struct tile next = next_tile(&g.work, &tile, g.end);
        run_rows(&g, &tile);
        tile = next;
    }
    store_parts(&g);
    end_work(&g.work);
}
