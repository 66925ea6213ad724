/* SPDX-License-Identifier: Apache-2.0 */
#include "../core/check.h"
#include "flat.h"

static leo_status check(const struct leo_op_context *context, const struct leo_rt_stream *stream,
                        struct op_arg a, struct op_arg b, struct op_arg out)
{
    leo_status status = op_check_pointers("add", context, stream);
    status = status != LEO_OK ? status : op_check_tensor("add", a, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("add", b, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_tensor("add", out, OP_FLOAT);
    status = status != LEO_OK ? status : op_check_same_dtype("add", a, b);
    status = status != LEO_OK ? status : op_check_same_dtype("add", a, out);
    status = status != LEO_OK ? status : op_check_same_shape("add", a, b);
    status = status != LEO_OK ? status : op_check_same_shape("add", a, out);
    status = status != LEO_OK ? status : op_check_apart("add", a, out, true);
    status = status != LEO_OK ? status : op_check_apart("add", b, out, true);
    return status;
}

leo_status leo_op_add(struct leo_op_context *context, struct leo_rt_stream *stream,
                      const struct leo_op_tensor *a, const struct leo_op_tensor *b,
                      const struct leo_op_tensor *out)
{
    leo_status status = check(context, stream, (struct op_arg){"a", a}, (struct op_arg){"b", b},
                              (struct op_arg){"out", out});
    if (status != LEO_OK) {
        return status;
    }
    struct op_flat_args args = {
        .in = {a->addr, b->addr}, .out = {out->addr}, .count = op_tensor_elements(out)};
    const bool f16 = out->dtype == LEO_DTYPE_F16;
    return op_flat_launch(context, stream, f16 ? OP_KERNEL_ADD_F16 : OP_KERNEL_ADD_F32, &args,
                          op_tensor_unit(out), "add");
}
