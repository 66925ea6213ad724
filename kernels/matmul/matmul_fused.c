/* SPDX-License-Identifier: Apache-2.0 */
/* A product of matrices with a pointwise operator on its result. */
#include "../frame/layout.h"
#include "matmul.h"

#include <string.h>

// The pointwise operator with x3, y = y `op` x3.
static leo_status join_x3(const struct op_call *call, const char *op)
{
    const struct op_tensor *y = op_call_tensor(call, "y"), *x3 = op_call_tensor(call, "x3");
    const struct op_scalar one = op_scalar_int(1);
    const bool add = strcmp(op, "Add") == 0;
    const struct op_value args[] = {op_value_tensor(y), op_value_tensor(x3),
                                    add ? op_value_scalar(&one) : op_value_tensor(y),
                                    op_value_tensor(y)};
    return op_plan_call(call->plan, op, args, add ? 4 : 3);
}

static leo_status check_shapes(const struct op_call *call)
{
    const struct op_tensor *x1 = op_call_tensor(call, "x1"), *x2 = op_call_tensor(call, "x2");
    const struct op_tensor *x3 = op_call_tensor(call, "x3"), *bias = op_call_tensor(call, "bias");
    if (x1->rank != 2 || x2->rank != 2 || x1->dim[1] != x2->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x1 has shape %s and x2 has shape %s: they do not multiply",
                            op_tensor_shape_text(x1).text, op_tensor_shape_text(x2).text);
    }
    const int64_t dim[] = {x1->dim[0], x2->dim[1]};
    leo_status status = op_call_check_shape(call, "y", 2, dim);
    if (status == LEO_OK && bias) {
        status = op_call_check_shape(call, "bias", 1, dim + 1);
    }
    return status == LEO_OK && x3 ? op_call_check_shape(call, "x3", 2, dim) : status;
}

leo_status op_plan_fused_matmul(const struct op_call *call)
{
    const char *fused = op_call_value(call, "fusedOpType")->text;
    const struct op_tensor *bias = op_call_tensor(call, "bias");
    const bool relu = strcmp(fused, "relu") == 0, add = strcmp(fused, "add") == 0,
               mul = strcmp(fused, "mul") == 0;
    if (*fused && !relu && !add && !mul) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "fusedOpType is \"%s\": \"\", \"relu\", \"add\" and \"mul\" are known",
                            fused);
    }
    if ((add || mul) != (op_call_tensor(call, "x3") != NULL)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "x3 must be given for fusedOpType \"add\" and \"mul\", and only then");
    }
    leo_status status = check_shapes(call);
    if (status != LEO_OK) {
        return status;
    }
    struct op_matmul matmul = {.a = *op_call_tensor(call, "x1"),
                               .b = *op_call_tensor(call, "x2"),
                               .out = *op_call_tensor(call, "y"),
                               .alpha = 1,
                               .beta = 1,
                               .relu = relu,
                               .has_self = bias != NULL,
                               .cube_math = (int)op_call_int(call, "cubeMathType")};
    if (op_layout_any_native(call->row, call->args)) {
        return add || mul ? op_call_run_as_rows(call) : op_matmul_plan_formats(call, &matmul);
    }
    if (bias) {
        (void)op_tensor_broadcast(bias, 2, matmul.out.dim, &matmul.self); // its shape was checked
    }
    status = op_matmul_plan(call->plan, &matmul);
    return status == LEO_OK && (add || mul) ? join_x3(call, add ? "Add" : "Mul") : status;
}
