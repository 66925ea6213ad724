/* SPDX-License-Identifier: Apache-2.0 */
/* Activations with parameters, tests of numbers, and reductions that are several operators. */
#include "values.h"

#include <math.h>
#include <string.h>

static const char *type_of(const struct onnx_import *import)
{
    return import->node->op_type;
}

static double number(const struct onnx_import *import, const char *name, double other)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? (double)attribute->f : other;
}

/* Softplus, Selu, Celu, ThresholdedRelu, Shrink, Swish. */
void onnx_activation(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t x = onnx_value(import, in);
    const struct leo_model_value seen = onnx_seen(import, x);
    const uint32_t out =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    const struct leo_model_arg self = model_build_tensor(x), result = model_build_tensor(out);
    if (strcmp(type_of(import), "Softplus") == 0) {
        // Above 20 the difference from x is below what single precision tells apart.
        MODEL_BUILD_CALL(&import->build, "Softplus", self, model_build_number(1),
                         model_build_number(20), result);
    } else if (strcmp(type_of(import), "Selu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Elu", self,
                         model_build_number(number(import, "alpha", 1.67326319217681884765625)),
                         model_build_number(number(import, "gamma", 1.05070102214813232421875)),
                         model_build_number(1), result);
    } else if (strcmp(type_of(import), "Celu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Celu", self,
                         model_build_number(number(import, "alpha", 1)), result);
    } else if (strcmp(type_of(import), "ThresholdedRelu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Threshold", self,
                         model_build_number(number(import, "alpha", 1)), model_build_number(0),
                         result);
    } else if (strcmp(type_of(import), "Shrink") == 0) {
        MODEL_BUILD_CALL(&import->build, "Shrink", self,
                         model_build_number(number(import, "lambd", 0.5)),
                         model_build_number(number(import, "bias", 0)), result);
    } else {
        MODEL_BUILD_CALL(&import->build, "Swish", self,
                         model_build_number(number(import, "alpha", 1)), result);
    }
    onnx_give(import, 0, dtype, out);
}

/* The negative part times a slope that broadcasts to x. */
void onnx_prelu(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *slope = onnx_input(import, 1);
    if (!in || !slope) {
        onnx_fail(import, "it needs two inputs");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t x = onnx_value(import, in), s = onnx_value(import, slope);
    const enum leo_dtype own = (enum leo_dtype)onnx_seen(import, x).dtype;
    const uint32_t least = onnx_made_with(import, "ClampMax", x, 0),
                   scaled = onnx_made_of(import, "Mul", least, s, own);
    onnx_give(import, 0, dtype,
              onnx_made_of(import, "Add", onnx_made_with(import, "ClampMin", x, 0), scaled, own));
}

/* IsNaN and IsInf. */
void onnx_is(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const uint32_t x = onnx_value(import, in);
    const bool up = onnx_attribute_int(import, "detect_positive", 1) != 0,
               down = onnx_attribute_int(import, "detect_negative", 1) != 0;
    if (strcmp(type_of(import), "IsNaN") == 0) {
        onnx_give(import, 0, LEO_DTYPE_B8, onnx_made_of(import, "NeTensor", x, x, LEO_DTYPE_B8));
        return;
    }
    const struct leo_model_value seen = onnx_seen(import, x);
    uint32_t out;
    if (up || down) {
        out = model_build_value(&import->build, LEO_DTYPE_B8, seen.rank, seen.dim);
        MODEL_BUILD_CALL(&import->build,
                         up && down ? "IsInf"
                         : up       ? "IsPosInf"
                                    : "IsNegInf",
                         model_build_tensor(x), model_build_tensor(out));
    } else {
        out = onnx_made_full(import, LEO_DTYPE_B8, seen.rank, seen.dim, 0);
    }
    onnx_give(import, 0, LEO_DTYPE_B8, out);
}

// One bit per position that is reduced; false: it failed. `count` 0: none is.
static bool take_axes(struct onnx_import *import, uint32_t rank, int64_t *axes, uint32_t *count)
{
    *count = onnx_ints(import, "axes", 1, axes, LEO_OP_RANK_MAX);
    const bool all = *count == 0 && !onnx_attribute_int(import, "noop_with_empty_axes", 0);
    for (uint32_t i = 0; i < *count; i++) {
        axes[i] = onnx_axis(import, axes[i], rank);
    }
    for (uint32_t d = 0; all && d < rank; d++) {
        axes[(*count)++] = d;
    }
    return !import->build.failed;
}

static uint32_t over(struct onnx_import *import, const char *op, uint32_t x, const int64_t *axes,
                     uint32_t count)
{
    return count ? onnx_made_over(import, op, x, axes, count) : x;
}

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

static uint32_t square(struct onnx_import *import, uint32_t x)
{
    return onnx_made_of(import, "Mul", x, x, (enum leo_dtype)onnx_seen(import, x).dtype);
}

static uint32_t reduce(struct onnx_import *import, uint32_t x, const int64_t *axes, uint32_t count)
{
    const char *type = type_of(import);
    if (strcmp(type, "ReduceProd") == 0) {
        return product_over(import, x, axes, count);
    }
    if (strcmp(type, "ReduceL1") == 0) {
        return over(import, "ReduceSum", onnx_made(import, "Abs", x), axes, count);
    }
    if (strcmp(type, "ReduceLogSumExp") == 0) {
        return over(import, "LogSumExp", x, axes, count);
    }
    if (strcmp(type, "ReduceLogSum") == 0) {
        return onnx_made(import, "Log", over(import, "ReduceSum", x, axes, count));
    }
    x = over(import, "ReduceSum", square(import, x), axes, count);
    return strcmp(type, "ReduceL2") == 0 ? onnx_made(import, "Sqrt", x) : x;
}

/* ReduceProd, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp. */
void onnx_reduce_more(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t axes[2 * LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    bool gone[LEO_OP_RANK_MAX] = {false};
    uint32_t count, rank = 0;
    if (!in || !take_axes(import, in->rank, axes, &count)) {
        return;
    }
    const struct onnx_tensor self = *in;
    const bool keep = onnx_attribute_int(import, "keepdims", 1) != 0;
    for (uint32_t i = 0; i < count; i++) {
        gone[axes[i]] = true;
    }
    for (uint32_t d = 0; d < self.rank; d++) {
        if (!gone[d] || keep) {
            dim[rank++] = gone[d] ? 1 : self.dim[d];
        }
    }
    const uint32_t out = reduce(import, onnx_value(import, in), axes, count);
    onnx_give(import, 0, self.dtype, onnx_made_flat(import, out, rank, dim));
}

// The index of the first one in the tensor turned round is that of the last one.
static uint32_t last_index(struct onnx_import *import, uint32_t x, int64_t axis, const char *op)
{
    struct leo_model_value seen = onnx_seen(import, x);
    const int64_t length = seen.dim[axis];
    const uint32_t turned =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Flip", model_build_tensor(x), model_build_ints(&axis, 1),
                     model_build_tensor(turned));
    seen.dim[axis] = 1;
    const uint32_t places = model_build_value(&import->build, LEO_DTYPE_S64, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, op, model_build_tensor(turned),
                     model_build_number((double)axis), model_build_number(1),
                     model_build_tensor(places));
    return onnx_made_with(import, "Rsubs", places, (double)(length - 1));
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

/* ArgMax and ArgMin. */
void onnx_arg(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t dim[LEO_OP_RANK_MAX];
    if (!in || in->rank == 0) {
        onnx_fail(import, "it needs a tensor of one dimension or more");
        return;
    }
    const struct onnx_tensor self = *in;
    const int64_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), self.rank);
    const bool keep = onnx_attribute_int(import, "keepdims", 1) != 0,
               last = onnx_attribute_int(import, "select_last_index", 0) != 0;
    uint32_t rank = 0;
    for (uint32_t d = 0; d < self.rank; d++) {
        if (d != axis || keep) {
            dim[rank++] = d == axis ? 1 : self.dim[d];
        }
    }
    const uint32_t x = onnx_value(import, in),
                   out = last ? last_index(import, x, axis, type_of(import))
                              : first_index(import, x, axis, type_of(import));
    onnx_give(import, 0, LEO_DTYPE_S64, onnx_made_flat(import, out, rank, dim));
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
