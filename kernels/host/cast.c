/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "flat.h"

static leo_status check_overflow(struct op_arg in, struct op_arg out, struct op_arg overflow)
{
    leo_status status = op_check_tensor("cast", overflow, OP_S32);
    if (status == LEO_OK && op_tensor_elements(overflow.tensor) != 1) {
        status = leo_rt_fail(LEO_ERR_SHAPE, "cast: overflow must have one element");
    }
    status = status != LEO_OK ? status : op_check_apart("cast", in, overflow, false);
    status = status != LEO_OK ? status : op_check_apart("cast", out, overflow, false);
    return status;
}

leo_status leo_op_cast(struct leo_op_context *context, struct leo_rt_stream *stream,
                       const struct leo_op_tensor *in, const struct leo_op_tensor *out,
                       const struct leo_op_tensor *overflow)
{
    const struct op_arg in_arg = {"in", in}, out_arg = {"out", out};
    leo_status status = op_check_pointers("cast", context, stream);
    status = status != LEO_OK ? status : op_check_tensor("cast", in_arg, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("cast", out_arg, OP_FLOAT);
    if (status == LEO_OK && in->dtype == out->dtype) {
        status = leo_rt_fail(LEO_ERR_DTYPE,
                             "cast: in and out are both %s; one must be f16, the other f32",
                             leo_dtype_name(in->dtype));
    }
    status = status != LEO_OK ? status : op_check_same_shape("cast", in_arg, out_arg);
    status = status != LEO_OK ? status : op_check_apart("cast", in_arg, out_arg, false);
    if (status == LEO_OK && overflow) {
        status = check_overflow(in_arg, out_arg, (struct op_arg){"overflow", overflow});
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_flat_args args = {.in = {in->addr},
                                .out = {out->addr},
                                .count = op_tensor_elements(out),
                                .overflow = overflow ? overflow->addr : 0};
    const bool to_f16 = out->dtype == LEO_DTYPE_F16;
    return op_flat_launch(context, stream, to_f16 ? OP_KERNEL_CAST_F32_F16 : OP_KERNEL_CAST_F16_F32,
                          &args, 4, "cast");
}
