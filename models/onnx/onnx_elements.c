/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on elements, choices, softmax. */
#include "values.h"

#include <math.h>
#include <string.h>

struct name_pair {
    const char *onnx, *op;
};

static const char *look_up(const struct name_pair *pairs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].onnx, name) == 0) {
            return pairs[i].op;
        }
    }
    return NULL;
}
#define LOOK_UP(pairs, name) look_up(pairs, sizeof(pairs) / sizeof(pairs[0]), name)

void onnx_unary(struct onnx_import *import)
{
    static const struct name_pair ops[] = {
        {"Abs", "Abs"},
        {"Acos", "Acos"},
        {"Asin", "Asin"},
        {"Atan", "Atan"},
        {"Ceil", "Ceil"},
        {"Cos", "Cos"},
        {"Erf", "Erf"},
        {"Exp", "Exp"},
        {"Floor", "Floor"},
        {"HardSwish", "Hardswish"},
        {"Log", "Log"},
        {"Neg", "Neg"},
        {"Reciprocal", "Reciprocal"},
        {"Relu", "Relu"},
        {"Round", "Round"},
        {"Sigmoid", "Sigmoid"},
        {"Sign", "Sign"},
        {"Sin", "Sin"},
        {"Sqrt", "Sqrt"},
        {"Tan", "Tan"},
        {"Tanh", "Tanh"},
        {"Not", "LogicalNot"},
        {"Acosh", "Acosh"},
        {"Asinh", "Asinh"},
        {"Atanh", "Atanh"},
        {"BitwiseNot", "BitwiseNot"},
        {"Cosh", "Cosh"},
        {"Mish", "Mish"},
        {"Sinh", "Sinh"},
        {"Softsign", "Softsign"},
    };
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    if (strcmp(import->node->op_type, "Sqrt") == 0 && in->known && dtype == LEO_DTYPE_F32 &&
        onnx_count(in) == 1) { // of a scale of attention
        const float number = *(const float *)in->known;
        struct onnx_tensor *out = onnx_known(import, 0, dtype, in->rank, in->dim);
        if (out) {
            *(float *)out->known = sqrtf(number);
        }
        return;
    }
    onnx_give(import, 0, dtype,
              onnx_made(import, LOOK_UP(ops, import->node->op_type), onnx_value(import, in)));
}

// Shape of two tensors broadcast; fails if they do not.
static uint32_t broadcast(struct onnx_import *import, const struct onnx_tensor *a,
                          const struct onnx_tensor *b, int64_t *dim)
{
    return onnx_broadcast(import, a->rank, a->dim, b->rank, b->dim, dim);
}

// Element i of a broadcast result in one of its operands.
static int64_t place_in(const struct onnx_tensor *t, uint32_t rank, const int64_t *dim, int64_t i)
{
    int64_t at = 0, step = 1;
    for (uint32_t d = rank; d-- > 0; i /= dim[d]) {
        if (d + t->rank >= rank) {
            const int64_t own = t->dim[d + t->rank - rank];
            at += own == 1 ? 0 : i % dim[d] * step;
            step *= own;
        }
    }
    return at;
}

static bool fold_integer(const char *op, int64_t a, int64_t b, int64_t *result)
{
    if (strcmp(op, "Add") == 0) {
        *result = a + b;
    } else if (strcmp(op, "Sub") == 0) {
        *result = a - b;
    } else if (strcmp(op, "Mul") == 0) {
        *result = a * b;
    } else if (strcmp(op, "Div") == 0 && b != 0) {
        *result = a / b; // the format truncates integers
    } else if (strcmp(op, "Mod") == 0 && b != 0) {
        *result = ((a % b) + b) % b;
    } else if (strcmp(op, "Equal") == 0) {
        *result = a == b;
    } else if (strcmp(op, "Max") == 0) {
        *result = a > b ? a : b;
    } else if (strcmp(op, "Min") == 0) {
        *result = a < b ? a : b;
    } else {
        return false;
    }
    return true;
}

// Integers of shapes are computed here.
static bool fold_integers(struct onnx_import *import, const struct onnx_tensor *a,
                          const struct onnx_tensor *b, enum leo_dtype dtype)
{
    int64_t dim[LEO_OP_RANK_MAX], probe;
    if (!a->known || !b->known || a->dtype == LEO_DTYPE_F32 || b->dtype == LEO_DTYPE_F32 ||
        !fold_integer(import->node->op_type, 1, 1, &probe)) {
        return false;
    }
    const struct onnx_tensor x = *a, y = *b;
    const uint32_t rank = broadcast(import, &x, &y, dim);
    struct onnx_tensor *out = onnx_known(import, 0, dtype, rank, dim);
    for (int64_t i = 0; out && i < onnx_count(out); i++) {
        int64_t *result = out->known;
        const int64_t p = ((const int64_t *)x.known)[place_in(&x, rank, dim, i)],
                      q = ((const int64_t *)y.known)[place_in(&y, rank, dim, i)];
        if (!fold_integer(import->node->op_type, p, q, &result[i])) {
            onnx_fail(import, "a division by 0");
            break;
        }
    }
    return true;
}

/* Single floats, as exporters write the scale of attention. */
static bool fold_numbers(struct onnx_import *import, const struct onnx_tensor *a,
                         const struct onnx_tensor *b)
{
    const char *op = import->node->op_type;
    if (!a->known || !b->known || a->dtype != LEO_DTYPE_F32 || b->dtype != LEO_DTYPE_F32 ||
        onnx_count(a) != 1 || onnx_count(b) != 1 || strlen(op) != 3 ||
        !strstr("Add Sub Mul Div", op)) {
        return false;
    }
    const float p = *(const float *)a->known, q = *(const float *)b->known;
    const struct onnx_tensor *like = a->rank > b->rank ? a : b;
    struct onnx_tensor *out = onnx_known(import, 0, LEO_DTYPE_F32, like->rank, like->dim);
    if (out) {
        *(float *)out->known = *op == 'A' ? p + q : *op == 'S' ? p - q : *op == 'M' ? p * q : p / q;
    }
    return true;
}

static bool is_comparison(const char *op)
{
    return strcmp(op, "Equal") == 0 || strcmp(op, "Greater") == 0 || strcmp(op, "Less") == 0 ||
           strcmp(op, "GreaterOrEqual") == 0 || strcmp(op, "LessOrEqual") == 0;
}

static void add_binary(struct onnx_import *import, const char *op, struct onnx_tensor *a,
                       struct onnx_tensor *b, enum leo_dtype dtype)
{
    const struct onnx_tensor out = {.dtype = dtype};
    const uint32_t x = onnx_value(import, a), y = onnx_value(import, b);
    onnx_give(import, 0, dtype, onnx_made_of(import, op, x, y, onnx_dtype(import, &out)));
}

void onnx_binary(struct onnx_import *import)
{
    static const struct name_pair ops[] = {
        {"Add", "Add"},
        {"Sub", "Sub"},
        {"Mul", "Mul"},
        {"Div", "Div"},
        {"Pow", "PowTensorTensor"},
        {"Equal", "EqTensor"},
        {"Greater", "GtTensor"},
        {"Less", "LtTensor"},
        {"GreaterOrEqual", "GeTensor"},
        {"LessOrEqual", "LeTensor"},
        {"And", "LogicalAnd"},
        {"Or", "LogicalOr"},
        {"Mod", "RemainderTensorTensor"},
        {"Xor", "LogicalXor"},
        {"BitwiseAnd", "BitwiseAndTensor"},
        {"BitwiseOr", "BitwiseOrTensor"},
        {"BitwiseXor", "BitwiseXorTensor"},
    };
    struct onnx_tensor *a = onnx_input(import, 0), *b = onnx_input(import, 1);
    if (!a || !b) {
        onnx_fail(import, "it needs two inputs");
        return;
    }
    if (strcmp(import->node->op_type, "BitShift") == 0) {
        add_binary(import,
                   onnx_attribute_is(import, "direction", "LEFT") ? "LeftShift" : "RightShift", a,
                   b, a->dtype);
        return;
    }
    if (onnx_attribute_int(import, "fmod", 0)) {
        add_binary(import, "FmodTensor", a, b, a->dtype); // the sign of the first
        return;
    }
    const enum leo_dtype dtype = is_comparison(import->node->op_type) ? LEO_DTYPE_B8 : a->dtype;
    if (!fold_integers(import, a, b, dtype) && !fold_numbers(import, a, b)) {
        add_binary(import, LOOK_UP(ops, import->node->op_type), a, b, dtype);
    }
}

/* Sum, Max, Min and Mean of any number of tensors. */
void onnx_sum(struct onnx_import *import)
{
    static const struct name_pair ops[] = {
        {"Sum", "Add"}, {"Mean", "Add"}, {"Max", "Maximum"}, {"Min", "Minimum"}};
    const char *op = LOOK_UP(ops, import->node->op_type);
    const size_t count = onnx_input_count(import);
    struct onnx_tensor *first = onnx_input(import, 0);
    if (!first) {
        onnx_fail(import, "it needs an input");
        return;
    }
    const struct onnx_tensor one = *first, *second = count == 2 ? onnx_input(import, 1) : NULL;
    if (second && fold_integers(import, first, second, first->dtype)) {
        return;
    }
    uint32_t total = onnx_value(import, first);
    for (size_t i = 1; i < count && !import->build.failed; i++) {
        struct onnx_tensor *next = onnx_input(import, i);
        if (!next) {
            onnx_fail(import, "it needs all its inputs");
            return;
        }
        total = onnx_made_of(import, op, total, onnx_value(import, next), onnx_dtype(import, &one));
    }
    if (strcmp(import->node->op_type, "Mean") == 0) {
        total = onnx_made_with(import, "Muls", total, 1.0 / (double)count);
    }
    onnx_give(import, 0, one.dtype, total);
}

// A new value of the input's shape, and the output that it becomes.
static uint32_t like_input(struct onnx_import *import, const struct onnx_tensor *in)
{
    return model_build_value(&import->build, onnx_dtype(import, in), in->rank, in->dim);
}

// A limit that comes when the model runs.
static uint32_t limited(struct onnx_import *import, uint32_t x, size_t index, const char *op)
{
    struct onnx_tensor *limit = onnx_input(import, index);
    return limit ? onnx_made_of(import, op, x, onnx_value(import, limit),
                                (enum leo_dtype)onnx_seen(import, x).dtype)
                 : x;
}

void onnx_clip(struct onnx_import *import)
{
    double least = (double)onnx_attribute_float(import, "min", -INFINITY),
           most = (double)onnx_attribute_float(import, "max", INFINITY);
    struct onnx_tensor *in = onnx_input(import, 0), *low = onnx_input(import, 1),
                       *high = onnx_input(import, 2);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    if ((low && !low->known) || (high && !high->known) || self.dtype != LEO_DTYPE_F32) {
        const uint32_t x = limited(import, onnx_value(import, in), 1, "Maximum");
        onnx_give(import, 0, self.dtype, limited(import, x, 2, "Minimum"));
        return;
    }
    if (!onnx_known_number(import, "min", 1, &least) ||
        !onnx_known_number(import, "max", 2, &most)) {
        return;
    }
    const uint32_t value = onnx_value(import, in), result = like_input(import, &self);
    MODEL_BUILD_CALL(&import->build, "Clamp", model_build_tensor(value), model_build_number(least),
                     model_build_number(most), model_build_tensor(result));
    onnx_give(import, 0, self.dtype, result);
}

/* LeakyRelu and Elu. */
void onnx_with_slope(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    const bool elu = strcmp(import->node->op_type, "Elu") == 0;
    const double alpha = (double)onnx_attribute_float(import, "alpha", elu ? 1.0f : 0.01f);
    const uint32_t value = onnx_value(import, in), result = like_input(import, &self);
    if (elu) {
        MODEL_BUILD_CALL(&import->build, "Elu", model_build_tensor(value),
                         model_build_number(alpha), model_build_number(1), model_build_number(1),
                         model_build_tensor(result));
    } else {
        MODEL_BUILD_CALL(&import->build, "LeakyRelu", model_build_tensor(value),
                         model_build_number(alpha), model_build_tensor(result));
    }
    onnx_set_value(onnx_output(import, 0, self.dtype, self.rank, self.dim), result);
}

void onnx_hard_sigmoid(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    const double alpha = (double)onnx_attribute_float(import, "alpha", 0.2f),
                 beta = (double)onnx_attribute_float(import, "beta", 0.5f);
    const uint32_t scaled = onnx_made_with(import, "Muls", onnx_value(import, in), alpha),
                   shifted = onnx_made_with(import, "Adds", scaled, beta),
                   result = like_input(import, &self);
    MODEL_BUILD_CALL(&import->build, "Clamp", model_build_tensor(shifted), model_build_number(0),
                     model_build_number(1), model_build_tensor(result));
    onnx_give(import, 0, self.dtype, result);
}

void onnx_gelu(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    const uint32_t value = onnx_value(import, in), result = like_input(import, &self);
    MODEL_BUILD_CALL(&import->build, "GeluV2", model_build_tensor(value),
                     model_build_number(onnx_attribute_is(import, "approximate", "tanh") ? 1 : 0),
                     model_build_tensor(result));
    onnx_set_value(onnx_output(import, 0, self.dtype, self.rank, self.dim), result);
}

void onnx_where(struct onnx_import *import)
{
    struct onnx_tensor *condition = onnx_input(import, 0), *a = onnx_input(import, 1),
                       *b = onnx_input(import, 2);
    int64_t dim[LEO_OP_RANK_MAX];
    if (!condition || !a || !b) {
        return;
    }
    struct onnx_tensor both = {.rank = broadcast(import, a, b, dim)};
    memcpy(both.dim, dim, sizeof(dim));
    const uint32_t rank = broadcast(import, condition, &both, dim);
    const enum leo_dtype dtype = a->dtype;
    if (condition->known && a->known && b->known && dtype != LEO_DTYPE_F32) {
        const struct onnx_tensor c = *condition, x = *a, y = *b;
        struct onnx_tensor *out = onnx_known(import, 0, dtype, rank, dim);
        for (int64_t i = 0; out && i < onnx_count(out); i++) {
            const bool first = ((const int64_t *)c.known)[place_in(&c, rank, dim, i)] != 0;
            const struct onnx_tensor *from = first ? &x : &y;
            ((int64_t *)out->known)[i] =
                ((const int64_t *)from->known)[place_in(from, rank, dim, i)];
        }
        return;
    }
    const uint32_t mask = onnx_value(import, condition), x = onnx_value(import, a),
                   y = onnx_value(import, b);
    struct onnx_tensor *out = onnx_output(import, 0, dtype, rank, dim);
    if (out) {
        const uint32_t result =
            model_build_value(&import->build, onnx_dtype(import, out), rank, dim);
        MODEL_BUILD_CALL(&import->build, "SWhere", model_build_tensor(mask), model_build_tensor(x),
                         model_build_tensor(y), model_build_tensor(result));
        onnx_set_value(out, result);
    }
}

/* Before opset 13 all dimensions from the axis on count as one. */
void onnx_softmax(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    const bool old = import->opset < 13;
    const uint32_t axis =
        onnx_axis(import, onnx_attribute_int(import, "axis", old ? 1 : -1), self.rank);
    const char *op = strcmp(import->node->op_type, "Softmax") == 0 ? "Softmax" : "LogSoftmax";
    const int64_t *shape = self.dim;
    int64_t rows[2] = {1, 1};
    uint32_t x = onnx_value(import, in), rank = self.rank, at = axis;
    if (old) {
        for (uint32_t d = 0; d < self.rank; d++) {
            rows[d < axis ? 0 : 1] *= self.dim[d];
        }
        x = onnx_made_flat(import, x, 2, rows);
        shape = rows;
        rank = 2;
        at = 1;
    }
    const uint32_t out = model_build_value(&import->build, onnx_dtype(import, &self), rank, shape);
    MODEL_BUILD_CALL(&import->build, op, model_build_tensor(x), model_build_number(at),
                     model_build_tensor(out));
    onnx_give(import, 0, self.dtype, onnx_made_flat(import, out, self.rank, self.dim));
}
