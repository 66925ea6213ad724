/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cube core of fused attention: scores = q k' of a step, and weights v. A product has up to 128
 * rows, columns and k: half of L0A, of L0B and of L0C.
 *
 * L1: two places for queries, four for chunks of keys and values, two for chunks of weights, 32 KiB
 * each. Flags. MTE2 -> MTE1 and back 0-3: keys and values; 4, 5: queries; 6, 7: weights. MTE1 -> M
 * and back 0, 1: halves of L0; M -> FIX and back 0, 1: halves of L0C.
 */
#pragma once

#include "../device/fractals.h"
#include "attention_steps_device.h"

enum {
    PLACE = 32768, /* 128 x 128 of 16 bits */
    SUMS_HALF = 65536,
    CHUNKS = 4, /* places of L1 */
    QUERIES = CHUNKS,
    QUERY_PLACES = 2,
    WEIGHTS = QUERIES + QUERY_PLACES,
    WEIGHT_PLACES = 2,
    PLACES = WEIGHTS + WEIGHT_PLACES,
};

/** Which of the places and halves is next. */
struct cube {
    uint32_t chunk, query, weight, l0, sums;
};

OP_INLINE void begin_cube(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        set_flag(PIPE_MTE1, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        set_flag(PIPE_M, PIPE_MTE1, i);
        set_flag(PIPE_FIX, PIPE_M, i);
    }
}

OP_INLINE void end_cube(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        wait_flag(PIPE_MTE1, PIPE_MTE2, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        wait_flag(PIPE_M, PIPE_MTE1, i);
        wait_flag(PIPE_FIX, PIPE_M, i);
    }
}

/* Rows of a matrix into a place of L1. */
OP_INLINE void load_rows_nz(uint32_t at, uint64_t gm, uint32_t rows, uint32_t columns,
                            uint32_t pitch)
{
    wait_flag(PIPE_MTE1, PIPE_MTE2, at);
    copy_gm_to_cbuf_multi_nd2nz_b16((__cbuf__ half *)(uintptr_t)(at * PLACE), (__gm__ half *)gm, 0,
                                    1, (uint16_t)rows, (uint16_t)columns, 0, (uint16_t)pitch,
                                    (uint16_t)op_up16(rows), 1, 0);
    set_flag(PIPE_MTE2, PIPE_MTE1, at);
}

OP_INLINE void multiply_chunk(const struct op_attention_args *t, const struct cube *cube,
                              uint32_t m, uint32_t k, uint32_t n, bool first)
{
    __cc__ float *sum = (__cc__ float *)(uintptr_t)(cube->sums * SUMS_HALF);
    const uint32_t l0 = cube->l0 * PLACE;
    const uint64_t word = op_mad(m, k, n, false, first);
    if (!first && op_blocks(m) * op_blocks(n) < 10) {
        // A small accumulation chain outruns the Cube's own dependency tracking.
        pipe_barrier(PIPE_M);
    }
    if (t->bf16) {
        mad(sum, (__ca__ bfloat16_t *)(uintptr_t)l0, (__cb__ bfloat16_t *)(uintptr_t)l0, word);
    } else {
        mad(sum, (__ca__ half *)(uintptr_t)l0, (__cb__ half *)(uintptr_t)l0, word);
    }
}

/* What a product needs of a half of L0: before it is filled, and when it is full. */
OP_INLINE void begin_half(const struct cube *cube)
{
    wait_flag(PIPE_M, PIPE_MTE1, cube->l0);
}

OP_INLINE void full_half(const struct cube *cube)
{
    set_flag(PIPE_MTE1, PIPE_M, cube->l0);
    wait_flag(PIPE_MTE1, PIPE_M, cube->l0);
}

OP_INLINE void end_half(struct cube *cube)
{
    set_flag(PIPE_M, PIPE_MTE1, cube->l0);
    cube->l0 ^= 1;
}

/* A half of L0C to rows of f32. */
OP_INLINE void store_sums(struct cube *cube, uint64_t gm, uint32_t m, uint32_t n, uint32_t pitch)
{
    set_flag(PIPE_M, PIPE_FIX, cube->sums);
    wait_flag(PIPE_M, PIPE_FIX, cube->sums);
    copy_matrix_cc_to_gm((__gm__ float *)gm, (__cc__ float *)(uintptr_t)(cube->sums * SUMS_HALF), 0,
                         (uint16_t)n, (uint16_t)m, pitch, (uint16_t)op_up16(m), 0, NoQuant, 0,
                         false, true);
    set_flag(PIPE_FIX, PIPE_M, cube->sums);
    cube->sums ^= 1;
}

/* The product of rows in place `a` of L1 with the turned rows in place `b`: q k' and its kin. */
OP_INLINE void multiply_turned(const struct op_attention_args *t, struct cube *cube, uint32_t a,
                               uint32_t b, uint32_t m, uint32_t k, uint32_t n)
{
    const uint32_t deep = op_blocks(k);
    begin_half(cube);
    matmul_fill_a(cube->l0 * PLACE, a * PLACE, 0, deep, op_blocks(m), deep, false);
    matmul_fill_b(cube->l0 * PLACE, b * PLACE, 0, deep, op_blocks(n), deep, true);
    full_half(cube);
    wait_flag(PIPE_FIX, PIPE_M, cube->sums);
    multiply_chunk(t, cube, m, k, n, true);
}

OP_INLINE void make_scores(const struct op_attention_args *t, const struct step *step,
                           struct cube *cube)
{
    const struct task *task = &step->task;
    const uint64_t gm = scores_at(t, step),
                   keys = t->k + place(&t->k_at, task->batch, task->head / t->groups);
    if (step->first) {
        load_rows_nz(QUERIES + cube->query,
                     t->q + place(&t->q_at, task->batch, task->head) +
                         (uint64_t)task->q0 * t->q_at.pitch * 2,
                     task->rows, t->features, t->q_at.pitch);
        wait_flag(PIPE_MTE2, PIPE_MTE1, QUERIES + cube->query);
    }
    for (uint32_t at = 0; at < step->n; at += OP_ATTENTION_CHUNK) {
        const uint32_t n = op_min(OP_ATTENTION_CHUNK, step->n - at), chunk = cube->chunk;
        load_rows_nz(chunk, keys + (uint64_t)(step->k0 + at) * t->k_at.pitch * 2, n, t->features,
                     t->k_at.pitch);
        wait_flag(PIPE_MTE2, PIPE_MTE1, chunk);
        multiply_turned(t, cube, QUERIES + cube->query, chunk, task->rows, t->features, n);
        set_flag(PIPE_MTE1, PIPE_MTE2, chunk);
        end_half(cube);
        store_sums(cube, gm + at * 4, task->rows, n, t->block);
        cube->chunk = (chunk + 1) % CHUNKS;
    }
    if (step->last) {
        set_flag(PIPE_MTE1, PIPE_MTE2, QUERIES + cube->query);
        cube->query ^= 1;
    }
}

/* The weights stand as strips of fractals, whose last ones have rows that are not written. */
OP_INLINE void load_weights(uint64_t gm, uint32_t at, uint32_t rows, uint32_t n)
{
    const uint16_t gap = (uint16_t)(op_up16(rows) - rows);
    wait_flag(PIPE_MTE1, PIPE_MTE2, at);
    copy_gm_to_cbuf((__cbuf__ void *)(uintptr_t)(at * PLACE), (__gm__ void *)gm, 0,
                    (uint16_t)op_blocks(n), (uint16_t)rows, gap, gap, PAD_NONE);
    set_flag(PIPE_MTE2, PIPE_MTE1, at);
}

OP_INLINE void make_products(const struct op_attention_args *t, const struct step *step,
                             struct cube *cube)
{
    const struct task *task = &step->task;
    const uint32_t m = task->rows;
    const uint64_t weights = weights_at(t, step),
                   values = t->v + place(&t->v_at, task->batch, task->head / t->groups);
    for (uint32_t at = 0; at < step->n; at += OP_ATTENTION_CHUNK) {
        const uint32_t n = op_min(OP_ATTENTION_CHUNK, step->n - at), chunk = cube->chunk,
                       weight = WEIGHTS + cube->weight, deep = op_blocks(n);
        load_weights(weights + (uint64_t)at * op_up16(m) * 2, weight, m, n);
        load_rows_nz(chunk, values + (uint64_t)(step->k0 + at) * t->v_at.pitch * 2, n, t->values,
                     t->v_at.pitch);
        wait_flag(PIPE_MTE2, PIPE_MTE1, weight);
        wait_flag(PIPE_MTE2, PIPE_MTE1, chunk);
        begin_half(cube);
        matmul_fill_a(cube->l0 * PLACE, weight * PLACE, 0, deep, op_blocks(m), deep, false);
        matmul_fill_b(cube->l0 * PLACE, chunk * PLACE, 0, deep, op_blocks(t->values), deep, false);
        set_flag(PIPE_MTE1, PIPE_MTE2, weight);
        set_flag(PIPE_MTE1, PIPE_MTE2, chunk);
        full_half(cube);
        if (at == 0) {
            wait_flag(PIPE_FIX, PIPE_M, cube->sums);
        }
        multiply_chunk(t, cube, m, n, t->values, at == 0);
        end_half(cube);
        cube->chunk = (chunk + 1) % CHUNKS;
        cube->weight ^= 1;
    }
    store_sums(cube, products_at(t, step), m, t->values, OP_ATTENTION_FEATURES);
}
