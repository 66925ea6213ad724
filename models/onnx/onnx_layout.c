/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move, pick or shape elements. Most only look at a value in another way. */
#include "values.h"

#include <leo/alloc.h>
#include <string.h>

// A known element, whatever its type.
static void copy_known(struct onnx_tensor *to, int64_t at, const struct onnx_tensor *from,
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
        copy_known(out, i, &one, 0);
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

// A value of the same elements with another shape and strides.
static void add_view(struct onnx_import *import, size_t output, struct onnx_tensor *in,
                     uint32_t rank, const int64_t *dim, const int64_t *stride, int64_t offset)
{
    const enum leo_dtype dtype = in->dtype;
    const uint32_t value =
        model_build_view(&import->build, onnx_value(import, in), rank, dim, stride, offset);
    onnx_set_value(onnx_output(import, output, dtype, rank, dim), value);
}

static void strides_of(struct onnx_import *import, struct onnx_tensor *in, int64_t *stride)
{
    const uint32_t value = onnx_value(import, in);
    if (!import->build.failed) {
        memcpy(stride, import->build.model.values[value].stride, in->rank * sizeof(*stride));
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
    strides_of(import, in, stride);
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t from = count ? onnx_axis(import, order[d], rank) : rank - 1 - d;
        dim[d] = in->dim[from];
        moved[d] = stride[from];
    }
    add_view(import, 0, in, rank, dim, moved, 0);
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
                copy_known(out, at++, part, row * length + k);
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

// Range of one dimension as the format clamps it.
static int64_t clamp_range(int64_t length, int64_t *start, int64_t end, int64_t step)
{
    *start += *start < 0 ? length : 0;
    end += end < 0 ? length : 0;
    if (step < 0) {
        *start = *start < 0 ? 0 : *start >= length ? length - 1 : *start;
        end = end < 0 ? -1 : end >= length ? length - 1 : end;
        return *start > end ? (*start - end - step - 1) / -step : 0;
    }
    *start = *start < 0 ? 0 : *start > length ? length : *start;
    end = end < 0 ? 0 : end > length ? length : end;
    return end > *start ? (end - *start + step - 1) / step : 0;
}

static void pick(struct onnx_import *import, struct onnx_tensor *in, const int64_t *start,
                 const int64_t *step, const int64_t *dim)
{
    int64_t stride[LEO_OP_RANK_MAX] = {0}, moved[LEO_OP_RANK_MAX], offset = 0;
    const struct onnx_tensor self = *in;
    if (self.known) {
        struct onnx_tensor *out = onnx_known(import, 0, self.dtype, self.rank, dim);
        for (int64_t i = 0; out && i < onnx_count(out); i++) {
            int64_t at = 0, left = i, unit = 1;
            for (uint32_t d = self.rank; d-- > 0; left /= dim[d]) {
                at += (start[d] + left % dim[d] * step[d]) * unit;
                unit *= self.dim[d];
            }
            copy_known(out, i, &self, at);
        }
        return;
    }
    // Views go forward: dimensions that are walked backwards are turned round before.
    struct onnx_tensor from = self;
    from.value = onnx_value(import, in);
    from.has_value = true;
    for (uint32_t d = 0; d < self.rank; d++) {
        if (step[d] < 0) {
            const int64_t axis = d;
            const uint32_t turned =
                model_build_value(&import->build, onnx_dtype(import, &self), self.rank, self.dim);
            MODEL_BUILD_CALL(&import->build, "Flip", model_build_tensor(from.value),
                             model_build_ints(&axis, 1), model_build_tensor(turned));
            from.value = turned;
        }
    }
    strides_of(import, &from, stride);
    for (uint32_t d = 0; d < self.rank; d++) {
        const bool back = step[d] < 0;
        offset += dim[d] ? (back ? self.dim[d] - 1 - start[d] : start[d]) * stride[d] : 0;
        moved[d] = stride[d] * (back ? -step[d] : step[d]);
    }
    add_view(import, 0, &from, self.rank, dim, moved, offset);
}

void onnx_slice(struct onnx_import *import)
{
    int64_t starts[LEO_OP_RANK_MAX], ends[LEO_OP_RANK_MAX], axes[LEO_OP_RANK_MAX],
        steps[LEO_OP_RANK_MAX], start[LEO_OP_RANK_MAX], step[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    struct onnx_tensor *in = onnx_input(import, 0);
    const uint32_t count = onnx_ints(import, "starts", 1, starts, LEO_OP_RANK_MAX),
                   ended = onnx_ints(import, "ends", 2, ends, LEO_OP_RANK_MAX),
                   named = onnx_ints(import, "axes", 3, axes, LEO_OP_RANK_MAX),
                   stepped = onnx_ints(import, "steps", 4, steps, LEO_OP_RANK_MAX);
    if (!in || ended != count) {
        onnx_fail(import, "its starts and ends are not as many");
        return;
    }
    for (uint32_t d = 0; d < in->rank; d++) {
        start[d] = 0;
        step[d] = 1;
        dim[d] = in->dim[d];
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t d = onnx_axis(import, i < named ? axes[i] : i, in->rank);
        step[d] = i < stepped ? steps[i] : 1;
        if (step[d] == 0) {
            onnx_fail(import, "a step is 0");
            return;
        }
        start[d] = starts[i];
        dim[d] = clamp_range(in->dim[d], &start[d], ends[i], step[d]);
    }
    pick(import, in, start, step, dim);
}

void onnx_split(struct onnx_import *import)
{
    enum { MOST = 64 };
    int64_t parts[MOST], stride[LEO_OP_RANK_MAX] = {0}, dim[LEO_OP_RANK_MAX], at = 0;
    struct onnx_tensor *in = onnx_input(import, 0);
    const size_t outputs = import->node->n_output;
    uint32_t count = onnx_ints(import, "split", 1, parts, MOST);
    if (!in || outputs > MOST) {
        return;
    }
    struct onnx_tensor self = *in;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), self.rank);
    const int64_t part = (self.dim[axis] + (int64_t)outputs - 1) / (int64_t)outputs;
    for (size_t i = 0; count == 0 && i < outputs; i++) {
        const int64_t left = self.dim[axis] - (int64_t)i * part;
        parts[i] = left < part ? left : part;
    }
    strides_of(import, in, stride);
    self.value = onnx_value(import, in);
    self.has_value = true;
    memcpy(dim, self.dim, sizeof(dim));
    for (size_t i = 0; i < outputs; i++) {
        dim[axis] = parts[i];
        if (parts[i] < 0 || at + parts[i] > self.dim[axis]) {
            onnx_fail(import, "its parts are more than the tensor has");
            return;
        }
        add_view(import, i, &self, self.rank, dim, stride, at * stride[axis]);
        at += parts[i];
    }
}

// One index of a dimension that is known: a view without it.
static void gather_one(struct onnx_import *import, struct onnx_tensor *in, uint32_t axis,
                       int64_t index)
{
    int64_t dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX] = {0}, kept[LEO_OP_RANK_MAX];
    uint32_t rank = 0;
    strides_of(import, in, stride);
    for (uint32_t d = 0; d < in->rank; d++) {
        if (d != axis) {
            dim[rank] = in->dim[d];
            kept[rank++] = stride[d];
        }
    }
    add_view(import, 0, in, rank, dim, kept, index * stride[axis]);
}

static void gather_known(struct onnx_import *import, const struct onnx_tensor *data,
                         const struct onnx_tensor *index, uint32_t axis, uint32_t rank,
                         const int64_t *dim)
{
    struct onnx_tensor *out = onnx_known(import, 0, data->dtype, rank, dim);
    const int64_t *places = index->known, count = onnx_count(index);
    int64_t inner = 1;
    for (uint32_t d = axis + 1; d < data->rank; d++) {
        inner *= data->dim[d];
    }
    for (int64_t i = 0; out && i < onnx_count(out); i++) {
        const int64_t row = i / inner / (count ? count : 1),
                      place = places[i / inner % (count ? count : 1)];
        const int64_t at = place < 0 ? place + data->dim[axis] : place;
        if (at < 0 || at >= data->dim[axis]) {
            onnx_fail(import, "index %lld is outside", (long long)place);
            return;
        }
        copy_known(out, i, data, (row * data->dim[axis] + at) * inner + i % inner);
    }
}

void onnx_gather(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1);
    int64_t dim[2 * LEO_OP_RANK_MAX], flat[LEO_OP_RANK_MAX], dense[LEO_OP_RANK_MAX], step = 1;
    uint32_t rank = 0;
    if (!in || !at) {
        return;
    }
    const struct onnx_tensor data = *in, index = *at;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), data.rank);
    for (uint32_t d = 0; d < axis; d++) {
        dim[rank++] = data.dim[d];
    }
    for (uint32_t d = 0; d < index.rank; d++) {
        dim[rank++] = index.dim[d];
    }
    for (uint32_t d = axis + 1; d < data.rank; d++) {
        dim[rank++] = data.dim[d];
    }
    if (rank > LEO_OP_RANK_MAX) {
        onnx_fail(import, "its result has more than 8 dimensions");
        return;
    }
    if (data.known && index.known) {
        gather_known(import, &data, &index, axis, rank, dim);
        return;
    }
    if (index.known && index.rank == 0) {
        const int64_t place = *(const int64_t *)index.known;
        gather_one(import, in, axis, place < 0 ? place + data.dim[axis] : place);
        return;
    }
    const int64_t count = onnx_count(&index), one = 1;
    uint32_t places = onnx_dense(import, at);
    places = model_build_view(&import->build, places, 1, &count, &one, 0);
    const uint32_t from = onnx_value(import, in);
    memcpy(flat, data.dim, sizeof(flat));
    flat[axis] = count;
    const uint32_t picked =
        model_build_value(&import->build, onnx_dtype(import, &data), data.rank, flat);
    MODEL_BUILD_CALL(&import->build, "IndexSelect", model_build_tensor(from),
                     model_build_number(axis), model_build_tensor(places),
                     model_build_tensor(picked));
    for (uint32_t d = rank; d-- > 0; step *= dim[d]) {
        dense[d] = step;
    }
    struct onnx_tensor *out = onnx_output(import, 0, data.dtype, rank, dim);
    onnx_set_value(out, model_build_view(&import->build, picked, rank, dim, dense, 0));
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
    strides_of(import, in, stride);
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
    add_view(import, 0, in, rank, dim, spread, 0);
}

// Pads by dimension: those of the axes that are named, or of all. False: it failed.
static bool take_pads(struct onnx_import *import, uint32_t rank, int64_t *before, int64_t *after)
{
    int64_t pads[2 * LEO_OP_RANK_MAX], axes[LEO_OP_RANK_MAX];
    const uint32_t count = onnx_ints(import, "pads", 1, pads, 2 * LEO_OP_RANK_MAX),
                   named = onnx_input(import, 3)
                               ? onnx_ints(import, "axes", 3, axes, LEO_OP_RANK_MAX)
                               : 0,
                   all = named ? named : rank;
    if (count != 2 * all) {
        onnx_fail(import, "it needs two pads for each dimension");
        return false;
    }
    for (uint32_t d = 0; d < rank; d++) {
        before[d] = after[d] = 0;
    }
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t d = named ? onnx_axis(import, axes[i], rank) : i;
        before[d] = pads[i];
        after[d] = pads[i + all];
    }
    return !import->build.failed;
}

static void pad_with(struct onnx_import *import, struct onnx_tensor *in, const int64_t *before,
                     const int64_t *after)
{
    int64_t last_first[2 * LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    const struct onnx_tensor self = *in, *value = onnx_input(import, 2);
    double number = (double)onnx_attribute_float(import, "value", 0);
    if (value && (!value->known || onnx_count(value) != 1)) {
        onnx_fail(import, "the number that it pads with must be known");
        return;
    }
    if (value) {
        number = value->dtype == LEO_DTYPE_F32 ? (double)*(const float *)value->known
                                               : (double)*(const int64_t *)value->known;
    }
    for (uint32_t d = 0; d < self.rank; d++) {
        const uint32_t from = self.rank - 1 - d;
        last_first[2 * d] = before[from];
        last_first[2 * d + 1] = after[from];
        dim[from] = self.dim[from] + before[from] + after[from];
        if (dim[from] < 0) {
            onnx_fail(import, "nothing is left of a dimension");
            return;
        }
    }
    const uint32_t x = onnx_value(import, in),
                   out =
                       model_build_value(&import->build, onnx_dtype(import, &self), self.rank, dim);
    MODEL_BUILD_CALL(&import->build, "ConstantPadNd", model_build_tensor(x),
                     model_build_ints(last_first, 2 * self.rank), model_build_number(number),
                     model_build_tensor(out));
    onnx_give(import, 0, self.dtype, out);
}

void onnx_pad(struct onnx_import *import)
{
    int64_t before[LEO_OP_RANK_MAX], after[LEO_OP_RANK_MAX];
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in || !take_pads(import, in->rank, before, after)) {
        return;
    }
    if (!onnx_attribute(import, "mode") || onnx_attribute_is(import, "mode", "constant")) {
        pad_with(import, in, before, after);
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t rank = in->rank;
    uint32_t x = onnx_value(import, in);
    if (!onnx_attribute_is(import, "mode", "reflect") &&
        !onnx_attribute_is(import, "mode", "edge") && !onnx_attribute_is(import, "mode", "wrap")) {
        onnx_fail(import, "its mode is not served");
    }
    for (uint32_t d = 0; d < rank; d++) {
        x = before[d] || after[d] ? onnx_continued(import, x, d, before[d], after[d]) : x;
    }
    onnx_give(import, 0, dtype, x);
}
