/* SPDX-License-Identifier: Apache-2.0 */
/* velocity = fma(grad, grad_scale, velocity * momentum); weight = weight + velocity * -rate. */
#include "flat_device.h"

/* in: weight, velocity, grad; out: weight, velocity; scalar: grad_scale, -rate, momentum. */
OP_INLINE void update(const struct op_flat_args *t, const struct flat_tile *tile, uint32_t grad)
{
    const uint8_t repeats = flat_repeats(tile->count, 64);
    __ubuf__ float *weight = op_ub_f32(tile->out[0]), *velocity = op_ub_f32(tile->out[1]);
    vmuls(velocity, op_ub_f32(tile->in[1]), t->scalar[2], repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vaxpy(velocity, op_ub_f32(grad), t->scalar[0], repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vmuls(weight, velocity, t->scalar[1], repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    vadd(weight, weight, op_ub_f32(tile->in[0]), repeats, 1, 1, 1, 8, 8, 8);
}

OP_INLINE void update_f32(const struct op_flat_args *t, const struct flat_tile *tile)
{
    update(t, tile, tile->in[2]);
}

OP_INLINE void update_f16(const struct op_flat_args *t, const struct flat_tile *tile)
{
    vconv_f162f32(op_ub_f32(FLAT_SCRATCH), op_ub_f16(tile->in[2]), flat_repeats(tile->count, 64), 1,
                  1, 8, 4);
    update(t, tile, FLAT_SCRATCH);
}

__global__ __vector__ void momentum_f32(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 3, .outs = 2, .in_bytes = {4, 4, 4}, .out_bytes = {4, 4}, .compute = update_f32};
    flat_run(&t, &op);
}

__global__ __vector__ void momentum_f16(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 3, .outs = 2, .in_bytes = {4, 4, 2}, .out_bytes = {4, 4}, .compute = update_f16};
    flat_run(&t, &op);
}
