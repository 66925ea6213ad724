/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of every elementwise operator: tiles of a block's share go through two UB slots a
 * tensor, so that the loads of a tile run while the one before is computed and stored.
 *
 * Flags, event = slot. V -> MTE2: inputs free; MTE2 -> V: inputs loaded; MTE3 -> V: outputs free; V
 * -> MTE3: ready.
 */
#pragma once

#include "../device/copy.h"
#include "../device/slots.h"
#include "flat_args.h"

enum { FLAT_SLOT = 16384, FLAT_SCRATCH = 10 * FLAT_SLOT };

/** UB offsets of the tile at hand. */
struct flat_tile {
    uint32_t in[3], out[2];
    uint32_t count;
};

/** What an operator is: bytes an element of each input and output, and the arithmetic of one tile
 * (pipe V). */
struct flat_op {
    uint32_t ins, outs, in_bytes[3], out_bytes[2];
    void (*compute)(const struct op_flat_args *t, const struct flat_tile *tile);
};

/** Repeats that `count` elements take, `per` in one. */
OP_INLINE uint8_t flat_repeats(uint32_t count, uint32_t per)
{
    return (uint8_t)((count + per - 1) / per);
}

OP_INLINE void flat_run(const struct op_flat_args *t, const struct flat_op *op)
{
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block;
    const uint64_t end = op_min64(begin + t->per_block, t->count);
    set_mask_count();
    op_begin_slots();
    uint32_t slot = 0;
    for (uint64_t at = begin; at < end; at += t->tile, slot ^= 1) {
        struct flat_tile tile;
        tile.count = (uint32_t)op_min64(t->tile, end - at);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        for (uint32_t i = 0; i < op->ins; i++) {
            tile.in[i] = (i * 2 + slot) * FLAT_SLOT;
            op_load(tile.in[i], t->in[i] + at * op->in_bytes[i], tile.count * op->in_bytes[i]);
        }
        set_flag(PIPE_MTE2, PIPE_V, slot);

        for (uint32_t i = 0; i < op->outs; i++) {
            tile.out[i] = ((3 + i) * 2 + slot) * FLAT_SLOT;
        }
        wait_flag(PIPE_MTE2, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        set_vector_mask(0, tile.count);
        op->compute(t, &tile);
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);

        wait_flag(PIPE_V, PIPE_MTE3, slot);
        for (uint32_t i = 0; i < op->outs; i++) {
            op_store(t->out[i] + at * op->out_bytes[i], tile.out[i], tile.count * op->out_bytes[i]);
        }
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    for (slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
    }
}
