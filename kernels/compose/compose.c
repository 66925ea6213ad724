/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are a few others one after the other. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <string.h>

leo_status op_plan_log_sigmoid_forward(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *buffer = op_call_tensor(call, "buffer");
    const struct op_value out[] = {op_value_tensor(self),
                                   op_value_tensor(op_call_tensor(call, "out"))};
    const struct op_value rest[] = {op_value_tensor(self), op_value_tensor(buffer)};
    leo_status status = op_plan_call(call->plan, "LogSigmoid", out, 2);
    // The gradient is computed from self; whoever looks into the buffer finds what PyTorch puts
    // there.
    return status == LEO_OK && op_tensor_same_shape(self, buffer)
               ? op_plan_call(call->plan, "LogSigmoidBuffer", rest, 2)
               : status;
}

// A weight of one dimension belongs to dimension 1 of self, one of a single element to all of it.
static struct op_tensor weight_of_channels(const struct op_tensor *weight,
                                           const struct op_tensor *self)
{
    struct op_tensor wide = *weight;
    if (op_tensor_count(weight) == 1) {
        wide.rank = 0;
    }
    if (weight->rank == 1 && weight->dim[0] != 1 && self->rank >= 2) {
        wide.rank = self->rank - 1;
        for (unsigned i = 1; i < wide.rank; i++) {
            wide.dim[i] = 1;
            wide.stride[i] = 0;
        }
    }
    return wide;
}

leo_status op_plan_prelu_backward(const struct op_call *call)
{
    const struct op_tensor *gradient = op_call_tensor(call, "gradOutput"),
                           *self = op_call_tensor(call, "self");
    const struct op_tensor channels = weight_of_channels(op_call_tensor(call, "weight"), self);
    const struct op_tensor *weight = &channels, *grad_weight = op_call_tensor(call, "gradWeight");
    struct op_tensor wide, share, sum = *grad_weight;
    const struct op_value input[] = {op_value_tensor(gradient), op_value_tensor(self),
                                     op_value_tensor(weight),
                                     op_value_tensor(op_call_tensor(call, "gradInput"))};
    leo_status status = op_call_check_shape(call, "gradOutput", self->rank, self->dim);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "gradInput", self->rank, self->dim);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (!op_tensor_broadcast(weight, self->rank, self->dim, &wide) ||
        op_tensor_count(grad_weight) != op_tensor_count(weight)) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "weight of shape %s and gradWeight of shape %s do not fit self of shape %s",
            op_tensor_shape_text(weight).text, op_tensor_shape_text(grad_weight).text,
            op_tensor_shape_text(self).text);
    }
    status = op_plan_call(call->plan, "PreluGradient", input, 4);
    if (status != LEO_OK) {
        return status;
    }
    // Each element's share of the weight's gradient, summed over what the weight repeats over.
    status = op_plan_temp(call->plan, OP_TYPE_F32, self->rank, self->dim, &share);
    const struct op_value shares[] = {op_value_tensor(gradient), op_value_tensor(self),
                                      op_value_tensor(&share)};
    if (status == LEO_OK) {
        status = op_plan_call(call->plan, "PreluGradientOfWeight", shares, 3);
    }
    int64_t dims[OP_RANK_MAX], left[OP_RANK_MAX];
    struct op_ints over = {dims, 0};
    // Not by strides of 0: the weight may be a view that repeats one element.
    const unsigned before = self->rank - weight->rank;
    unsigned rank = 0;
    for (unsigned i = 0; i < self->rank; i++) {
        if (i < before || weight->dim[i - before] != self->dim[i]) {
            dims[over.count++] = i;
        } else {
            left[rank++] = self->dim[i];
        }
    }
    const bool dense = op_tensor_is_dense(grad_weight);
    if (status == LEO_OK && dense) {
        sum = op_tensor_dense(grad_weight->addr, grad_weight->type, rank, left);
    } else if (status == LEO_OK) {
        status = op_call_fail(call, LEO_ERR_SHAPE, "gradWeight has gaps");
    }
    if (status == LEO_OK && over.count == 0) {
        return op_plan_copy(call->plan, &sum, &share);
    }
    const struct op_value reduce[] = {op_value_tensor(&share), op_value_ints(&over),
                                      op_value_int(0), op_value_type(OP_TYPE_F32),
                                      op_value_tensor(&sum)};
    return status == LEO_OK ? op_plan_call(call->plan, "ReduceSum", reduce, 5) : status;
}

enum {
    LEAST_COMPARED = 8192, // [A] elements that take the scalar units longer than some launches
    EXACT = 1 << 24,       // f32 holds every number of a column; larger ones are none
};

// In the vector unit, which compares floats.
static leo_status compare_columns(const struct op_call *call, const struct op_tensor *index,
                                  const struct op_tensor *on, const struct op_tensor *off)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor number = op_chain_dense(&chain, OP_TYPE_F32, index),
                           column = op_chain_temp(&chain, OP_TYPE_F32, 1, &out->dim[out->rank - 1]),
                           same = op_chain_temp_like(&chain, OP_TYPE_BOOL, out);
    op_chain_range(&chain, &column, 0, 1);
    OP_CHAIN_CALL(&chain, "EqTensor", op_value_tensor(&number), op_value_tensor(&column),
                  op_value_tensor(&same));
    OP_CHAIN_CALL(&chain, "SWhere", op_value_tensor(&same), op_value_tensor(on),
                  op_value_tensor(off), op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_one_hot(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    struct op_tensor index = *self, on = *op_call_tensor(call, "onValue"),
                     off = *op_call_tensor(call, "offValue");
    const int64_t axis = op_call_int(call, "axis");
    if (axis != -1 && axis != self->rank) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "axis is %lld: only the last one (-1) is possible", (long long)axis);
    }
    if (self->rank == OP_RANK_MAX || op_tensor_count(&on) != 1 || op_tensor_count(&off) != 1) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "onValue and offValue must have one element and self at most %d dimensions",
            OP_RANK_MAX - 1);
    }
    index.dim[index.rank] = 1;
    index.stride[index.rank++] = 0;
    on.rank = off.rank = 0;
    if (on.type == out->type && off.type == out->type && out->rank == index.rank &&
        op_tensor_count(out) >= LEAST_COMPARED && out->dim[self->rank] <= EXACT) {
        return compare_columns(call, &index, &on, &off);
    }
    const struct op_value args[] = {op_value_tensor(&index), op_value_tensor(&on),
                                    op_value_tensor(&off), op_value_tensor(out)};
    return op_plan_call(call->plan, "OneHotColumns", args, 4);
}

leo_status op_plan_equal(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *other = op_call_tensor(call, "other");
    struct op_tensor out = *op_call_tensor(call, "out"), same;
    if (op_tensor_count(&out) != 1) {
        return op_call_fail(call, LEO_ERR_SHAPE, "out has shape %s, it must have one element",
                            op_tensor_shape_text(&out).text);
    }
    out.rank = 0;
    if (!op_tensor_same_shape(self, other)) {
        return op_plan_fill(call->plan, out.addr, 0, 1);
    }
    leo_status status = op_plan_temp(call->plan, OP_TYPE_BOOL, self->rank, self->dim, &same);
    const struct op_value compare[] = {op_value_tensor(self), op_value_tensor(other),
                                       op_value_tensor(&same)};
    if (status == LEO_OK) {
        status = op_plan_call(call->plan, "EqTensor", compare, 3);
    }
    int64_t dims[OP_RANK_MAX];
    for (unsigned i = 0; i < self->rank; i++) {
        dims[i] = i;
    }
    const struct op_ints all = {dims, self->rank};
    const struct op_value reduce[] = {op_value_tensor(&same), op_value_ints(&all), op_value_int(0),
                                      op_value_tensor(&out)};
    return status == LEO_OK ? op_plan_call(call->plan, "All", reduce, 4) : status;
}

leo_status op_plan_aminmax(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self");
    const bool dims = op_call_has(call, "keepDim");
    int64_t list[OP_RANK_MAX];
    struct op_ints over = {list, 0};
    if (dims && op_call_value(call, "dim")->kind == OP_KIND_INTS) {
        over = *op_call_ints(call, "dim");
    } else if (dims) {
        list[over.count++] = op_call_int(call, "dim");
    } else {
        for (unsigned i = 0; i < self->rank; i++) {
            list[over.count++] = i;
        }
    }
    struct op_chain chain = op_chain_begin(call);
    static const char *const ops[] = {"Amin", "Amax"}, *const outs[] = {"minOut", "maxOut"};
    for (unsigned i = 0; i < 2; i++) {
        OP_CHAIN_CALL(&chain, ops[i], op_value_tensor(self), op_value_ints(&over),
                      op_value_int(dims && op_call_int(call, "keepDim")),
                      op_value_tensor(op_call_tensor(call, outs[i])));
    }
    return chain.status;
}

leo_status op_plan_trace(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    if (self->rank != 2) {
        return op_call_fail(call, LEO_ERR_SHAPE, "self has shape %s: it must be a matrix",
                            op_tensor_shape_text(self).text);
    }
    struct op_tensor diagonal = op_view_select(self, 0, 0);
    diagonal.dim[0] = self->dim[0] < self->dim[1] ? self->dim[0] : self->dim[1];
    diagonal.stride[0] = self->stride[0] + self->stride[1];
    const struct op_ints all = {NULL, 0};
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(&diagonal), op_value_ints(&all),
                  op_value_int(0), op_value_type(out->type), op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_cross(const struct op_call *call)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    static const char *const names[] = {"self", "other"};
    struct op_tensor in[2];
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), out->rank, &dim);
    for (unsigned i = 0; status == LEO_OK && i < 2; i++) {
        const struct op_tensor *given = op_call_tensor(call, names[i]);
        if (out->rank == 0 || out->dim[dim] != 3 || given->rank > out->rank ||
            !op_tensor_broadcast(given, out->rank, out->dim, &in[i])) {
            status = op_call_fail(
                call, LEO_ERR_SHAPE, "%s has shape %s, out %s: they must have 3 elements along dim",
                names[i], op_tensor_shape_text(given).text, op_tensor_shape_text(out).text);
        }
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    for (int64_t i = 0; i < 3; i++) {
        const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
        const struct op_tensor a = op_view_slice(&in[0], dim, j, 1),
                               b = op_view_slice(&in[1], dim, k, 1),
                               c = op_view_slice(&in[0], dim, k, 1),
                               d = op_view_slice(&in[1], dim, j, 1),
                               to = op_view_slice(out, dim, i, 1);
        OP_CHAIN_CALL(&chain, "CrossPart", op_value_tensor(&a), op_value_tensor(&b),
                      op_value_tensor(&c), op_value_tensor(&d), op_value_tensor(&to));
    }
    return chain.status;
}

leo_status op_plan_renorm(const struct op_call *call)
{
    const bool in_place = op_call_has(call, "selfRef");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self"),
                           *out = in_place ? self : op_call_tensor(call, "out");
    const struct op_scalar *p = op_call_scalar(call, "p");
    const double most = op_call_scalar(call, "maxNorm")->real;
    int64_t list[OP_RANK_MAX], kept[OP_RANK_MAX];
    struct op_ints over = {list, 0};
    unsigned dim = 0;
    leo_status status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    if (status == LEO_OK && (self->rank < 2 || !(p->real > 0) || !(most >= 0))) {
        status =
            op_call_fail(call, LEO_ERR_INVALID_ARG,
                         "self of shape %s, p = %g, maxNorm = %g: it must have two dimensions, "
                         "p above 0 and maxNorm not below it",
                         op_tensor_shape_text(self).text, p->real, most);
    }
    if (status == LEO_OK && !in_place) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    for (unsigned i = 0; i < self->rank; i++) {
        kept[i] = i == dim ? self->dim[i] : 1;
        if (i != dim) {
            list[over.count++] = i;
        }
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor norms = op_chain_temp(&chain, OP_TYPE_F32, self->rank, kept),
                           factors = op_chain_temp(&chain, OP_TYPE_F32, self->rank, kept);
    OP_CHAIN_CALL(&chain, "LinalgVectorNorm", op_value_tensor(self), op_value_scalar(p),
                  op_value_ints(&over), op_value_int(1), op_value_type(OP_TYPE_F32),
                  op_value_tensor(&norms));
    OP_CHAIN_CALL(&chain, "RenormFactor", op_value_tensor(&norms), op_value_real(most),
                  op_value_tensor(&factors));
    OP_CHAIN_CALL(&chain, "Mul", op_value_tensor(self), op_value_tensor(&factors),
                  op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_is_in(const struct op_call *call)
{
    const struct op_tensor *tests = op_call_tensor(call, "testElements");
    struct op_tensor out = *op_call_tensor(call, "out");
    if (op_tensor_count(&out) != 1) {
        return op_call_fail(call, LEO_ERR_SHAPE, "out has shape %s, it must have one element",
                            op_tensor_shape_text(&out).text);
    }
    int64_t dims[OP_RANK_MAX];
    for (unsigned i = 0; i < tests->rank; i++) {
        dims[i] = i;
    }
    const struct op_ints all = {dims, tests->rank};
    const bool invert = op_call_int(call, "invert");
    out.rank = 0;
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor same = op_chain_temp_like(&chain, OP_TYPE_BOOL, tests);
    OP_CHAIN_CALL(&chain, invert ? "NeScalar" : "EqScalar", op_value_tensor(tests),
                  op_value_scalar(op_call_scalar(call, "element")), op_value_tensor(&same));
    OP_CHAIN_CALL(&chain, invert ? "All" : "Any", op_value_tensor(&same), op_value_ints(&all),
                  op_value_int(0), op_value_tensor(&out));
    return chain.status;
}

leo_status op_plan_reduce_log_sum(const struct op_call *call)
{
    const struct op_tensor *data = op_call_tensor(call, "data"),
                           *out = op_call_tensor(call, "reduce");
    const struct op_ints *axes = op_call_ints(call, "axes");
    struct op_chain chain = op_chain_begin(call);
    if (op_call_int(call, "noopWithEmptyAxes") && (!axes || axes->count == 0)) {
        OP_CHAIN_CALL(&chain, "Log", op_value_tensor(data), op_value_tensor(out));
        return chain.status;
    }
    const struct op_tensor sum = op_chain_temp_like(&chain, OP_TYPE_F32, out);
    OP_CHAIN_CALL(&chain, "ReduceSum", op_value_tensor(data), op_value_ints(axes),
                  op_value_int(op_call_int(call, "keepDims")), op_value_type(OP_TYPE_F32),
                  op_value_tensor(&sum));
    OP_CHAIN_CALL(&chain, "Log", op_value_tensor(&sum), op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_coalesce_sparse(const struct op_call *call)
{
    const struct op_tensor *place = op_call_tensor(call, "unique_indices"),
                           *indices = op_call_tensor(call, "indices_t"),
                           *values = op_call_tensor(call, "values_f"),
                           *new_indices = op_call_tensor(call, "new_indices_t"),
                           *new_values = op_call_tensor(call, "new_values_f");
    if (place->rank != 1 || indices->rank < 1 || values->rank < 1 ||
        indices->dim[0] != place->dim[0] || values->dim[0] != place->dim[0]) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "unique_indices of shape %s, indices_t of shape %s and values_f of "
                            "shape %s must have one row for each element",
                            op_tensor_shape_text(place).text, op_tensor_shape_text(indices).text,
                            op_tensor_shape_text(values).text);
    }
    const struct op_scalar one = op_scalar_int(1);
    struct op_chain chain = op_chain_begin(call);
    // Elements of the same place have the same index row: any order of copies is right.
    OP_CHAIN_CALL(&chain, "InplaceIndexCopy", op_value_tensor(new_indices), op_value_int(0),
                  op_value_tensor(place), op_value_tensor(indices));
    op_chain_fill(&chain, new_values, 0);
    OP_CHAIN_CALL(&chain, "IndexAdd", op_value_tensor(new_values), op_value_int(0),
                  op_value_tensor(place), op_value_tensor(values), op_value_scalar(&one),
                  op_value_tensor(new_values));
    return chain.status;
}

// A factor of the call; 1 if it is left out. Of truth values it is one too.
static struct op_scalar factor(const struct op_call *call, const char *name, enum op_type type)
{
    const struct op_scalar *given = op_call_scalar(call, name);
    const struct op_scalar one = op_scalar_int(1);
    if (!given) {
        return one;
    }
    return type == OP_TYPE_BOOL ? op_scalar_int(given->real != 0) : *given;
}

static leo_status fail_product(const struct op_call *call, const char *a, const char *b)
{
    return op_call_fail(call, LEO_ERR_SHAPE,
                        "%s has shape %s and %s has shape %s: they do not multiply", a,
                        op_tensor_shape_text(op_call_tensor(call, a)).text, b,
                        op_tensor_shape_text(op_call_tensor(call, b)).text);
}

// What is added to a product of `rows` x `columns`, and the result.
static leo_status check_sum(const struct op_call *call, bool in_place, int64_t rows,
                            int64_t columns)
{
    const char *name = in_place ? "selfRef" : "self";
    const struct op_tensor *self = op_call_tensor(call, name);
    const int64_t dim[] = {rows, columns};
    struct op_tensor wide;
    if (!op_tensor_broadcast(self, 2, dim, &wide)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not broadcast to %s", name,
                            op_tensor_shape_text(self).text, op_shape_text(2, dim).text);
    }
    return op_call_check_shape(call, in_place ? name : "out", 2, dim);
}

leo_status op_plan_ger(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *vec2 = op_call_tensor(call, "vec2"), *out = op_call_tensor(call, "out");
    if (self->rank != 1 || vec2->rank != 1) {
        return fail_product(call, "self", "vec2");
    }
    const int64_t dim[] = {self->dim[0], vec2->dim[0]};
    leo_status status = op_call_check_shape(call, "out", 2, dim);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor column = op_view_insert(self, 1);
    const struct op_scalar one = op_scalar_int(1);
    struct op_chain chain = op_chain_begin(call);
    OP_CHAIN_CALL(&chain, "OuterProduct", op_value_tensor(&column), op_value_tensor(vec2),
                  op_value_scalar(&one), op_value_tensor(out));
    return chain.status;
}

leo_status op_plan_addr(const struct op_call *call)
{
    const bool in_place = op_call_has(call, "selfRef");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self"),
                           *out = in_place ? self : op_call_tensor(call, "out"),
                           *vec1 = op_call_tensor(call, "vec1"),
                           *vec2 = op_call_tensor(call, "vec2");
    if (vec1->rank != 1 || vec2->rank != 1) {
        return fail_product(call, "vec1", "vec2");
    }
    leo_status status = check_sum(call, in_place, vec1->dim[0], vec2->dim[0]);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_tensor column = op_view_insert(vec1, 1);
    const struct op_scalar alpha = factor(call, "alphaOptional", out->type),
                           beta = factor(call, "betaOptional", out->type);
    struct op_chain chain = op_chain_begin(call);
    if (beta.real == 0) { // then NaN in self does not count
        OP_CHAIN_CALL(&chain, "OuterProduct", op_value_tensor(&column), op_value_tensor(vec2),
                      op_value_scalar(&alpha), op_value_tensor(out));
    } else {
        OP_CHAIN_CALL(&chain, "AddOuterProduct", op_value_tensor(self), op_value_tensor(&column),
                      op_value_tensor(vec2), op_value_scalar(&beta), op_value_scalar(&alpha),
                      op_value_tensor(out));
    }
    return chain.status;
}

leo_status op_plan_addbmm(const struct op_call *call)
{
    const bool in_place = op_call_has(call, "selfRef");
    const struct op_tensor *self = op_call_tensor(call, in_place ? "selfRef" : "self"),
                           *out = in_place ? self : op_call_tensor(call, "out"),
                           *a = op_call_tensor(call, "batch1"), *b = op_call_tensor(call, "batch2");
    if (a->rank != 3 || b->rank != 3 || a->dim[0] != b->dim[0] || a->dim[2] != b->dim[1]) {
        return fail_product(call, "batch1", "batch2");
    }
    leo_status status = check_sum(call, in_place, a->dim[1], b->dim[2]);
    if (status != LEO_OK) {
        return status;
    }
    // The sum over the batch is part of the sum over k: one product of [n, batch k] and
    // [batch k, m].
    const int64_t k = a->dim[0] * a->dim[2];
    const int64_t left_dim[] = {a->dim[1], k}, right_dim[] = {k, b->dim[2]};
    const struct op_tensor rows_first = op_view_swap(a, 0, 1);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor left = op_chain_dense(&chain, a->type, &rows_first),
                           right = op_chain_dense(&chain, b->type, b);
    const struct op_tensor left_rows = op_view_shape(&left, 2, left_dim),
                           right_rows = op_view_shape(&right, 2, right_dim);
    OP_CHAIN_CALL(&chain, "Addmm", op_value_tensor(self), op_value_tensor(&left_rows),
                  op_value_tensor(&right_rows), op_value_scalar(op_call_scalar(call, "beta")),
                  op_value_scalar(op_call_scalar(call, "alpha")), op_value_tensor(out),
                  op_value_int(op_call_int(call, "cubeMathType")));
    return chain.status;
}
