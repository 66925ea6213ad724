/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and cross entropy of groups of rows held in UB. The largest logit of a row is found by
 * folding the row on itself (the vector unit has no f32 maximum over lanes on the coupled core)
 * down to 8 lanes for the scalar unit.
 */
#include "args.h"
#include "copy.h"

enum {
    X = 0, /* the group: logits, then exponentials, then probabilities */
    FOLD = X + OP_SOFTMAX_GROUP_BYTES, /* two buffers of half a row */
    FOLD_BYTES = OP_SOFTMAX_MAX_CLASSES * 2,
    FOLDED = FOLD + 2 * FOLD_BYTES,              /* 8 lanes a row */
    PARTS = FOLDED + OP_SOFTMAX_GROUP_ROWS * 32, /* sums of 64 exponentials, 256 B a row */
    LABEL = PARTS + OP_SOFTMAX_GROUP_ROWS * 256,
    ROW = OP_SOFTMAX_GROUP_ROWS * 4, /* bytes of one word a row */
    SHIFTED = LABEL + ROW,           /* logit of the label minus the row's maximum */
    SUM = SHIFTED + ROW,
    LOSS = SUM + ROW,
    FEW_BLOCKS = 2, /* up to so many blocks of 8 the scalar unit looks at every class itself */
};

OP_INLINE uint8_t repeats_of(uint32_t lanes)
{
    return (uint8_t)((lanes + 63) / 64);
}

/* Folds the whole 8-lane blocks of a row; a window of lanes may be looked at twice, which a maximum
 * does not mind. */
OP_INLINE void fold_row(uint32_t row, uint32_t to, uint32_t classes)
{
    uint32_t from = row, buffer = 0;
    for (uint32_t blocks = classes / 8; blocks > 1;) {
        const uint32_t half = (blocks + 1) / 2;
        const uint32_t dst = half == 1 ? to : FOLD + buffer * FOLD_BYTES;
        set_vector_mask(0, half * 8);
        vmax(op_ub_f32(dst), op_ub_f32(from), op_ub_f32(from + (blocks - half) * 32),
             repeats_of(half * 8), 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
        from = dst;
        buffer ^= 1;
        blocks = half;
    }
}

OP_INLINE float max_of(uint32_t ub, uint32_t count, float so_far)
{
    for (uint32_t i = 0; i < count; i++) {
        const float x = *(const __ubuf__ volatile float *)(uintptr_t)(ub + i * 4);
        so_far = x > so_far ? x : so_far;
    }
    return so_far;
}

OP_INLINE float max_of_row(uint32_t row, uint32_t folded, uint32_t classes)
{
    const uint32_t blocks = classes / 8;
    if (blocks <= FEW_BLOCKS) {
        return max_of(row + 4, classes - 1, *(const __ubuf__ volatile float *)(uintptr_t)row);
    }
    const float most = max_of(folded + 4, 7, *(const __ubuf__ volatile float *)(uintptr_t)folded);
    return max_of(row + blocks * 32, classes % 8, most);
}

/* x - max per row, and where the label's value stands. */
OP_INLINE void shift_rows(uint32_t rows, uint32_t classes, uint32_t pitch)
{
    if (classes / 8 > FEW_BLOCKS) {
        for (uint32_t r = 0; r < rows; r++) {
            fold_row(X + r * pitch, FOLDED + r * 32, classes);
        }
    }
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    set_vector_mask(0, classes);
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t row = X + r * pitch,
                       label = *(const __ubuf__ volatile uint32_t *)(uintptr_t)(LABEL + r * 4);
        if (label >= classes) {
            trap(); // a label outside 0..classes-1
        }
        const float most = max_of_row(row, FOLDED + r * 32, classes);
        *(__ubuf__ volatile float *)(uintptr_t)(SHIFTED + r * 4) =
            *(const __ubuf__ volatile float *)(uintptr_t)(row + label * 4) - most;
        vadds(op_ub_f32(row), op_ub_f32(row), -most, repeats_of(classes), 1, 1, 8, 8);
    }
    pipe_barrier(PIPE_V);
}

OP_INLINE void normalise_rows(uint32_t rows, uint32_t classes, uint32_t pitch)
{
    set_vector_mask(0, rows * pitch / 4);
    vexp(op_ub_f32(X), op_ub_f32(X), repeats_of(rows * pitch / 4), 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, classes);
    for (uint32_t r = 0; r < rows; r++) {
        vcadd(op_ub_f32(PARTS + r * 256), op_ub_f32(X + r * pitch), repeats_of(classes), 1, 1, 8,
              0);
    }
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
    for (uint32_t r = 0; r < rows; r++) {
        const __ubuf__ volatile float *parts =
            (const __ubuf__ volatile float *)(uintptr_t)(PARTS + r * 256);
        float sum = parts[0];
        for (uint32_t i = 1; i < repeats_of(classes); i++) {
            sum += parts[i];
        }
        *(__ubuf__ volatile float *)(uintptr_t)(SUM + r * 4) = sum;
        vmuls(op_ub_f32(X + r * pitch), op_ub_f32(X + r * pitch), 1.0f / sum, repeats_of(classes),
              1, 1, 8, 8);
    }
    set_flag(PIPE_S, PIPE_V, 0);
    wait_flag(PIPE_S, PIPE_V, 0);
    set_vector_mask(0, rows);
    vln(op_ub_f32(LOSS), op_ub_f32(SUM), 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsub(op_ub_f32(LOSS), op_ub_f32(LOSS), op_ub_f32(SHIFTED), 1, 1, 1, 1, 8, 8, 8);
}

__global__ __vector__ void op_softmax_xent(struct op_softmax_args args)
{
    const struct op_softmax_args t = args;
    const uint32_t begin = (uint32_t)get_block_idx() * t.per_block,
                   end = op_min(begin + t.per_block, t.rows);
    const uint32_t bytes = t.classes * 4, pitch = op_units(bytes) * 32;
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    for (uint32_t row = begin; row < end; row += t.group) {
        const uint32_t rows = op_min(t.group, end - row);
        wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
        op_load_rows(X, t.logits + (uint64_t)row * bytes, rows, bytes, bytes, pitch);
        op_load(LABEL, t.labels + (uint64_t)row * 4, rows * 4);
        set_flag(PIPE_MTE2, PIPE_V, 0);
        wait_flag(PIPE_MTE2, PIPE_V, 0);
        shift_rows(rows, t.classes, pitch);
        normalise_rows(rows, t.classes, pitch);
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        op_store_rows(t.prob + (uint64_t)row * bytes, X, rows, bytes, bytes, pitch);
        op_store(t.loss + (uint64_t)row * 4, LOSS, rows * 4);
        set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
}
