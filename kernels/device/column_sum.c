/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of columns in f32, rows ascending: each block owns columns, so the order does not depend on
 * the block count. */
#include "args.h"
#include "copy.h"

enum {
    CHUNK = 2048,      /* columns held at a time */
    SLOT = 32768,      /* bytes of one group of rows */
    WIDE = 2 * SLOT,   /* the group as f32: a group of f16 is at most SLOT / 2 bytes */
    SUM = WIDE + SLOT, /* CHUNK f32 */
    EVENT_SUM = 2,
};

/* Flags: V -> MTE2 and MTE2 -> V 0,1 by slot; MTE3 -> V and V -> MTE3 2: the sums. */
OP_INLINE void sum_chunk(const struct op_column_sum_args *t, uint32_t column, uint32_t columns,
                         uint32_t unit)
{
    const uint32_t row_bytes = op_units(columns * unit) * 32, wide_bytes = row_bytes / unit * 4;
    const uint32_t group = op_min(SLOT / wide_bytes, 255);
    const uint64_t pitch = (uint64_t)t->columns * unit;

    wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
    set_vector_mask(0, columns);
    vector_dup(op_ub_f32(SUM), 0.0f, (uint8_t)((columns + 63) / 64), 1, 1, 8, 8);
    uint32_t slot = 0;
    for (uint32_t row = 0; row < t->rows; row += group, slot ^= 1) {
        const uint32_t rows = op_min(group, t->rows - row);
        const uint32_t ub = slot * SLOT;
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load_rows(ub, t->in + row * pitch + (uint64_t)column * unit, rows, columns * unit, pitch,
                     row_bytes);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        uint32_t from = ub;
        if (unit == 2) {
            const uint32_t elements = rows * row_bytes / 2;
            pipe_barrier(PIPE_V);
            set_vector_mask(0, elements);
            vconv_f162f32(op_ub_f32(WIDE), op_ub_f16(ub), (uint8_t)((elements + 63) / 64), 1, 1, 8,
                          4);
            from = WIDE;
        }
        set_vector_mask(0, columns);
        for (uint32_t i = 0; i < rows; i++) {
            pipe_barrier(PIPE_V);
            vadd(op_ub_f32(SUM), op_ub_f32(SUM), op_ub_f32(from + i * wide_bytes),
                 (uint8_t)((columns + 63) / 64), 1, 1, 1, 8, 8, 8);
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_SUM);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_SUM);
    op_store(t->out + (uint64_t)column * 4, SUM, columns * 4);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
}

OP_INLINE void sum_columns(const struct op_column_sum_args *t, uint32_t unit)
{
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block;
    const uint64_t end = op_min64(begin + t->per_block, t->columns);
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
    }
    for (uint64_t column = begin; column < end; column += CHUNK) {
        sum_chunk(t, (uint32_t)column, (uint32_t)op_min64(CHUNK, end - column), unit);
    }
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_SUM);
}

__global__ __vector__ void op_column_sum_f16(struct op_column_sum_args args)
{
    const struct op_column_sum_args t = args;
    sum_columns(&t, 2);
}

__global__ __vector__ void op_column_sum_f32(struct op_column_sum_args args)
{
    const struct op_column_sum_args t = args;
    sum_columns(&t, 4);
}
