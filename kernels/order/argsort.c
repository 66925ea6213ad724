/* SPDX-License-Identifier: Apache-2.0 */
/* The order of elements without the elements. */
#include "../frame/chain.h"

leo_status op_plan_argsort(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    if (status == LEO_OK) {
        status = op_call_check_type(call, "out", OP_TYPE_I64);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor values = op_chain_temp_like(&chain, self->type, self);
    OP_CHAIN_CALL(&chain, "Sort", op_value_tensor(self), op_value_int(1),
                  *op_call_value(call, "dim"), *op_call_value(call, "descending"),
                  op_value_tensor(&values), op_value_tensor(out));
    return chain.status;
}
