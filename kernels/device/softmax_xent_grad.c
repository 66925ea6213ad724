/* SPDX-License-Identifier: Apache-2.0 */
/* out = (prob - onehot(label)) * scale over the flat array; the scalar unit takes the one from each
 * label's place. */
#include "args.h"
#include "copy.h"

enum {
    SLOT = 16384,
    PROB = 0,                /* two slots of OP_FLAT_TILE_F32 f32 */
    LABEL = PROB + 2 * SLOT, /* two slots of up to OP_FLAT_TILE_F32 / 2 + 2 s32 */
    OUT = LABEL + 2 * SLOT,
};

/* Labels are read by the scalar unit, so this waits for the loads itself. */
OP_INLINE void subtract_ones(const struct op_softmax_grad_args *t, uint64_t at, uint32_t count,
                             uint32_t slot)
{
    const uint64_t first = at / t->classes, last = (at + count - 1) / t->classes;
    for (uint64_t row = first; row <= last; row++) {
        const uint32_t label = *(
            const __ubuf__ volatile uint32_t *)(uintptr_t)(LABEL + slot * SLOT + (row - first) * 4);
        const uint64_t place = row * t->classes + label;
        if (label >= t->classes) {
            trap(); // a label outside 0..classes-1
        }
        if (place >= at && place < at + count) {
            __ubuf__ volatile float *p =
                (__ubuf__ volatile float *)(uintptr_t)(PROB + slot * SLOT + (place - at) * 4);
            *p -= 1.0f;
        }
    }
}

/* Flags, event = slot: V -> MTE2 inputs free; MTE2 -> S loaded; S -> V ones taken; MTE3 -> V, V ->
 * MTE3 outputs. */
OP_INLINE void softmax_grad(const struct op_softmax_grad_args *t, uint32_t unit)
{
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block;
    const uint64_t end = op_min64(begin + t->per_block, t->count);
    set_mask_count();
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    uint32_t slot = 0;
    for (uint64_t at = begin; at < end; at += OP_FLAT_TILE_F32, slot ^= 1) {
        const uint32_t count = (uint32_t)op_min64(OP_FLAT_TILE_F32, end - at);
        const uint64_t first = at / t->classes, last = (at + count - 1) / t->classes;
        const uint8_t repeats = (uint8_t)((count + 63) / 64);
        __ubuf__ float *prob = op_ub_f32(PROB + slot * SLOT);
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        op_load(PROB + slot * SLOT, t->prob + at * 4, count * 4);
        op_load(LABEL + slot * SLOT, t->labels + first * 4, (uint32_t)(last - first + 1) * 4);
        set_flag(PIPE_MTE2, PIPE_S, slot);
        wait_flag(PIPE_MTE2, PIPE_S, slot);
        subtract_ones(t, at, count, slot);
        set_flag(PIPE_S, PIPE_V, slot);

        wait_flag(PIPE_S, PIPE_V, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
        set_vector_mask(0, count);
        if (unit == 4) {
            vmuls(op_ub_f32(OUT + slot * SLOT), prob, t->scale, repeats, 1, 1, 8, 8);
        } else {
            vmuls(prob, prob, t->scale, repeats, 1, 1, 8, 8);
            pipe_barrier(PIPE_V);
            vconv_f322f16(op_ub_f16(OUT + slot * SLOT), prob, repeats, 1, 1, 4, 8);
        }
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_V, PIPE_MTE3, slot);

        wait_flag(PIPE_V, PIPE_MTE3, slot);
        op_store(t->out + at * unit, OUT + slot * SLOT, count * unit);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
    for (slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
    }
}

__global__ __vector__ void op_softmax_xent_grad_f16(struct op_softmax_grad_args args)
{
    const struct op_softmax_grad_args t = args;
    softmax_grad(&t, 2);
}

__global__ __vector__ void op_softmax_xent_grad_f32(struct op_softmax_grad_args args)
{
    const struct op_softmax_grad_args t = args;
    softmax_grad(&t, 4);
}
