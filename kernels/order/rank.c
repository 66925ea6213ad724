/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics along a dimension: one element of the sorted row. A row says which ("rank"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <string.h>

/* A call seen as rows along `dim`: outputs have that dimension, with one element. */
struct rank {
    struct op_tensor self, values, indices; /* indices: rank 0 and no memory if there are none */
    unsigned dim;
};

// The whole tensor as one row.
static leo_status take_all(struct op_chain *chain, const struct op_call *call, const char *out,
                           struct rank *rank)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *values = op_call_tensor(call, out);
    const int64_t count = op_tensor_count(self), one = 1;
    if (op_tensor_count(values) != 1 || count == 0) {
        return op_call_fail(
            call, LEO_ERR_SHAPE, "self has shape %s, %s %s: it must have one element",
            op_tensor_shape_text(self).text, out, op_tensor_shape_text(values).text);
    }
    const struct op_tensor dense = op_chain_dense(chain, self->type, self);
    *rank = (struct rank){.self = op_view_shape(&dense, 1, &count),
                          .values = op_view_shape(values, 1, &one)};
    return chain->status;
}

static leo_status take_dim(const struct op_call *call, struct rank *rank)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const bool keep = op_call_int(call, op_call_has(call, "keepDim") ? "keepDim" : "keepdim") != 0;
    int64_t shape[OP_RANK_MAX];
    unsigned out_rank = 0;
    *rank = (struct rank){.self = *self};
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &rank->dim);
    if (status != LEO_OK) {
        return status;
    }
    if (self->rank && self->dim[rank->dim] == 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self of shape %s has no element along the dimension",
                            op_tensor_shape_text(self).text);
    }
    for (unsigned i = 0; i < self->rank; i++) {
        if (i != rank->dim || keep) {
            shape[out_rank++] = i == rank->dim ? 1 : self->dim[i];
        }
    }
    status = op_call_check_shape(call, "valuesOut", out_rank, shape);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "indicesOut", out_rank, shape);
    }
    if (status != LEO_OK) {
        return status;
    }
    rank->values = *op_call_tensor(call, "valuesOut");
    rank->indices = *op_call_tensor(call, "indicesOut");
    if (self->rank == 0) {
        rank->self = op_view_insert(self, 0);
    }
    if (!keep || self->rank == 0) {
        rank->values = op_view_insert(&rank->values, rank->dim);
        rank->indices = op_view_insert(&rank->indices, rank->dim);
    }
    return LEO_OK;
}

static void sort(struct op_chain *chain, const struct rank *rank, struct op_tensor *values,
                 struct op_tensor *order)
{
    *values = op_chain_temp_like(chain, rank->self.type, &rank->self);
    *order = op_chain_temp_like(chain, OP_TYPE_I64, &rank->self);
    OP_CHAIN_CALL(chain, "Sort", op_value_tensor(&rank->self), op_value_int(1),
                  op_value_int((int64_t)rank->dim), op_value_int(0), op_value_tensor(values),
                  op_value_tensor(order));
}

static void put(struct op_chain *chain, const struct op_tensor *out, const struct op_tensor *sorted,
                unsigned dim, int64_t at, const struct op_tensor *last)
{
    const struct op_tensor middle = op_view_slice(sorted, dim, at, 1);
    if (!out->addr) {
        return;
    }
    if (!last) {
        op_chain_copy(chain, out, &middle);
        return;
    }
    // NaN is largest: if there is one, the last element is.
    const struct op_tensor end = op_view_slice(sorted, dim, sorted->dim[dim] - 1, 1);
    OP_CHAIN_CALL(chain, "RankPick", op_value_tensor(last), op_value_tensor(&middle),
                  op_value_tensor(&end), op_value_tensor(out));
}

// The middle of the elements that are not NaN: where depends on the row.
static void put_middle_of_numbers(struct op_chain *chain, const struct rank *rank,
                                  const struct op_tensor *values, const struct op_tensor *order)
{
    const struct op_tensor valid = op_chain_temp_like(chain, OP_TYPE_BOOL, values),
                           where = op_chain_temp_like(chain, OP_TYPE_I64, &rank->values);
    const int64_t dim = (int64_t)rank->dim;
    const struct op_ints over = {&dim, 1};
    OP_CHAIN_CALL(chain, "EqTensor", op_value_tensor(values), op_value_tensor(values),
                  op_value_tensor(&valid));
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&valid), op_value_ints(&over),
                  op_value_int(1), op_value_type(OP_TYPE_I64), op_value_tensor(&where));
    OP_CHAIN_CALL(chain, "RankMiddle", op_value_tensor(&where), op_value_tensor(&where));
    OP_CHAIN_CALL(chain, "Gather", op_value_tensor(values), op_value_int(dim),
                  op_value_tensor(&where), op_value_tensor(&rank->values));
    if (rank->indices.addr) {
        OP_CHAIN_CALL(chain, "Gather", op_value_tensor(order), op_value_int(dim),
                      op_value_tensor(&where), op_value_tensor(&rank->indices));
    }
}

leo_status op_plan_rank(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "rank");
    struct op_chain chain = op_chain_begin(call);
    struct op_tensor values, order;
    struct rank rank;
    leo_status status =
        op_call_has(call, "dim")
            ? take_dim(call, &rank)
            : take_all(&chain, call, op_call_has(call, "out") ? "out" : "valuesOut", &rank);
    if (status != LEO_OK || op_tensor_count(&rank.values) == 0) {
        return status;
    }
    const int64_t length = rank.self.dim[rank.dim];
    int64_t at = (length - 1) / 2;
    if (strcmp(word, "kth") == 0) {
        at = op_call_int(call, "k") - 1;
        if (at < 0 || at >= length) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG, "k is %lld of %lld elements",
                                (long long)at + 1, (long long)length);
        }
    }
    sort(&chain, &rank, &values, &order);
    if (strcmp(word, "nanmedian") == 0 && op_type_is_float(values.type)) {
        put_middle_of_numbers(&chain, &rank, &values, &order);
        return chain.status;
    }
    const bool nan_wins = strcmp(word, "median") == 0 && op_type_is_float(values.type);
    const struct op_tensor last = op_view_slice(&values, rank.dim, length - 1, 1);
    put(&chain, &rank.values, &values, rank.dim, at, nan_wins ? &last : NULL);
    put(&chain, &rank.indices, &order, rank.dim, at, nan_wins ? &last : NULL);
    return chain.status;
}
