/* SPDX-License-Identifier: Apache-2.0 */
/* Glu and SwiGlu: one half of a dimension gates the other. The arithmetic is in internal rows of
 * compose/compose.op. */
#include "../frame/family.h"

#include <inttypes.h>
#include <string.h>

// The first or second half of dimension `dim`.
static struct op_tensor half_of(const struct op_tensor *tensor, unsigned dim, unsigned which)
{
    struct op_tensor half = *tensor;
    half.dim[dim] /= 2;
    half.addr +=
        which * (uint64_t)half.dim[dim] * (uint64_t)half.stride[dim] * op_type_bytes(tensor->type);
    return half;
}

static leo_status find_dim(const struct op_call *call, const struct op_tensor *x, unsigned *dim)
{
    const int64_t given = op_call_int(call, "dim"), at = given < 0 ? given + x->rank : given;
    if (at < 0 || at >= x->rank || x->dim[at] % 2) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "dim is %" PRId64
                            ": it must name a dimension of even size of the input of shape %s",
                            given, op_tensor_shape_text(x).text);
    }
    *dim = (unsigned)at;
    return LEO_OK;
}

static leo_status gate(const struct op_call *call, const char *op, const struct op_tensor *gradient,
                       const struct op_tensor *x, unsigned dim, const struct op_tensor *out)
{
    const struct op_tensor a = half_of(x, dim, 0), b = half_of(x, dim, 1);
    struct op_value args[4];
    unsigned count = 0;
    if (gradient) {
        args[count++] = op_value_tensor(gradient);
    }
    args[count++] = op_value_tensor(&a);
    args[count++] = op_value_tensor(&b);
    args[count++] = op_value_tensor(out);
    return op_plan_call(call->plan, op, args, count);
}

leo_status op_plan_glu(const struct op_call *call)
{
    const char *kind = op_row_attr(call->row, "gate");
    const bool swi = strcmp(kind, "swiglu") == 0 || strcmp(kind, "swiglu_gradient") == 0;
    const bool backward = strstr(kind, "gradient") != NULL;
    const struct op_tensor *x = op_call_tensor(call, op_call_has(call, "self") ? "self" : "x");
    const struct op_tensor *out = call->args[call->row->param_count - 1].tensor;
    unsigned dim;
    leo_status status = find_dim(call, x, &dim);
    if (status != LEO_OK) {
        return status;
    }
    if (!backward) {
        return gate(call, swi ? "GateSwish" : "GateSigmoid", NULL, x, dim, out);
    }
    if (!op_tensor_same_shape(x, out)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "the gradient has shape %s, it must be the input's %s",
                            op_tensor_shape_text(out).text, op_tensor_shape_text(x).text);
    }
    const struct op_tensor *gradient = call->args[0].tensor;
    const struct op_tensor first = half_of(out, dim, 0), second = half_of(out, dim, 1);
    status = gate(call, swi ? "GateSwishGradientFirst" : "GateSigmoidGradientFirst", gradient, x,
                  dim, &first);
    return status != LEO_OK
               ? status
               : gate(call, swi ? "GateSwishGradientSecond" : "GateSigmoidGradientSecond", gradient,
                      x, dim, &second);
}
