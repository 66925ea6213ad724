/* SPDX-License-Identifier: Apache-2.0 */
/* out = max(in, 0), and its gradient. */
#include "flat.h"

OP_INLINE void relu_f16(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    vmaxs(op_ub_f16(tile->out[0]), op_ub_f16(tile->in[0]), (half)0, flat_repeats(tile->count, 128),
          1, 1, 8, 8);
}

OP_INLINE void relu_f32(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    vmaxs(op_ub_f32(tile->out[0]), op_ub_f32(tile->in[0]), 0.0f, flat_repeats(tile->count, 64), 1,
          1, 8, 8);
}

/* in[0] = dout, in[1] = relu's result. The compare leaves one bit an element; the select takes dout
 * or 0 by it. */
OP_INLINE void relu_grad_f16(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    const uint8_t repeats = flat_repeats(tile->count, 128);
    __ubuf__ uint8_t *mask = (__ubuf__ uint8_t *)(uintptr_t)FLAT_SCRATCH;
    vcmpvs_gt(mask, op_ub_f16(tile->in[1]), (half)0, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(mask);
    vsel(op_ub_f16(tile->out[0]), op_ub_f16(tile->in[0]), (half)0, repeats, 1, 1, 1, 8, 8, 8, 1);
    pipe_barrier(PIPE_V);
}

OP_INLINE void relu_grad_f32(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    const uint8_t repeats = flat_repeats(tile->count, 64);
    __ubuf__ uint8_t *mask = (__ubuf__ uint8_t *)(uintptr_t)FLAT_SCRATCH;
    vcmpvs_gt(mask, op_ub_f32(tile->in[1]), 0.0f, repeats, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);
    set_selmask_addr(mask);
    vsel(op_ub_f32(tile->out[0]), op_ub_f32(tile->in[0]), 0.0f, repeats, 1, 1, 1, 8, 8, 8, 1);
    pipe_barrier(PIPE_V);
}

__global__ __vector__ void op_relu_f16(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 1, .outs = 1, .in_bytes = {2}, .out_bytes = {2}, .compute = relu_f16};
    flat_run(&t, &op);
}

__global__ __vector__ void op_relu_f32(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 1, .outs = 1, .in_bytes = {4}, .out_bytes = {4}, .compute = relu_f32};
    flat_run(&t, &op);
}

__global__ __vector__ void op_relu_grad_f16(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 2, .outs = 1, .in_bytes = {2, 2}, .out_bytes = {2}, .compute = relu_grad_f16};
    flat_run(&t, &op);
}

__global__ __vector__ void op_relu_grad_f32(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 2, .outs = 1, .in_bytes = {4, 4}, .out_bytes = {4}, .compute = relu_grad_f32};
    flat_run(&t, &op);
}
