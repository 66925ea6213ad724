/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running sums and products of columns on the vector unit, in f32, row after row.
 *
 * Flags, event = slot: MTE2 -> V: rows loaded; V -> MTE3: totals ready; MTE3 -> MTE2: stored.
 */
#include "../device/copy.h"
#include "../device/overflow.h"
#include "scan_args.h"

enum {
    SLOT = 65536,     /* bytes of a group of rows */
    CARRY = 2 * SLOT, /* the last row of the group before */
    LANES = 64,
};

/* The row at `row` joined with that at `before`. */
OP_INLINE void join(bool product, uint32_t row, uint32_t before, uint8_t repeats)
{
    pipe_barrier(PIPE_V);
    if (product) {
        vmul(op_ub_f32(row), op_ub_f32(row), op_ub_f32(before), repeats, 1, 1, 1, 8, 8, 8);
    } else {
        vadd(op_ub_f32(row), op_ub_f32(row), op_ub_f32(before), repeats, 1, 1, 1, 8, 8, 8);
    }
}

OP_INLINE void scan_unit(const struct op_scan_args *t, uint64_t first, uint32_t columns)
{
    const uint32_t bytes = columns * 4, group = op_min(SLOT / bytes, 4095);
    const uint8_t repeats = (uint8_t)((columns + LANES - 1) / LANES);
    const bool product = t->product;
    uint32_t slot = 0, carry = 0;
    set_vector_mask(0, columns);
    for (uint64_t row = 0; row < t->length; row += group, slot ^= 1) {
        const uint32_t rows = (uint32_t)op_min64(group, t->length - row), ub = slot * SLOT;
        const uint64_t at = (first + row * t->inner) * 4;
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        op_load_rows(ub, t->in + at, rows, bytes, t->inner * 4, bytes);
        set_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        if (row > 0) {
            join(product, ub, carry, repeats);
        }
        for (uint32_t r = 1; r < rows; r++) {
            join(product, ub + r * bytes, ub + (r - 1) * bytes, repeats);
        }
        // The other slot is loaded again before its last row is read.
        pipe_barrier(PIPE_V);
        carry = CARRY;
        vmuls(op_ub_f32(CARRY), op_ub_f32(ub + (rows - 1) * bytes), 1.0f, repeats, 1, 1, 8, 8);
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        op_store_rows(t->out + at, ub, rows, bytes, t->inner * 4, bytes);
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
}

__global__ __vector__ void scan(struct op_scan_args args)
{
    const struct op_scan_args t = args;
    const uint64_t tiles = (t.inner + t.columns - 1) / t.columns;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.outer * tiles);
    (void)op_infinite_begin();
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t unit = begin; unit < end; unit++) {
        const uint64_t outer = unit / tiles, column = (unit - outer * tiles) * t.columns;
        scan_unit(&t, outer * t.length * t.inner + column,
                  (uint32_t)op_min64(t.columns, t.inner - column));
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
}
