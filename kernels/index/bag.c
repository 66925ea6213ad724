/* SPDX-License-Identifier: Apache-2.0 */
/* Bags of embeddings: sums, means and maxima of rows, and limits of rows' norms. */
#include "../frame/chain.h"

#include "bag_args.h"

#include <inttypes.h>
#include <string.h>

static leo_status launch(const struct op_call *call, const char *kernel, uint32_t blocks,
                         const struct op_bag_args *args)
{
    return op_plan_launch(call->plan, "bag", kernel, blocks, args, sizeof(*args), 8);
}

// An i64 output the gradient reads: written through a temporary, if it has `count` elements.
static struct op_tensor wanted(struct op_chain *chain, const char *name, int64_t count)
{
    const struct op_tensor *out = op_call_tensor(chain->call, name);
    return count && op_tensor_count(out) == count ? op_chain_temp_like(chain, OP_TYPE_I64, out)
                                                  : (struct op_tensor){0};
}

static void deliver(struct op_chain *chain, const char *name, const struct op_tensor *made)
{
    if (made->addr) {
        op_chain_copy(chain, op_call_tensor(chain->call, name), made);
    }
}

static leo_status plan_bag(const struct op_call *call)
{
    const struct op_tensor *weight = op_call_tensor(call, "weight"),
                           *indices = op_call_tensor(call, "indices"),
                           *offsets = op_call_tensor(call, "offsets"),
                           *weights = op_call_tensor(call, "perSampleWeights"),
                           *output = op_call_tensor(call, "output");
    const int64_t mode = op_call_int(call, "mode"),
                  bags = op_tensor_count(offsets) - (op_call_int(call, "includeLastOffset") != 0);
    if (weight->rank != 2 || indices->rank != 1 || offsets->rank != 1 || bags < 0 ||
        (weights && (mode != OP_BAG_SUM || !op_tensor_same_shape(weights, indices)))) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "weight has shape %s, indices %s, offsets %s: a table and lists are needed, "
            "and perSampleWeights go with sums",
            op_tensor_shape_text(weight).text, op_tensor_shape_text(indices).text,
            op_tensor_shape_text(offsets).text);
    }
    if (mode < OP_BAG_SUM || mode > OP_BAG_MAX) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "mode is %" PRId64 ": it must be 0 sum, 1 mean or 2 max", mode);
    }
    const int64_t shape[] = {bags, weight->dim[1]};
    leo_status status = op_call_check_shape(call, "output", 2, shape);
    if (status != LEO_OK || op_tensor_count(output) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, weight->type, output),
                           bag_of = wanted(&chain, "offset2bag", op_tensor_count(indices)),
                           size = wanted(&chain, "bagSize", bags),
                           most = wanted(&chain, "maxIndices",
                                         mode == OP_BAG_MAX ? bags * shape[1] : 0);
    struct op_bag_args args = {
        .out = made.addr,
        .offset2bag = bag_of.addr,
        .bag_size = size.addr,
        .max_indices = most.addr,
        .weight = op_chain_dense(&chain, weight->type, weight).addr,
        .indices = op_chain_dense(&chain, OP_TYPE_I64, indices).addr,
        .offsets = op_chain_dense(&chain, OP_TYPE_I64, offsets).addr,
        .count = (uint64_t)op_tensor_count(indices),
        .bags = (uint64_t)bags,
        .columns = (uint64_t)shape[1],
        .rows = (uint64_t)weight->dim[0],
        .padding = op_call_int(call, "paddingIdx"),
        .type = (uint8_t)weight->type,
        .mode = (uint8_t)mode,
    };
    if (weights) {
        args.weights = op_chain_dense(&chain, weights->type, weights).addr;
        args.weights_type = (uint8_t)weights->type;
    }
    const struct op_share share =
        op_share_make(args.bags * args.columns, 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    if (chain.status == LEO_OK) {
        chain.status = launch(call, "bag_reduce", share.blocks, &args);
    }
    if (chain.status == LEO_OK) {
        chain.status = launch(call, "bag_describe", 1, &args);
    }
    op_chain_copy(&chain, output, &made);
    deliver(&chain, "offset2bag", &bag_of);
    deliver(&chain, "bagSize", &size);
    deliver(&chain, "maxIndices", &most);
    return chain.status;
}

// Rows that come again are scaled again from what they were: to the same.
static leo_status plan_renorm(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef"),
                           *indices = op_call_tensor(call, "indices");
    const int64_t count = op_tensor_count(indices), columns[] = {1};
    const struct op_ints last = {columns, 1};
    const struct op_scalar power = op_scalar_real(op_call_real(call, "normType"));
    if (self->rank != 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "selfRef has shape %s: it must be a table",
                            op_tensor_shape_text(self).text);
    }
    if (count == 0 || op_tensor_count(self) == 0) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t dim[] = {count, self->dim[1]}, each[] = {count, 1};
    // The table is dense, so that its rows move whole.
    const struct op_tensor given = op_chain_dense(&chain, indices->type, indices),
                           list = op_view_shape(&given, 1, &count),
                           table = op_chain_dense(&chain, self->type, self),
                           rows = op_chain_temp(&chain, self->type, 2, dim),
                           norms = op_chain_temp(&chain, OP_TYPE_F32, 2, each);
    OP_CHAIN_CALL(&chain, "IndexSelect", op_value_tensor(&table), op_value_int(0),
                  op_value_tensor(&list), op_value_tensor(&rows));
    const struct op_tensor wide = op_chain_dense(&chain, OP_TYPE_F32, &rows);
    OP_CHAIN_CALL(&chain, "LinalgVectorNorm", op_value_tensor(&wide), op_value_scalar(&power),
                  op_value_ints(&last), op_value_int(1), op_value_type(OP_TYPE_F32),
                  op_value_tensor(&norms));
    OP_CHAIN_CALL(&chain, "LimitNorm", op_value_tensor(&wide), op_value_tensor(&norms),
                  op_value_real(op_call_real(call, "maxNorm")), op_value_tensor(&rows));
    OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(&table), op_value_int(0),
                  op_value_tensor(&list), op_value_tensor(&rows));
    op_chain_deliver(&chain, self, &table);
    return chain.status;
}

leo_status op_plan_bag(const struct op_call *call)
{
    return op_call_has(call, "offsets") ? plan_bag(call) : plan_renorm(call);
}
