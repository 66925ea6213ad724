/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its relatives along dense rows of f32 on the vector unit. Short rows go several at a
 * time, long ones in pieces, which are read again for each pass.
 *
 * A row's maximum or sum: lane i of 64 takes elements i, i + 64, ... in order, lanes are folded to
 * 8, and the scalar unit joins those in order; sums there are in double.
 *
 * Flags. MTE2 -> V 0: loaded; V -> MTE2 0: inputs free; V -> MTE3 0: result ready; MTE3 -> V 0:
 * stored; V -> S 1 and S -> V 1: folded lanes, and that they are read.
 */
#include "copy.h"
#include "element.h"
#include "softmax_args.h"

#include <math.h>

enum {
    BYTES = OP_SOFTMAX_TILE * 4,
    A = 0,
    B = A + BYTES,
    WORK = B + BYTES,
    LANES = WORK + BYTES, /* 64 f32 a row */
    LANE_BYTES = 256,
};

/** Rows in UB, or a piece of one. */
struct tile {
    uint64_t row;
    uint64_t first;              /* element of the row */
    uint32_t rows, count, pitch; /* pitch: elements, a multiple of 8 */
};

OP_INLINE uint8_t repeats_of(uint32_t count)
{
    return (uint8_t)((count + 63) / 64);
}

OP_INLINE uint32_t at_row(const struct tile *tile, uint32_t base, uint32_t row)
{
    return base + row * tile->pitch * 4;
}

OP_INLINE void load(const struct tile *tile, const struct op_softmax_vector_args *t, uint32_t to,
                    uint64_t from)
{
    op_load_rows(to, from + (tile->row * t->length + tile->first) * 4, tile->rows, tile->count * 4,
                 t->length * 4, tile->pitch * 4);
}

OP_INLINE void load_tile(const struct tile *tile, const struct op_softmax_vector_args *t, bool both)
{
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    load(tile, t, A, t->a);
    if (both) {
        load(tile, t, B, t->b);
    }
    set_flag(PIPE_MTE2, PIPE_V, 0);
    wait_flag(PIPE_MTE2, PIPE_V, 0);
}

OP_INLINE void store_tile(const struct tile *tile, const struct op_softmax_vector_args *t,
                          uint32_t from)
{
    set_flag(PIPE_V, PIPE_MTE3, 0);
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    op_store_rows(t->out + (tile->row * t->length + tile->first) * 4, from, tile->rows,
                  tile->count * 4, t->length * 4, tile->pitch * 4);
    set_flag(PIPE_MTE3, PIPE_V, 0);
    wait_flag(PIPE_MTE3, PIPE_V, 0);
}

OP_INLINE void begin_lanes(float value)
{
    pipe_barrier(PIPE_V);
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    vector_dup(op_ub_f32(LANES), value, OP_SOFTMAX_ROWS, 1, 1, 8, 8);
    set_mask_count();
    pipe_barrier(PIPE_V);
}

/* Adds the rows' elements to their lanes, or keeps the larger ones. */
OP_INLINE void take_lanes(const struct tile *tile, uint32_t from, bool largest)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
    for (uint32_t r = 0; r < tile->rows; r++) {
        __ubuf__ float *lanes = op_ub_f32(LANES + r * LANE_BYTES);
        if (largest) {
            vmax(lanes, lanes, op_ub_f32(at_row(tile, from, r)), repeats_of(tile->count), 1, 1, 1,
                 0, 0, 8);
        } else {
            vadd(lanes, lanes, op_ub_f32(at_row(tile, from, r)), repeats_of(tile->count), 1, 1, 1,
                 0, 0, 8);
        }
    }
}

/* 64 lanes to 8, of all rows. */
OP_INLINE void fold_lanes(uint32_t rows, bool largest)
{
    __ubuf__ float *lanes = op_ub_f32(LANES);
    set_mask_norm();
    for (uint32_t width = 32; width >= 8; width /= 2) {
        pipe_barrier(PIPE_V);
        set_vector_mask(0, (UINT64_C(1) << width) - 1);
        if (largest) {
            vmax(lanes, lanes, op_ub_f32(LANES + width * 4), (uint8_t)rows, 1, 1, 1, 8, 8, 8);
        } else {
            vadd(lanes, lanes, op_ub_f32(LANES + width * 4), (uint8_t)rows, 1, 1, 1, 8, 8, 8);
        }
    }
    set_mask_count();
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
}

OP_INLINE float lane(uint32_t row, uint32_t i)
{
    return *(const __ubuf__ volatile float *)(uintptr_t)(LANES + row * LANE_BYTES + i * 4);
}

OP_INLINE float largest_of(uint32_t row)
{
    float most = lane(row, 0);
    for (uint32_t i = 1; i < 8; i++) {
        const float x = lane(row, i);
        most = x > most ? x : most;
    }
    return most;
}

OP_INLINE double sum_of(uint32_t row)
{
    double sum = 0;
    for (uint32_t i = 0; i < 8; i++) {
        sum += (double)lane(row, i);
    }
    return sum;
}

OP_INLINE void end_lanes(void)
{
    set_flag(PIPE_S, PIPE_V, 1);
    wait_flag(PIPE_S, PIPE_V, 1);
}

OP_INLINE void add_number(const struct tile *tile, uint32_t to, uint32_t from, uint32_t row,
                          float number)
{
    vadds(op_ub_f32(at_row(tile, to, row)), op_ub_f32(at_row(tile, from, row)), number,
          repeats_of(tile->count), 1, 1, 8, 8);
}

OP_INLINE void multiply_number(const struct tile *tile, uint32_t at, uint32_t row, float number)
{
    vmuls(op_ub_f32(at_row(tile, at, row)), op_ub_f32(at_row(tile, at, row)), number,
          repeats_of(tile->count), 1, 1, 8, 8);
}

/* All elements of a tile, gaps included. */
OP_INLINE uint8_t all_of(const struct tile *tile)
{
    const uint32_t count = tile->rows * tile->pitch;
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    return repeats_of(count);
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

/* Before instructions on single rows. */
OP_INLINE void begin_rows(const struct tile *tile)
{
    pipe_barrier(PIPE_V);
    set_vector_mask(0, tile->count);
}

OP_INLINE void subtract_numbers(const struct tile *tile, uint32_t at, const float *numbers)
{
    begin_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        add_number(tile, at, at, r, -numbers[r]);
    }
}

OP_INLINE void multiply_numbers(const struct tile *tile, uint32_t at, const float *numbers)
{
    begin_rows(tile);
    for (uint32_t r = 0; r < tile->rows; r++) {
        multiply_number(tile, at, r, numbers[r]);
    }
}

OP_INLINE void read_largest(uint32_t rows, float *out)
{
    fold_lanes(rows, true);
    for (uint32_t r = 0; r < rows; r++) {
        out[r] = largest_of(r);
    }
    end_lanes();
}

/* Sums, or what `mode` needs of them. */
OP_INLINE void read_sums(uint32_t rows, uint32_t mode, float *out)
{
    fold_lanes(rows, false);
    for (uint32_t r = 0; r < rows; r++) {
        const double sum = sum_of(r);
        out[r] = mode == OP_SOFTMAX       ? (float)(1 / sum)
                 : mode == OP_SOFTMAX_LOG ? (float)log(sum)
                                          : (float)sum;
    }
    end_lanes();
}

/* Pieces of the rows of a tile, one after the other: `tile` has the rows and the pitch. */
OP_INLINE bool next_piece(const struct op_softmax_vector_args *t, struct tile *tile, bool *started)
{
    tile->first = *started ? tile->first + tile->count : 0;
    *started = true;
    tile->count = (uint32_t)op_min64(OP_SOFTMAX_TILE, t->length - tile->first);
    return tile->first < t->length;
}

/* Whether a tile is whole rows, which stay in UB from pass to pass. */
OP_INLINE bool is_whole(const struct op_softmax_vector_args *t)
{
    return t->length <= OP_SOFTMAX_TILE;
}

OP_INLINE void forward(const struct op_softmax_vector_args *t, struct tile *tile)
{
    float most[OP_SOFTMAX_ROWS], sums[OP_SOFTMAX_ROWS];
    const bool whole = is_whole(t);
    bool started = false;
    begin_lanes(-INFINITY);
    while (next_piece(t, tile, &started)) {
        load_tile(tile, t, false);
        take_lanes(tile, A, true);
        if (!whole) {
            set_flag(PIPE_V, PIPE_MTE2, 0);
        }
    }
    read_largest(tile->rows, most);
    begin_lanes(0);
    started = false;
    while (next_piece(t, tile, &started)) {
        if (!whole) {
            load_tile(tile, t, false);
        }
        subtract_numbers(tile, A, most);
        exponentials(tile, WORK, A);
        take_lanes(tile, WORK, false);
        if (!whole) {
            set_flag(PIPE_V, PIPE_MTE2, 0);
        }
    }
    read_sums(tile->rows, t->mode, sums);
    started = false;
    while (next_piece(t, tile, &started)) {
        if (!whole) {
            load_tile(tile, t, false);
            subtract_numbers(tile, A, most);
        }
        if (t->mode == OP_SOFTMAX) {
            if (!whole) {
                exponentials(tile, WORK, A);
            }
            multiply_numbers(tile, WORK, sums);
            store_tile(tile, t, WORK);
        } else {
            subtract_numbers(tile, A, sums);
            store_tile(tile, t, A);
        }
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
}

OP_INLINE void backward(const struct op_softmax_vector_args *t, struct tile *tile)
{
    float sums[OP_SOFTMAX_ROWS];
    const bool whole = is_whole(t), plain = t->mode == OP_SOFTMAX_BACKWARD;
    bool started = false;
    begin_lanes(0);
    while (next_piece(t, tile, &started)) {
        load_tile(tile, t, true);
        if (plain) {
            multiply(tile, WORK, A, B);
        }
        take_lanes(tile, plain ? WORK : A, false);
        if (!whole) {
            set_flag(PIPE_V, PIPE_MTE2, 0);
        }
    }
    read_sums(tile->rows, t->mode, sums);
    started = false;
    while (next_piece(t, tile, &started)) {
        if (!whole) {
            load_tile(tile, t, true);
        }
        if (plain) {
            subtract_numbers(tile, A, sums);
            multiply(tile, WORK, A, B);
        } else {
            exponentials(tile, WORK, B);
            multiply_numbers(tile, WORK, sums);
            subtract(tile, WORK, A, WORK);
        }
        store_tile(tile, t, WORK);
        set_flag(PIPE_V, PIPE_MTE2, 0);
    }
}

__global__ __vector__ void softmax_vector(struct op_softmax_vector_args args)
{
    const struct op_softmax_vector_args copy = args, *t = &copy;
    (void)op_infinite_begin();
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->rows);
    // Gaps between rows are computed with the rest: they must hold something.
    set_mask_count();
    for (uint32_t at = 0; at < LANES; at += BYTES) {
        set_vector_mask(0, OP_SOFTMAX_TILE);
        vector_dup(op_ub_f32(at), 0.0f, repeats_of(OP_SOFTMAX_TILE), 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    struct tile tile = {.pitch = (uint32_t)op_min64(t->length + 7, OP_SOFTMAX_TILE) / 8 * 8};
    const uint32_t group = op_min(OP_SOFTMAX_TILE / tile.pitch, OP_SOFTMAX_ROWS);
    for (tile.row = begin; tile.row < end; tile.row += tile.rows) {
        tile.rows = (uint32_t)op_min64(group, end - tile.row);
        if (t->mode == OP_SOFTMAX || t->mode == OP_SOFTMAX_LOG) {
            forward(t, &tile);
        } else {
            backward(t, &tile);
        }
    }
    wait_flag(PIPE_V, PIPE_MTE2, 0);
    op_flush();
}
