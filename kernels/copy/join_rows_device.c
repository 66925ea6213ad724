/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several tensors to one whose rows hold theirs beside each other, and back, by one launch.
 *
 * Flags, event = slot. MTE3 -> MTE2: slot free; MTE2 -> MTE3: loaded.
 */
#include "../device/copy.h"

#include "join_rows_args.h"

__global__ __vector__ void join_rows(struct op_join_args args)
{
    const struct op_join_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    uint32_t slot = 0, at = 0;
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    for (uint64_t i = begin; i < end; i++, slot ^= 1) {
        while (at + 1 < t->count && t->part[at + 1].first <= i) {
            at++;
        }
        const struct op_join_part *p = &t->part[at];
        const uint32_t tile = (uint32_t)i - p->first, row_tile = tile / p->columns,
                       from = (tile - row_tile * p->columns) * p->tile_bytes,
                       bytes = op_min(p->tile_bytes, p->bytes - from), ub = slot * OP_JOIN_SLOT;
        const uint64_t row = (uint64_t)row_tile * p->tile_rows;
        const uint32_t rows = (uint32_t)op_min64(p->tile_rows, t->rows - row);
        const uint64_t part = t->addr[at] + row * p->bytes + from,
                       whole = t->whole + row * t->pitch + p->offset + from;
        wait_flag(PIPE_MTE3, PIPE_MTE2, slot);
        op_load_rows(ub, t->split ? whole : part, rows, bytes, t->split ? t->pitch : p->bytes,
                     bytes);
        set_flag(PIPE_MTE2, PIPE_MTE3, slot);
        wait_flag(PIPE_MTE2, PIPE_MTE3, slot);
        op_store_rows(t->split ? part : whole, ub, rows, bytes, t->split ? p->bytes : t->pitch,
                      bytes);
        set_flag(PIPE_MTE3, PIPE_MTE2, slot);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
}
