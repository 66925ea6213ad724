/* SPDX-License-Identifier: Apache-2.0 */
/* f32 <-> f16, with a report of Inf and NaN among the f16 values. */
#include "flat.h"

enum { NAN_SUM = FLAT_SCRATCH, NAN_SUM_RESULT = FLAT_SCRATCH + OP_FLAT_TILE_F32 * 2 };

/* x * 0 is 0 for every finite x and NaN for Inf and NaN, and NaN stays in a sum: one instruction a
 * tile collects. */
OP_INLINE void collect_overflow(const struct op_flat_args *t, uint32_t f16, uint32_t count)
{
    if (t->overflow) {
        vaxpy(op_ub_f16(NAN_SUM), op_ub_f16(f16), (half)0, flat_repeats(count, 128), 1, 1, 8, 8);
    }
}

OP_INLINE void cast_to_f16(const struct op_flat_args *t, const struct flat_tile *tile)
{
    vconv_f322f16(op_ub_f16(tile->out[0]), op_ub_f32(tile->in[0]), flat_repeats(tile->count, 64), 1,
                  1, 4, 8);
    pipe_barrier(PIPE_V);
    collect_overflow(t, tile->out[0], tile->count);
}

OP_INLINE void cast_to_f32(const struct op_flat_args *t, const struct flat_tile *tile)
{
    vconv_f162f32(op_ub_f32(tile->out[0]), op_ub_f16(tile->in[0]), flat_repeats(tile->count, 64), 1,
                  1, 8, 4);
    collect_overflow(t, tile->in[0], tile->count);
    pipe_barrier(PIPE_V);
}

OP_INLINE void begin_report(const struct op_flat_args *t)
{
    if (t->overflow) {
        set_mask_count();
        set_vector_mask(0, OP_FLAT_TILE_F32);
        vector_dup(op_ub_f16(NAN_SUM), (half)0, OP_FLAT_TILE_F32 / 128, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
    }
}

/* Every block that saw an overflow sets the same bit: their order does not matter. */
OP_INLINE void end_report(const struct op_flat_args *t)
{
    if (!t->overflow) {
        return;
    }
    const uint32_t repeats = OP_FLAT_TILE_F32 / 128;
    pipe_barrier(PIPE_V);
    set_vector_mask(0, OP_FLAT_TILE_F32);
    vcadd(op_ub_f16(NAN_SUM_RESULT), op_ub_f16(NAN_SUM), repeats, 1, 1, 8, 0);
    set_flag(PIPE_V, PIPE_S, 1);
    wait_flag(PIPE_V, PIPE_S, 1);
    const __ubuf__ volatile uint16_t *sums =
        (const __ubuf__ volatile uint16_t *)(uintptr_t)NAN_SUM_RESULT;
    for (uint32_t i = 0; i < repeats; i++) {
        if ((sums[i] & 0x7c00) == 0x7c00) {
            __atomic_fetch_or((__gm__ int32_t *)t->overflow, 1, __ATOMIC_RELAXED);
            return;
        }
    }
}

__global__ __vector__ void op_cast_f32_f16(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 1, .outs = 1, .in_bytes = {4}, .out_bytes = {2}, .compute = cast_to_f16};
    begin_report(&t);
    flat_run(&t, &op);
    end_report(&t);
}

__global__ __vector__ void op_cast_f16_f32(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 1, .outs = 1, .in_bytes = {2}, .out_bytes = {4}, .compute = cast_to_f32};
    begin_report(&t);
    flat_run(&t, &op);
    end_report(&t);
}
