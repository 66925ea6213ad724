/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of a step in the unified buffer of a vector core: half of the step's rows, a piece at a
 * time, and which of them count.
 *
 * A piece has rows of `block` f32 and 256 bytes between them, so that rows that follow each other,
 * and columns of 64, begin in another half of the banks (HW-VEC-41).
 *
 * Flags: MTE2 -> V and back 0, 1: pieces.
 */
#pragma once

#include "../device/copy.h"
#include "../device/types.h"
#include "attention_steps_device.h"

enum {
    HALF_ROWS = OP_ATTENTION_ROWS / 2,       /* of a vector core */
    SCORES_BYTES = OP_ATTENTION_PIECE + 512, /* scores, or scores and bias */
    BIAS_AT = OP_ATTENTION_PIECE / 2 + 256,  /* in them; an odd number of 256 bytes */
    BLOCKS_BYTES = HALF_ROWS * 32,           /* a number of each row eight times */
    EDGE = 32,                               /* keys of a row of the table of edges */

    SCORES = 0,
    EDGES = SCORES + 2 * SCORES_BYTES, /* row i: i + 1 keys that are seen, then such that are not */
    SCALE = EDGES + (EDGE - 1) * EDGE * 4,
    SCORES_END = SCALE + 128,
};

static const float unseen = -3e38f; /* the score of a key that a query does not see */

/** Rows of a step's half in UB. */
struct piece {
    uint32_t row, rows; /* row: of this core */
    uint32_t at;        /* scores in UB */
    uint32_t flag;
    uint32_t pitch, columns; /* bytes from row to row; columns of 64 */
};

/* ---- a piece's geometry ---- */

OP_INLINE uint32_t pitch_of(const struct op_attention_args *t)
{
    return t->block * 4 + OP_ATTENTION_GAP;
}

/* This core's rows of a task: [first, first + rows). */
OP_INLINE uint32_t first_row(const struct task *task)
{
    return (uint32_t)get_subblockid() * ((task->rows + 1) / 2);
}

OP_INLINE uint32_t rows_of(const struct task *task)
{
    const uint32_t half = (task->rows + 1) / 2;
    return get_subblockid() == 0 ? half : task->rows - half;
}

OP_INLINE void all_lanes(void)
{
    set_mask_norm();
    set_vector_mask(0, ~0ull);
}

OP_INLINE void count_lanes(uint32_t count)
{
    set_mask_count();
    set_vector_mask(0, count);
}

/* Blocks of 32 bytes from numbers, `step` blocks apart. */
OP_INLINE void spread(uint32_t to, uint32_t numbers, uint32_t rows, uint32_t step)
{
    vbrcb((__ubuf__ uint32_t *)(uintptr_t)to, (__ubuf__ uint32_t *)(uintptr_t)numbers, step,
          step * 8, (rows + 7) / 8);
}

OP_INLINE struct piece piece_of(const struct op_attention_args *t, const struct step *step,
                                uint32_t row, uint32_t buffer)
{
    return (struct piece){
        .row = row,
        .rows = op_min(t->piece_rows, rows_of(&step->task) - row),
        .at = SCORES + buffer * SCORES_BYTES,
        .flag = buffer,
        .pitch = pitch_of(t),
        .columns = (step->n + 63) / 64,
    };
}

OP_INLINE void load_piece(const struct op_attention_args *t, const struct step *step,
                          const struct piece *piece)
{
    const struct task *task = &step->task;
    const uint32_t row = first_row(task) + piece->row;
    wait_flag(PIPE_V, PIPE_MTE2, piece->flag);
    op_load_rows(piece->at, scores_at(t, step) + (uint64_t)row * t->block * 4, piece->rows,
                 step->n * 4, t->block * 4, piece->pitch);
    if (t->bias) {
        op_load_rows(piece->at + BIAS_AT,
                     t->bias + place(&t->bias_at, task->batch, task->head) +
                         ((uint64_t)(task->q0 + row) * t->bias_at.pitch + step->k0) * 4,
                     piece->rows, step->n * 4, (uint64_t)t->bias_at.pitch * 4, piece->pitch);
    }
    set_flag(PIPE_MTE2, PIPE_V, piece->flag);
}

/* Elements [from, to) of a row of UB. */
OP_INLINE void hide(uint32_t row_at, uint32_t from, uint32_t to)
{
    while (from < to) {
        const uint32_t column = from / 64, begin = from % 64,
                       whole = begin == 0 ? (to - from) / 64 : 0,
                       end = op_min(64, to - column * 64);
        if (whole) {
            set_vector_mask(0, ~0ull);
        } else {
            set_vector_mask(0, (~0ull >> (64 - end)) & (~0ull << begin));
        }
        vector_dup(op_ub_f32(row_at + column * 256), unseen, (uint8_t)(whole ? whole : 1), 1, 1, 8,
                   8);
        from = whole ? from + whole * 64 : column * 64 + end;
    }
}

/* The keys of a step that query `q` sees: [from, to). */
struct span {
    uint32_t from, to;
};

OP_INLINE uint32_t clamp_key(int64_t key, uint32_t n)
{
    return key < 0 ? 0 : key > n ? n : (uint32_t)key;
}

OP_INLINE struct span seen(const struct op_attention_args *t, const struct step *step, uint32_t q)
{
    const int64_t zero = (int64_t)q - step->k0;
    return (struct span){clamp_key(zero + t->low, step->n), clamp_key(zero + t->high + 1, step->n)};
}

/* Some query of the piece does not see some key of the step. */
OP_INLINE bool is_cut(const struct op_attention_args *t, const struct step *step,
                      const struct piece *piece)
{
    const uint32_t q = step->task.q0 + first_row(&step->task) + piece->row;
    return seen(t, step, q).to < step->n || seen(t, step, q + piece->rows - 1).from > 0;
}

/* The keys behind the last one that a row sees. From row to row there is one more, so that rows of
 * the table that follow each other serve rows of scores that do. */
OP_INLINE void hide_later(const struct op_attention_args *t, const struct step *step,
                          const struct piece *piece, uint32_t q)
{
    const int64_t end = (int64_t)q - step->k0 + t->high + 1; // of the first row
    const uint8_t rep = (uint8_t)(piece->pitch / 32);
    set_vector_mask(0, ~0u);
    for (uint32_t k = 0; k < step->n; k += EDGE) {
        const uint32_t hidden = clamp_key((int64_t)k - end + 1, piece->rows),
                       cut = clamp_key((int64_t)k - end + EDGE, piece->rows);
        __ubuf__ float *at = op_ub_f32(piece->at + k * 4);
        if (hidden > 0) {
            vector_dup(at, unseen, (uint8_t)hidden, 1, 1, rep, 8);
        }
        if (cut > hidden) {
            const uint32_t seen_keys = (uint32_t)(end + hidden - k);
            __ubuf__ float *row = op_ub_f32(piece->at + hidden * piece->pitch + k * 4);
            vmin(row, row, op_ub_f32(EDGES + (seen_keys - 1) * EDGE * 4), (uint8_t)(cut - hidden),
                 1, 1, 1, rep, rep, EDGE * 4 / 32);
        }
    }
}

OP_INLINE void hide_unseen(const struct op_attention_args *t, const struct step *step,
                           const struct piece *piece)
{
    const uint32_t q = step->task.q0 + first_row(&step->task) + piece->row;
    hide_later(t, step, piece, q);
    if (seen(t, step, q + piece->rows - 1).from == 0) {
        return;
    }
    pipe_barrier(PIPE_V);
    for (uint32_t r = 0; r < piece->rows; r++) {
        hide(piece->at + r * piece->pitch, 0, seen(t, step, q + r).from);
    }
}

/* Scores become scaled ones with their bias, and keys that are not seen very small. */
OP_INLINE void finish_scores(const struct op_attention_args *t, const struct step *step,
                             const struct piece *piece, bool cut)
{
    const uint16_t rep = (uint16_t)(piece->pitch / 32);
    all_lanes();
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        if (t->bias) {
            vmadd(at, op_ub_f32(SCALE), op_ub_f32(piece->at + BIAS_AT + c * 256),
                  (uint8_t)piece->rows, 1, 0, 1, rep, 0, rep);
        } else {
            vmuls(at, at, t->scale, (uint8_t)piece->rows, 1, 1, rep, rep);
        }
    }
    if (cut) {
        pipe_barrier(PIPE_V);
        hide_unseen(t, step, piece);
    }
    pipe_barrier(PIPE_V);
}

/* Numbers that all pieces need. */
OP_INLINE void begin_scores(const struct op_attention_args *t)
{
    set_mask_count();
    set_vector_mask(0, 8);
    vector_dup(op_ub_f32(SCALE), t->scale, 1, 1, 1, 8, 8);
    set_mask_norm();
    for (uint32_t keys = 1; keys < EDGE; keys++) {
        __ubuf__ float *row = op_ub_f32(EDGES + (keys - 1) * EDGE * 4);
        set_vector_mask(0, ~0u >> (EDGE - keys));
        vector_dup(row, -unseen, 1, 1, 1, 8, 8);
        set_vector_mask(0, ~0u & ~0u << keys);
        vector_dup(row, unseen, 1, 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
}
