/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <string.h>

struct leo_model_value onnx_seen(const struct onnx_import *import, uint32_t value)
{
    return import->build.failed ? (struct leo_model_value){0} : import->build.model.values[value];
}

// A new value of x's shape with another type.
static uint32_t like(struct onnx_import *import, uint32_t x, enum leo_dtype dtype)
{
    const struct leo_model_value seen = onnx_seen(import, x);
    return model_build_value(&import->build, dtype, seen.rank, seen.dim);
}

static enum leo_dtype type_of(const struct onnx_import *import, uint32_t x)
{
    return (enum leo_dtype)onnx_seen(import, x).dtype;
}

uint32_t onnx_made(struct onnx_import *import, const char *op, uint32_t x)
{
    const uint32_t out = like(import, x, type_of(import, x));
    MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), model_build_tensor(out));
    return out;
}

// Sums of two have a factor for the second.
static bool has_factor(const char *op)
{
    return strcmp(op, "Add") == 0 || strcmp(op, "Sub") == 0 || strcmp(op, "Adds") == 0 ||
           strcmp(op, "Subs") == 0 || strcmp(op, "Rsubs") == 0;
}

static void call_two(struct onnx_import *import, const char *op, uint32_t x,
                     struct leo_model_arg second, uint32_t out)
{
    if (has_factor(op)) {
        MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), second, model_build_number(1),
                         model_build_tensor(out));
    } else {
        MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), second,
                         model_build_tensor(out));
    }
}

uint32_t onnx_made_with(struct onnx_import *import, const char *op, uint32_t x, double number)
{
    const uint32_t out = like(import, x, type_of(import, x));
    call_two(import, op, x, model_build_number(number), out);
    return out;
}

uint32_t onnx_broadcast(struct onnx_import *import, uint32_t a_rank, const int64_t *a,
                        uint32_t b_rank, const int64_t *b, int64_t *dim)
{
    const uint32_t rank = a_rank > b_rank ? a_rank : b_rank;
    for (uint32_t d = 0; d < rank; d++) {
        const int64_t m = d + a_rank < rank ? 1 : a[d + a_rank - rank],
                      n = d + b_rank < rank ? 1 : b[d + b_rank - rank];
        if (m != n && m != 1 && n != 1) {
            onnx_fail(import, "its inputs have %lld and %lld elements in one dimension",
                      (long long)m, (long long)n);
        }
        dim[d] = m == 1 ? n : m;
    }
    return rank;
}

uint32_t onnx_made_of(struct onnx_import *import, const char *op, uint32_t x, uint32_t y,
                      enum leo_dtype dtype)
{
    const struct leo_model_value a = onnx_seen(import, x), b = onnx_seen(import, y);
    int64_t dim[LEO_OP_RANK_MAX];
    const uint32_t rank = onnx_broadcast(import, a.rank, a.dim, b.rank, b.dim, dim);
    const uint32_t out = model_build_value(&import->build, dtype, rank, dim);
    call_two(import, op, x, model_build_tensor(y), out);
    return out;
}

uint32_t onnx_made_over(struct onnx_import *import, const char *op, uint32_t x, const int64_t *axes,
                        uint32_t count)
{
    struct leo_model_value seen = onnx_seen(import, x);
    for (uint32_t i = 0; i < count; i++) {
        seen.dim[axes[i]] = 1;
    }
    const enum leo_dtype dtype = (enum leo_dtype)seen.dtype;
    const uint32_t out = model_build_value(&import->build, dtype, seen.rank, seen.dim);
    if (strcmp(op, "Mean") == 0 || strcmp(op, "ReduceSum") == 0) {
        MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), model_build_ints(axes, count),
                         model_build_number(1), model_build_dtype(dtype), model_build_tensor(out));
    } else {
        MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), model_build_ints(axes, count),
                         model_build_number(1), model_build_tensor(out));
    }
    return out;
}

uint32_t onnx_made_as(struct onnx_import *import, uint32_t x, enum leo_dtype dtype)
{
    if (type_of(import, x) == dtype) {
        return x;
    }
    const uint32_t out = like(import, x, dtype);
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(out), model_build_tensor(x));
    return out;
}

static uint32_t dense(struct onnx_import *import, uint32_t x)
{
    if (model_build_is_dense(&import->build, x)) {
        return x;
    }
    const uint32_t out = like(import, x, type_of(import, x));
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(out), model_build_tensor(x));
    return out;
}

uint32_t onnx_made_flat(struct onnx_import *import, uint32_t x, uint32_t rank, const int64_t *dim)
{
    int64_t stride[LEO_OP_RANK_MAX], step = 1;
    if (!onnx_fits(import, rank, dim)) {
        return 0;
    }
    for (uint32_t d = rank; d-- > 0; step *= dim[d]) {
        stride[d] = step;
    }
    return model_build_view(&import->build, dense(import, x), rank, dim, stride, 0);
}

uint32_t onnx_made_turned(struct onnx_import *import, uint32_t x, const uint32_t *order)
{
    const struct leo_model_value seen = onnx_seen(import, x);
    int64_t dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX];
    for (uint32_t d = 0; d < seen.rank; d++) {
        dim[d] = seen.dim[order[d]];
        stride[d] = seen.stride[order[d]];
    }
    return model_build_view(&import->build, x, seen.rank, dim, stride, 0);
}

uint32_t onnx_made_full(struct onnx_import *import, enum leo_dtype dtype, uint32_t rank,
                        const int64_t *dim, double number)
{
    if (!onnx_fits(import, rank, dim)) {
        return 0;
    }
    const uint32_t out = model_build_value(&import->build, dtype, rank, dim);
    MODEL_BUILD_CALL(&import->build, "InplaceFillScalar", model_build_tensor(out),
                     model_build_number(number));
    return out;
}

uint32_t onnx_made_flipped(struct onnx_import *import, uint32_t x, int64_t axis)
{
    const uint32_t out = like(import, x, type_of(import, x));
    MODEL_BUILD_CALL(&import->build, "Flip", model_build_tensor(x), model_build_ints(&axis, 1),
                     model_build_tensor(out));
    return out;
}

uint32_t onnx_made_rows(struct onnx_import *import, uint32_t x, uint32_t axis, uint32_t places)
{
    struct leo_model_value seen = onnx_seen(import, x);
    seen.dim[axis] = onnx_seen(import, places).dim[0];
    const uint32_t out =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "IndexSelect", model_build_tensor(x), model_build_number(axis),
                     model_build_tensor(places), model_build_tensor(out));
    return out;
}

bool onnx_asked(const struct onnx_import *import, size_t index)
{
    return index < import->node->n_output && *import->node->output[index];
}

void onnx_give(struct onnx_import *import, size_t index, enum leo_dtype dtype, uint32_t value)
{
    if (onnx_asked(import, index)) {
        const struct leo_model_value seen = onnx_seen(import, value);
        onnx_set_value(onnx_output(import, index, dtype, seen.rank, seen.dim), value);
    }
}
