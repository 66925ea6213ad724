/* SPDX-License-Identifier: Apache-2.0 */
/* Slices with steps and masks, their gradient, and splitting. */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>

/** The arguments of a slice, as a row has them. */
struct slice {
    const struct op_ints *begin, *end, *step;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
};

static bool has(int64_t mask, uint64_t bit)
{
    return mask >> bit & 1;
}

static struct slice slice_of(const struct op_call *call)
{
    return (struct slice){
        .begin = op_call_ints(call, "begin"),
        .end = op_call_ints(call, "end"),
        .step = op_call_ints(call, "step"),
        .begin_mask = op_call_int(call, "beginMask"),
        .end_mask = op_call_int(call, "endMask"),
        .ellipsis_mask = op_call_int(call, "ellipsisMask"),
        .new_axis_mask = op_call_int(call, "newAxisMask"),
        .shrink_mask = op_call_int(call, "shrinkMask"),
    };
}

// A place of a dimension, counted from its end if it is negative, as far as the dimension goes.
static int64_t bounded(int64_t place, int64_t size)
{
    const int64_t from = place < 0 ? place + size : place;
    return from < 0 ? 0 : from > size ? size : from;
}

// Dimension `dim` of `part` as entry `i` says; `one`: a single element. False if that is none.
static bool take_steps(const struct slice *slice, uint64_t i, struct op_tensor *part, unsigned dim,
                       bool one)
{
    const int64_t size = part->dim[dim], step = slice->step->items[i];
    int64_t first = has(slice->begin_mask, i) ? 0 : bounded(slice->begin->items[i], size);
    int64_t past = has(slice->end_mask, i) ? size : bounded(slice->end->items[i], size);
    if (one) {
        first = slice->begin->items[i] + (slice->begin->items[i] < 0 ? size : 0);
        past = first + 1;
    }
    if (step < 1 || step > INT32_MAX || first < 0 || (one && first >= size)) {
        return false;
    }
    *part = op_view_slice(part, dim, first, past > first ? past - first : 0);
    part->dim[dim] = (part->dim[dim] + step - 1) / step;
    part->stride[dim] *= step;
    return true;
}

// How many dimensions an ellipsis stands for: those that no other entry takes.
static int64_t count_between(const struct slice *slice, unsigned rank)
{
    int64_t rest = rank;
    for (uint64_t i = 0; i < slice->begin->count; i++) {
        rest -= !has(slice->ellipsis_mask, i) && !has(slice->new_axis_mask, i);
    }
    return rest;
}

// The view of `whole` that the call's slice is.
static leo_status view_slice(const struct op_call *call, const struct op_tensor *whole,
                             struct op_tensor *view)
{
    const struct slice slice = slice_of(call);
    const int64_t between = count_between(&slice, whole->rank);
    struct op_tensor part = *whole;
    unsigned dim = 0, rank = 0;
    bool seen = false;
    if (slice.end->count != slice.begin->count || slice.step->count != slice.begin->count ||
        between < 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "a tensor of %u dimensions has no slice whose begin has %" PRIu64
                            " numbers, end %" PRIu64 " and step %" PRIu64,
                            whole->rank, slice.begin->count, slice.end->count, slice.step->count);
    }
    *view = *whole;
    for (uint64_t i = 0; i < slice.begin->count + 1 && rank < OP_RANK_MAX; i++) {
        // Behind the last entry as at an ellipsis, if there was none.
        const bool last = i == slice.begin->count;
        if (last || has(slice.ellipsis_mask, i)) {
            for (int64_t k = 0; k < (seen ? 0 : between) && rank < OP_RANK_MAX; k++, dim++) {
                view->dim[rank] = part.dim[dim];
                view->stride[rank++] = part.stride[dim];
            }
            seen = true;
        } else if (has(slice.new_axis_mask, i)) {
            view->dim[rank] = 1;
            view->stride[rank++] = 1;
        } else {
            const bool one = has(slice.shrink_mask, i);
            if (!take_steps(&slice, i, &part, dim, one)) {
                return op_call_fail(call, LEO_ERR_SHAPE,
                                    "the slice from %" PRId64 " up to %" PRId64
                                    " in steps of %" PRId64
                                    " is none of dimension %u of a tensor of shape %s (steps are "
                                    "from 1 on)",
                                    slice.begin->items[i], slice.end->items[i],
                                    slice.step->items[i], dim, op_tensor_shape_text(whole).text);
            }
            view->dim[rank] = part.dim[dim];
            view->stride[rank] = part.stride[dim++];
            rank += !one;
        }
    }
    view->addr = part.addr;
    view->rank = rank;
    return LEO_OK;
}

leo_status op_plan_acl_strided_slice(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y");
    struct op_tensor view;
    leo_status status = view_slice(call, op_call_tensor(call, "x"), &view);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "y", view.rank, view.dim);
    }
    return status == LEO_OK && op_tensor_count(y) ? op_plan_copy(call->plan, y, &view) : status;
}

leo_status op_plan_acl_strided_slice_grad(const struct op_call *call)
{
    const struct op_tensor *y = op_call_tensor(call, "y"), *dy = op_call_tensor(call, "dy");
    const struct op_ints *shape = op_call_ints(call, "shape");
    struct op_tensor view;
    leo_status status =
        shape->count <= OP_RANK_MAX
            ? op_call_check_shape(call, "y", (unsigned)shape->count, shape->items)
            : op_call_fail(call, LEO_ERR_SHAPE, "shape has %" PRIu64 " numbers", shape->count);
    if (status == LEO_OK) {
        status = view_slice(call, y, &view);
    }
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "dy", view.rank, view.dim);
    }
    struct op_chain chain = op_chain_begin(call);
    chain.status = status;
    if (op_tensor_count(y)) {
        op_chain_fill(&chain, y, 0);
    }
    if (chain.status == LEO_OK && op_tensor_count(dy)) {
        op_chain_copy(&chain, &view, dy);
    }
    return chain.status;
}

leo_status op_plan_acl_split(const struct op_call *call)
{
    const struct op_tensor *x = op_call_tensor(call, "x");
    const struct op_tensor_list *parts = op_call_value(call, "y")->tensors;
    struct op_chain chain = op_chain_begin(call);
    unsigned dim;
    int64_t from = 0;
    chain.status = op_take_dim(call, op_call_int(call, "dim"), x->rank, &dim);
    for (uint64_t i = 0; i < parts->count && chain.status == LEO_OK; i++) {
        const struct op_tensor *part = parts->items[i];
        const int64_t count = part->rank == x->rank ? part->dim[dim] : 0;
        const struct op_tensor view =
            count <= x->dim[dim] - from ? op_view_slice(x, dim, from, count) : *x;
        if (!op_tensor_same_shape(&view, part)) {
            return op_call_fail(
                call, LEO_ERR_SHAPE,
                "part %" PRIu64 " of shape %s is none of x of shape %s from %" PRId64
                " on along dimension %u",
                i, op_tensor_shape_text(part).text, op_tensor_shape_text(x).text, from, dim);
        }
        from += count;
        if (op_tensor_count(part)) {
            op_chain_copy(&chain, part, &view);
        }
    }
    return chain.status;
}
