/* SPDX-License-Identifier: Apache-2.0 */
/* Which experts a token goes to. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

// Softmax along the last dimension.
static void softmax(struct op_chain *chain, const struct op_tensor *x, const struct op_tensor *out)
{
    OP_CHAIN_CALL(chain, "Softmax", op_value_tensor(x), op_value_int(-1), op_value_tensor(out));
}

static leo_status check_shapes(const struct op_call *call, const struct op_tensor *x, int64_t k)
{
    const struct op_tensor *finished = op_call_tensor(call, "finished");
    int64_t dim[OP_RANK_MAX];
    if (x->rank < 2 || x->rank > 3 || k <= 0 || k > x->dim[x->rank - 1]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "x of shape %s must have 2 or 3 dimensions and k = %" PRId64
                            " at least 1 and at most the last",
                            op_tensor_shape_text(x).text, k);
    }
    memcpy(dim, x->dim, sizeof(dim));
    leo_status status = finished ? op_call_check_shape(call, "finished", x->rank - 1, dim) : LEO_OK;
    dim[x->rank - 1] = k;
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "y", x->rank, dim);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "expert_idx", x->rank, dim);
    }
    if (status == LEO_OK && op_call_has(call, "row_idx")) {
        status = op_call_check_shape(call, "row_idx", x->rank, dim);
    }
    if (status == LEO_OK && op_call_has(call, "softmax_result") &&
        op_call_tensor(call, "softmax_result") && op_call_int(call, "softmaxFlag")) {
        status = op_call_check_shape(call, "softmax_result", x->rank, x->dim);
    }
    return status;
}

static void put_experts(struct op_chain *chain, const struct op_tensor *indices, int64_t experts)
{
    const struct op_tensor *out = op_call_tensor(chain->call, "expert_idx"),
                           *finished = op_call_tensor(chain->call, "finished");
    if (!finished) {
        op_chain_copy(chain, out, indices);
        return;
    }
    const struct op_tensor narrow = op_chain_dense(chain, OP_TYPE_I32, indices),
                           row = op_view_insert(finished, finished->rank);
    OP_CHAIN_CALL(chain, "MoeExpert", op_value_tensor(&row), op_value_tensor(&narrow),
                  op_value_int(experts), op_value_tensor(out));
}

// The number of each place if columns are numbered one after the other.
static void put_rows(struct op_chain *chain, const struct op_tensor *out)
{
    const unsigned last = out->rank - 1;
    const int64_t k = out->dim[last], shape[] = {k ? op_tensor_count(out) / k : 0, k};
    const struct op_tensor numbers = op_chain_temp(chain, OP_TYPE_I32, 2, shape),
                           seen = op_view_shape(&numbers, out->rank, out->dim);
    OP_CHAIN_CALL(chain, "MoeRowNumber", op_value_int(shape[0]), op_value_tensor(&numbers));
    op_chain_copy(chain, out, &seen);
}

leo_status op_plan_moe_gating(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x"), *y = op_call_tensor(call, "y");
    const int64_t k = op_call_int(call, "k");
    const bool after = op_call_has(call, "renorm") && op_call_int(call, "renorm") != 0;
    leo_status status = check_shapes(call, x, k);
    if (status == LEO_OK && after && op_call_int(call, "renorm") != 1) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "renorm is %" PRId64 ": it must be 0 or 1",
                              op_call_int(call, "renorm"));
    }
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor all = op_chain_temp_like(&chain, OP_TYPE_F32, x),
                           values = op_chain_temp_like(&chain, OP_TYPE_F32, y),
                           indices = op_chain_temp_like(&chain, OP_TYPE_I64, y);
    if (after) {
        op_chain_copy(&chain, &all, x);
    } else {
        softmax(&chain, x, &all);
    }
    OP_CHAIN_CALL(&chain, "Topk", op_value_tensor(&all), op_value_int(k), op_value_int(-1),
                  op_value_int(1), op_value_int(1), op_value_tensor(&values),
                  op_value_tensor(&indices));
    if (after) {
        softmax(&chain, &values, y);
    } else {
        op_chain_copy(&chain, y, &values);
    }
    put_experts(&chain, &indices, x->dim[x->rank - 1]);
    if (op_call_has(call, "row_idx")) {
        put_rows(&chain, op_call_tensor(call, "row_idx"));
    } else if (!after && op_call_int(call, "softmaxFlag") &&
               op_call_tensor(call, "softmax_result")) {
        op_chain_copy(&chain, op_call_tensor(call, "softmax_result"), &all);
    }
    return chain.status;
}
