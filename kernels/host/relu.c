/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "flat.h"

leo_status leo_op_relu(struct leo_op_context *context, struct leo_rt_stream *stream,
                       const struct leo_op_tensor *in, const struct leo_op_tensor *out)
{
    const struct op_arg in_arg = {"in", in}, out_arg = {"out", out};
    leo_status status = op_check_pointers("relu", context, stream);
    status = status != LEO_OK ? status : op_check_tensor("relu", in_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("relu", out_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_same_dtype("relu", in_arg, out_arg);
    status = status != LEO_OK ? status : op_check_same_shape("relu", in_arg, out_arg);
    status = status != LEO_OK ? status : op_check_apart("relu", in_arg, out_arg, true);
    if (status != LEO_OK) {
        return status;
    }
    struct op_flat_args args = {
        .in = {in->addr}, .out = {out->addr}, .count = op_tensor_elements(out)};
    const bool f16 = out->dtype == LEO_DTYPE_F16;
    return op_flat_launch(context, stream, f16 ? OP_KERNEL_RELU_F16 : OP_KERNEL_RELU_F32, &args,
                          op_tensor_unit(out), "relu");
}

leo_status leo_op_relu_grad(struct leo_op_context *context, struct leo_rt_stream *stream,
                            const struct leo_op_tensor *dout, const struct leo_op_tensor *out,
                            const struct leo_op_tensor *din)
{
    const struct op_arg dout_arg = {"dout", dout}, out_arg = {"out", out}, din_arg = {"din", din};
    leo_status status = op_check_pointers("relu_grad", context, stream);
    status = status != LEO_OK ? status : op_check_tensor("relu_grad", dout_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("relu_grad", out_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("relu_grad", din_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_same_dtype("relu_grad", dout_arg, out_arg);
    status = status != LEO_OK ? status : op_check_same_dtype("relu_grad", dout_arg, din_arg);
    status = status != LEO_OK ? status : op_check_same_shape("relu_grad", dout_arg, out_arg);
    status = status != LEO_OK ? status : op_check_same_shape("relu_grad", dout_arg, din_arg);
    status = status != LEO_OK ? status : op_check_apart("relu_grad", dout_arg, din_arg, true);
    status = status != LEO_OK ? status : op_check_apart("relu_grad", out_arg, din_arg, true);
    if (status != LEO_OK) {
        return status;
    }
    struct op_flat_args args = {
        .in = {dout->addr, out->addr}, .out = {din->addr}, .count = op_tensor_elements(din)};
    const bool f16 = din->dtype == LEO_DTYPE_F16;
    return op_flat_launch(context, stream, f16 ? OP_KERNEL_RELU_GRAD_F16 : OP_KERNEL_RELU_GRAD_F32,
                          &args, op_tensor_unit(din), "relu_grad");
}
