/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: Mm and Addmm. */
#include "family.h"

#include "../device/matmul_scalar_args.h"

#include <inttypes.h>
#include <string.h>

static void set_strides(int64_t *stride, const struct op_tensor *tensor)
{
    stride[0] = tensor->stride[0] * op_type_bytes(tensor->type);
    stride[1] = tensor->stride[1] * op_type_bytes(tensor->type);
}

static leo_status check_matrices(const struct op_call *call, const char *a_name, const char *b_name)
{
    const struct op_tensor *a = op_call_tensor(call, a_name), *b = op_call_tensor(call, b_name);
    if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s has shape %s and %s has %s: they must be [m, k] and [k, n]", a_name,
                            op_tensor_shape_text(a).text, b_name, op_tensor_shape_text(b).text);
    }
    return LEO_OK;
}

leo_status op_plan_matmul(const struct op_call *call)
{
    const bool add = op_call_has(call, "mat1");
    const char *a_name = add ? "mat1" : "self";
    const char *out_name = op_call_has(call, "out") ? "out" : "selfRef";
    leo_status status = check_matrices(call, a_name, "mat2");
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor *a = op_call_tensor(call, a_name), *b = op_call_tensor(call, "mat2");
    const struct op_tensor *out = op_call_tensor(call, out_name);
    const int64_t shape[2] = {a->dim[0], b->dim[1]};
    struct op_matmul_scalar_args args = {.alpha = 1};
    status = op_call_check_shape(call, out_name, 2, shape);
    if (status == LEO_OK && add) {
        struct op_tensor self;
        const struct op_tensor *given =
            op_call_tensor(call, op_call_has(call, "self") ? "self" : "selfRef");
        if (!op_tensor_broadcast(given, 2, shape, &self)) {
            status = op_call_fail(call, LEO_ERR_SHAPE, "self of shape %s does not broadcast to %s",
                                  op_tensor_shape_text(given).text, op_shape_text(2, shape).text);
        }
        args.self = self.addr;
        args.self_type = (uint8_t)self.type;
        set_strides(args.self_stride, &self);
        args.alpha = op_call_scalar(call, "alpha")->real;
        args.beta = op_call_scalar(call, "beta")->real;
    }
    struct op_tensor dense = *out;
    if (status == LEO_OK && !op_tensor_is_dense(out)) {
        status = op_plan_temp(call->plan, out->type, 2, shape, &dense);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.out = dense.addr;
    args.out_type = (uint8_t)dense.type;
    args.a = a->addr;
    args.b = b->addr;
    args.a_type = (uint8_t)a->type;
    args.b_type = (uint8_t)b->type;
    args.m = (uint64_t)shape[0];
    args.n = (uint64_t)shape[1];
    args.k = (uint64_t)a->dim[1];
    set_strides(args.a_stride, a);
    set_strides(args.b_stride, b);
    const struct op_share share =
        op_share_make(args.m * args.n, 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    status = op_plan_launch(call->plan, "matmul_scalar", "matmul_scalar", share.blocks, &args,
                            sizeof(args), 4);
    if (status == LEO_OK && dense.addr != out->addr) {
        status = op_plan_copy(call->plan, out, &dense);
    }
    return status;
}
