/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table of weights by index, and what they get back. */
#include "index_launch.h"

#include <string.h>

static leo_status by_rows(const struct op_index_goal *goal)
{
    return op_index_plan_get_rows(goal->call->plan, goal->table, goal->index, goal->taken_into);
}

leo_status op_index_plan_embedding(const struct op_call *call)
{
    const struct op_tensor *weight = op_call_tensor(call, "weight");
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    struct op_index_args args;
    int64_t shape[OP_RANK_MAX];
    if (weight->rank != 2 || indices->rank == OP_RANK_MAX) {
        return op_call_fail(call, LEO_ERR_SHAPE, "weight has shape %s: it must be [rows, columns]",
                            op_tensor_shape_text(weight).text);
    }
    memcpy(shape, indices->dim, sizeof(indices->dim));
    shape[indices->rank] = weight->dim[1];
    leo_status status = op_call_check_shape(call, "out", indices->rank + 1, shape);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_index_goal goal = {.call = call,
                                       .elements = &args,
                                       .taken_into = op_call_tensor(call, "out"),
                                       .rows = by_rows,
                                       .table = weight,
                                       .index = indices};
    op_index_begin(&args, indices->rank + 1, shape, OP_INDEX_GET);
    op_index_set_table(&args, weight);
    args.table_stride[indices->rank] = weight->stride[1] * op_type_bytes(weight->type);
    op_index_add_tensor(&args, indices, 0, weight, 0);
    return op_index_choose(&goal);
}

leo_status op_index_plan_embedding_gradient(const struct op_call *call)
{
    const struct op_tensor *grad = op_call_tensor(call, "grad");
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_index_args args;
    struct op_tensor sums;
    if (out->rank != 2 || grad->rank != indices->rank + 1 ||
        grad->dim[indices->rank] != out->dim[1]) {
        return op_call_fail(call, LEO_ERR_SHAPE, "grad has shape %s, indices %s and out %s",
                            op_tensor_shape_text(grad).text, op_tensor_shape_text(indices).text,
                            op_tensor_shape_text(out).text);
    }
    if (op_call_int(call, "scaleGradByFreq")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "scaleGradByFreq is not supported");
    }
    // Sums in f32, whatever the type of the gradient.
    const int64_t padding = op_call_int(call, "paddingIdx");
    leo_status status = op_index_plan_add_rows(call->plan, grad, indices,
                                               padding < 0 ? -1 : padding, out->dim, out, &sums);
    if (status != OP_DECLINED) {
        return status == LEO_OK && sums.addr != out->addr ? op_plan_copy(call->plan, out, &sums)
                                                          : status;
    }
    status = op_plan_temp(call->plan, OP_TYPE_F32, 2, out->dim, &sums);
    if (status == LEO_OK) {
        status = op_plan_fill(call->plan, sums.addr, 0, (uint64_t)op_tensor_count(out) * 4);
    }
    if (status != LEO_OK) {
        return status;
    }
    op_index_begin(&args, grad->rank, grad->dim, OP_INDEX_ADD);
    op_index_set_table(&args, &sums);
    args.table_stride[indices->rank] = 4;
    op_index_set_value(&args, grad);
    op_index_add_tensor(&args, indices, 0, &sums, 0);
    args.skip = padding < 0 ? INT64_MIN : padding;
    status = op_index_launch(call, &args);
    return status == LEO_OK ? op_plan_copy(call->plan, out, &sums) : status;
}
