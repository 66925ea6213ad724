/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m += (g - m) (1 - beta1), v += (g g - v) (1 - beta2), var -= rate m / (sqrt(v) + epsilon), where
 * rate is that of the step: lr sqrt(1 - beta2^t) / (1 - beta1^t).
 *
 * Flags, event = slot. MTE3 -> MTE2: slot free; MTE2 -> V: loaded; V -> MTE3: ready.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "adam_args.h"

enum {
    BYTES = OP_ADAM_TILE * 4,
    SLOT = 4 * BYTES, /* var, m, v, gradient */
    SCRATCH = 2 * SLOT,
};

OP_INLINE float number_at(uint64_t addr)
{
    return *(const __gm__ volatile float *)addr;
}

/* What all elements share. */
struct numbers {
    float rate, first, second, epsilon; /* first = 1 - beta1, second = 1 - beta2 */
};

OP_INLINE struct numbers load_numbers(const struct op_adam_args *t)
{
    struct numbers n;
    n.rate = number_at(t->rate) * __builtin_sqrtf(1 - number_at(t->beta2_power)) /
             (1 - number_at(t->beta1_power));
    n.first = 1 - number_at(t->beta1);
    n.second = 1 - number_at(t->beta2);
    n.epsilon = number_at(t->epsilon);
    return n;
}

/* The slot's tensors in place. */
OP_INLINE void step(const struct numbers *n, uint32_t slot, uint32_t count)
{
    const uint8_t repeats = (uint8_t)((count + 63) / 64);
    __ubuf__ float *var = op_ub_f32(slot), *m = op_ub_f32(slot + BYTES),
                   *v = op_ub_f32(slot + 2 * BYTES), *g = op_ub_f32(slot + 3 * BYTES),
                   *s = op_ub_f32(SCRATCH);
    pipe_barrier(PIPE_V);
    set_vector_mask(0, count);
    vsub(s, g, m, repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vmul(g, g, g, repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vaxpy(m, s, n->first, repeats, 1, 1, 8, 8);
    vsub(g, g, v, repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vaxpy(v, g, n->second, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vsqrt(s, v, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadds(s, s, n->epsilon, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vdiv(s, m, s, repeats, 1, 1, 1, 8, 8, 8);
    pipe_barrier(PIPE_V);
    vaxpy(var, s, -n->rate, repeats, 1, 1, 8, 8);
}

__global__ __vector__ void adam(struct op_adam_args args)
{
    const struct op_adam_args t = args;
    const struct numbers n = load_numbers(&t);
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block,
                   end = op_min64(begin + t.per_block, t.count);
    set_mask_count();
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
    uint32_t parity = 0;
    for (uint64_t at = begin; at < end; at += OP_ADAM_TILE, parity ^= 1) {
        const uint32_t count = (uint32_t)op_min64(OP_ADAM_TILE, end - at), slot = parity * SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        for (uint32_t i = 0; i < 4; i++) {
            op_load(slot + i * BYTES, t.in[i] + at * 4, count * 4);
        }
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        step(&n, slot, count);
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        for (uint32_t i = 0; i < 3; i++) {
            op_store(t.out[i] + at * 4, slot + i * BYTES, count * 4);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}
