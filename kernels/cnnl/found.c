/* SPDX-License-Identifier: Apache-2.0 */
/* What is found by comparing: middle elements, truths and their places, elements without
 * repetition. */
#include "cnnl_subjects.h"

void cnnl_median(struct cnnl_call *call, const struct op_tensor *x, int64_t dim, bool ignore_nan,
                 const struct op_tensor *values, const struct op_tensor *index)
{
    const int64_t count = op_tensor_count(x);
    const bool all = dim < 0;
    const struct op_tensor *from = all ? cnnl_shaped(call, "x", x, 1, &count) : x;
    const struct op_tensor *to = all ? cnnl_shaped(call, "values", values, 0, NULL) : values;
    const struct op_tensor *found = index    ? cnnl_i64(call, index)
                                    : values ? cnnl_temp_like(call, OP_TYPE_I64, values)
                                             : NULL;
    const struct op_tensor *places = all ? cnnl_shaped(call, "index", found, 0, NULL) : found;
    if (call->status != CNNL_STATUS_SUCCESS) {
        return;
    }
    const struct op_value args[] = {op_value_tensor(from), op_value_int(all ? 0 : dim),
                                    op_value_int(!all && values->rank == x->rank),
                                    op_value_tensor(to), op_value_tensor(places)};
    cnnl_run(call, ignore_nan ? "NanMedianDim" : "MedianDim", args);
    if (index) {
        cnnl_give(call, index, found);
    }
}

void cnnl_count_true(struct cnnl_call *call, const struct op_tensor *x,
                     const struct op_tensor *count)
{
    const struct op_tensor *sum = cnnl_shaped(call, "count", count, 0, NULL);
    if (!sum) {
        return;
    }
    const struct op_value args[] = {op_value_tensor(cnnl_as(call, OP_TYPE_BOOL, x)),
                                    op_value_ints(cnnl_longs(call, NULL, 0)), // over all
                                    op_value_int(false), op_value_type(sum->type),
                                    op_value_tensor(sum)};
    cnnl_run(call, "ReduceSum", args);
}

void cnnl_where(struct cnnl_call *call, const struct op_tensor *x, bool as_index,
                const struct op_tensor *y)
{
    const int64_t room[] = {op_tensor_count(x), x->rank};
    if (as_index) {
        cnnl_refuse(call, "places as one number each");
        return;
    }
    if (!y || y->rank != 2 || y->dim[1] != x->rank || y->dim[0] > room[0]) {
        cnnl_bad(call, "places are rows of %u numbers, at most %lld", x->rank, (long long)room[0]);
        return;
    }
    const struct op_tensor *places = cnnl_temp(call, OP_TYPE_I64, 2, room);
    struct op_tensor *found = cnnl_view(call, places);
    const struct op_value args[] = {op_value_tensor(x), op_value_tensor(places)};
    cnnl_run(call, "Nonzero", args);
    if (found && y->dim[0] > 0) {
        found->dim[0] = y->dim[0];
        cnnl_give(call, y, found);
    }
}

void cnnl_masked_select(struct cnnl_call *call, const struct op_tensor *x,
                        const struct op_tensor *mask, const struct op_tensor *y, void *count)
{
    const int64_t room = op_tensor_count(x);
    if (op_tensor_count(mask) != room || y->rank != 1 || y->dim[0] > room) {
        cnnl_bad(call, "the mask has another shape than x, or y is no list that fits");
        return;
    }
    const struct op_tensor *truth = cnnl_as(call, OP_TYPE_BOOL, mask);
    const bool whole = y->dim[0] == room && y->type == x->type && op_tensor_is_dense(y);
    const struct op_tensor *chosen = whole ? y : cnnl_temp(call, x->type, 1, &room);
    const struct op_value args[] = {op_value_tensor(x), op_value_tensor(truth),
                                    op_value_tensor(chosen)};
    cnnl_run(call, "MaskedSelect", args);
    struct op_tensor *first = cnnl_view(call, chosen);
    if (first && !whole && y->dim[0] > 0) {
        first->dim[0] = y->dim[0];
        cnnl_give(call, y, first);
    }
    if (count) {
        cnnl_count_true(call, truth, cnnl_vector(call, count, OP_TYPE_I32, 1));
    }
}

// length = (the largest of index + 1) times factor: how many different ones there are.
static void tell_length(struct cnnl_call *call, const struct op_tensor *index, int64_t factor,
                        const struct op_tensor *length)
{
    const struct op_tensor *last = cnnl_temp(call, OP_TYPE_I64, 0, NULL);
    const struct op_tensor *to = cnnl_shaped(call, "length", length, 0, NULL);
    const struct op_scalar *one = cnnl_integer(call, 1);
    const struct op_value largest[] = {op_value_tensor(index), op_value_tensor(last)};
    const struct op_value more[] = {op_value_tensor(last), op_value_scalar(one),
                                    op_value_scalar(one), op_value_tensor(last)};
    const struct op_value times[] = {
        op_value_tensor(last), op_value_scalar(cnnl_integer(call, factor)), op_value_tensor(last)};
    cnnl_run(call, "Max", largest);
    cnnl_run(call, "Adds", more);
    cnnl_run(call, "Muls", times);
    cnnl_give(call, to, last);
}

/** What both kinds of uniqueness have beside values. */
struct unique {
    const struct op_tensor *index, *counts; /**< i64; counts 0 where nothing is written */
};

// Of all elements where dim is negative, else of slices.
static struct unique begin_unique(struct cnnl_call *call, const struct op_tensor *x, int64_t dim)
{
    const int64_t count = dim < 0 ? op_tensor_count(x) : x->dim[dim];
    struct unique made = {dim < 0 ? cnnl_temp_like(call, OP_TYPE_I64, x)
                                  : cnnl_temp(call, OP_TYPE_I64, 1, &count),
                          cnnl_filled(call, OP_TYPE_I64, count, 0)};
    return made;
}

static void end_unique(struct cnnl_call *call, const struct unique *made,
                       const struct op_tensor *index, const struct op_tensor *counts)
{
    if (index) {
        cnnl_give(call, index, made->index);
    }
    if (counts) {
        const int64_t count = op_tensor_count(made->counts);
        cnnl_give(call, cnnl_shaped(call, "counts", counts, 1, &count), made->counts);
    }
}

static bool can_be_unique(struct cnnl_call *call, const struct op_tensor *x, int64_t dim,
                          const void *length)
{
    cnnl_need(call, "length", length != NULL);
    if (op_tensor_count(x) == 0 || dim >= (int64_t)x->rank) {
        cnnl_refuse(call, "no element, or dimension %lld of %u", (long long)dim, x->rank);
    }
    return call->status == CNNL_STATUS_SUCCESS;
}

void cnnl_unique(struct cnnl_call *call, const struct op_tensor *x, int64_t dim,
                 const struct op_tensor *values, const struct op_tensor *index,
                 const struct op_tensor *counts, int *length)
{
    if (!can_be_unique(call, x, dim, length)) {
        return;
    }
    const struct unique made = begin_unique(call, x, dim);
    const struct op_value of_all[] = {op_value_tensor(x),          op_value_int(true),
                                      op_value_int(true),          op_value_int(true),
                                      op_value_tensor(values),     op_value_tensor(made.index),
                                      op_value_tensor(made.counts)};
    const struct op_value of_slices[] = {op_value_tensor(x),          op_value_int(true),
                                         op_value_int(true),          op_value_int(dim),
                                         op_value_tensor(values),     op_value_tensor(made.index),
                                         op_value_tensor(made.counts)};
    cnnl_run(call, dim < 0 ? "Unique2" : "UniqueDim", dim < 0 ? of_all : of_slices);
    tell_length(call, made.index, 1, cnnl_vector(call, length, OP_TYPE_I32, 1));
    end_unique(call, &made, index, counts);
}

void cnnl_unique_consecutive(struct cnnl_call *call, const struct op_tensor *x, int64_t dim,
                             const struct op_tensor *values, const struct op_tensor *index,
                             const struct op_tensor *counts, int64_t *length)
{
    enum { OF_ALL = 1000 }; // as the operator has it
    const int64_t along = dim == (int64_t)x->rank ? -1 : dim;
    if (!can_be_unique(call, x, along, length)) {
        return;
    }
    const struct unique made = begin_unique(call, x, along);
    const struct op_value args[] = {
        op_value_tensor(x),          op_value_int(true),
        op_value_int(true),          op_value_int(along < 0 ? OF_ALL : along),
        op_value_tensor(values),     op_value_tensor(made.index),
        op_value_tensor(made.counts)};
    cnnl_run(call, "UniqueConsecutive", args);
    tell_length(call, made.index, along < 0 ? 1 : op_tensor_count(x) / x->dim[along],
                cnnl_vector(call, length, OP_TYPE_I64, 1));
    end_unique(call, &made, index, counts);
}
