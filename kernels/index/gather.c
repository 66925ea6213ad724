/* SPDX-License-Identifier: Apache-2.0 */
/* Slices taken and put by lists of places, made of other operators. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>

leo_status op_plan_gather_slices(const struct op_call *call)
{
    return op_plan_call(call->plan, "AclGather", call->args, call->row->param_count);
}

static leo_status check_update(const struct op_call *call, unsigned axis)
{
    const struct op_tensor *data = op_call_tensor(call, "data"),
                           *indices = op_call_tensor(call, "indices"),
                           *updates = op_call_tensor(call, "updates");
    bool fits = data->rank >= 2 && data->rank == updates->rank && axis > 0;
    for (unsigned i = 0; fits && i < data->rank; i++) {
        fits = updates->dim[i] <= data->dim[i] && (i == axis || updates->dim[i] == data->dim[i]);
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "updates of shape %s at dimension %u of data of shape %s: the others "
                            "must agree, and the first is that of indices",
                            op_tensor_shape_text(updates).text, axis,
                            op_tensor_shape_text(data).text);
    }
    return indices->rank == 1 && indices->dim[0] == data->dim[0]
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_UNSUPPORTED,
                              "indices of shape %s: a place for each of the %" PRId64
                              " slices is possible",
                              op_tensor_shape_text(indices).text, data->dim[0]);
}

leo_status op_plan_scatter_update(const struct op_call *call)
{
    const struct op_tensor *data = op_call_tensor(call, "data"),
                           *updates = op_call_tensor(call, "updates");
    unsigned axis;
    leo_status status = op_take_dim(call, op_call_int(call, "axis"), data->rank, &axis);
    if (status == LEO_OK) {
        status = check_update(call, axis);
    }
    if (status != LEO_OK || op_tensor_count(updates) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_scalar one = op_scalar_int(1);
    const struct op_tensor ramp = op_chain_temp(&chain, OP_TYPE_I64, 1, &updates->dim[axis]),
                           places = op_chain_temp_like(&chain, OP_TYPE_I64, updates);
    struct op_tensor first = *op_call_tensor(call, "indices"), steps = ramp;
    // [batch, 1, ...] and [length, 1, ...] behind the axis
    for (unsigned i = 1; i < updates->rank; i++) {
        first = op_view_insert(&first, i);
    }
    for (unsigned i = axis + 1; i < updates->rank; i++) {
        steps = op_view_insert(&steps, i - axis);
    }
    for (unsigned i = 1; i < updates->rank; i++) {
        first.dim[i] = updates->dim[i];
    }
    op_chain_range(&chain, &ramp, 0, 1);
    OP_CHAIN_CALL(&chain, "Add", op_value_tensor(&first), op_value_tensor(&steps),
                  op_value_scalar(&one), op_value_tensor(&places));
    OP_CHAIN_CALL(&chain, "InplaceScatter", op_value_tensor(data), op_value_int(axis),
                  op_value_tensor(&places), op_value_tensor(updates), op_value_int(0));
    return chain.status;
}
