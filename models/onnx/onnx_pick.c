/* SPDX-License-Identifier: Apache-2.0 */
/* Elements by place, rows in order, patterns of places. */
#include "values.h"

#include <string.h>

/* GatherElements. */
void onnx_gather_elements(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1);
    if (!in || !at || in->rank == 0 || in->rank != at->rank) {
        onnx_fail(import, "it needs two tensors of the same rank");
        return;
    }
    const struct onnx_tensor self = *in;
    const int64_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), self.rank);
    const uint32_t x = onnx_value(import, in), places = onnx_value(import, at);
    const struct leo_model_value seen = onnx_seen(import, places);
    const uint32_t out =
        model_build_value(&import->build, onnx_dtype(import, &self), seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Gather", model_build_tensor(x),
                     model_build_number((double)axis), model_build_tensor(places),
                     model_build_tensor(out));
    onnx_give(import, 0, self.dtype, out);
}

/* ScatterElements, and Scatter, its old name. */
void onnx_scatter_elements(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1),
                       *from = onnx_input(import, 2);
    const bool adds = onnx_attribute_is(import, "reduction", "add"),
               multiplies = onnx_attribute_is(import, "reduction", "mul");
    if (!in || !at || !from || in->rank == 0) {
        onnx_fail(import, "it needs three tensors");
        return;
    }
    if (!adds && !multiplies && onnx_attribute(import, "reduction") &&
        !onnx_attribute_is(import, "reduction", "none")) {
        onnx_fail(import, "of reductions add and mul are served");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const int64_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", 0), in->rank);
    const uint32_t x = onnx_value(import, in), places = onnx_value(import, at),
                   source = onnx_value(import, from);
    const struct leo_model_value seen = onnx_seen(import, x);
    const uint32_t out =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Scatter", model_build_tensor(x),
                     model_build_number((double)axis), model_build_tensor(places),
                     model_build_tensor(source),
                     model_build_number(adds         ? 1
                                        : multiplies ? 2
                                                     : 0),
                     model_build_tensor(out));
    onnx_give(import, 0, dtype, out);
}

/* Places are rows of indices of the first dimensions. */
void onnx_gather_nd(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1);
    uint32_t columns[LEO_OP_RANK_MAX], rank = 0;
    int64_t dim[2 * LEO_OP_RANK_MAX];
    if (!in || !at || at->rank == 0 || onnx_attribute_int(import, "batch_dims", 0) != 0) {
        onnx_fail(import, "it needs two tensors, and batch_dims is not served");
        return;
    }
    const struct onnx_tensor self = *in, index = *at;
    const int64_t width = index.dim[index.rank - 1];
    if (width < 1 || width > self.rank || index.rank - 1 + self.rank - width > LEO_OP_RANK_MAX) {
        onnx_fail(import, "its rows of indices do not fit");
        return;
    }
    for (uint32_t d = 0; d + 1 < index.rank; d++) {
        dim[rank++] = index.dim[d];
    }
    const uint32_t outer = rank;
    for (uint32_t d = (uint32_t)width; d < self.rank; d++) {
        dim[rank++] = self.dim[d];
    }
    const uint32_t x = onnx_value(import, in), places = onnx_value(import, at);
    const struct leo_model_value seen = onnx_seen(import, places);
    for (int64_t i = 0; i < width; i++) {
        columns[i] = model_build_view(&import->build, places, outer, dim, seen.stride,
                                      i * seen.stride[index.rank - 1]);
    }
    const uint32_t out = model_build_value(&import->build, onnx_dtype(import, &self), rank, dim);
    MODEL_BUILD_CALL(&import->build, "Index", model_build_tensor(x),
                     model_build_tensors(columns, (uint32_t)width), model_build_tensor(out));
    onnx_give(import, 0, self.dtype, out);
}

/* Rows of the first input replaced by those of the third. */
void onnx_scatter_nd(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *at = onnx_input(import, 1),
                       *from = onnx_input(import, 2);
    if (!in || !at || !from ||
        (onnx_attribute(import, "reduction") && !onnx_attribute_is(import, "reduction", "none"))) {
        onnx_fail(import, "it needs three tensors, and reductions are not served");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t x = onnx_value(import, in), places = onnx_value(import, at),
                   rows = onnx_value(import, from);
    const struct leo_model_value seen = onnx_seen(import, x);
    const uint32_t out =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(out), model_build_tensor(x));
    MODEL_BUILD_CALL(&import->build, "ScatterNdUpdate", model_build_tensor(out),
                     model_build_tensor(places), model_build_tensor(rows));
    onnx_give(import, 0, dtype, out);
}

void onnx_top_k(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t count = 0;
    if (!in || in->rank == 0 || onnx_ints(import, "k", 1, &count, 1) != 1) {
        onnx_fail(import, "its number of elements must be known");
        return;
    }
    const struct onnx_tensor self = *in;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", -1), self.rank);
    int64_t dim[LEO_OP_RANK_MAX];
    memcpy(dim, self.dim, sizeof(dim));
    dim[axis] = count;
    const uint32_t x = onnx_value(import, in),
                   values =
                       model_build_value(&import->build, onnx_dtype(import, &self), self.rank, dim),
                   places = model_build_value(&import->build, LEO_DTYPE_S64, self.rank, dim);
    MODEL_BUILD_CALL(&import->build, "Topk", model_build_tensor(x),
                     model_build_number((double)count), model_build_number(axis),
                     model_build_number((double)onnx_attribute_int(import, "largest", 1)),
                     model_build_number((double)onnx_attribute_int(import, "sorted", 1)),
                     model_build_tensor(values), model_build_tensor(places));
    onnx_give(import, 0, self.dtype, values);
    onnx_give(import, 1, LEO_DTYPE_S64, places);
}

void onnx_cum_sum(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t axis = 0;
    if (!in || onnx_ints(import, "axis", 1, &axis, 1) != 1) {
        onnx_fail(import, "its axis must be known");
        return;
    }
    const struct onnx_tensor self = *in;
    const bool back = onnx_attribute_int(import, "reverse", 0) != 0;
    axis = onnx_axis(import, axis, self.rank);
    uint32_t x = onnx_value(import, in);
    x = back ? onnx_made_flipped(import, x, axis) : x;
    const struct leo_model_value seen = onnx_seen(import, x);
    const enum leo_dtype dtype = (enum leo_dtype)seen.dtype;
    uint32_t out = model_build_value(&import->build, dtype, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "Cumsum", model_build_tensor(x),
                     model_build_number((double)axis), model_build_dtype(dtype),
                     model_build_tensor(out));
    if (onnx_attribute_int(import, "exclusive", 0)) {
        out = onnx_made_of(import, "Sub", out, x, dtype);
    }
    onnx_give(import, 0, self.dtype, back ? onnx_made_flipped(import, out, axis) : out);
}

void onnx_trilu(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t diagonal = 0;
    if (!in || in->rank < 2 ||
        (onnx_input(import, 1) && onnx_ints(import, "k", 1, &diagonal, 1) != 1)) {
        onnx_fail(import, "it needs matrices and a diagonal that is known");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    onnx_give(import, 0, dtype,
              onnx_made_with(import, onnx_attribute_int(import, "upper", 1) ? "Triu" : "Tril",
                             onnx_value(import, in), (double)diagonal));
}

void onnx_tile(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t repeats[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    const uint32_t count = onnx_ints(import, "repeats", 1, repeats, LEO_OP_RANK_MAX);
    if (!in || count != in->rank) {
        onnx_fail(import, "it needs a known number of repetitions for each dimension");
        return;
    }
    const struct onnx_tensor self = *in;
    for (uint32_t d = 0; d < count; d++) {
        dim[d] = self.dim[d] * repeats[d];
    }
    const uint32_t x = onnx_value(import, in),
                   out = model_build_value(&import->build, onnx_dtype(import, &self), count, dim);
    MODEL_BUILD_CALL(&import->build, "Repeat", model_build_tensor(x),
                     model_build_ints(repeats, count), model_build_tensor(out));
    onnx_give(import, 0, self.dtype, out);
}

static void set_known(struct onnx_tensor *tensor, int64_t at, double number)
{
    if (tensor->dtype == LEO_DTYPE_F32) {
        ((float *)tensor->known)[at] = (float)number;
    } else {
        ((int64_t *)tensor->known)[at] = (int64_t)number;
    }
}

/* Ones in a diagonal: known when the model is compiled. */
void onnx_eye_like(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    enum leo_dtype dtype;
    if (!in || in->rank != 2) {
        onnx_fail(import, "it needs a matrix");
        return;
    }
    const struct onnx_tensor self = *in;
    const int64_t told = onnx_attribute_int(import, "dtype", 0),
                  shift = onnx_attribute_int(import, "k", 0);
    dtype = self.dtype;
    if (told && !onnx_take_type((int32_t)told, &dtype)) {
        onnx_fail(import, "element type %lld is not served", (long long)told);
        return;
    }
    struct onnx_tensor *out = onnx_known(import, 0, dtype, 2, self.dim);
    for (int64_t i = 0; out && i < self.dim[0]; i++) {
        if (i + shift >= 0 && i + shift < self.dim[1]) {
            set_known(out, i * self.dim[1] + i + shift, 1);
        }
    }
}

void onnx_size(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    if (in) {
        const int64_t count = onnx_count(in);
        struct onnx_tensor *out = onnx_known(import, 0, LEO_DTYPE_S64, 0, NULL);
        if (out) {
            *(int64_t *)out->known = count;
        }
    }
}

void onnx_range(struct onnx_import *import)
{
    enum { MOST = 1 << 24 };
    double start = 0, limit = 0, step = 0;
    if (!onnx_known_number(import, "start", 0, &start) ||
        !onnx_known_number(import, "limit", 1, &limit) ||
        !onnx_known_number(import, "delta", 2, &step)) {
        return;
    }
    const double steps = step == 0 ? -1 : (limit - start) / step;
    int64_t count = steps > 0 && steps < MOST ? (int64_t)steps : 0;
    count += steps > (double)count ? 1 : 0;
    if (step == 0 || steps >= MOST) {
        onnx_fail(import, "its step is 0 or its numbers are too many");
        return;
    }
    struct onnx_tensor *out = onnx_known(import, 0, onnx_input(import, 0)->dtype, 1, &count);
    for (int64_t i = 0; out && i < count; i++) {
        set_known(out, i, start + (double)i * step);
    }
}

// Six dimensions of x in another order, as a picture of `dim`.
static void give_blocks(struct onnx_import *import, const int64_t *split, const uint32_t *order,
                        const int64_t *dim)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    const enum leo_dtype dtype = in->dtype;
    const uint32_t blocks = onnx_made_flat(import, onnx_value(import, in), 6, split);
    onnx_give(import, 0, dtype,
              onnx_made_flat(import, onnx_made_turned(import, blocks, order), 4, dim));
}

/* Blocks of channels become blocks of the plane. */
void onnx_depth_to_space(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    const int64_t b = onnx_attribute_int(import, "blocksize", 0);
    if (!in || in->rank != 4 || b < 1 || in->dim[1] % (b * b)) {
        onnx_fail(import, "it needs a picture whose channels are blocks");
        return;
    }
    const int64_t n = in->dim[0], c = in->dim[1] / (b * b), h = in->dim[2], w = in->dim[3],
                  dim[] = {n, c, h * b, w * b}, by_depth[] = {n, b, b, c, h, w},
                  by_column[] = {n, c, b, b, h, w};
    static const uint32_t from_depth[] = {0, 3, 4, 1, 5, 2}, from_column[] = {0, 1, 4, 2, 5, 3};
    const bool columns = onnx_attribute_is(import, "mode", "CRD");
    give_blocks(import, columns ? by_column : by_depth, columns ? from_column : from_depth, dim);
}

void onnx_space_to_depth(struct onnx_import *import)
{
    const struct onnx_tensor *in = onnx_input(import, 0);
    const int64_t b = onnx_attribute_int(import, "blocksize", 0);
    if (!in || in->rank != 4 || b < 1 || in->dim[2] % b || in->dim[3] % b) {
        onnx_fail(import, "it needs a picture whose height and width are blocks");
        return;
    }
    const int64_t n = in->dim[0], c = in->dim[1], h = in->dim[2] / b, w = in->dim[3] / b,
                  split[] = {n, c, h, b, w, b}, dim[] = {n, c * b * b, h, w};
    static const uint32_t order[] = {0, 3, 5, 1, 2, 4};
    give_blocks(import, split, order, dim);
}

/* Old files say bilinear and bicubic for linear and cubic. */
void onnx_grid_sample(struct onnx_import *import)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"},
                             *const old[] = {"bilinear", "nearest", "bicubic"},
                             *const pads[] = {"zeros", "border", "reflection"};
    struct onnx_tensor *in = onnx_input(import, 0), *grid = onnx_input(import, 1);
    const int mode = onnx_attribute_word(import, "mode", modes, 3, 0),
              kind = mode >= 0 ? mode : onnx_attribute_word(import, "mode", old, 3, 0),
              pad = onnx_attribute_word(import, "padding_mode", pads, 3, 0);
    if (!in || !grid || (in->rank != 4 && in->rank != 5) || grid->rank != in->rank || kind < 0 ||
        pad < 0 || (in->rank == 5 && kind == 2)) {
        onnx_fail(import, "its dimensions, mode or padding_mode are not served");
        return;
    }
    const struct onnx_tensor self = *in;
    int64_t dim[LEO_OP_RANK_MAX] = {self.dim[0], self.dim[1]};
    memcpy(dim + 2, grid->dim + 1, (self.rank - 2) * sizeof(*dim));
    const uint32_t x = onnx_value(import, in), g = onnx_value(import, grid),
                   out = model_build_value(&import->build, import->floats, self.rank, dim);
    MODEL_BUILD_CALL(&import->build, self.rank == 4 ? "GridSampler2D" : "GridSampler3D",
                     model_build_tensor(x), model_build_tensor(g), model_build_number(kind),
                     model_build_number(pad),
                     model_build_number((double)onnx_attribute_int(import, "align_corners", 0)),
                     model_build_tensor(out));
    onnx_give(import, 0, self.dtype, out);
}

// Places below 0 count from the end.
static uint32_t from_start(struct onnx_import *import, uint32_t places, int64_t length)
{
    static const int64_t one = 1;
    const struct leo_model_value seen = onnx_seen(import, places);
    const uint32_t zero = onnx_made_full(import, LEO_DTYPE_S64, 1, &one, 0),
                   below = onnx_made_of(import, "LtTensor", places, zero, LEO_DTYPE_B8),
                   moved = onnx_made_with(import, "Adds", places, (double)length),
                   out = model_build_value(&import->build, LEO_DTYPE_S64, seen.rank, seen.dim);
    MODEL_BUILD_CALL(&import->build, "SWhere", model_build_tensor(below), model_build_tensor(moved),
                     model_build_tensor(places), model_build_tensor(out));
    return out;
}

void onnx_one_hot(struct onnx_import *import)
{
    static const int64_t one = 1, two = 2;
    struct onnx_tensor *in = onnx_input(import, 0), *values = onnx_input(import, 2);
    double depth = 0;
    int64_t dim[LEO_OP_RANK_MAX];
    if (!in || !values || !onnx_known_number(import, "depth", 1, &depth) ||
        in->rank >= LEO_OP_RANK_MAX || onnx_count(values) != 2 || depth < 1) {
        onnx_fail(import, "its depth must be known, and it needs two values");
        return;
    }
    const struct onnx_tensor self = *in, choice = *values;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", -1), self.rank + 1);
    for (uint32_t d = 0; d <= self.rank; d++) {
        dim[d] = d == axis ? (int64_t)depth : self.dim[d > axis ? d - 1 : d];
    }
    const uint32_t pair = onnx_made_flat(import, onnx_value(import, values), 1, &two),
                   off = model_build_view(&import->build, pair, 1, &one, &one, 0),
                   on = model_build_view(&import->build, pair, 1, &one, &one, 1),
                   at = onnx_made_as(import, onnx_value(import, in), LEO_DTYPE_S64),
                   places = from_start(import, at, (int64_t)depth),
                   out = model_build_value(&import->build, onnx_dtype(import, &choice),
                                           self.rank + 1, dim);
    MODEL_BUILD_CALL(&import->build, "OneHot", model_build_tensor(places),
                     model_build_number(depth), model_build_tensor(on), model_build_tensor(off),
                     model_build_number(axis == self.rank ? -1 : (double)axis),
                     model_build_tensor(out));
    onnx_give(import, 0, choice.dtype, out);
}
