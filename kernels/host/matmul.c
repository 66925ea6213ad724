/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "../core/context.h"
#include "matmul_tiling.h"

static leo_status check(struct op_arg a, struct op_arg b, struct op_arg bias, struct op_arg out,
                        const struct leo_op_matmul_opts *opts)
{
    static const char op[] = "matmul";
    leo_status status = op_check_tensor(op, a, OP_F16);
    status = status != LEO_OK ? status : op_check_tensor(op, b, OP_F16);
    status = status != LEO_OK ? status : op_check_tensor(op, out, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_rank(op, a, 2);
    status = status != LEO_OK ? status : op_check_rank(op, b, 2);
    status = status != LEO_OK ? status : op_check_rank(op, out, 2);
    if (status != LEO_OK) {
        return status;
    }
    const uint32_t m = a.tensor->dim[opts->transpose_a], k = a.tensor->dim[!opts->transpose_a];
    const uint32_t n = b.tensor->dim[!opts->transpose_b];
    status = op_check_dim(op, b, opts->transpose_b, k,
                          opts->transpose_a ? "rows of the transposed a" : "columns of a");
    status = status != LEO_OK
                 ? status
                 : op_check_dim(op, out, 0, m,
                                opts->transpose_a ? "columns of the transposed a" : "rows of a");
    status = status != LEO_OK
                 ? status
                 : op_check_dim(op, out, 1, n,
                                opts->transpose_b ? "rows of the transposed b" : "columns of b");
    status = status != LEO_OK ? status : op_check_apart(op, a, out, false);
    status = status != LEO_OK ? status : op_check_apart(op, b, out, false);
    if (status == LEO_OK && bias.tensor) {
        status = op_check_tensor(op, bias, OP_F32);
        status = status != LEO_OK ? status : op_check_rank(op, bias, 1);
        status = status != LEO_OK ? status : op_check_dim(op, bias, 0, n, "columns of out");
        status = status != LEO_OK ? status : op_check_apart(op, bias, out, false);
    }
    return status;
}

leo_status leo_op_matmul(struct leo_op_context *context, struct leo_rt_stream *stream,
                         const struct leo_op_tensor *a, const struct leo_op_tensor *b,
                         const struct leo_op_matmul_opts *opts, const struct leo_op_tensor *out)
{
    static const struct leo_op_matmul_opts plain;
    opts = opts ? opts : &plain;
    leo_status status = op_check_pointers("matmul", context, stream);
    status = status != LEO_OK
                 ? status
                 : check((struct op_arg){"a", a}, (struct op_arg){"b", b},
                         (struct op_arg){"bias", opts->bias}, (struct op_arg){"out", out}, opts);
    if (status != LEO_OK) {
        return status;
    }
    struct op_matmul_args args = {
        .a = a->addr,
        .b = b->addr,
        .bias = opts->bias ? opts->bias->addr : 0,
        .out = out->addr,
        .m = out->dim[0],
        .n = out->dim[1],
        .k = a->dim[!opts->transpose_a],
        .a_pitch = a->dim[1],
        .b_pitch = b->dim[1],
        .out_pitch = out->dim[1],
        .batch_dim = {1, 1, 1},
        .flags = (opts->transpose_a ? OP_MATMUL_TRANSPOSE_A : 0u) |
                 (opts->transpose_b ? OP_MATMUL_TRANSPOSE_B : 0u) |
                 (opts->relu ? OP_MATMUL_RELU : 0u) | (opts->bias ? OP_MATMUL_BIAS : 0u) |
                 (out->dtype == LEO_DTYPE_F16 ? OP_MATMUL_OUT_F16 : 0u),
    };
    const uint32_t tiles = op_matmul_tiling(context->chip, &context->caps, 2, &args);
    const uint32_t blocks = tiles < context->caps.cube_cores ? tiles : context->caps.cube_cores;
    return op_context_launch(context, stream, OP_KERNEL_MATMUL, blocks, &args, "matmul");
}
