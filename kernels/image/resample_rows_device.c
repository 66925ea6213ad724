/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear maps along one dimension on the vector unit: rows behind that dimension are weighted and
 * added up whole, in the order of the table.
 *
 * Flags, event = slot. V -> MTE2: rows of in are used up; MTE2 -> V: loaded; V -> MTE3: rows of out
 * ready; MTE3 -> V: stored. Event 2, MTE2 -> S: the table is there.
 */
#include "../device/copy.h"
#include "../device/overflow.h"
#include "../device/slots.h"
#include "resample_rows_args.h"

enum { LANES = 64 };

OP_INLINE uint32_t table_word(uint32_t at, uint32_t i)
{
    return ((const __ubuf__ volatile uint32_t *)(uintptr_t)at)[i];
}

OP_INLINE float table_weight(uint32_t at, uint32_t i)
{
    return ((const __ubuf__ volatile float *)(uintptr_t)at)[i];
}

/* Entry `k` of rows [row, row + rows) of out; false if none has as many. */
OP_INLINE bool add_entries(const struct op_resample_rows_args *t, uint32_t in, uint32_t out,
                           uint32_t row, uint32_t rows, uint32_t k)
{
    const uint32_t bytes = t->columns * 4;
    const uint8_t repeats = (uint8_t)((t->columns + LANES - 1) / LANES);
    bool any = false;
    for (uint32_t i = 0; i < rows; i++, out += bytes) {
        if (k < table_word(t->count_at, row + i)) {
            const uint32_t entry = table_word(0, row + i) + k;
            const uint32_t from = in + table_word(t->index_at, entry) * bytes;
            const float weight = table_weight(t->weight_at, entry);
            if (k == 0) {
                vmuls(op_ub_f32(out), op_ub_f32(from), weight, repeats, 1, 1, 8, 8);
            } else {
                vaxpy(op_ub_f32(out), op_ub_f32(from), weight, repeats, 1, 1, 8, 8);
            }
            any = true;
        } else if (k == 0) {
            vector_dup(op_ub_f32(out), 0.0f, repeats, 1, 1, 8, 8);
        }
    }
    return any;
}

OP_INLINE void map_unit(const struct op_resample_rows_args *t, uint64_t outer, uint32_t column,
                        uint32_t slot)
{
    const uint32_t bytes = t->columns * 4, used = op_min(t->columns, t->pitch - column) * 4;
    const uint32_t in = t->table_bytes + slot * (t->in_rows + t->group) * bytes,
                   out = in + t->in_rows * bytes;
    wait_flag(PIPE_V, PIPE_MTE2, slot);
    op_load_rows(in, t->in + (outer * t->in_rows * t->pitch + column) * 4, t->in_rows, used,
                 (uint64_t)t->pitch * 4, bytes);
    set_flag(PIPE_MTE2, PIPE_V, slot);
    wait_flag(PIPE_MTE2, PIPE_V, slot);
    set_vector_mask(0, used / 4);
    for (uint32_t row = 0; row < t->out_rows; row += t->group) {
        const uint32_t rows = op_min(t->group, t->out_rows - row);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        for (uint32_t k = 0; add_entries(t, in, out, row, rows, k); k++) {
            pipe_barrier(PIPE_V);
        }
        set_flag(PIPE_V, PIPE_MTE3, slot);
        wait_flag(PIPE_V, PIPE_MTE3, slot);
        op_store_rows(t->out + ((outer * t->out_rows + row) * t->pitch + column) * 4, out, rows,
                      used, (uint64_t)t->pitch * 4, bytes);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    set_flag(PIPE_V, PIPE_MTE2, slot);
}

__global__ __vector__ void resample_rows(struct op_resample_rows_args args)
{
    const struct op_resample_rows_args copy = args, *t = &copy;
    const uint64_t tiles = (t->pitch + t->columns - 1) / t->columns;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block;
    const uint64_t end = op_min64(begin + t->per_block, t->units);
    uint32_t slot = 0;
    (void)op_infinite_begin();
    set_mask_count();
    op_load(0, t->table, t->table_bytes);
    set_flag(PIPE_MTE2, PIPE_S, 2);
    wait_flag(PIPE_MTE2, PIPE_S, 2);
    op_begin_slots();
    for (uint64_t unit = begin; unit < end; unit++, slot ^= 1) {
        const uint64_t outer = unit / tiles;
        map_unit(t, outer, (uint32_t)(unit - outer * tiles) * t->columns, slot);
    }
    op_end_slots();
}
