/* SPDX-License-Identifier: Apache-2.0 */
/* Slice, Split and Gather: views where places are known. */
#include "values.h"

#include <string.h>

// Range of one dimension as the format clamps it.
static int64_t clamp_range(int64_t length, int64_t *start, int64_t end, int64_t step)
{
    *start += *start < 0 ? length : 0;
    end += end < 0 ? length : 0;
    if (step < 0) {
        *start = *start < 0 ? 0 : *start >= length ? length - 1 : *start;
        end = end < 0 ? -1 : end >= length ? length - 1 : end;
        return *start > end ? (*start - end - 1) / -step + 1 : 0;
    }
    *start = *start < 0 ? 0 : *start > length ? length : *start;
    end = end < 0 ? 0 : end > length ? length : end;
    return end > *start ? (end - *start - 1) / step + 1 : 0;
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
            onnx_copy_known(out, i, &self, at);
        }
        return;
    }
    // Views go forward: dimensions that are walked backwards are turned round before.
    struct onnx_tensor from = self;
    from.value = onnx_value(import, in);
    from.has_value = true;
    for (uint32_t d = 0; d < self.rank; d++) {
        if (step[d] < 0) {
            from.value = onnx_made_flipped(import, from.value, d);
        }
    }
    onnx_strides_of(import, &from, stride);
    for (uint32_t d = 0; d < self.rank; d++) {
        const bool back = step[d] < 0;
        offset += dim[d] ? (back ? self.dim[d] - 1 - start[d] : start[d]) * stride[d] : 0;
        moved[d] = dim[d] > 1 ? stride[d] * (back ? -step[d] : step[d]) : stride[d];
    }
    onnx_add_view(import, 0, &from, self.rank, dim, moved, offset);
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
        if (step[d] == 0 || step[d] == INT64_MIN) {
            onnx_fail(import, "a step is 0 or out of range");
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
    onnx_strides_of(import, in, stride);
    self.value = onnx_value(import, in);
    self.has_value = true;
    memcpy(dim, self.dim, sizeof(dim));
    for (size_t i = 0; i < outputs; i++) {
        dim[axis] = parts[i];
        if (parts[i] < 0 || at + parts[i] > self.dim[axis]) {
            onnx_fail(import, "its parts are more than the tensor has");
            return;
        }
        onnx_add_view(import, i, &self, self.rank, dim, stride, at * stride[axis]);
        at += parts[i];
    }
}

// One index of a dimension that is known: a view without it.
static void gather_one(struct onnx_import *import, struct onnx_tensor *in, uint32_t axis,
                       int64_t index)
{
    int64_t dim[LEO_OP_RANK_MAX], stride[LEO_OP_RANK_MAX] = {0}, kept[LEO_OP_RANK_MAX];
    uint32_t rank = 0;
    onnx_strides_of(import, in, stride);
    for (uint32_t d = 0; d < in->rank; d++) {
        if (d != axis) {
            dim[rank] = in->dim[d];
            kept[rank++] = stride[d];
        }
    }
    onnx_add_view(import, 0, in, rank, dim, kept, index * stride[axis]);
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
        onnx_copy_known(out, i, data, (row * data->dim[axis] + at) * inner + i % inner);
    }
}

void onnx_gather(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1);
    int64_t dim[2 * LEO_OP_RANK_MAX];
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
    const int64_t count = onnx_count(&index);
    const uint32_t places = onnx_made_flat(import, onnx_value(import, at), 1, &count),
                   picked = onnx_made_rows(import, onnx_value(import, in), axis, places);
    onnx_give(import, 0, data.dtype, onnx_made_flat(import, picked, rank, dim));
}
