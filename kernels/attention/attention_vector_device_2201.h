/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector core of fused attention: softmax of half of a step's rows, and the sum of the products.
 * The largest score and the sum of powers so far are kept for each row; what was summed before is
 * scaled when a larger score comes. All in f32; weights are rounded to the type of v.
 *
 * A piece of scores has rows of `block` f32 and 256 bytes between them, so that rows that follow
 * each other, and columns of 64, begin in another half of the banks (HW-VEC-41). Sums and maxima of
 * a row: neighbouring columns of 64 first, then the results in a tree, then the tree of the
 * instruction.
 *
 * Flags. MTE2 -> V and back 0, 1: pieces of scores; 2, 3: of products. V -> MTE3 and back 0, 1:
 * pieces of weights; 2: results.
 */
#pragma once

#include "attention_scores_device_2201.h"

enum {
    WEIGHTS_BYTES = 17408,
    PRODUCT_ROWS = 16, /* of a piece */
    PRODUCT_PITCH = OP_ATTENTION_FEATURES * 4,
    LANES_BYTES = 16384,
    NUMBERS_BYTES = HALF_ROWS * 4,

    WEIGHTS_OUT = SCORES_END,
    TOTAL = WEIGHTS_OUT + 2 * WEIGHTS_BYTES, /* sums of products */
    PRODUCTS = TOTAL + HALF_ROWS * PRODUCT_PITCH,
    LANES = PRODUCTS + 2 * PRODUCT_ROWS * PRODUCT_PITCH,
    FACTORS = LANES + LANES_BYTES, /* blocks */
    MAXIMA = FACTORS + BLOCKS_BYTES,
    DIVISORS = MAXIMA + BLOCKS_BYTES,
    LARGEST = DIVISORS + BLOCKS_BYTES, /* numbers of the tasks under way */
    SUM = LARGEST + OP_ATTENTION_SLOTS * NUMBERS_BYTES,
    DECAY = SUM + OP_ATTENTION_SLOTS * NUMBERS_BYTES, /* of the steps under way */
    LATEST = DECAY + OP_ATTENTION_SLOTS * NUMBERS_BYTES,
    NEGATIVE = LATEST + NUMBERS_BYTES,
    PARTS = NEGATIVE + NUMBERS_BYTES,
    UB_END = PARTS + NUMBERS_BYTES,

    PRODUCT_FLAGS = 2,
    RESULT_FLAG = 2,
};
_Static_assert(UB_END <= 196608, "buffers fit the unified buffer");

struct vector {
    uint32_t piece, product; /* which of two buffers */
};

OP_INLINE void begin_vector(const struct op_attention_args *t)
{
    set_mask_count();
    set_vector_mask(0, UB_END / 4);
    vector_dup(op_ub_f32(0), 0.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    begin_scores(t);
    for (uint32_t i = 0; i < 4; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
}

OP_INLINE void end_vector(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

/* ---- softmax of a step ---- */

enum fold { FOLD_MAX, FOLD_SUM };

OP_INLINE void fold(enum fold fold, uint32_t to, uint32_t a, uint32_t b, uint32_t rows,
                    uint32_t to_pitch, uint32_t pitch)
{
    if (fold == FOLD_MAX) {
        vmax(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), (uint8_t)rows, 1, 1, 1,
             (uint8_t)(to_pitch / 32), (uint8_t)(pitch / 32), (uint8_t)(pitch / 32));
    } else {
        vadd(op_ub_f32(to), op_ub_f32(a), op_ub_f32(b), (uint8_t)rows, 1, 1, 1,
             (uint8_t)(to_pitch / 32), (uint8_t)(pitch / 32), (uint8_t)(pitch / 32));
    }
}

/* One number a row, at `to`. */
OP_INLINE void fold_rows(enum fold how, const struct piece *piece, uint32_t to)
{
    const uint32_t pairs = piece->columns / 2, rows = piece->rows, set = rows * 256;
    uint32_t from = piece->at, pitch = piece->pitch;
    all_lanes();
    for (uint32_t p = 0; p < pairs; p++) {
        const uint32_t a = piece->at + p * 512;
        fold(how, LANES + p * set, a, a + 256, rows, 256, piece->pitch);
    }
    if (pairs) {
        from = LANES;
        pitch = 256;
        if (piece->columns % 2) {
            // The odd column to the first pair's.
            pipe_barrier(PIPE_V);
            const uint8_t rep = (uint8_t)(piece->pitch / 32);
            const uint32_t odd = piece->at + pairs * 512;
            if (how == FOLD_MAX) {
                vmax(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(odd), (uint8_t)rows, 1, 1, 1, 8,
                     8, rep);
            } else {
                vadd(op_ub_f32(LANES), op_ub_f32(LANES), op_ub_f32(odd), (uint8_t)rows, 1, 1, 1, 8,
                     8, rep);
            }
        }
    }
    for (uint32_t half = 1; half < pairs; half *= 2) {
        pipe_barrier(PIPE_V);
        for (uint32_t p = 0; p + half < pairs; p += 2 * half) {
            fold(how, LANES + p * set, LANES + p * set, LANES + (p + half) * set, rows, 256, 256);
        }
    }
    pipe_barrier(PIPE_V);
    if (how == FOLD_MAX) {
        vcmax(op_ub_f32(to), op_ub_f32(from), (uint8_t)rows, 1, 1, (uint8_t)(pitch / 32),
              ONLY_VALUE);
    } else {
        vcadd(op_ub_f32(to), op_ub_f32(from), (uint8_t)rows, 1, 1, (uint8_t)(pitch / 32), 0);
    }
    pipe_barrier(PIPE_V);
}

/* The rows' new maxima: DECAY is what older sums are worth, NEGATIVE is subtracted. */
OP_INLINE void take_maxima(const struct op_attention_args *t, const struct step *step,
                           const struct piece *piece, bool scaled)
{
    const uint32_t offset = piece->row * 4;
    __ubuf__ float *latest = op_ub_f32(LATEST),
                   *largest = op_ub_f32(LARGEST + step->home * NUMBERS_BYTES + offset),
                   *decay = op_ub_f32(DECAY + step->slot * NUMBERS_BYTES + offset);
    count_lanes(piece->rows);
    if (!scaled) {
        vmuls(latest, latest, t->scale, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    vmax(latest, latest, largest, 1, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vsub(decay, largest, latest, 1, 1, 1, 1, 8, 8, 8);
    vmuls(op_ub_f32(NEGATIVE), latest, -1.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vexp(decay, decay, 1, 1, 1, 8, 8);
    vmuls(largest, latest, 1.0f, 1, 1, 1, 8, 8);
    // Twice, in both halves of the banks.
    spread(LANES, NEGATIVE, piece->rows, 8);
    spread(LANES + 256 + 32, NEGATIVE, piece->rows, 8);
    pipe_barrier(PIPE_V);
}

/* e^(score - maximum) in place of the scores. */
OP_INLINE void make_powers(const struct piece *piece, bool scaled)
{
    const uint8_t rows = (uint8_t)piece->rows, rep = (uint8_t)(piece->pitch / 32);
    all_lanes();
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        const bool even = (piece->at / 256 + c) % 2 == LANES / 256 % 2;
        __ubuf__ float *numbers = op_ub_f32(even ? LANES + 256 + 32 : LANES);
        if (scaled) {
            vadd(at, at, numbers, rows, 1, 1, 0, rep, rep, 8);
        } else {
            vmadd(at, op_ub_f32(SCALE), numbers, rows, 1, 0, 0, rep, 0, 8);
        }
    }
    pipe_barrier(PIPE_V);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        vexp(at, at, rows, 1, 1, rep, rep);
    }
    pipe_barrier(PIPE_V);
}

/* Powers as weights in fractals: strips of 16 keys, a block more than the piece has rows. */
OP_INLINE void narrow_powers(const struct op_attention_args *t, const struct piece *piece)
{
    const uint16_t strip = (uint16_t)(t->piece_rows + 1), rep = (uint16_t)(piece->pitch / 32);
    const uint32_t out = WEIGHTS_OUT + piece->flag * WEIGHTS_BYTES;
    all_lanes();
    wait_flag(PIPE_MTE3, PIPE_V, piece->flag);
    for (uint32_t c = 0; c < piece->columns; c++) {
        const uint32_t to = out + c * 4 * strip * 32;
        __ubuf__ float *from = op_ub_f32(piece->at + c * 256);
        if (t->bf16) {
            vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)to, from, (uint8_t)piece->rows, strip,
                            1, 1, (uint8_t)rep);
        } else {
            vconv_f322f16(op_ub_f16(to), from, (uint8_t)piece->rows, strip, 1, 1, (uint8_t)rep);
        }
    }
    set_flag(PIPE_V, PIPE_MTE3, piece->flag);
}

OP_INLINE void store_weights(const struct op_attention_args *t, const struct step *step,
                             const struct piece *piece)
{
    const uint32_t all = op_up16(step->task.rows), row = first_row(&step->task) + piece->row;
    wait_flag(PIPE_V, PIPE_MTE3, piece->flag);
    copy_ubuf_to_gm((__gm__ void *)(weights_at(t, step) + row * 32),
                    (__ubuf__ void *)(uintptr_t)(WEIGHTS_OUT + piece->flag * WEIGHTS_BYTES), 0,
                    (uint16_t)op_blocks(step->n), (uint16_t)piece->rows,
                    (uint16_t)(t->piece_rows + 1 - piece->rows), (uint16_t)(all - piece->rows));
    set_flag(PIPE_MTE3, PIPE_V, piece->flag);
}

/* Columns behind the last key. */
OP_INLINE void fill_tail(const struct step *step, const struct piece *piece)
{
    const uint32_t tail = step->n % 64;
    if (tail) {
        set_mask_norm();
        set_vector_mask(0, ~0ull << tail);
        vector_dup(op_ub_f32(piece->at + step->n / 64 * 256), -__builtin_inff(),
                   (uint8_t)piece->rows, 1, 1, (uint8_t)(piece->pitch / 32), 8);
        pipe_barrier(PIPE_V);
    }
}

OP_INLINE void weigh_piece(const struct op_attention_args *t, const struct step *step,
                           const struct piece *piece)
{
    const bool cut = is_cut(t, step, piece), scaled = cut || t->bias;
    const uint32_t offset = piece->row * 4;
    wait_flag(PIPE_MTE2, PIPE_V, piece->flag);
    if (scaled) {
        finish_scores(t, step, piece, cut);
    }
    fill_tail(step, piece);
    fold_rows(FOLD_MAX, piece, LATEST);
    take_maxima(t, step, piece, scaled);
    make_powers(piece, scaled);
    narrow_powers(t, piece);
    fold_rows(FOLD_SUM, piece, PARTS);
    set_flag(PIPE_V, PIPE_MTE2, piece->flag);
    count_lanes(piece->rows);
    vmadd(op_ub_f32(SUM + step->home * NUMBERS_BYTES + offset),
          op_ub_f32(DECAY + step->slot * NUMBERS_BYTES + offset), op_ub_f32(PARTS), 1, 1, 1, 1, 8,
          8, 8);
    store_weights(t, step, piece);
}

OP_INLINE void make_weights(const struct op_attention_args *t, const struct step *step,
                            struct vector *vector)
{
    const uint32_t rows = rows_of(&step->task);
    if (step->first) {
        pipe_barrier(PIPE_V);
        count_lanes(HALF_ROWS);
        vector_dup(op_ub_f32(LARGEST + step->home * NUMBERS_BYTES), -__builtin_inff(), 1, 1, 1, 8,
                   8);
        vector_dup(op_ub_f32(SUM + step->home * NUMBERS_BYTES), 0.0f, 1, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
    struct piece piece = piece_of(t, step, 0, vector->piece);
    if (rows) {
        load_piece(t, step, &piece);
    }
    while (piece.row < rows) {
        const uint32_t row = piece.row + piece.rows;
        vector->piece ^= 1;
        const struct piece next = piece_of(t, step, row, vector->piece);
        if (row < rows) {
            load_piece(t, step, &next);
        }
        weigh_piece(t, step, &piece);
        piece = next;
    }
}

/* ---- sums of products ---- */

OP_INLINE void begin_total(void)
{
    wait_flag(PIPE_MTE3, PIPE_V, RESULT_FLAG);
    count_lanes(HALF_ROWS * OP_ATTENTION_FEATURES);
    vector_dup(op_ub_f32(TOTAL), 0.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

OP_INLINE void load_products(const struct op_attention_args *t, const struct step *step,
                             uint32_t row, uint32_t rows, uint32_t buffer)
{
    wait_flag(PIPE_V, PIPE_MTE2, PRODUCT_FLAGS + buffer);
    op_load_rows(PRODUCTS + buffer * PRODUCT_ROWS * PRODUCT_PITCH,
                 products_at(t, step) + (uint64_t)(first_row(&step->task) + row) * PRODUCT_PITCH,
                 rows, t->values * 4, PRODUCT_PITCH, PRODUCT_PITCH);
    set_flag(PIPE_MTE2, PIPE_V, PRODUCT_FLAGS + buffer);
}

OP_INLINE void add_products(const struct op_attention_args *t, const struct step *step,
                            struct vector *vector)
{
    const uint32_t rows = rows_of(&step->task), step_blocks = PRODUCT_PITCH / 32;
    pipe_barrier(PIPE_V);
    spread(FACTORS, DECAY + step->slot * NUMBERS_BYTES, rows, 1);
    pipe_barrier(PIPE_V);
    for (uint32_t row = 0; row < rows; row += PRODUCT_ROWS) {
        const uint32_t some = op_min(PRODUCT_ROWS, rows - row), buffer = vector->product;
        vector->product ^= 1;
        load_products(t, step, row, some, buffer);
        wait_flag(PIPE_MTE2, PIPE_V, PRODUCT_FLAGS + buffer);
        all_lanes();
        for (uint32_t c = 0; c * 64 < t->values; c++) {
            vmadd(op_ub_f32(TOTAL + row * PRODUCT_PITCH + c * 256), op_ub_f32(FACTORS + row * 32),
                  op_ub_f32(PRODUCTS + buffer * PRODUCT_ROWS * PRODUCT_PITCH + c * 256),
                  (uint8_t)some, 1, 0, 1, step_blocks, 1, step_blocks);
        }
        set_flag(PIPE_V, PIPE_MTE2, PRODUCT_FLAGS + buffer);
    }
}

/* total / sum in the type of the result, in place. */
OP_INLINE void finish_total(const struct op_attention_args *t, uint32_t rows)
{
    const uint8_t step = PRODUCT_PITCH / 32;
    all_lanes();
    for (uint32_t c = 0; c * 64 < t->values; c++) {
        __ubuf__ float *at = op_ub_f32(TOTAL + c * 256);
        vdiv(at, at, op_ub_f32(DIVISORS), (uint8_t)rows, 1, 1, 0, step, step, 1);
    }
    for (uint32_t c = 0; c * 64 < t->values; c++) {
        const uint32_t to = TOTAL + c * 128;
        __ubuf__ float *from = op_ub_f32(TOTAL + c * 256);
        pipe_barrier(PIPE_V);
        if (t->bf16) {
            vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)to, from, (uint8_t)rows, 1, 1, step,
                            step);
        } else {
            vconv_f322f16(op_ub_f16(to), from, (uint8_t)rows, 1, 1, step, step);
        }
    }
}

OP_INLINE void store_results(const struct op_attention_args *t, const struct step *step)
{
    const struct task *task = &step->task;
    const uint32_t rows = rows_of(task), row = task->q0 + first_row(task);
    const uint64_t column =
        (((uint64_t)task->batch * t->heads * t->groups + task->head) * t->queries + row) * 32;
    pipe_barrier(PIPE_V);
    spread(MAXIMA, LARGEST + step->home * NUMBERS_BYTES, rows, 1);
    spread(DIVISORS, SUM + step->home * NUMBERS_BYTES, rows, 1);
    pipe_barrier(PIPE_V);
    finish_total(t, rows);
    set_flag(PIPE_V, PIPE_MTE3, RESULT_FLAG);
    wait_flag(PIPE_V, PIPE_MTE3, RESULT_FLAG);
    op_store_rows(t->out + place(&t->out_at, task->batch, task->head) +
                      (uint64_t)row * t->out_at.pitch * 2,
                  TOTAL, rows, t->values * 2, (uint64_t)t->out_at.pitch * 2, PRODUCT_PITCH);
    op_store(t->max + column, MAXIMA, rows * 32);
    op_store(t->sum + column, DIVISORS, rows * 32);
}

OP_INLINE void take_products(const struct op_attention_args *t, const struct step *step,
                             struct vector *vector)
{
    if (rows_of(&step->task) == 0) {
        return;
    }
    if (step->first) {
        begin_total();
    }
    add_products(t, step, vector);
    if (step->last) {
        store_results(t, step);
        set_flag(PIPE_MTE3, PIPE_V, RESULT_FLAG);
    }
}
