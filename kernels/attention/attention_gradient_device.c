/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of attention's gradient that the scores stand for, on the split generation: the weights
 * once more from scores, maxima and sums, and the gradient of the products under the softmax,
 * weight (dy v' - mean) scale. Both go to memory in 16 bits; dq, dk, dv are products with them.
 * Tasks and steps as in attention.c; the cube core makes q k' and dy v', three steps ahead at most.
 *
 * Flags between the cores of a group: 0 scores of a step are there; 1 they are loaded. Those of the
 * vector cores: MTE2 -> V and back 0, 1: scores; 2, 3: dy v'; 4: numbers of rows. V -> MTE3 and
 * back 0, 1: weights and slopes.
 */
#include "attention_cube_device_2201.h"
#include "attention_scores_device_2201.h"

enum {
    CROSS_SCORES,
    CROSS_LOADED,

    DY_PLACES = WEIGHTS, /* of L1 */

    SLOPES_BYTES = OP_ATTENTION_PIECE / 2 + 256, /* a piece of dy v' */
    HALVES_BYTES = 8192,                         /* a piece of results */
    ZERO_ROWS = 16,
    ZERO_COLUMNS = 512,

    SLOPES = (SCORES_END + 255) / 256 * 256,
    WEIGHTS_OUT = SLOPES + 2 * SLOPES_BYTES,
    SLOPES_OUT = WEIGHTS_OUT + 2 * HALVES_BYTES,
    ZEROS = SLOPES_OUT + 2 * HALVES_BYTES,
    MAXIMA = ZEROS + ZERO_ROWS * ZERO_COLUMNS * 2, /* blocks, negative */
    INVERSES = MAXIMA + BLOCKS_BYTES,
    MEANS = INVERSES + BLOCKS_BYTES, /* negative */
    MEAN_NUMBERS = MEANS + BLOCKS_BYTES,
    UB_END = MEAN_NUMBERS + HALF_ROWS * 4,

    SLOPE_FLAGS = 2,
    NUMBER_FLAG = 4,
};
_Static_assert(UB_END <= 196608, "buffers fit the unified buffer");

/* ---- the cube core ---- */

OP_INLINE void load_rows_of(const struct op_attention_args *t, const struct task *task,
                            struct cube *cube)
{
    const uint32_t q = QUERIES + cube->query, dy = DY_PLACES + cube->query;
    load_rows_nz(
        q, t->q + place(&t->q_at, task->batch, task->head) + (uint64_t)task->q0 * t->q_at.pitch * 2,
        task->rows, t->features, t->q_at.pitch);
    load_rows_nz(dy,
                 t->dy + place(&t->out_at, task->batch, task->head) +
                     (uint64_t)task->q0 * t->out_at.pitch * 2,
                 task->rows, t->values, t->out_at.pitch);
    wait_flag(PIPE_MTE2, PIPE_MTE1, q);
    wait_flag(PIPE_MTE2, PIPE_MTE1, dy);
}

/* Rows `from` of L1 times the turned rows of keys or values at `gm`, to `to`. */
OP_INLINE void make_chunk(const struct op_attention_args *t, const struct step *step,
                          struct cube *cube, uint32_t from, uint64_t gm, uint32_t pitch, uint32_t n,
                          uint32_t k, uint64_t to)
{
    const uint32_t chunk = cube->chunk;
    load_rows_nz(chunk, gm, n, k, pitch);
    wait_flag(PIPE_MTE2, PIPE_MTE1, chunk);
    multiply_turned(t, cube, from, chunk, step->task.rows, k, n);
    set_flag(PIPE_MTE1, PIPE_MTE2, chunk);
    end_half(cube);
    store_sums(cube, to, step->task.rows, n, t->block);
    cube->chunk = (chunk + 1) % CHUNKS;
}

OP_INLINE void make_step(const struct op_attention_args *t, const struct step *step,
                         struct cube *cube)
{
    const struct task *task = &step->task;
    const uint32_t head = task->head / t->groups;
    const uint64_t keys = t->k + place(&t->k_at, task->batch, head),
                   values = t->v + place(&t->v_at, task->batch, head);
    if (step->first) {
        load_rows_of(t, task, cube);
    }
    for (uint32_t at = 0; at < step->n; at += OP_ATTENTION_CHUNK) {
        const uint32_t n = op_min(OP_ATTENTION_CHUNK, step->n - at);
        const uint64_t row = step->k0 + at;
        make_chunk(t, step, cube, QUERIES + cube->query, keys + row * t->k_at.pitch * 2,
                   t->k_at.pitch, n, t->features, scores_at(t, step) + at * 4);
        make_chunk(t, step, cube, DY_PLACES + cube->query, values + row * t->v_at.pitch * 2,
                   t->v_at.pitch, n, t->values, weights_at(t, step) + at * 4);
    }
    if (step->last) {
        set_flag(PIPE_MTE1, PIPE_MTE2, QUERIES + cube->query);
        set_flag(PIPE_MTE1, PIPE_MTE2, DY_PLACES + cube->query);
        cube->query ^= 1;
    }
}

OP_INLINE void run_cube(const struct op_attention_args *t)
{
    struct cube cube = {0};
    struct step step = first_step(t);
    uint32_t under_way = 0;
    begin_cube();
    do {
        if (under_way == OP_ATTENTION_SLOTS) {
            leo_cross_wait(CROSS_LOADED);
            under_way--;
        }
        make_step(t, &step, &cube);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, CROSS_SCORES);
        under_way++;
    } while (next_step(t, &step));
    for (; under_way; under_way--) {
        leo_cross_wait(CROSS_LOADED);
    }
    end_cube();
}

/* ---- the vector cores ---- */

/* Bytes of the element [row of this core, key] of a [batch, heads, queries, keys] of 16 bits. */
OP_INLINE uint64_t result_at(const struct op_attention_args *t, const struct task *task,
                             uint32_t row, uint32_t key)
{
    const uint64_t plane = (uint64_t)task->batch * t->heads * t->groups + task->head;
    return ((plane * t->queries + task->q0 + first_row(task) + row) * t->keys + key) * 2;
}

/* Keys [from, to) that no query of the task sees. */
OP_INLINE void store_zeros(const struct op_attention_args *t, const struct task *task,
                           uint32_t from, uint32_t to)
{
    const uint32_t rows = rows_of(task), ub_pitch = ZERO_COLUMNS * 2;
    for (uint32_t key = from; key < to; key += ZERO_COLUMNS) {
        const uint32_t bytes = op_min(ZERO_COLUMNS, to - key) * 2;
        for (uint32_t row = 0; row < rows; row += ZERO_ROWS) {
            const uint32_t some = op_min(ZERO_ROWS, rows - row);
            const uint64_t at = result_at(t, task, row, key);
            op_store_rows(t->weights + at, ZEROS, some, bytes, (uint64_t)t->keys * 2, ub_pitch);
            op_store_rows(t->slopes + at, ZEROS, some, bytes, (uint64_t)t->keys * 2, ub_pitch);
        }
    }
}

/* What the rows of a task are computed with. */
OP_INLINE void begin_task(const struct op_attention_args *t, const struct task *task)
{
    const uint32_t rows = rows_of(task);
    const uint64_t row = ((uint64_t)task->batch * t->heads * t->groups + task->head) * t->queries +
                         task->q0 + first_row(task);
    if (rows == 0) {
        return;
    }
    store_zeros(t, task, 0, task->begin);
    store_zeros(t, task, task->end, t->keys);
    wait_flag(PIPE_V, PIPE_MTE2, NUMBER_FLAG);
    op_load(MAXIMA, t->max + row * 32, rows * 32);
    op_load(INVERSES, t->sum + row * 32, rows * 32);
    op_load(MEAN_NUMBERS, t->mean + row * 4, rows * 4);
    set_flag(PIPE_MTE2, PIPE_V, NUMBER_FLAG);
    wait_flag(PIPE_MTE2, PIPE_V, NUMBER_FLAG);
    pipe_barrier(PIPE_V);
    count_lanes(rows * 8);
    vmuls(op_ub_f32(MAXIMA), op_ub_f32(MAXIMA), -1.0f, 1, 1, 1, 8, 8);
    vrec(op_ub_f32(INVERSES), op_ub_f32(INVERSES), 1, 1, 1, 8, 8);
    spread(MEANS, MEAN_NUMBERS, rows, 1);
    pipe_barrier(PIPE_V);
    vmuls(op_ub_f32(MEANS), op_ub_f32(MEANS), -1.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
}

OP_INLINE void load_slopes(const struct op_attention_args *t, const struct step *step,
                           const struct piece *piece)
{
    wait_flag(PIPE_V, PIPE_MTE2, SLOPE_FLAGS + piece->flag);
    op_load_rows(SLOPES + piece->flag * SLOPES_BYTES,
                 weights_at(t, step) +
                     (uint64_t)(first_row(&step->task) + piece->row) * t->block * 4,
                 piece->rows, step->n * 4, t->block * 4, piece->pitch);
    set_flag(PIPE_MTE2, PIPE_V, SLOPE_FLAGS + piece->flag);
}

/* Scores become weights. */
OP_INLINE void weigh(const struct piece *piece, bool scaled)
{
    const uint8_t rows = (uint8_t)piece->rows, rep = (uint8_t)(piece->pitch / 32);
    __ubuf__ float *maxima = op_ub_f32(MAXIMA + piece->row * 32),
                   *inverses = op_ub_f32(INVERSES + piece->row * 32);
    all_lanes();
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        if (scaled) {
            vadd(at, at, maxima, rows, 1, 1, 0, rep, rep, 1);
        } else {
            vmadd(at, op_ub_f32(SCALE), maxima, rows, 1, 0, 0, rep, 0, 1);
        }
    }
    pipe_barrier(PIPE_V);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        vexp(at, at, rows, 1, 1, rep, rep);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(piece->at + c * 256);
        vmul(at, at, inverses, rows, 1, 1, 0, rep, rep, 1);
    }
    pipe_barrier(PIPE_V);
}

/* Products dy v' become slopes. */
OP_INLINE void slope(const struct op_attention_args *t, const struct piece *piece, uint32_t slopes)
{
    const uint8_t rows = (uint8_t)piece->rows, rep = (uint8_t)(piece->pitch / 32);
    __ubuf__ float *means = op_ub_f32(MEANS + piece->row * 32);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(slopes + c * 256);
        vadd(at, at, means, rows, 1, 1, 0, rep, rep, 1);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(slopes + c * 256);
        vmul(at, at, op_ub_f32(piece->at + c * 256), rows, 1, 1, 1, rep, rep, rep);
    }
    pipe_barrier(PIPE_V);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(slopes + c * 256);
        vmuls(at, at, t->scale, rows, 1, 1, rep, rep);
    }
    pipe_barrier(PIPE_V);
}

OP_INLINE void narrow(const struct op_attention_args *t, const struct piece *piece, uint32_t to,
                      uint32_t from)
{
    const uint8_t rows = (uint8_t)piece->rows, rep = (uint8_t)(piece->pitch / 32),
                  out_rep = (uint8_t)(t->block * 2 / 32);
    for (uint32_t c = 0; c < piece->columns; c++) {
        __ubuf__ float *at = op_ub_f32(from + c * 256);
        if (t->bf16) {
            vconv_f322bf16r((__ubuf__ bfloat16_t *)(uintptr_t)(to + c * 128), at, rows, 1, 1,
                            out_rep, rep);
        } else {
            vconv_f322f16(op_ub_f16(to + c * 128), at, rows, 1, 1, out_rep, rep);
        }
    }
}

OP_INLINE void take_piece(const struct op_attention_args *t, const struct step *step,
                          const struct piece *piece)
{
    const bool cut = is_cut(t, step, piece), scaled = cut || t->bias;
    const uint32_t slopes = SLOPES + piece->flag * SLOPES_BYTES,
                   weights_out = WEIGHTS_OUT + piece->flag * HALVES_BYTES,
                   slopes_out = SLOPES_OUT + piece->flag * HALVES_BYTES;
    wait_flag(PIPE_MTE2, PIPE_V, piece->flag);
    if (scaled) {
        finish_scores(t, step, piece, cut);
    }
    weigh(piece, scaled);
    wait_flag(PIPE_MTE3, PIPE_V, piece->flag);
    narrow(t, piece, weights_out, piece->at);
    wait_flag(PIPE_MTE2, PIPE_V, SLOPE_FLAGS + piece->flag);
    slope(t, piece, slopes);
    set_flag(PIPE_V, PIPE_MTE2, piece->flag);
    narrow(t, piece, slopes_out, slopes);
    set_flag(PIPE_V, PIPE_MTE2, SLOPE_FLAGS + piece->flag);
    set_flag(PIPE_V, PIPE_MTE3, piece->flag);
    wait_flag(PIPE_V, PIPE_MTE3, piece->flag);
    const uint64_t at = result_at(t, &step->task, piece->row, step->k0);
    op_store_rows(t->weights + at, weights_out, piece->rows, step->n * 2, (uint64_t)t->keys * 2,
                  t->block * 2);
    op_store_rows(t->slopes + at, slopes_out, piece->rows, step->n * 2, (uint64_t)t->keys * 2,
                  t->block * 2);
    set_flag(PIPE_MTE3, PIPE_V, piece->flag);
}

OP_INLINE void take_step(const struct op_attention_args *t, const struct step *step,
                         uint32_t *buffer)
{
    const uint32_t rows = rows_of(&step->task);
    struct piece piece = piece_of(t, step, 0, *buffer);
    if (rows) {
        load_piece(t, step, &piece);
        load_slopes(t, step, &piece);
    }
    while (piece.row < rows) {
        const uint32_t row = piece.row + piece.rows;
        *buffer ^= 1;
        const struct piece next = piece_of(t, step, row, *buffer);
        if (row < rows) {
            load_piece(t, step, &next);
            load_slopes(t, step, &next);
        }
        take_piece(t, step, &piece);
        piece = next;
    }
    leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE2, CROSS_LOADED);
}

OP_INLINE void run_vector(const struct op_attention_args *t)
{
    struct step step = first_step(t);
    uint32_t buffer = 0;
    count_lanes(UB_END / 4);
    vector_dup(op_ub_f32(0), 0.0f, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    begin_scores(t);
    set_flag(PIPE_V, PIPE_MTE3, 0); // the zeros
    wait_flag(PIPE_V, PIPE_MTE3, 0);
    for (uint32_t i = 0; i <= NUMBER_FLAG; i++) {
        set_flag(PIPE_V, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_MTE3, PIPE_V, i);
    }
    do {
        if (step.first) {
            begin_task(t, &step.task);
        }
        leo_cross_wait(CROSS_SCORES);
        take_step(t, &step, &buffer);
        if (step.last && rows_of(&step.task)) {
            set_flag(PIPE_V, PIPE_MTE2, NUMBER_FLAG);
        }
    } while (next_step(t, &step));
    for (uint32_t i = 0; i <= NUMBER_FLAG; i++) {
        wait_flag(PIPE_V, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_MTE3, PIPE_V, i);
    }
}

__global__ __mix__(1, 2) void attention_gradient(struct op_attention_args args)
{
    const struct op_attention_args t = args;
    if (leo_is_cube()) {
        run_cube(&t);
    } else {
        run_vector(&t);
    }
}
