/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that shape, join or convert elements. Most only look at a value in another way. */
#include "values.h"

#include <leo/alloc.h>
#include <string.h>

void onnx_copy_known(struct onnx_tensor *to, int64_t at, const struct onnx_tensor *from,
                     int64_t from_at)
{
    if (to->dtype == LEO_DTYPE_F32) {
        ((float *)to->known)[at] = ((const float *)from->known)[from_at];
    } else {
        ((int64_t *)to->known)[at] = ((const int64_t *)from->known)[from_at];
    }
}

void onnx_constant(struct onnx_import *import)
{
    const OnnxFile__Attribute *value = onnx_attribute(import, "value"),
                              *number = onnx_attribute(import, "value_float"),
                              *integer = onnx_attribute(import, "value_int"),
                              *integers = onnx_attribute(import, "value_ints"),
                              *numbers = onnx_attribute(import, "value_floats");
    if (value && value->t) {
        struct onnx_tensor *out = onnx_output(import, 0, LEO_DTYPE_F32, 0, NULL);
        if (out) {
            onnx_take_data(import, value->t, out);
        }
    } else if (number || integer) {
        struct onnx_tensor *out =
            onnx_known(import, 0, number ? LEO_DTYPE_F32 : LEO_DTYPE_S64, 0, NULL);
        if (out && number) {
            *(float *)out->known = number->f;
        } else if (out) {
            *(int64_t *)out->known = integer->i;
        }
    } else if (integers || numbers) {
        const int64_t count = (int64_t)(integers ? integers->n_ints : numbers->n_floats);
        struct onnx_tensor *out =
            onnx_known(import, 0, integers ? LEO_DTYPE_S64 : LEO_DTYPE_F32, 1, &count);
        for (int64_t i = 0; out && i < count; i++) {
            if (integers) {
                ((int64_t *)out->known)[i] = integers->ints[i];
            } else {
                ((float *)out->known)[i] = numbers->floats[i];
            }
        }
    } else {
        onnx_fail(import, "it has no value of a type that is served");
    }
}

void onnx_constant_of_shape(struct onnx_import *import)
{
    int64_t dim[LEO_OP_RANK_MAX];
    const uint32_t rank = onnx_ints(import, "shape", 0, dim, LEO_OP_RANK_MAX);
    const OnnxFile__Attribute *value = onnx_attribute(import, "value");
    struct onnx_tensor one = {.name = "value", .dtype = LEO_DTYPE_F32};
    if (value && value->t) {
        onnx_take_data(import, value->t, &one);
    }
    struct onnx_tensor *out = onnx_known(import, 0, one.dtype, rank, dim);
    for (int64_t i = 0; out && one.known && i < onnx_count(out); i++) {
        onnx_copy_known(out, i, &one, 0);
    }
    leo_free(one.known);
}

/* Dropout of inference: nothing is dropped. */
void onnx_dropout(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0), *training = onnx_input(import, 2);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    if (training && (!training->known || *(const int64_t *)training->known)) {
        onnx_fail(import, "training is not served");
        return;
    }
    onnx_identity(import);
    if (onnx_asked(import, 1)) {
        struct onnx_tensor *mask = onnx_known(import, 1, LEO_DTYPE_B8, self.rank, self.dim);
        for (int64_t i = 0; mask && i < onnx_count(mask); i++) {
            ((int64_t *)mask->known)[i] = 1;
        }
    }
}

void onnx_identity(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    if (self.known) {
        onnx_reshaped(import, &self, self.rank, self.dim);
    } else {
        onnx_set_value(onnx_output(import, 0, self.dtype, self.rank, self.dim), self.value);
    }
}

void onnx_shape(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    const int64_t rank = self.rank;
    struct onnx_tensor *out = onnx_known(import, 0, LEO_DTYPE_S64, 1, &rank);
    if (out) {
        memcpy(out->known, self.dim, self.rank * sizeof(*self.dim));
    }
}

void onnx_reshape(struct onnx_import *import)
{
    int64_t dim[LEO_OP_RANK_MAX], rest = 1;
    const struct onnx_tensor *in = onnx_input(import, 0);
    const uint32_t rank = onnx_ints(import, "shape", 1, dim, LEO_OP_RANK_MAX);
    int unknown = -1;
    if (!in) {
        return;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (dim[d] == 0 && !onnx_attribute_int(import, "allowzero", 0)) {
            dim[d] = d < in->rank ? in->dim[d] : 0;
        }
        if (dim[d] == -1 && unknown < 0) {
            unknown = (int)d;
        } else if (dim[d] < 0 || !onnx_fits(import, d + 1, dim)) {
            onnx_fail(import, "its shape has a size below 0");
            return;
        } else {
            rest *= dim[d];
        }
    }
    if (unknown >= 0) {
        dim[unknown] = rest ? onnx_count(in) / rest : 0;
    }
    onnx_reshaped(import, in, rank, dim);
}

void onnx_flatten(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    int64_t dim[2] = {1, 1};
    if (!in) {
        return;
    }
    int64_t axis = onnx_attribute_int(import, "axis", 1);
    axis += axis < 0 ? (int64_t)in->rank : 0;
    for (uint32_t d = 0; d < in->rank; d++) {
        dim[d < (uint32_t)axis ? 0 : 1] *= in->dim[d];
    }
    onnx_reshaped(import, in, 2, dim);
}

void onnx_squeeze(struct onnx_import *import)
{
    int64_t axes[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    bool gone[LEO_OP_RANK_MAX] = {false};
    const struct onnx_tensor *in = onnx_input(import, 0);
    const uint32_t count = onnx_ints(import, "axes", 1, axes, LEO_OP_RANK_MAX);
    uint32_t rank = 0;
    if (!in) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        gone[onnx_axis(import, axes[i], in->rank)] = true;
    }
    for (uint32_t d = 0; d < in->rank; d++) {
        if (count ? !gone[d] : in->dim[d] != 1) {
            dim[rank++] = in->dim[d];
        }
    }
    onnx_reshaped(import, in, rank, dim);
}

void onnx_unsqueeze(struct onnx_import *import)
{
    int64_t axes[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    bool made[LEO_OP_RANK_MAX] = {false};
    const struct onnx_tensor *in = onnx_input(import, 0);
    const uint32_t count = onnx_ints(import, "axes", 1, axes, LEO_OP_RANK_MAX);
    if (!in) {
        return;
    }
    const uint32_t rank = in->rank + count;
    if (rank > LEO_OP_RANK_MAX) {
        onnx_fail(import, "its result has more than 8 dimensions");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        made[onnx_axis(import, axes[i], rank)] = true;
    }
    for (uint32_t d = 0, from = 0; d < rank; d++) {
        dim[d] = made[d] || from >= in->rank ? 1 : in->dim[from++];
    }
    onnx_reshaped(import, in, rank, dim);
}

void onnx_add_view(struct onnx_import *import, size_t output, struct onnx_tensor *in, uint32_t rank,
                   const int64_t *dim, const int64_t *stride, int64_t offset)
{
    const enum leo_dtype dtype = in->dtype;
    const uint32_t value =
        model_build_view(&import->build, onnx_value(import, in), rank, dim, stride, offset);
    onnx_set_value(onnx_output(import, output, dtype, rank, dim), value);
}

void onnx_strides_of(struct onnx_import *import, struct onnx_tensor *in, int64_t *stride)
{
    const uint32_t value = onnx_value(import, in);
    if (!import->build.failed) {
        memcpy(stride, import->build.model.values[value].stride, in->rank * sizeof(*stride));
    }
}

static void dense_strides(const struct onnx_tensor *in, int64_t *stride)
{
    int64_t step = 1;
    for (uint32_t d = in->rank; d-- > 0; step *= in->dim[d]) {
        stride[d] = step;
    }
}

static void turn_known(struct onnx_import *import, const struct onnx_tensor *in, const int64_t *dim,
                       const int64_t *stride)
{
    const struct onnx_tensor self = *in; // its list may move
    struct onnx_tensor *out = onnx_known(import, 0, self.dtype, self.rank, dim);
    for (int64_t i = 0; out && i < onnx_count(out); i++) {
        int64_t at = 0, left = i;
        for (uint32_t d = self.rank; d-- > 0; left /= dim[d]) {
            at += left % dim[d] * stride[d];
        }
        onnx_copy_known(out, i, &self, at);
    }
}

void onnx_transpose(struct onnx_import *import)
{
    int64_t order[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX] = {0},
                                                          moved[LEO_OP_RANK_MAX];
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const uint32_t rank = in->rank,
                   count = onnx_attribute_ints(import, "perm", order, LEO_OP_RANK_MAX);
    if (count && count != rank) {
        onnx_fail(import, "its perm has %u numbers for %u dimensions", count, rank);
        return;
    }
    if (in->known) {
        dense_strides(in, stride);
    } else {
        onnx_strides_of(import, in, stride);
    }
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t from = count ? onnx_axis(import, order[d], rank) : rank - 1 - d;
        dim[d] = in->dim[from];
        moved[d] = stride[from];
    }
    if (in->known) {
        turn_known(import, in, dim, moved);
        return;
    }
    onnx_add_view(import, 0, in, rank, dim, moved, 0);
}

// Rows of known numbers one after the other: of tensors that differ in dimension `axis` alone.
static void join_known(struct onnx_import *import, struct onnx_tensor *out, uint32_t axis)
{
    int64_t outer = 1, at = 0;
    for (uint32_t d = 0; d < axis; d++) {
        outer *= out->dim[d];
    }
    for (int64_t row = 0; row < outer; row++) {
        for (size_t i = 0; i < onnx_input_count(import); i++) {
            const struct onnx_tensor *part = onnx_input(import, i);
            const int64_t length = onnx_count(part) / (outer ? outer : 1);
            for (int64_t k = 0; k < length; k++) {
                onnx_copy_known(out, at++, part, row * length + k);
            }
        }
    }
}

void onnx_concat(struct onnx_import *import)
{
    enum { MOST = 256 };
    const size_t count = onnx_input_count(import);
    struct onnx_tensor *first = onnx_input(import, 0);
    uint32_t values[MOST];
    bool known = true;
    if (!first || count > MOST) {
        onnx_fail(import, "it needs 1 to %d inputs", MOST);
        return;
    }
    struct onnx_tensor whole = *first;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 1), whole.rank);
    whole.dim[axis] = 0;
    for (size_t i = 0; i < count; i++) {
        const struct onnx_tensor *part = onnx_input(import, i);
        if (!part || part->rank != whole.rank || part->dtype != whole.dtype) {
            onnx_fail(import, "its inputs differ in rank or type");
            return;
        }
        known = known && part->known;
        whole.dim[axis] += part->dim[axis];
    }
    if (known) {
        struct onnx_tensor *out = onnx_known(import, 0, whole.dtype, whole.rank, whole.dim);
        if (out) {
            join_known(import, out, axis);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = onnx_value(import, onnx_input(import, i));
    }
    struct onnx_tensor *out = onnx_output(import, 0, whole.dtype, whole.rank, whole.dim);
    if (out) {
        const uint32_t result =
            model_build_value(&import->build, onnx_dtype(import, out), whole.rank, whole.dim);
        MODEL_BUILD_CALL(&import->build, "Cat", model_build_tensors(values, (uint32_t)count),
                         model_build_number(axis), model_build_tensor(result));
        onnx_set_value(out, result);
    }
}

/* Cast, and CastLike, whose second input has the type. */
void onnx_cast(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    const struct onnx_tensor *like = onnx_input(import, 1);
    enum leo_dtype dtype;
    if (!in) {
        return;
    }
    struct onnx_tensor self = *in;
    if (like) {
        dtype = like->dtype;
    } else if (!onnx_take_type((int32_t)onnx_attribute_int(import, "to", 0), &dtype)) {
        onnx_fail(import, "element type %lld is not served",
                  (long long)onnx_attribute_int(import, "to", 0));
        return;
    }
    if (dtype == self.dtype) {
        onnx_identity(import);
        return;
    }
    if (self.known) {
        struct onnx_tensor *out = onnx_known(import, 0, dtype, self.rank, self.dim);
        for (int64_t i = 0; out && i < onnx_count(out); i++) {
            if (dtype == LEO_DTYPE_F32) {
                ((float *)out->known)[i] = (float)((const int64_t *)self.known)[i];
            } else if (self.dtype == LEO_DTYPE_F32) {
                const float x = ((const float *)self.known)[i];
                ((int64_t *)out->known)[i] = dtype == LEO_DTYPE_B8 ? x != 0 : (int64_t)x;
            } else {
                const int64_t x = ((const int64_t *)self.known)[i];
                ((int64_t *)out->known)[i] = dtype == LEO_DTYPE_B8 ? x != 0 : x;
            }
        }
        return;
    }
    const uint32_t value = onnx_value(import, in);
    struct onnx_tensor *out = onnx_output(import, 0, dtype, self.rank, self.dim);
    if (out) {
        const uint32_t result =
            model_build_value(&import->build, onnx_dtype(import, out), self.rank, self.dim);
        MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(result),
                         model_build_tensor(value));
        onnx_set_value(out, result);
    }
}

void onnx_expand(struct onnx_import *import)
{
    int64_t shape[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX] = {0},
                                                          spread[LEO_OP_RANK_MAX];
    struct onnx_tensor *in = onnx_input(import, 0);
    const uint32_t asked = onnx_ints(import, "shape", 1, shape, LEO_OP_RANK_MAX);
    if (!in) {
        return;
    }
    const uint32_t rank = asked > in->rank ? asked : in->rank;
    onnx_strides_of(import, in, stride);
    for (uint32_t d = 0; d < rank; d++) {
        const bool own = d + in->rank >= rank;
        const int64_t x = own ? in->dim[d + in->rank - rank] : 1,
                      y = d + asked >= rank ? shape[d + asked - rank] : 1;
        if (x != y && x != 1 && y != 1) {
            onnx_fail(import, "%lld elements do not become %lld", (long long)x, (long long)y);
        }
        dim[d] = x == 1 ? y : x;
        spread[d] = x == 1 ? 0 : stride[d + in->rank - rank];
    }
    onnx_add_view(import, 0, in, rank, dim, spread, 0);
}
