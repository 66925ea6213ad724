/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated elements and slices, and shuffled channels. A row says which ("repeat"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "../order/count_args.h"

#include <inttypes.h>
#include <string.h>

// Dimension `dim` of a tensor seen as two, [first, second].
static struct op_tensor split_dim(const struct op_tensor *tensor, unsigned dim, int64_t first,
                                  int64_t second)
{
    struct op_tensor view = op_view_insert(tensor, dim);
    view.dim[dim] = first;
    view.stride[dim] = tensor->stride[dim] * second;
    view.dim[dim + 1] = second;
    return view;
}

static leo_status check_rank(const struct op_call *call, const struct op_tensor *self)
{
    return self->rank < OP_RANK_MAX
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_UNSUPPORTED,
                              "self has %u dimensions: at most %d are possible", self->rank,
                              OP_RANK_MAX - 1);
}

// self and dim; without a dim self is one list.
static leo_status take_self(struct op_chain *chain, struct op_tensor *self, unsigned *dim)
{
    const struct op_call *call = chain->call;
    *self = *op_call_tensor(call, "self");
    *dim = 0;
    if (!op_call_has(call, "dim")) {
        const int64_t count = op_tensor_count(self);
        const struct op_tensor dense = op_chain_dense(chain, self->type, self);
        *self = op_view_shape(&dense, 1, &count);
        return chain->status;
    }
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, dim);
    if (self->rank == 0) {
        *self = op_view_insert(self, 0);
    }
    return status;
}

static leo_status check_out(const struct op_call *call, const struct op_tensor *self, unsigned dim,
                            int64_t length)
{
    int64_t shape[OP_RANK_MAX];
    memcpy(shape, self->dim, sizeof(shape));
    shape[dim] = length;
    return op_call_check_shape(call, "out", self->rank, shape);
}

// A tensor of the highest rank, which has no room for one more dimension, as [before, dim, behind].
static struct op_tensor around_dim(const struct op_tensor *dense, unsigned dim)
{
    int64_t shape[3] = {1, dense->dim[dim], 1};
    for (unsigned i = 0; i < dense->rank; i++) {
        if (i != dim) {
            shape[i < dim ? 0 : 2] *= dense->dim[i];
        }
    }
    return op_view_shape(dense, 3, shape);
}

static leo_status plan_times(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const int64_t repeats = op_call_int(call, "repeats");
    struct op_tensor self;
    unsigned dim;
    leo_status status = take_self(&chain, &self, &dim);
    if (status == LEO_OK && repeats < 0) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "repeats is %" PRId64, repeats);
    }
    if (status == LEO_OK) {
        status = check_out(call, &self, dim, self.dim[dim] * repeats);
    }
    const struct op_tensor *out = op_call_tensor(call, "out");
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_tensor made = *out, result = *out;
    if (self.rank == OP_RANK_MAX) {
        if (!op_tensor_is_dense(out)) {
            made = op_chain_temp_like(&chain, out->type, out);
        }
        self = op_chain_dense(&chain, self.type, &self);
        self = around_dim(&self, dim);
        result = around_dim(&made, dim);
        dim = 1;
    }
    struct op_tensor from = op_view_insert(&self, dim + 1);
    from.dim[dim + 1] = repeats;
    const struct op_tensor to = split_dim(&result, dim, self.dim[dim], repeats);
    op_chain_copy(&chain, &to, &from);
    if (made.addr != out->addr) {
        op_chain_copy(&chain, out, &made);
    }
    return chain.status;
}

// The list that says for each element of the result which one of `count` it is from.
static struct op_tensor make_index(struct op_chain *chain, int64_t count, int64_t total)
{
    const struct op_tensor *repeats = op_call_tensor(chain->call, "repeats");
    const struct op_tensor dense = op_chain_dense(chain, repeats->type, repeats),
                           index = op_chain_temp(chain, OP_TYPE_I64, 1, &total);
    const struct op_repeat_args args = {
        .out = index.addr,
        .repeats = dense.addr,
        .count = (uint64_t)count,
        .total = (uint64_t)total,
        .type = (uint8_t)repeats->type,
        .single = op_tensor_count(repeats) == 1 && count != 1,
    };
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "count", "count_repeat", 1, &args, sizeof(args), 2);
    }
    return index;
}

static leo_status check_repeats(const struct op_call *call, int64_t count)
{
    const struct op_tensor *repeats = op_call_tensor(call, "repeats");
    const int64_t have = op_tensor_count(repeats);
    return repeats->rank <= 1 && (have == count || have == 1)
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "repeats has shape %s for %" PRId64 " slices",
                              op_tensor_shape_text(repeats).text, count);
}

static leo_status plan_list(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_tensor self;
    unsigned dim;
    leo_status status = take_self(&chain, &self, &dim);
    if (status == LEO_OK) {
        status = check_repeats(call, self.dim[dim]);
    }
    if (status == LEO_OK) {
        status = check_out(call, &self, dim, out->rank > dim ? out->dim[dim] : 0);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor index = make_index(&chain, self.dim[dim], out->dim[dim]);
    OP_CHAIN_CALL(&chain, "IndexSelect", op_value_tensor(&self), op_value_int((int64_t)dim),
                  op_value_tensor(&index), op_value_tensor(out));
    return chain.status;
}

static leo_status plan_index(const struct op_call *call)
{
    const struct op_tensor *repeats = op_call_tensor(call, "repeats"),
                           *out = op_call_tensor(call, "out");
    if (repeats->rank != 1 || out->rank != 1) {
        return op_call_fail(call, LEO_ERR_SHAPE, "repeats has shape %s, out %s: they must be lists",
                            op_tensor_shape_text(repeats).text, op_tensor_shape_text(out).text);
    }
    struct op_chain chain = op_chain_begin(call);
    // A list of one number is one slice here.
    const struct op_tensor index = make_index(&chain, repeats->dim[0], out->dim[0]);
    op_chain_copy(&chain, out, &index);
    return chain.status;
}

static leo_status plan_gradient(const struct op_call *call)
{
    const struct op_tensor *gradient = op_call_tensor(call, "yGrad"),
                           *out = op_call_tensor(call, "out");
    const struct op_scalar one = op_scalar_int(1);
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "axis"), out->rank, &dim);
    if (status == LEO_OK && (gradient->rank != out->rank || out->rank == 0)) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "yGrad has shape %s, out %s",
                              op_tensor_shape_text(gradient).text, op_tensor_shape_text(out).text);
    }
    if (status == LEO_OK) {
        status = check_repeats(call, out->dim[dim]);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor index = make_index(&chain, out->dim[dim], gradient->dim[dim]),
                           sums = op_chain_temp_like(
                               &chain, out->type == OP_TYPE_F64 ? OP_TYPE_F64 : OP_TYPE_F32, out);
    op_chain_fill(&chain, &sums, 0);
    OP_CHAIN_CALL(&chain, "IndexAdd", op_value_tensor(&sums), op_value_int((int64_t)dim),
                  op_value_tensor(&index), op_value_tensor(gradient), op_value_scalar(&one),
                  op_value_tensor(&sums));
    op_chain_copy(&chain, out, &sums);
    return chain.status;
}

static leo_status plan_shuffle(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const int64_t groups = op_call_int(call, "groups");
    leo_status status = check_rank(call, self);
    if (status == LEO_OK && (self->rank < 2 || groups <= 0 || self->dim[1] % groups)) {
        status = op_call_fail(call, LEO_ERR_SHAPE,
                              "self of shape %s does not have channels in %" PRId64 " groups",
                              op_tensor_shape_text(self).text, groups);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const int64_t rest = self->dim[1] / groups;
    const struct op_tensor from = split_dim(self, 1, groups, rest),
                           turned = op_view_swap(&from, 1, 2), to = split_dim(out, 1, rest, groups);
    op_chain_copy(&chain, &to, &turned);
    return chain.status;
}

leo_status op_plan_repeat(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "repeat");
    return strcmp(word, "times") == 0      ? plan_times(call)
           : strcmp(word, "list") == 0     ? plan_list(call)
           : strcmp(word, "index") == 0    ? plan_index(call)
           : strcmp(word, "gradient") == 0 ? plan_gradient(call)
                                           : plan_shuffle(call);
}
