/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its relatives along dense rows on the vector unit, in f32 whatever the type. Short
 * rows go several at a time, long ones in pieces, which are read again for each pass. Loads, and
 * stores of the rows before, run beside the arithmetic.
 *
 * A row's sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are added by the vector
 * unit's tree.
 *
 * Flags, event = slot 0, 1. MTE2 -> V: loaded; V -> MTE2: inputs free; V -> MTE3: result ready;
 * MTE3 -> V: stored. V -> S 2 and S -> V 2: numbers of rows, and that they are read.
 */
#include "copy.h"
#include "element.h"
#include "softmax_args.h"

#include <math.h>

/* Buffers begin where banks of the unified buffer do: what is converted or summed stands in another
 * bank (HW-VEC-42). */
enum {
    LANE_BYTES = 256, /* a row */
    ROW_BYTES = 256,  /* of a repeat: a second operand begins at an odd one */
    LANES = OP_SOFTMAX_TILE_BACKWARD * 24 + 3 * ROW_BYTES,
    NUMBERS = LANES + OP_SOFTMAX_ROWS * LANE_BYTES, /* f32 a row */
    HALF_NUMBERS = NUMBERS + OP_SOFTMAX_ROWS * 4,   /* f16 a row */
    EVENT_LANES = 2,
};

/** What the program works with: types, and where buffers of UB lie. */
struct work {
    const struct op_softmax_vector_args *t;
    bool backward, narrow, saturate;
    uint32_t unit;                 /* bytes of a stored element */
    uint32_t a[2], b[2], out[2];   /* as stored */
    uint32_t wide_a, wide_b, made; /* f32, of narrow types */
};

/** Rows in UB, or a piece of one. */
struct tile {
    uint64_t row;
    uint64_t first;              /* element of the row */
    uint32_t rows, count, pitch; /* pitch: elements, a multiple of 32 bytes */
    uint32_t slot;
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE uint32_t at_row(const struct tile *tile, uint32_t base, uint32_t row)
{
    return base + row * tile->pitch * 4;
}

OP_INLINE uint32_t tile_most(bool backward)
{
    return backward ? OP_SOFTMAX_TILE_BACKWARD : OP_SOFTMAX_TILE;
}

OP_INLINE struct work lay_out(const struct op_softmax_vector_args *t)
{
    struct work w = {.t = t, .unit = t->type == OP_TYPE_F32 ? 4 : 2};
    w.backward = t->mode == OP_SOFTMAX_BACKWARD || t->mode == OP_SOFTMAX_LOG_BACKWARD;
    w.narrow = w.unit == 2;
    const uint32_t bytes = tile_most(w.backward) * w.unit, wide = tile_most(w.backward) * 4;
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < 2; slot++, at += bytes * (w.backward ? 3 : 2)) {
        w.a[slot] = at;
        w.out[slot] = at + bytes;
        w.b[slot] = at + 2 * bytes + ROW_BYTES;
        at += w.backward ? ROW_BYTES : 0;
    }
    w.wide_a = at;
    w.made = at + wide;
    w.wide_b = at + 2 * wide + ROW_BYTES;
    return w;
}

OP_INLINE void load(const struct work *w, const struct tile *tile)
{
    const uint64_t at = (tile->row * w->t->length + tile->first) * w->unit,
                   pitch = w->t->length * w->unit;
    wait_flag(PIPE_V, PIPE_MTE2, tile->slot);
    op_load_rows(w->a[tile->slot], w->t->a + at, tile->rows, tile->count * w->unit, pitch,
                 tile->pitch * w->unit);
    if (w->backward) {
        op_load_rows(w->b[tile->slot], w->t->b + at, tile->rows, tile->count * w->unit, pitch,
                     tile->pitch * w->unit);
    }
    set_flag(PIPE_MTE2, PIPE_V, tile->slot);
}

/* All elements of a tile, gaps included. */
OP_INLINE uint8_t all_of(const struct tile *tile)
{
    const uint32_t count = tile->rows * tile->pitch;
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    return repeats_of(count);
}

/* A loaded buffer as f32. */
OP_INLINE uint32_t widen(const struct work *w, const struct tile *tile, uint32_t raw, uint32_t wide)
{
    if (!w->narrow) {
        return raw;
    }
    const uint8_t repeats = all_of(tile);
#if __NPU_ARCH__ == 2201
    if (w->t->type == OP_TYPE_BF16) {
        vconv_bf162f32(op_ub_f32(wide), (__ubuf__ bfloat16_t *)(uintptr_t)raw, repeats, 1, 1, 8, 4);
        return wide;
    }
#endif
    vconv_f162f32(op_ub_f32(wide), op_ub_f16(raw), repeats, 1, 1, 8, 4);
    return wide;
}

/* Waits for the inputs of a tile; their f32. */
OP_INLINE void take_inputs(const struct work *w, const struct tile *tile, uint32_t *a, uint32_t *b)
{
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    *a = widen(w, tile, w->a[tile->slot], w->wide_a);
    *b = w->backward ? widen(w, tile, w->b[tile->slot], w->wide_b) : 0;
}

OP_INLINE void free_inputs(const struct tile *tile)
{
    set_flag(PIPE_V, PIPE_MTE2, tile->slot);
}

/* Where a tile's result is made, in f32. */
OP_INLINE uint32_t made_at(const struct work *w, const struct tile *tile)
{
    return w->narrow ? w->made : w->out[tile->slot];
}

/* Before the buffer a result is stored from is written. */
OP_INLINE void begin_result(const struct tile *tile)
{
    wait_flag(PIPE_MTE3, PIPE_V, tile->slot);
}

/* Nothing is to be stored after all. */
OP_INLINE void drop_result(const struct tile *tile)
{
    set_flag(PIPE_V, PIPE_MTE3, tile->slot);
    wait_flag(PIPE_V, PIPE_MTE3, tile->slot);
    set_flag(PIPE_MTE3, PIPE_V, tile->slot);
}

OP_INLINE void narrow(const struct work *w, const struct tile *tile)
{
    const uint8_t repeats = all_of(tile);
    const uint32_t to = w->out[tile->slot];
    leo_set_saturate(w->saturate);
#if __NPU_ARCH__ == 2201
    if (w->t->type == OP_TYPE_BF16) {
        vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)to, op_ub_f32(w->made), repeats, 1, 1, 4,
                        8);
    } else {
        vconv_f322f16(op_ub_f16(to), op_ub_f32(w->made), repeats, 1, 1, 4, 8);
    }
#else
    vconv_f322f16(op_ub_f16(to), op_ub_f32(w->made), repeats, 1, 1, 4, 8);
#endif
    leo_set_saturate(false);
}

OP_INLINE void store(const struct work *w, const struct tile *tile)
{
    const uint32_t slot = tile->slot;
    if (w->narrow) {
        narrow(w, tile);
    }
    set_flag(PIPE_V, PIPE_MTE3, slot);
    wait_flag(PIPE_V, PIPE_MTE3, slot);
    op_store_rows(w->t->out + (tile->row * w->t->length + tile->first) * w->unit, w->out[slot],
                  tile->rows, tile->count * w->unit, w->t->length * w->unit, tile->pitch * w->unit);
    set_flag(PIPE_MTE3, PIPE_V, slot);
}

OP_INLINE void begin_sums(uint32_t rows)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, rows * 64);
    vector_dup(op_ub_f32(LANES), 0.0f, (uint8_t)rows, 1, 1, 8, 8);
}

/* Adds the rows' elements to their lanes. */
OP_INLINE void add_lanes(const struct tile *tile, uint32_t from)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *lanes = op_ub_f32(LANES + r * LANE_BYTES);
        vadd(lanes, lanes, op_ub_f32(at_row(tile, from, r)), repeats_of(tile->count), 1, 1, 1, 0, 0,
             8);
    }
}

/* Maxima of f16 are taken as they were loaded: 128 lanes a row. */
OP_INLINE bool has_half_lanes(const struct work *w)
{
    return w->t->type == OP_TYPE_F16;
}

OP_INLINE void begin_maxima(const struct work *w, uint32_t rows)
{
    pipe_barrier(PIPE_V);
    if (has_half_lanes(w)) {
        set_vector_mask(0, rows * 128);
        vector_dup(op_ub_f16(LANES), (half)-INFINITY, (uint8_t)rows, 1, 1, 8, 8);
    } else {
        set_vector_mask(0, rows * 64);
        vector_dup(op_ub_f32(LANES), -INFINITY, (uint8_t)rows, 1, 1, 8, 8);
    }
}

/* Keeps the larger ones of the rows' elements and their lanes. `a`: the elements as f32. */
OP_INLINE void keep_lanes(const struct work *w, const struct tile *tile, uint32_t a)
{
    const uint8_t half_repeats = (uint8_t)((tile->count + 127) / 128);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        const uint32_t lanes = LANES + r * LANE_BYTES;
        if (has_half_lanes(w)) {
            vmax(op_ub_f16(lanes), op_ub_f16(lanes),
                 op_ub_f16(w->a[tile->slot] + r * tile->pitch * 2), half_repeats, 1, 1, 1, 0, 0, 8);
        } else {
            vmax(op_ub_f32(lanes), op_ub_f32(lanes), op_ub_f32(at_row(tile, a, r)),
                 repeats_of(tile->count), 1, 1, 1, 0, 0, 8);
        }
    }
}

/* Numbers of the rows for the scalar unit. */
OP_INLINE void read_numbers(uint32_t rows, float *out)
{
    set_mask_count();
    set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    for (uint32_t r = 0; r < rows; r++) {
        out[r] = *(const __ubuf__ volatile float *)(uintptr_t)(NUMBERS + r * 4);
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}

OP_INLINE void read_half_maxima(uint32_t rows, float *out)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    vcmax(op_ub_f16(HALF_NUMBERS), op_ub_f16(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    pipe_barrier(PIPE_V);
    set_mask_count();
    set_vector_mask(0, rows);
    vconv_f162f32(op_ub_f32(NUMBERS), op_ub_f16(HALF_NUMBERS), 1, 1, 1, 8, 4);
    read_numbers(rows, out);
}

#if __NPU_ARCH__ == 2201
OP_INLINE void read_maxima(uint32_t rows, float *out)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcmax(op_ub_f32(NUMBERS), op_ub_f32(LANES), (uint8_t)rows, 1, 1, 8, ONLY_VALUE);
    read_numbers(rows, out);
}
#else
/* 64 lanes to 8, of all rows. */
OP_INLINE void fold_maxima(uint32_t rows)
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

/* The coupled core has no maximum of f32 lanes: the scalar unit joins eight, two a load. */
OP_INLINE float join_maxima(uint32_t row)
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

OP_INLINE void read_maxima(uint32_t rows, float *out)
{
    fold_maxima(rows);
    set_flag(PIPE_V, PIPE_S, EVENT_LANES);
    wait_flag(PIPE_V, PIPE_S, EVENT_LANES);
    for (uint32_t r = 0; r < rows; r++) {
        out[r] = join_maxima(r);
    }
    set_flag(PIPE_S, PIPE_V, EVENT_LANES);
    wait_flag(PIPE_S, PIPE_V, EVENT_LANES);
}
#endif

OP_INLINE void read_largest(const struct work *w, uint32_t rows, float *out)
{
    if (has_half_lanes(w)) {
        read_half_maxima(rows, out);
    } else {
        read_maxima(rows, out);
    }
}

/* Sums, or what `mode` needs of them. */
OP_INLINE void read_sums(uint32_t rows, uint32_t mode, float *out)
{
    __ubuf__ float *sums = op_ub_f32(NUMBERS);
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcadd(sums, op_ub_f32(LANES), (uint8_t)rows, 1, 1, 8, 0);
    set_mask_count();
    set_vector_mask(0, rows);
    pipe_barrier(PIPE_V);
    if (mode == OP_SOFTMAX) {
        vrec(sums, sums, 1, 1, 1, 8, 8);
    } else if (mode == OP_SOFTMAX_LOG) {
        vln(sums, sums, 1, 1, 1, 8, 8);
    }
    read_numbers(rows, out);
}

OP_INLINE void exponentials(const struct tile *tile, uint32_t to, uint32_t from)
{
    const uint8_t repeats = all_of(tile);
    vexp(op_ub_f32(to), op_ub_f32(from), repeats, 1, 1, 8, 8);
}

OP_INLINE void multiply(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = all_of(tile);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void subtract(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = all_of(tile);
    vsub(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

/* to = from - the row's number. */
OP_INLINE void subtract_numbers(const struct tile *tile, uint32_t to, uint32_t from,
                                const float *numbers)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vadds(op_ub_f32(at_row(tile, to, r)), op_ub_f32(at_row(tile, from, r)), -numbers[r],
              repeats_of(tile->count), 1, 1, 8, 8);
    }
}

OP_INLINE void multiply_numbers(const struct tile *tile, uint32_t at, const float *numbers)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *row = op_ub_f32(at_row(tile, at, r));
        vmuls(row, row, numbers[r], repeats_of(tile->count), 1, 1, 8, 8);
    }
}

/* From a - maximum and e^(a - maximum), both f32, the result in place of the latter. */
OP_INLINE void finish_forward(const struct work *w, const struct tile *tile, uint32_t a,
                              uint32_t made, const float *sums)
{
    if (w->t->mode == OP_SOFTMAX) {
        multiply_numbers(tile, made, sums);
    } else {
        subtract_numbers(tile, made, a, sums);
    }
}

OP_INLINE void finish_backward(const struct work *w, const struct tile *tile, uint32_t a,
                               uint32_t b, uint32_t made, const float *sums)
{
    if (w->t->mode == OP_SOFTMAX_BACKWARD) {
        subtract_numbers(tile, a, a, sums);
        multiply(tile, made, a, b);
    } else {
        exponentials(tile, made, b);
        multiply_numbers(tile, made, sums);
        subtract(tile, made, a, made);
    }
}

/* Adds a tile's terms of the backward sum to the lanes. */
OP_INLINE void take_terms(const struct work *w, const struct tile *tile, uint32_t a, uint32_t b,
                          uint32_t made)
{
    if (w->t->mode == OP_SOFTMAX_BACKWARD) {
        multiply(tile, made, a, b);
        add_lanes(tile, made);
    } else {
        add_lanes(tile, a);
    }
}

/* Whole rows, which stay in UB from the first pass to the last one. */
OP_INLINE void run_whole(const struct work *w, const struct tile *tile)
{
    float most[OP_SOFTMAX_ROWS], sums[OP_SOFTMAX_ROWS];
    uint32_t a, b;
    const uint32_t made = made_at(w, tile);
    take_inputs(w, tile, &a, &b);
    begin_result(tile);
    if (w->backward) {
        begin_sums(tile->rows);
        take_terms(w, tile, a, b, made);
    } else {
        begin_maxima(w, tile->rows);
        keep_lanes(w, tile, a);
        read_largest(w, tile->rows, most);
        subtract_numbers(tile, a, a, most);
        exponentials(tile, made, a);
        begin_sums(tile->rows);
        add_lanes(tile, made);
    }
    read_sums(tile->rows, w->t->mode, sums);
    if (w->backward) {
        finish_backward(w, tile, a, b, made, sums);
    } else {
        finish_forward(w, tile, a, made, sums);
    }
    free_inputs(tile);
    store(w, tile);
}

enum pass { PASS_MOST, PASS_SUM, PASS_RESULT };

/* One pass over the pieces of a row. */
OP_INLINE void run_pass(const struct work *w, struct tile *tile, enum pass pass, const float *most,
                        const float *sums)
{
    const uint32_t step = tile_most(w->backward);
    for (tile->first = 0; tile->first < w->t->length; tile->first += step, tile->slot ^= 1) {
        uint32_t a, b;
        const uint32_t made = made_at(w, tile);
        tile->count = (uint32_t)op_min64(step, w->t->length - tile->first);
        load(w, tile);
        take_inputs(w, tile, &a, &b);
        begin_result(tile);
        if (pass == PASS_MOST) {
            keep_lanes(w, tile, a);
        } else if (!w->backward) {
            subtract_numbers(tile, a, a, most);
            exponentials(tile, made, a);
        }
        if (pass == PASS_SUM && w->backward) {
            take_terms(w, tile, a, b, made);
        } else if (pass == PASS_SUM) {
            add_lanes(tile, made);
        }
        if (pass == PASS_RESULT && w->backward) {
            finish_backward(w, tile, a, b, made, sums);
        } else if (pass == PASS_RESULT) {
            finish_forward(w, tile, a, made, sums);
        }
        free_inputs(tile);
        if (pass == PASS_RESULT) {
            store(w, tile);
        } else {
            drop_result(tile);
        }
    }
}

OP_INLINE void run_long(const struct work *w, struct tile *tile)
{
    float most[1] = {0}, sums[1] = {0};
    if (!w->backward) {
        begin_maxima(w, 1);
        run_pass(w, tile, PASS_MOST, most, sums);
        read_largest(w, 1, most);
    }
    begin_sums(1);
    run_pass(w, tile, PASS_SUM, most, sums);
    read_sums(1, w->t->mode, sums);
    run_pass(w, tile, PASS_RESULT, most, sums);
}

/* Gaps between rows are computed with the rest: they must hold something. */
OP_INLINE void clear(const struct work *w)
{
    const uint32_t most = tile_most(w->backward), end = w->wide_a;
    for (uint32_t at = 0; at < end; at += most * 4) {
        const uint32_t count = op_min(most, (end - at) / 4);
        set_vector_mask(0, count);
        vector_dup(op_ub_f32(at), 0.0f, repeats_of(count), 1, 1, 8, 8);
    }
}

OP_INLINE void run(const struct work *w, uint64_t begin, uint64_t end)
{
    const uint32_t granule = 32 / w->unit, most = tile_most(w->backward);
    const bool whole = w->t->length <= most;
    struct tile tile = {.row = begin};
    tile.pitch = (uint32_t)op_min64(w->t->length + granule - 1, most) / granule * granule;
    tile.count = (uint32_t)op_min64(w->t->length, most);
    if (!whole) {
        tile.rows = 1;
        for (; tile.row < end; tile.row++) {
            run_long(w, &tile);
        }
        return;
    }
    const uint32_t group = op_min(most / tile.pitch, OP_SOFTMAX_ROWS);
    tile.rows = (uint32_t)op_min64(group, end - begin);
    if (begin < end) {
        load(w, &tile);
    }
    while (tile.row < end) {
        struct tile next = tile;
        next.row += tile.rows;
        next.slot ^= 1;
        if (next.row < end) {
            next.rows = (uint32_t)op_min64(group, end - next.row);
            load(w, &next);
        }
        run_whole(w, &tile);
        tile = next;
    }
}

__global__ __vector__ void softmax_vector(struct op_softmax_vector_args args)
{
    const struct op_softmax_vector_args copy = args;
    const bool saturate = op_infinite_begin();
    struct work w = lay_out(&copy);
    w.saturate = saturate;
    const uint64_t begin = (uint64_t)get_block_idx() * copy.per_block;
    set_mask_count();
    clear(&w);
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    run(&w, begin, op_min64(begin + copy.per_block, copy.rows));
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
    }
    op_flush();
}
