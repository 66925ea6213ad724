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

leo_status op_plan_acl_scatter_nd_new(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    struct op_chain chain = op_chain_begin(call);
    op_chain_fill(&chain, y, 0);
    return chain.status == LEO_OK ? put_slices(call, y, true) : chain.status;
}

leo_status op_plan_acl_scatter_rows(const struct op_call *call)
{
    const leo_status status = begin_as(call);
    const struct op_value args[] = {*op_call_value(call, "y"), op_value_int(0),
                                    *op_call_value(call, "indices"),
                                    *op_call_value(call, "updates")};
    return status == LEO_OK ? op_plan_call(call->plan, "InplaceIndexCopy", args, 4) : status;
}

// As the public interface has it, two operators of TensorFlow's: which one tells the shape of
// updates.
leo_status op_plan_tf_scatter_add(const struct op_call *call)
{
    const struct op_tensor *var = op_call_tensor(call, "varRef"),
                           *indices = op_call_tensor(call, "indices"),
                           *updates = op_call_tensor(call, "updates");
    const unsigned slices = var->rank ? var->rank - 1 : 0;
    if (updates->rank != indices->rank + slices) {
        return put_slices(call, var, true);
    }
    for (unsigned i = 0; i < updates->rank; i++) {
        if (updates->dim[i] !=
            (i < indices->rank ? indices->dim[i] : var->dim[i - indices->rank + 1])) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "updates has shape %s for varRef of shape %s and indices of %s",
                                op_tensor_shape_text(updates).text, op_tensor_shape_text(var).text,
                                op_tensor_shape_text(indices).text);
        }
    }
    if (op_tensor_count(updates) == 0) {
        return LEO_OK;
    }
    const struct op_tensor_list places = {&indices, 1};
    const struct op_value args[] = {op_value_tensor(var), op_value_tensors(&places),
                                    *op_call_value(call, "updates"), op_value_int(1),
                                    op_value_int(0)};
    return op_plan_call(call->plan, "IndexPutImpl", args, 5);
}

// Places below 0 count from the end, whether or not the call asks for that.
leo_status op_plan_gather_nd(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *indices = op_call_tensor(call, "indices");
    const int64_t named = indices->rank ? indices->dim[indices->rank - 1] : 0;
    struct op_tensor lists[OP_RANK_MAX];
    const struct op_tensor *items[OP_RANK_MAX];
    if (named < 1 || named > (int64_t)self->rank) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "rows of indices of shape %s name no slices of self of shape %s",
                            op_tensor_shape_text(indices).text, op_tensor_shape_text(self).text);
    }
    for (int64_t i = 0; i < named; i++) {
        lists[i] = op_view_select(indices, indices->rank - 1, i);
        items[i] = &lists[i];
    }
    const struct op_tensor_list list = {items, (uint64_t)named};
    const struct op_value args[] = {op_value_tensor(self), op_value_tensors(&list),
                                    *op_call_value(call, "out")};
    return op_plan_call(call->plan, "Index", args, 3);
}

// Slices without a place go to one more behind the others.
leo_status op_plan_segment_sum(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *ids = op_call_tensor(call, "ids"),
                           *y = op_call_tensor(call, "y");
    int64_t dim[OP_RANK_MAX];
    bool fits = y->rank >= 1 && x->rank == ids->rank + y->rank - 1;
    for (unsigned i = 0; fits && i < x->rank; i++) {
        fits = x->dim[i] == (i < ids->rank ? ids->dim[i] : y->dim[i - ids->rank + 1]);
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE, "x of shape %s, ids of %s and y of %s",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(ids).text,
                            op_tensor_shape_text(y).text);
    }
    for (unsigned i = 0; i < y->rank; i++) {
        dim[i] = y->dim[i] + (i == 0);
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums = op_chain_temp(&chain, x->type, y->rank, dim),
                           places = op_chain_temp_like(&chain, ids->type, ids), *item = &places;
    const struct op_tensor_list list = {&item, 1};
    op_chain_fill(&chain, &sums, 0);
    if (op_tensor_count(x)) {
        OP_CHAIN_CALL(&chain, "SegmentPlace", op_value_tensor(ids), op_value_int(y->dim[0]),
                      op_value_tensor(&places));
        OP_CHAIN_CALL(&chain, "IndexPutImpl", op_value_tensor(&sums), op_value_tensors(&list),
                      op_value_tensor(x), op_value_int(1), op_value_int(0));
    }
    if (op_tensor_count(y)) {
        const struct op_tensor kept = op_view_slice(&sums, 0, 0, y->dim[0]);
        op_chain_copy(&chain, y, &kept);
    }
    return chain.status;
}

leo_status op_plan_reverse_sequence(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y"),
                           *lengths = op_call_tensor(call, "lengths");
    const int64_t rank = (int64_t)x->rank, seq = op_call_int(call, "seqDim"),
                  batch = op_call_int(call, "batchDim");
    if (seq < 0 || seq >= rank || batch < 0 || batch >= rank || seq == batch) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "seq_dim %" PRId64 " and batch_dim %" PRId64
                            " are not two dimensions of x of shape %s",
                            seq, batch, op_tensor_shape_text(x).text);
    }
    leo_status status = op_call_check_shape(call, "y", x->rank, x->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "lengths", 1, &x->dim[batch]);
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t column[] = {x->dim[batch], 1}, wide[] = {x->dim[batch], x->dim[seq]};
    const struct op_tensor dense = op_chain_dense(&chain, lengths->type, lengths),
                           length = op_view_shape(&dense, 2, column),
                           places = op_chain_temp(&chain, lengths->type, 2, wide);
    OP_CHAIN_CALL(&chain, "ReversePlace", op_value_tensor(&length), op_value_tensor(&places));
    struct op_tensor index = op_tensor_dense(places.addr, places.type, x->rank, x->dim);
    for (int64_t i = 0; i < rank; i++) {
        index.stride[i] = i == seq ? 1 : i == batch ? x->dim[seq] : 0;
    }
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(x), op_value_int(seq), op_value_tensor(&index),
                  op_value_tensor(y));
    return chain.status;
}
