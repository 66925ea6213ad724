/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by index, by the operators along one dimension (index.c). A row says which ("take"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

static struct op_tensor as_list(const struct op_tensor *dense)
{
    const int64_t count = op_tensor_count(dense);
    return op_view_shape(dense, 1, &count);
}

static leo_status plan_take(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *index = op_call_tensor(call, "index"),
                           *out = op_call_tensor(call, "out");
    leo_status status = op_call_check_shape(call, "out", index->rank, index->dim);
    if (status != LEO_OK || op_tensor_count(index) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense = op_chain_dense(&chain, self->type, self), from = as_list(&dense),
                           places = op_chain_dense(&chain, index->type, index),
                           which = as_list(&places),
                           made = op_chain_temp_like(&chain, out->type, out), to = as_list(&made);
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&from), op_value_int(0),
                  op_value_tensor(&which), op_value_tensor(&to));
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

static leo_status plan_put(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "selfRef"),
                           *index = op_call_tensor(call, "index"),
                           *source = op_call_tensor(call, "source");
    if (op_tensor_count(index) != op_tensor_count(source)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "index has shape %s, source %s: they must have as many elements",
                            op_tensor_shape_text(index).text, op_tensor_shape_text(source).text);
    }
    if (op_tensor_count(index) == 0) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense = op_chain_dense(&chain, self->type, self), to = as_list(&dense),
                           places = op_chain_dense(&chain, index->type, index),
                           which = as_list(&places),
                           values = op_chain_dense(&chain, source->type, source),
                           from = as_list(&values);
    const struct op_scalar one = op_scalar_int(1);
    if (op_call_int(call, "accumulate")) {
        OP_CHAIN_CALL(&chain, "IndexAdd", op_value_tensor(&to), op_value_int(0),
                      op_value_tensor(&which), op_value_tensor(&from), op_value_scalar(&one),
                      op_value_tensor(&to));
    } else {
        OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(&to), op_value_int(0),
                      op_value_tensor(&which), op_value_tensor(&from));
    }
    if (dense.addr != self->addr) {
        op_chain_copy(&chain, self, &dense);
    }
    return chain.status;
}

// `out` holds self: itself, or a copy is made.
static leo_status begin_with_self(struct op_chain *chain, const struct op_tensor **out)
{
    const struct op_call *call = chain->call;
    const bool in_place = !op_call_has(call, "out") && !op_call_has(call, "outRef");
    const struct op_tensor *self =
        op_call_tensor(call, op_call_has(call, "self") ? "self" : "selfRef");
    const char *name = op_call_has(call, "out") ? "out" : "outRef";
    *out = in_place ? self : op_call_tensor(call, name);
    if (!in_place) {
        leo_status status = op_call_check_shape(call, name, self->rank, self->dim);
        if (status != LEO_OK) {
            return status;
        }
        op_chain_copy(chain, *out, self);
    }
    return chain->status;
}

static leo_status plan_fill(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out, *index = op_call_tensor(call, "index");
    unsigned dim = 0;
    leo_status status = begin_with_self(&chain, &out);
    if (status == LEO_OK) {
        status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    // The number as a tensor that repeats.
    const int64_t one = 1;
    int64_t shape[OP_RANK_MAX];
    struct op_tensor number = op_chain_temp(&chain, out->type, 1, &one), source;
    OP_CHAIN_CALL(&chain, "InplaceFillScalar", op_value_tensor(&number),
                  op_value_scalar(op_call_scalar(call, "value")));
    memcpy(shape, out->dim, sizeof(shape));
    shape[dim] = op_tensor_count(index);
    const struct op_tensor to = out->rank ? *out : op_view_insert(out, 0);
    (void)op_tensor_broadcast(&number, to.rank, shape, &source);
    OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(&to), op_value_int((int64_t)dim),
                  op_value_tensor(index), op_value_tensor(&source));
    return chain.status;
}

static leo_status plan_fill_places(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_ints *index = op_call_ints(call, "index");
    const struct op_tensor *out;
    unsigned dim = 0;
    leo_status status = begin_with_self(&chain, &out);
    if (status == LEO_OK) {
        status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor to = out->rank ? *out : op_view_insert(out, 0);
    for (uint64_t i = 0; i < index->count; i++) {
        const int64_t at = index->items[i] < 0 ? index->items[i] + to.dim[dim] : index->items[i];
        if (at < 0 || at >= to.dim[dim]) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "index[%" PRIu64 "] is %" PRId64 " of %" PRId64 " places", i,
                                index->items[i], to.dim[dim]);
        }
        const struct op_tensor slice = op_view_slice(&to, dim, at, 1);
        OP_CHAIN_CALL(&chain, "InplaceFillScalar", op_value_tensor(&slice),
                      op_value_scalar(op_call_scalar(call, "value")));
    }
    return chain.status;
}

static leo_status plan_copy(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *out;
    leo_status status = begin_with_self(&chain, &out);
    if (status == LEO_OK) {
        OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(out), *op_call_value(call, "dim"),
                      *op_call_value(call, "index"), *op_call_value(call, "source"));
    }
    return status == LEO_OK ? chain.status : status;
}

static leo_status plan_masked(const struct op_call *call)
{
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor *self, *source = op_call_tensor(call, "source");
    struct op_tensor mask;
    leo_status status = begin_with_self(&chain, &self);
    if (status != LEO_OK) {
        return status;
    }
    if (!op_tensor_broadcast(op_call_tensor(call, "mask"), self->rank, self->dim, &mask)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "mask of shape %s does not broadcast to %s",
                            op_tensor_shape_text(op_call_tensor(call, "mask")).text,
                            op_tensor_shape_text(self).text);
    }
    if (op_tensor_count(self) == 0 || op_tensor_count(source) == 0) {
        return chain.status;
    }
    const struct op_tensor ones = op_chain_temp_like(&chain, OP_TYPE_I64, self),
                           set = as_list(&ones),
                           flag = op_chain_temp_like(&chain, OP_TYPE_BOOL, self),
                           place = op_chain_temp_like(&chain, OP_TYPE_I64, &set),
                           values = op_chain_dense(&chain, self->type, source),
                           from = as_list(&values),
                           taken = op_chain_temp_like(&chain, self->type, self),
                           to = as_list(&taken);
    op_chain_copy(&chain, &flag, &mask);
    op_chain_copy(&chain, &ones, &flag);
    const struct op_tensor flags = as_list(&flag);
    OP_CHAIN_CALL(&chain, "Cumsum", op_value_tensor(&flags), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&place));
    OP_CHAIN_CALL(&chain, "MaskedPlace", op_value_tensor(&set), op_value_tensor(&place),
                  op_value_tensor(&place));
    OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&from), op_value_int(0),
                  op_value_tensor(&place), op_value_tensor(&to));
    OP_CHAIN_CALL(&chain, "SWhere", op_value_tensor(&flag), op_value_tensor(&taken),
                  op_value_tensor(self), op_value_tensor(self));
    return chain.status;
}

/* ---- positions in a plane ---- */

// [.., positions] of a dense tensor: its last `dims` dimensions as one.
static struct op_tensor as_planes(const struct op_tensor *dense, unsigned dims)
{
    int64_t shape[2] = {1, 1};
    for (unsigned i = 0; i < dense->rank; i++) {
        shape[i + dims >= dense->rank] *= dense->dim[i];
    }
    return op_view_shape(dense, 2, shape);
}

static leo_status check_planes(const struct op_call *call, unsigned dims,
                               const struct op_tensor *small, const struct op_tensor *large)
{
    const struct op_ints *size = op_call_ints(call, "outputSize");
    const struct op_tensor *indices = op_call_tensor(call, "indices");
    bool fits = small->rank >= dims && small->rank == large->rank &&
                op_tensor_same_shape(small, indices) && size->count == dims;
    for (unsigned i = 0; fits && i < large->rank; i++) {
        fits = i + dims >= large->rank ? large->dim[i] == size->items[i + dims - large->rank]
                                       : large->dim[i] == small->dim[i];
    }
    return fits ? LEO_OK
                : op_call_fail(
                      call, LEO_ERR_SHAPE,
                      "planes of shape %s, indices %s and planes of shape %s do not fit outputSize",
                      op_tensor_shape_text(small).text, op_tensor_shape_text(indices).text,
                      op_tensor_shape_text(large).text);
}

static leo_status plan_unpool(const struct op_call *call, bool gradient)
{
    const char *out_name = op_call_has(call, "outRef") ? "outRef" : "out";
    const struct op_tensor *indices = op_call_tensor(call, "indices"),
                           *out = op_call_tensor(call, out_name);
    const struct op_tensor *in = op_call_tensor(call, gradient ? "gradOutput" : "self");
    const unsigned dims = (unsigned)op_call_ints(call, "outputSize")->count;
    leo_status status = check_planes(call, dims, gradient ? out : in, gradient ? in : out);
    if (status != LEO_OK || op_tensor_count(out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor from_all = op_chain_dense(&chain, in->type, in),
                           which_all = op_chain_dense(&chain, indices->type, indices),
                           made = op_chain_temp_like(&chain, out->type, out),
                           from = as_planes(&from_all, dims), which = as_planes(&which_all, dims),
                           to = as_planes(&made, dims);
    if (gradient) {
        OP_CHAIN_CALL(&chain, "Gather", op_value_tensor(&from), op_value_int(1),
                      op_value_tensor(&which), op_value_tensor(&to));
    } else {
        op_chain_fill(&chain, &to, 0);
        OP_CHAIN_CALL(&chain, "Scatter", op_value_tensor(&to), op_value_int(1),
                      op_value_tensor(&which), op_value_tensor(&from), op_value_int(0),
                      op_value_tensor(&to));
    }
    op_chain_copy(&chain, out, &made);
    return chain.status;
}

static leo_status plan_unpool_forward(const struct op_call *call)
{
    return plan_unpool(call, false);
}

static leo_status plan_unpool_gradient(const struct op_call *call)
{
    return plan_unpool(call, true);
}

leo_status op_plan_take(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"take", plan_take},
        {"put", plan_put},
        {"fill", plan_fill},
        {"copy", plan_copy},
        {"masked", plan_masked},
        {"fill_places", plan_fill_places},
        {"unpool", plan_unpool_forward},
        {"unpool_gradient", plan_unpool_gradient},
    };
    const char *word = op_row_attr(call->row, "take");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no way of taking elements");
}
