/* SPDX-License-Identifier: Apache-2.0 */
/* out = a + b. */
#include "flat.h"

OP_INLINE void add_f16(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    vadd(op_ub_f16(tile->out[0]), op_ub_f16(tile->in[0]), op_ub_f16(tile->in[1]),
         flat_repeats(tile->count, 128), 1, 1, 1, 8, 8, 8);
}

OP_INLINE void add_f32(const struct op_flat_args *t, const struct flat_tile *tile)
{
    (void)t;
    vadd(op_ub_f32(tile->out[0]), op_ub_f32(tile->in[0]), op_ub_f32(tile->in[1]),
         flat_repeats(tile->count, 64), 1, 1, 1, 8, 8, 8);
}

__global__ __vector__ void op_add_f16(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 2, .outs = 1, .in_bytes = {2, 2}, .out_bytes = {2}, .compute = add_f16};
    flat_run(&t, &op);
}

__global__ __vector__ void op_add_f32(struct op_flat_args args)
{
    const struct op_flat_args t = args;
    const struct flat_op op = {
        .ins = 2, .outs = 1, .in_bytes = {4, 4}, .out_bytes = {4}, .compute = add_f32};
    flat_run(&t, &op);
}
