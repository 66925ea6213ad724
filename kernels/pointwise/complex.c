/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers as pairs of floats: their parts are strided views. */
#include "pointwise.h"

#include <string.h>

// The real (0) or imaginary (1) part of a complex tensor.
static struct op_tensor part_of(const struct op_tensor *tensor, unsigned which)
{
    struct op_tensor part = *tensor;
    part.type = tensor->type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64;
    part.addr += which * op_type_bytes(part.type);
    for (unsigned i = 0; i < part.rank; i++) {
        part.stride[i] *= 2;
    }
    return part;
}

static leo_status call_two(const struct op_call *call, const char *op, const struct op_tensor *a,
                           const struct op_tensor *b, const struct op_tensor *out)
{
    const struct op_value args[] = {op_value_tensor(a), op_value_tensor(b), op_value_tensor(out)};
    return op_plan_call(call->plan, op, args, 3);
}

leo_status op_complex_plan_copy(const struct op_call *call, const struct op_tensor *out,
                                const struct op_tensor *in)
{
    const bool to = op_type_is_complex(out->type), from = op_type_is_complex(in->type);
    const struct op_tensor real = to ? part_of(out, 0) : *out, source = from ? part_of(in, 0) : *in;
    leo_status status = op_plan_copy(call->plan, &real, &source);
    if (status != LEO_OK || !to) {
        return status; // a real number is the real part
    }
    const struct op_tensor imaginary = part_of(out, 1);
    if (from) {
        const struct op_tensor second = part_of(in, 1);
        return op_plan_copy(call->plan, &imaginary, &second);
    }
    const struct op_value args[] = {op_value_tensor(&imaginary)};
    return op_plan_call(call->plan, "InplaceZero", args, 1);
}

leo_status op_plan_complex(const struct op_call *call)
{
    const char *what = op_row_attr(call->row, "complex");
    const struct op_tensor *first = call->args[0].tensor,
                           *out = call->args[call->row->param_count - 1].tensor;
    if (strcmp(what, "angle") == 0 || strcmp(what, "abs") == 0) {
        const bool angle = strcmp(what, "angle") == 0;
        if (op_type_is_complex(first->type)) {
            const struct op_tensor real = part_of(first, 0), imaginary = part_of(first, 1);
            return angle ? call_two(call, "Atan2", &imaginary, &real, out)
                         : call_two(call, "Modulus", &real, &imaginary, out);
        }
        const struct op_value args[] = {op_value_tensor(first), op_value_tensor(out)};
        return op_plan_call(call->plan, "RealAngle", args, 2);
    }
    if (!op_type_is_complex(out->type)) {
        return op_call_fail(call, LEO_ERR_DTYPE, "the output has type %s, it must be c64 or c128",
                            op_type_name(out->type));
    }
    const struct op_tensor *second = call->args[1].tensor;
    const struct op_tensor real = part_of(out, 0), imaginary = part_of(out, 1);
    if (strcmp(what, "polar") == 0) {
        leo_status status = call_two(call, "PolarReal", first, second, &real);
        return status != LEO_OK ? status
                                : call_two(call, "PolarImaginary", first, second, &imaginary);
    }
    leo_status status = op_plan_copy(call->plan, &real, first);
    return status != LEO_OK ? status : op_plan_copy(call->plan, &imaginary, second);
}
