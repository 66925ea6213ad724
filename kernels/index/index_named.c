/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by lists of places under names of their own, made of other operators. */
#include "../frame/chain.h"

#include <inttypes.h>

leo_status op_plan_gather_v3(const struct op_call *call)
{
    if (op_call_int(call, "batchDims") != 0) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                            "batchDims is %" PRId64 ", it must be 0 on this chip",
                            op_call_int(call, "batchDims"));
    }
    if (op_call_int(call, "mode") < 0 || op_call_int(call, "mode") > 1) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "mode is %" PRId64 ", it must be 0 or 1",
                            op_call_int(call, "mode"));
    }
    const struct op_value args[] = {*op_call_value(call, "self"), *op_call_value(call, "dim"),
                                    *op_call_value(call, "index"), *op_call_value(call, "out")};
    return op_plan_call(call->plan, "AclGather", args, 4);
}

// The mode trades order for speed: sums here have one order.
leo_status op_plan_index_add_v2(const struct op_call *call)
{
    const struct op_value args[] = {*op_call_value(call, "self"),  *op_call_value(call, "dim"),
                                    *op_call_value(call, "index"), *op_call_value(call, "source"),
                                    *op_call_value(call, "alpha"), *op_call_value(call, "out")};
    return op_plan_call(call->plan, "IndexAdd", args, 6);
}

// Slices of `var` by rows of `indices`.
static leo_status check_slices(const struct op_call *call, const struct op_tensor *var,
                               int64_t named)
{
    const struct op_tensor *indices = op_call_tensor(call, "indices"),
                           *updates = op_call_tensor(call, "updates");
    bool fits = indices->rank > 0 && named >= 1 && named <= (int64_t)var->rank &&
                updates->rank == indices->rank - 1 + var->rank - (unsigned)named &&
                updates->type == var->type;
    for (unsigned i = 0; fits && i < updates->rank; i++) {
        fits = updates->dim[i] == (i + 1 < indices->rank
                                       ? indices->dim[i]
                                       : var->dim[i + 1 - indices->rank + (unsigned)named]);
    }
    return fits ? LEO_OK
                : op_call_fail(call, LEO_ERR_SHAPE,
                               "updates %s %s are not the slices of a tensor %s %s that indices %s "
                               "name",
                               op_tensor_shape_text(updates).text, op_type_name(updates->type),
                               op_tensor_shape_text(var).text, op_type_name(var->type),
                               op_tensor_shape_text(indices).text);
}

// Slices of `var` replaced by updates, or added to.
static leo_status put_slices(const struct op_call *call, const struct op_tensor *var, bool add)
{
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    const int64_t named = indices->rank ? indices->dim[indices->rank - 1] : 0;
    struct op_tensor lists[OP_RANK_MAX];
    const struct op_tensor *items[OP_RANK_MAX];
    leo_status status = check_slices(call, var, named);
    if (status != LEO_OK || op_tensor_count(op_call_tensor(call, "updates")) == 0) {
        return status;
    }
    for (int64_t i = 0; i < named; i++) {
        lists[i] = op_view_select(indices, indices->rank - 1, i);
        items[i] = &lists[i];
    }
    const struct op_tensor_list list = {items, (uint64_t)named};
    const struct op_value args[] = {op_value_tensor(var), op_value_tensors(&list),
                                    *op_call_value(call, "updates"), op_value_int(add),
                                    op_value_int(0)};
    return op_plan_call(call->plan, "IndexPutImpl", args, 5);
}

leo_status op_plan_scatter_nd_update(const struct op_call *call)
{
    return put_slices(call, op_call_tensor(call, "varRef"), false);
}

// y begins as x, which mostly is the same memory.
static leo_status begin_as(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const leo_status status = op_call_check_shape(call, "y", x->rank, x->dim);
    return status == LEO_OK && op_tensor_alias(x, y) != OP_ALIAS_SAME
               ? op_plan_copy(call->plan, y, x)
               : status;
}

leo_status op_plan_acl_scatter_nd(const struct op_call *call)
{
    const leo_status status = begin_as(call);
    return status == LEO_OK
               ? put_slices(call, op_call_tensor(call, "y"), op_call_int(call, "add") != 0)
               : status;
}

leo_status op_plan_acl_scatter_rows(const struct op_call *call)
{
    const leo_status status = begin_as(call);
    const struct op_value args[] = {*op_call_value(call, "y"), op_value_int(0),
                                    *op_call_value(call, "indices"),
                                    *op_call_value(call, "updates")};
    return status == LEO_OK ? op_plan_call(call->plan, "InplaceIndexCopy", args, 4) : status;
}
