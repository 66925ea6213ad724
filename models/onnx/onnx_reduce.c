/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over dimensions, and places of extremes. */
#include "values.h"

#include <string.h>

/** A reduction as operators: before, over the dimensions, behind. */
struct reduction {
    const char *onnx;
    enum before { NOTHING, ABSOLUTE, SQUARE } before;
    const char *over, *behind; /* behind: NULL, none */
};

static const struct reduction reductions[] = {
    {"ReduceMax", NOTHING, "Amax", NULL},          {"ReduceMin", NOTHING, "Amin", NULL},
    {"ReduceMean", NOTHING, "Mean", NULL},         {"ReduceSum", NOTHING, "ReduceSum", NULL},
    {"ReduceProd", NOTHING, "ProdDim", NULL},      {"ReduceL1", ABSOLUTE, "ReduceSum", NULL},
    {"ReduceL2", SQUARE, "ReduceSum", "Sqrt"},     {"ReduceSumSquare", SQUARE, "ReduceSum", NULL},
    {"ReduceLogSum", NOTHING, "ReduceSum", "Log"}, {"ReduceLogSumExp", NOTHING, "LogSumExp", NULL},
};

static const struct reduction *find_reduction(const char *type)
{
    const struct reduction *row = reductions;
    while (strcmp(row->onnx, type) != 0) { // the table of handlers has these types only
        row++;
    }
    return row;
}

/** The dimensions that are reduced, and the shape without them or with one element each. */
struct reduced {
    int64_t axes[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    uint32_t count, rank;
};

static void shape_without(const struct onnx_tensor *in, bool keep, struct reduced *to)
{
    bool gone[LEO_OP_RANK_MAX] = {false};
    for (uint32_t i = 0; i < to->count; i++) {
        gone[to->axes[i]] = true;
    }
    to->rank = 0;
    for (uint32_t d = 0; d < in->rank; d++) {
        if (!gone[d] || keep) {
            to->dim[to->rank++] = gone[d] ? 1 : in->dim[d];
        }
    }
}

// All dimensions if none is named, or none where the node says so.
static void take_axes(struct onnx_import *import, uint32_t rank, struct reduced *to)
{
    to->count = onnx_ints(import, "axes", 1, to->axes, LEO_OP_RANK_MAX);
    const bool all = to->count == 0 && !onnx_attribute_int(import, "noop_with_empty_axes", 0);
    for (uint32_t i = 0; i < to->count; i++) {
        to->axes[i] = onnx_axis(import, to->axes[i], rank);
    }
    for (uint32_t d = 0; all && d < rank; d++) {
        to->axes[to->count++] = d;
    }
}

// The library multiplies over one dimension.
static uint32_t product_over(struct onnx_import *import, uint32_t x, const int64_t *axes,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct leo_model_value seen = onnx_seen(import, x);
        const enum leo_dtype dtype = (enum leo_dtype)seen.dtype;
        seen.dim[axes[i]] = 1;
        const uint32_t out = model_build_value(&import->build, dtype, seen.rank, seen.dim);
        MODEL_BUILD_CALL(&import->build, "ProdDim", model_build_tensor(x),
                         model_build_number((double)axes[i]), model_build_number(1),
                         model_build_dtype(dtype), model_build_tensor(out));
        x = out;
    }
    return x;
}

static uint32_t reduce(struct onnx_import *import, const struct reduction *row, uint32_t x,
                       const struct reduced *to)
{
    if (row->before == ABSOLUTE) {
        x = onnx_made(import, "Abs", x);
    } else if (row->before == SQUARE) {
        x = onnx_made_of(import, "Mul", x, x, (enum leo_dtype)onnx_seen(import, x).dtype);
    }
    if (strcmp(row->over, "ProdDim") == 0) {
        x = product_over(import, x, to->axes, to->count);
    } else if (to->count) {
        x = onnx_made_over(import, row->over, x, to->axes, to->count);
    }
    return row->behind ? onnx_made(import, row->behind, x) : x;
}

void onnx_reduce(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    struct reduced to;
    if (!in) {
        return;
    }
    take_axes(import, in->rank, &to);
    if (import->build.failed) {
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    shape_without(in, onnx_attribute_int(import, "keepdims", 1) != 0, &to);
    const uint32_t out =
        reduce(import, find_reduction(import->node->op_type), onnx_value(import, in), &to);
    onnx_give(import, 0, dtype, onnx_made_flat(import, out, to.rank, to.dim));
}

static uint32_t first_index(struct onnx_import *import, uint32_t x, int64_t axis, const char *op)
{
    struct leo_model_value seen = onnx_seen(import, x);
    seen.dim[axis] = 1;
    const uint32_t out = model_build_value(&import->build, LEO_DTYPE_S64, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), model_build_number((double)axis),
                     model_build_number(1), model_build_tensor(out));
    return out;
}

/* ArgMax and ArgMin. The last one's place is that of the first in the opposite order. */
void onnx_arg(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in || in->rank == 0) {
        onnx_fail(import, "it needs a tensor of one dimension or more");
        return;
    }
    const int64_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), in->rank),
                  length = in->dim[axis];
    const bool last = onnx_attribute_int(import, "select_last_index", 0) != 0;
    struct reduced to = {.axes = {axis}, .count = 1};
    shape_without(in, onnx_attribute_int(import, "keepdims", 1) != 0, &to);
    const uint32_t x = onnx_value(import, in),
                   place = first_index(import, last ? onnx_made_flipped(import, x, axis) : x, axis,
                                       import->node->op_type),
                   out =
                       last ? onnx_made_with(import, "Rsubs", place, (double)(length - 1)) : place;
    onnx_give(import, 0, LEO_DTYPE_S64, onnx_made_flat(import, out, to.rank, to.dim));
}

/* 1 at the first largest element of each row, 0 elsewhere. Before opset 13 all dimensions from the
 * axis on are one row. */
void onnx_hardmax(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in || in->rank == 0) {
        onnx_fail(import, "it needs a tensor of one dimension or more");
        return;
    }
    const struct onnx_tensor self = *in;
    const bool old = import->opset < 13;
    const uint32_t asked =
        onnx_axis(import, onnx_attribute_int(import, "axis", old ? 1 : -1), self.rank);
    uint32_t x = onnx_value(import, in);
    int64_t rows[2] = {1, 1}, axis = asked;
    for (uint32_t d = 0; d < self.rank; d++) {
        rows[d < asked ? 0 : 1] *= self.dim[d];
    }
    if (old) {
        x = onnx_made_flat(import, x, 2, rows);
        axis = 1;
    }
    const struct leo_model_value seen = onnx_seen(import, x);
    const uint32_t place = first_index(import, x, axis, "ArgMax"),
                   out = onnx_made_full(import, (enum leo_dtype)seen.dtype, seen.rank, seen.dim, 0);
    MODEL_BUILD_CALL(&import->build, "InplaceScatterValue", model_build_tensor(out),
                     model_build_number((double)axis), model_build_tensor(place),
                     model_build_number(1), model_build_number(0));
    onnx_give(import, 0, self.dtype, onnx_made_flat(import, out, self.rank, self.dim));
}
