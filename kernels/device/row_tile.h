/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows in UB for programs that need all of a row at a time: softmax, layer norm. Arithmetic is in
 * f32 whatever the type. Loads of the rows after, and stores of those before, run beside it.
 *
 * A row's sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are added by the vector
 * unit's tree.
 *
 * Flags. MTE2 -> V, event = slot: loaded; V -> MTE2: inputs free. V -> MTE3, event = parity: result
 * ready; MTE3 -> V: stored. V -> S and S -> V: numbers of rows, and that they are read; 2: first
 * numbers of a tile, 3: second ones.
 */
#pragma once

#include "copy.h"
#include "element.h"
#include "gaps.h"
#include "row_tile_args.h"
#include "widen.h"

/* Buffers begin where banks of the unified buffer do: what is converted or summed stands in another
 * bank (HW-VEC-42). */
enum {
    LANE_BYTES = 256, /* a row */
    ROW_BYTES = 256,  /* of a repeat: a second operand begins at an odd one */
#if __NPU_ARCH__ == 1001
    LANES = OP_ROW_TILE_LEAST * 24 + 3 * ROW_BYTES + 65536, /* its UB is so much larger */
#else
    LANES = OP_ROW_TILE_LEAST * 24 + 3 * ROW_BYTES,
#endif
    NUMBERS = LANES + OP_ROW_TILE_ROWS * LANE_BYTES,      /* f32 a row */
    SECOND_NUMBERS = NUMBERS + OP_ROW_TILE_ROWS * 4,      /* f32 a row */
    HALF_NUMBERS = SECOND_NUMBERS + OP_ROW_TILE_ROWS * 4, /* f16 a row */
    BLOCKS = HALF_NUMBERS + OP_ROW_TILE_ROWS * 4, /* of 32 bytes: a row's number as eight f32 */
    BLOCK_BYTES = 32,
    ROWS_END = BLOCKS + OP_ROW_TILE_ROWS * BLOCK_BYTES,
    EVENT_LANES = 2,
    EVENT_SECOND = 3,
    SLOTS = 3,
    REPEATS_MAX = 254, /* of an instruction */
};

/** What the program works with: types, and where buffers of UB lie. */
struct work {
    uint64_t in_a, in_b, to; /* rows in global memory; in_b 0: none */
    uint64_t length;
    uint32_t type, unit; /* of stored elements, and their bytes */
    uint32_t most;       /* elements of a tile */
    bool narrow, saturate;
    uint32_t slots;                  /* tiles being loaded or computed */
    uint32_t a[SLOTS], b[2], out[2]; /* as stored */
    uint32_t wide_a, wide_b, made;   /* f32, of narrow types */
};

/** Rows in UB, or a piece of one. */
struct tile {
    uint64_t row;
    uint64_t first;              /* element of the row */
    uint32_t rows, count, pitch; /* pitch: elements, a multiple of 32 bytes */
    uint32_t slot;               /* its inputs */
    uint32_t parity;             /* its result */
    bool by_columns;             /* steps on many short rows take 64 columns of all rows */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE uint32_t at_row(const struct tile *tile, uint32_t base, uint32_t row)
{
    return base + row * tile->pitch * 4;
}

/* The work on tiles of `most` elements; `two`: of two inputs. */
OP_INLINE struct work lay_out(uint32_t type, uint64_t length, uint32_t most, bool two)
{
    struct work w = {.length = length,
                     .type = type,
                     .unit = type == OP_TYPE_F32 ? 4 : 2,
                     .most = most,
                     .slots = 2};
    w.narrow = w.unit == 2;
    const uint32_t bytes = w.most * w.unit, wide = w.most * 4;
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < 2; slot++, at += bytes * (two ? 3 : 2)) {
        w.a[slot] = at;
        w.out[slot] = at + bytes;
        w.b[slot] = at + 2 * bytes + ROW_BYTES;
        at += two ? ROW_BYTES : 0;
    }
    w.wide_a = at;
    w.made = at + wide;
    w.wide_b = at + 2 * wide + ROW_BYTES;
    return w;
}

/* Elements of a tile that fit into `room` bytes: buffers of whole pairs of rows, so that all begin
 * at even ones. */
OP_INLINE uint32_t fitting(const struct work *w, uint32_t room, uint32_t extra)
{
    enum { GRANULE = 128 };
    const uint32_t each = (w->slots + 2) * w->unit + (w->narrow ? 8 : 0) + extra;
    return op_min(room / each / GRANULE, REPEATS_MAX * 64 / GRANULE) * GRANULE;
}

/*
 * The work of programs that begin a tile's rows while the scalar unit reads the numbers of those
 * before. Inputs of f32 are worked on where they were loaded.
 * What the program needs beside lies at wide_b: a buffer of `extra` bytes an element, and `other`
 * bytes.
 */
OP_INLINE struct work lay_out_ahead(uint32_t type, uint64_t length, uint32_t extra, uint32_t other)
{
    struct work w = {.length = length, .type = type, .unit = type == OP_TYPE_F32 ? 4 : 2};
    const uint32_t room = LANES - other;
    w.narrow = w.unit == 2;
    // Memory bounds f32, and the split chip's f16: two loads are on their way if rows leave room.
    w.slots = w.narrow && __NPU_ARCH__ == 1001 ? 2 : 3;
    w.most = fitting(&w, room, extra);
    if (w.most < length) {
        w.slots = 2;
        w.most = fitting(&w, room, extra);
    }
    const uint32_t bytes = w.most * w.unit, wide = w.narrow ? w.most * 4 : 0;
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < w.slots; slot++, at += bytes) {
        w.a[slot] = at;
    }
    for (uint32_t parity = 0; parity < 2; parity++, at += bytes) {
        w.out[parity] = at;
    }
    w.wide_a = at;
    w.made = at + wide;
    w.wide_b = w.made + wide;
    return w;
}

OP_INLINE void load(const struct work *w, const struct tile *tile)
{
    const uint64_t at = (tile->row * w->length + tile->first) * w->unit,
                   pitch = w->length * w->unit;
    wait_flag(PIPE_V, PIPE_MTE2, tile->slot);
    op_load_rows(w->a[tile->slot], w->in_a + at, tile->rows, tile->count * w->unit, pitch,
                 tile->pitch * w->unit);
    if (w->in_b) {
        op_load_rows(w->b[tile->slot], w->in_b + at, tile->rows, tile->count * w->unit, pitch,
                     tile->pitch * w->unit);
    }
    set_flag(PIPE_MTE2, PIPE_V, tile->slot);
}

/* All elements of a tile, gaps included. */
OP_INLINE uint8_t take_all(const struct tile *tile)
{
    const uint32_t count = tile->rows * tile->pitch;
    set_vector_mask(0, count);
    return repeats_of(count);
}

OP_INLINE uint8_t all_of(const struct tile *tile)
{
    pipe_barrier(PIPE_V);
    return take_all(tile);
}

/* A loaded buffer as f32. */
OP_INLINE uint32_t widen(const struct work *w, const struct tile *tile, uint32_t raw, uint32_t wide)
{
    if (!w->narrow) {
        return raw;
    }
    op_widen(wide, raw, w->type, all_of(tile));
    return wide;
}

/* Waits for the inputs of a tile; their f32. */
OP_INLINE void take_inputs(const struct work *w, const struct tile *tile, uint32_t *a, uint32_t *b)
{
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    *a = widen(w, tile, w->a[tile->slot], w->wide_a);
    *b = w->in_b ? widen(w, tile, w->b[tile->slot], w->wide_b) : 0;
}

OP_INLINE void free_inputs(const struct tile *tile)
{
    set_flag(PIPE_V, PIPE_MTE2, tile->slot);
}

/* Where a tile's result is made, in f32. */
OP_INLINE uint32_t made_at(const struct work *w, const struct tile *tile)
{
    return w->narrow ? w->made : w->out[tile->parity];
}

/* Before the buffer a result is stored from is written. */
OP_INLINE void begin_result(const struct tile *tile)
{
    wait_flag(PIPE_MTE3, PIPE_V, tile->parity);
}

/* Nothing is to be stored after all. */
OP_INLINE void drop_result(const struct tile *tile)
{
    set_flag(PIPE_V, PIPE_MTE3, tile->parity);
    wait_flag(PIPE_V, PIPE_MTE3, tile->parity);
    set_flag(PIPE_MTE3, PIPE_V, tile->parity);
}

/* The f32 at `from` to what is stored. No barrier before. */
OP_INLINE void narrow(const struct work *w, const struct tile *tile, uint32_t from)
{
    if (w->saturate && tile->pitch != tile->count) {
        op_clear_gaps(from, tile->rows, tile->count, tile->pitch);
        pipe_barrier(PIPE_V);
    }
    const uint8_t repeats = take_all(tile);
    leo_set_saturate(w->saturate);
    op_narrow(w->out[tile->parity], from, w->type, repeats);
    leo_set_saturate(false);
}

OP_INLINE void store_result(const struct work *w, const struct tile *tile)
{
    const uint32_t parity = tile->parity;
    set_flag(PIPE_V, PIPE_MTE3, parity);
    wait_flag(PIPE_V, PIPE_MTE3, parity);
    op_store_rows(w->to + (tile->row * w->length + tile->first) * w->unit, w->out[parity],
                  tile->rows, tile->count * w->unit, w->length * w->unit, tile->pitch * w->unit);
    set_flag(PIPE_MTE3, PIPE_V, parity);
}

OP_INLINE void store(const struct work *w, const struct tile *tile)
{
    if (w->narrow) {
        pipe_barrier(PIPE_V);
        narrow(w, tile, w->made);
    }
    store_result(w, tile);
}

/* ---- many short rows: 64 columns of all rows an instruction ---- */

/* The lanes of columns from `first` on. */
OP_INLINE void take_columns(const struct tile *tile, uint32_t first)
{
    set_vector_mask(0, ~0ull >> (64 - op_min(64, tile->count - first)));
}

/* Numbers in UB to BLOCKS; all before is behind a barrier. */
OP_INLINE void spread_numbers(uint32_t rows, uint32_t numbers)
{
#if __NPU_ARCH__ == 2201
    vbrcb((__ubuf__ uint32_t *)(uintptr_t)BLOCKS, (__ubuf__ uint32_t *)(uintptr_t)numbers, 1, 8,
          (uint8_t)((rows + 7) / 8));
#else
    (void)rows;
    (void)numbers;
#endif
}

/* A row's number, which the scalar unit has. */
OP_INLINE void spread_number(uint32_t row, float number)
{
    vector_dup(op_ub_f32(BLOCKS + row * BLOCK_BYTES), number, 1, 1, 1, 8, 8);
}

OP_INLINE void sum_columns(const struct tile *tile, uint32_t from)
{
    set_mask_norm();
    for (uint32_t first = 0; first < tile->count; first += 64) {
        if (first > 0) {
            pipe_barrier(PIPE_V);
        }
        take_columns(tile, first);
        vadd(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(from + first * 4), (uint8_t)tile->rows,
             1, 1, 1, 8, 8, (uint8_t)(tile->pitch / 8));
    }
    set_mask_count();
}

/* to = from + the row's number, or times it. */
OP_INLINE void combine_columns(const struct tile *tile, uint32_t to, uint32_t from, bool times)
{
    const uint8_t pitch = (uint8_t)(tile->pitch / 8), rows = (uint8_t)tile->rows;
    set_mask_norm();
    for (uint32_t first = 0; first < tile->count; first += 64) {
        __ubuf__ float *d = op_ub_f32(to + first * 4), *a = op_ub_f32(from + first * 4);
        take_columns(tile, first);
        if (times) {
            vmul(d, a, op_ub_f32(BLOCKS), rows, 1, 1, 0, pitch, pitch, 1);
        } else {
            vadd(d, a, op_ub_f32(BLOCKS), rows, 1, 1, 0, pitch, pitch, 1);
        }
    }
    set_mask_count();
}

/* ---- steps on rows, without a barrier; without numbers those of BLOCKS ---- */

OP_INLINE void set_lanes(uint32_t rows, float to)
{
    set_vector_mask(0, rows * 64);
    vector_dup(op_ub_f32(LANES), to, (uint8_t)rows, 1, 1, 8, 8);
}

/* Adds the rows' elements to their lanes. */
OP_INLINE void sum_rows(const struct tile *tile, uint32_t from)
{
    if (tile->by_columns) {
        sum_columns(tile, from);
        return;
    }
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *lanes = op_ub_f32(LANES + r * LANE_BYTES);
        vadd(lanes, lanes, op_ub_f32(at_row(tile, from, r)), repeats, 1, 1, 1, 0, 0, 8);
    }
}

/* Lanes to one number a row. */
OP_INLINE void join_lanes(uint32_t rows, uint32_t numbers)
{
    set_mask_norm();
    set_vector_mask(0, ~0ull);
    vcadd(op_ub_f32(numbers), op_ub_f32(LANES), (uint8_t)rows, 1, 1, 8, 0);
    set_mask_count();
}

/* to = from + the row's number. */
OP_INLINE void shift_rows(const struct tile *tile, uint32_t to, uint32_t from, const float *numbers)
{
    if (!numbers) {
        combine_columns(tile, to, from, false);
        return;
    }
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vadds(op_ub_f32(at_row(tile, to, r)), op_ub_f32(at_row(tile, from, r)), numbers[r], repeats,
              1, 1, 8, 8);
    }
}

OP_INLINE void scale_rows(const struct tile *tile, uint32_t to, uint32_t from, const float *numbers)
{
    if (!numbers) {
        combine_columns(tile, to, from, true);
        return;
    }
    const uint8_t repeats = repeats_of(tile->count);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        vmuls(op_ub_f32(at_row(tile, to, r)), op_ub_f32(at_row(tile, from, r)), numbers[r], repeats,
              1, 1, 8, 8);
    }
}

/* ---- the same, each behind a barrier ---- */

OP_INLINE void begin_sums(uint32_t rows)
{
    pipe_barrier(PIPE_V);
    set_lanes(rows, 0);
}

OP_INLINE void add_lanes(const struct tile *tile, uint32_t from)
{
    pipe_barrier(PIPE_V);
    sum_rows(tile, from);
}

OP_INLINE void end_sums(uint32_t rows)
{
    pipe_barrier(PIPE_V);
    join_lanes(rows, NUMBERS);
    set_vector_mask(0, rows);
    pipe_barrier(PIPE_V);
}

/* `factor` times numbers of the rows that were given by set_flag(PIPE_V, PIPE_S, event). */
OP_INLINE void take_numbers(uint32_t rows, uint32_t numbers, uint32_t event, float factor,
                            float *out)
{
    wait_flag(PIPE_V, PIPE_S, event);
    for (uint32_t r = 0; r < rows; r++) {
        out[r] = *(const __ubuf__ volatile float *)(uintptr_t)(numbers + r * 4) * factor;
    }
    set_flag(PIPE_S, PIPE_V, event);
    wait_flag(PIPE_S, PIPE_V, event);
}

OP_INLINE void add_numbers(const struct tile *tile, uint32_t to, uint32_t from,
                           const float *numbers)
{
    pipe_barrier(PIPE_V);
    shift_rows(tile, to, from, numbers);
}

OP_INLINE void multiply_numbers(const struct tile *tile, uint32_t to, uint32_t from,
                                const float *numbers)
{
    pipe_barrier(PIPE_V);
    scale_rows(tile, to, from, numbers);
}

OP_INLINE void multiply(const struct tile *tile, uint32_t to, uint32_t a, uint32_t b)
{
    const uint8_t repeats = all_of(tile);
    vmul(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), repeats, 1, 1, 1, 8, 8, 8);
}

/* Gaps between rows are computed with the rest: they must hold something. */
OP_INLINE void clear(const struct work *w)
{
    const uint32_t most = w->most, end = w->narrow ? w->made + w->most * 4 : w->wide_a;
    if (w->length * w->unit % 32 == 0) {
        return;
    }
    for (uint32_t at = 0; at < end; at += most * 4) {
        const uint32_t count = op_min(most, (end - at) / 4);
        set_vector_mask(0, count);
        vector_dup(op_ub_f32(at), 0.0f, repeats_of(count), 1, 1, 8, 8);
    }
}

OP_INLINE void set_count(const struct work *w, struct tile *tile, uint64_t count)
{
    const uint32_t granule = 32 / w->unit;
    tile->count = (uint32_t)count;
    tile->pitch = (tile->count + granule - 1) / granule * granule;
}

/* The number of rows; steps are by what takes fewer instructions. */
OP_INLINE void set_rows(struct tile *tile, uint64_t rows)
{
    tile->rows = (uint32_t)rows;
    tile->by_columns = tile->rows > 2 * ((tile->count + 63) / 64);
}

/* The first rows of [begin, end), whole or their first piece. */
OP_INLINE struct tile first_tile(const struct work *w, uint64_t begin, uint64_t end)
{
    struct tile tile = {.row = begin};
    set_count(w, &tile, op_min64(w->length, w->most));
    set_rows(&tile, begin < end
                        ? op_min64(op_min(w->most / tile.pitch, OP_ROW_TILE_ROWS), end - begin)
                        : 0);
    return tile;
}

/* The rows after those of a tile, on their way into the other slot; no rows: none are left. */
OP_INLINE struct tile next_tile(const struct work *w, const struct tile *tile, uint64_t end)
{
    struct tile next = *tile;
    next.row += tile->rows;
    next.slot = tile->slot + 1 < w->slots ? tile->slot + 1 : 0;
    next.parity ^= 1;
    set_rows(&next, op_min64(tile->rows, end - next.row));
    if (next.rows > 0) {
        load(w, &next);
    }
    return next;
}

OP_INLINE void begin_work(const struct work *w)
{
    set_mask_count();
    clear(w);
    for (uint32_t slot = 0; slot < w->slots; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
    for (uint32_t parity = 0; parity < 2; parity++) {
        set_flag(PIPE_MTE3, PIPE_V, parity);
    }
}

OP_INLINE void end_work(const struct work *w)
{
    for (uint32_t slot = 0; slot < w->slots; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
    }
    for (uint32_t parity = 0; parity < 2; parity++) {
        wait_flag(PIPE_MTE3, PIPE_V, parity);
    }
    op_flush();
}

/* ---- a tile begun while the one before is at work ---- */

/* Whether the tile after the next one finds a place before the present one is done. */
OP_INLINE bool loads_early(const struct work *w)
{
    return w->narrow || w->slots > 2;
}

/* Where a tile's f32 are worked on. */
OP_INLINE uint32_t wide_at(const struct work *w, const struct tile *tile)
{
    if (!w->narrow) {
        return w->a[tile->slot];
    }
    return tile->parity ? w->made : w->wide_a;
}

/* A loaded tile as f32. No barrier. */
OP_INLINE void take_rows(const struct work *w, const struct tile *tile)
{
    wait_flag(PIPE_MTE2, PIPE_V, tile->slot);
    if (w->narrow) {
        op_widen(wide_at(w, tile), w->a[tile->slot], w->type, take_all(tile));
    }
}

/* The input of a narrow type, which is read no more. */
OP_INLINE void free_narrow(const struct work *w, const struct tile *tile)
{
    if (w->narrow) {
        free_inputs(tile);
    }
}

/* Stores a tile made where it was worked on, or in the place of the result. */
OP_INLINE void give_rows(const struct work *w, const struct tile *tile)
{
    if (w->narrow) {
        narrow(w, tile, wide_at(w, tile));
    } else {
        free_inputs(tile);
    }
    store_result(w, tile);
}
