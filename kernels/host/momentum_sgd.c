/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "flat.h"

leo_status leo_op_momentum_sgd(struct leo_op_context *context, struct leo_rt_stream *stream,
                               const struct leo_op_tensor *weight,
                               const struct leo_op_tensor *velocity,
                               const struct leo_op_tensor *grad, float grad_scale, float rate,
                               float momentum)
{
    static const char op[] = "momentum_sgd";
    const struct op_arg weight_arg = {"weight", weight}, velocity_arg = {"velocity", velocity},
                        grad_arg = {"grad", grad};
    leo_status status = op_check_pointers(op, context, stream);
    status = status != LEO_OK ? status : op_check_tensor(op, weight_arg, OP_F32);
    status = status != LEO_OK ? status : op_check_tensor(op, velocity_arg, OP_F32);
    status = status != LEO_OK ? status : op_check_tensor(op, grad_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_same_shape(op, weight_arg, velocity_arg);
    status = status != LEO_OK ? status : op_check_same_shape(op, weight_arg, grad_arg);
    status = status != LEO_OK ? status : op_check_apart(op, weight_arg, velocity_arg, false);
    status = status != LEO_OK ? status : op_check_apart(op, grad_arg, weight_arg, false);
    status = status != LEO_OK ? status : op_check_apart(op, grad_arg, velocity_arg, false);
    if (status != LEO_OK) {
        return status;
    }
    struct op_flat_args args = {.in = {weight->addr, velocity->addr, grad->addr},
                                .out = {weight->addr, velocity->addr},
                                .count = op_tensor_elements(weight),
                                .scalar = {grad_scale, -rate, momentum}};
    const bool f16 = grad->dtype == LEO_DTYPE_F16;
    return op_flat_launch(context, stream,
                          f16 ? OP_KERNEL_MOMENTUM_SGD_F16 : OP_KERNEL_MOMENTUM_SGD_F32, &args, 4,
                          op);
}
