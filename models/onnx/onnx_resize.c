/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resize and its old form Upsample, and Pad where it is not constant. Where an element comes from
 * is known when the model is compiled: each dimension is a choice of rows, with weights between
 * them.
 */
#include "values.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

enum {
    TAPS = 4,           // rows that one row of a result is made of
    MAX_ROWS = 1 << 24, // of a dimension: far above pictures
};

/** How a dimension is resized: names of the format. */
struct rule {
    bool linear, cubic;
    enum place { HALF, HALF_SYMMETRIC, HALF_PYTORCH, HALF_NEAREST, CORNERS, ASYMMETRIC } place;
    enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL } rounding;
    bool only_inside; /* weights of rows outside are left out */
    float a;          /* of the cubic */
};

/** Rows and weights of a dimension, taps next to each other. */
struct rows {
    int64_t length, out;
    float scale;
    unsigned taps;
    int64_t *row[TAPS];
    float *weight[TAPS];
};

// False: something is not served.
static bool take_rule(struct onnx_import *import, bool old, struct rule *rule)
{
    static const char *const places[] = {[HALF] = "half_pixel",
                                         [HALF_SYMMETRIC] = "half_pixel_symmetric",
                                         [HALF_PYTORCH] = "pytorch_half_pixel",
                                         [HALF_NEAREST] = "tf_half_pixel_for_nn",
                                         [CORNERS] = "align_corners",
                                         [ASYMMETRIC] = "asymmetric"},
                             *const roundings[] = {[PREFER_FLOOR] = "round_prefer_floor",
                                                   [PREFER_CEIL] = "round_prefer_ceil",
                                                   [FLOOR] = "floor",
                                                   [CEIL] = "ceil"};
    const int place =
                  onnx_attribute_word(import, "coordinate_transformation_mode", places,
                                      sizeof(places) / sizeof(places[0]), old ? ASYMMETRIC : HALF),
              rounding = onnx_attribute_word(import, "nearest_mode", roundings,
                                             sizeof(roundings) / sizeof(roundings[0]),
                                             old ? FLOOR : PREFER_FLOOR);
    const bool nearest =
        !onnx_attribute(import, "mode") || onnx_attribute_is(import, "mode", "nearest");
    *rule = (struct rule){.linear = onnx_attribute_is(import, "mode", "linear"),
                          .cubic = onnx_attribute_is(import, "mode", "cubic"),
                          .place = (enum place)place,
                          .rounding = (enum rounding)rounding,
                          .only_inside = onnx_attribute_int(import, "exclude_outside", 0) != 0,
                          .a = onnx_attribute_float(import, "cubic_coeff_a", -0.75f)};
    const bool good = place >= 0 && rounding >= 0 && (nearest || rule->linear || rule->cubic) &&
                      !onnx_attribute_int(import, "antialias", 0);
    if (!good) {
        onnx_fail(import, "its mode, nearest_mode or coordinate_transformation_mode is not served, "
                          "or it has antialias");
    }
    return good;
}

// Place of a row of the result in the input, in single precision as the format's runtimes have it.
static float place_of(const struct rule *rule, const struct rows *rows, int64_t at)
{
    const float middle = ((float)at + 0.5f) / rows->scale;
    switch (rule->place) {
    case HALF_PYTORCH:
        return rows->out > 1 ? middle - 0.5f : 0;
    case HALF_NEAREST:
        return middle;
    case CORNERS:
        return rows->out == 1 ? 0 : (float)at * (float)(rows->length - 1) / (float)(rows->out - 1);
    case ASYMMETRIC:
        return (float)at / rows->scale;
    case HALF_SYMMETRIC: {
        const float share = (float)rows->out / (rows->scale * (float)rows->length);
        return (float)rows->length / 2 * (1 - share) + middle - 0.5f;
    }
    default:
        return middle - 0.5f;
    }
}

static float rounded(enum rounding rounding, float x)
{
    static float (*const by_name[])(float) = {[FLOOR] = floorf, [CEIL] = ceilf};
    return rounding == PREFER_FLOOR  ? ceilf(x - 0.5f)
           : rounding == PREFER_CEIL ? floorf(x + 0.5f)
                                     : by_name[rounding](x);
}

static float cubic_weight(float a, float far)
{
    const float x = fabsf(far);
    return x <= 1  ? ((a + 2) * x - (a + 3)) * x * x + 1
           : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
                   : 0;
}

static void set_taps(const struct rule *rule, struct rows *rows, int64_t at)
{
    const float x = place_of(rule, rows, at), first = floorf(x), part = x - first;
    const int64_t start = rule->cubic    ? (int64_t)first - 1
                          : rule->linear ? (int64_t)first
                                         : (int64_t)rounded(rule->rounding, x);
    float sum = 0;
    for (unsigned t = 0; t < rows->taps; t++) {
        const int64_t row = start + t;
        const bool inside = row >= 0 && row < rows->length;
        float weight = rule->cubic    ? cubic_weight(rule->a, (float)t - 1 - part)
                       : rule->linear ? (t ? part : 1 - part)
                                      : 1;
        weight = inside || !rule->only_inside ? weight : 0;
        sum += weight;
        rows->row[t][at] = row < 0 ? 0 : row >= rows->length ? rows->length - 1 : row;
        rows->weight[t][at] = weight;
    }
    for (unsigned t = 0; rule->only_inside && t < rows->taps; t++) {
        rows->weight[t][at] /= sum;
    }
}

static uint32_t chosen(struct onnx_import *import, uint32_t x, uint32_t axis, const int64_t *row,
                       int64_t count)
{
    return onnx_made_rows(import, x, axis,
                          model_build_weight(&import->build, LEO_DTYPE_S64, 1, &count, row));
}

static uint32_t blended(struct onnx_import *import, uint32_t x, uint32_t axis,
                        const struct rows *rows)
{
    uint32_t sum = 0;
    if (rows->taps == 1) {
        return chosen(import, x, axis, rows->row[0], rows->out);
    }
    int64_t dim[LEO_OP_RANK_MAX];
    const uint32_t rank = onnx_seen(import, x).rank;
    for (uint32_t d = 0; d < rank; d++) {
        dim[d] = d == axis ? rows->out : 1;
    }
    for (unsigned t = 0; t < rows->taps; t++) {
        const uint32_t weight = onnx_weight(import, rank, dim, rows->weight[t]),
                       part = onnx_made_of(import, "Mul",
                                           chosen(import, x, axis, rows->row[t], rows->out), weight,
                                           import->floats);
        sum = t ? onnx_made_of(import, "Add", sum, part, import->floats) : part;
    }
    return sum;
}

static uint32_t resize_dimension(struct onnx_import *import, const struct rule *rule, uint32_t x,
                                 uint32_t axis, int64_t out, float scale)
{
    struct rows rows = {.length = onnx_seen(import, x).dim[axis],
                        .out = out,
                        .scale = scale,
                        .taps = rule->cubic    ? 4
                                : rule->linear ? 2
                                               : 1};
    bool good = true;
    for (unsigned t = 0; t < rows.taps; t++) {
        rows.row[t] = leo_calloc((size_t)out + 1, sizeof(*rows.row[t]));
        rows.weight[t] = leo_calloc((size_t)out + 1, sizeof(*rows.weight[t]));
        good = good && rows.row[t] && rows.weight[t];
    }
    for (int64_t at = 0; good && at < out; at++) {
        set_taps(rule, &rows, at);
    }
    if (good) {
        x = blended(import, x, axis, &rows);
    } else {
        onnx_fail(import, "out of host memory");
    }
    for (unsigned t = 0; t < rows.taps; t++) {
        leo_free(rows.row[t]);
        leo_free(rows.weight[t]);
    }
    return x;
}

// Rounded down; -1 beyond what a dimension can be, so that it is refused.
static int64_t whole(float size)
{
    return size >= 0 && size <= (float)MAX_ROWS ? (int64_t)floorf(size) : -1;
}

/** Sizes and scales by dimension. */
struct target {
    int64_t dim[LEO_OP_RANK_MAX];
    float scale[LEO_OP_RANK_MAX];
};

// One scale for all named dimensions, the smallest or the largest of theirs.
static void keep_ratio(struct onnx_import *import, const struct onnx_tensor *in,
                       const int64_t *axes, uint32_t count, struct target *target)
{
    const bool larger = onnx_attribute_is(import, "keep_aspect_ratio_policy", "not_smaller");
    if (!larger && !onnx_attribute_is(import, "keep_aspect_ratio_policy", "not_larger")) {
        return;
    }
    float scale = target->scale[axes[0]];
    for (uint32_t i = 1; i < count; i++) {
        const float own = target->scale[axes[i]];
        scale = (larger ? own > scale : own < scale) ? own : scale;
    }
    for (uint32_t i = 0; i < count; i++) {
        target->scale[axes[i]] = scale;
        target->dim[axes[i]] = (int64_t)floorf(scale * (float)in->dim[axes[i]] + 0.5f);
    }
}

// False: it failed.
static bool take_target(struct onnx_import *import, const struct onnx_tensor *in, bool old,
                        struct target *target)
{
    int64_t axes[LEO_OP_RANK_MAX], sizes[LEO_OP_RANK_MAX];
    const struct onnx_tensor *scales = onnx_input(import, old ? 1 : 2);
    uint32_t count = onnx_attribute_ints(import, "axes", axes, LEO_OP_RANK_MAX);
    const uint32_t sized = old ? 0 : onnx_ints(import, "sizes", 3, sizes, LEO_OP_RANK_MAX);
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = onnx_axis(import, axes[i], in->rank);
    }
    for (uint32_t d = 0; count == 0 && d < in->rank; d++) {
        axes[d] = d;
    }
    count = count ? count : in->rank;
    for (uint32_t d = 0; d < in->rank; d++) {
        target->dim[d] = in->dim[d];
        target->scale[d] = 1;
    }
    if (sized != count && (!scales || !scales->known || scales->dtype != LEO_DTYPE_F32 ||
                           onnx_count(scales) != count)) {
        onnx_fail(import, "its sizes or scales must be known, one a dimension");
    }
    for (uint32_t i = 0; i < count && !import->build.failed; i++) {
        const float own = (float)in->dim[axes[i]];
        target->scale[axes[i]] = sized ? (float)sizes[i] / own : ((const float *)scales->known)[i];
        target->dim[axes[i]] = sized ? sizes[i] : whole(own * target->scale[axes[i]]);
        if (target->dim[axes[i]] < 1 || target->dim[axes[i]] > MAX_ROWS ||
            !(target->scale[axes[i]] > 0)) {
            onnx_fail(import, "its sizes must be 1 to 2^24");
        }
    }
    if (sized && !import->build.failed) {
        keep_ratio(import, in, axes, count, target);
    }
    return !import->build.failed;
}

// Nearest neighbours of pictures by whole factors, as detectors use it: one operator.
static bool is_repetition(const struct rule *rule, const struct onnx_tensor *in,
                          const struct target *target)
{
    const bool plain =
        (rule->place == ASYMMETRIC && rule->rounding == FLOOR) ||
        ((rule->place == HALF || rule->place == HALF_PYTORCH) && rule->rounding <= PREFER_CEIL);
    bool good = plain && !rule->linear && !rule->cubic && in->rank == 4;
    for (uint32_t d = 0; good && d < 4; d++) {
        good = in->dim[d] && target->dim[d] % in->dim[d] == 0 &&
               (d >= 2 || target->dim[d] == in->dim[d]) &&
               target->scale[d] == (float)(target->dim[d] / in->dim[d]) &&
               (rule->place != HALF_PYTORCH || target->dim[d] > 1);
    }
    return good;
}

void onnx_resize(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    const bool old = import->opset < 11;
    struct rule rule;
    struct target target;
    if (!in || !take_rule(import, old, &rule) || !take_target(import, in, old, &target)) {
        return;
    }
    const struct onnx_tensor self = *in;
    uint32_t x = onnx_value(import, in);
    if ((rule.linear || rule.cubic) && self.dtype != LEO_DTYPE_F32) {
        onnx_fail(import, "integers between neighbours are not served");
    } else if (is_repetition(&rule, &self, &target)) {
        const uint32_t out =
            model_build_value(&import->build, onnx_dtype(import, &self), 4, target.dim);
        MODEL_BUILD_CALL(&import->build, "UpsampleNearest2d", model_build_tensor(x),
                         model_build_ints(target.dim + 2, 2), model_build_tensor(out));
        x = out;
    } else {
        for (uint32_t d = 0; d < self.rank; d++) {
            if (target.dim[d] != self.dim[d] || target.scale[d] != 1) {
                x = resize_dimension(import, &rule, x, d, target.dim[d], target.scale[d]);
            }
        }
    }
    onnx_give(import, 0, self.dtype, x);
}

// The row that lies at `at` where rows are continued beyond both ends.
static int64_t continued(int64_t at, int64_t length, bool reflects, bool wraps)
{
    const int64_t period = wraps ? length : 2 * (length - 1);
    if (!reflects && !wraps) {
        return at < 0 ? 0 : at >= length ? length - 1 : at;
    }
    if (period == 0) {
        return 0;
    }
    const int64_t place = ((at % period) + period) % period;
    return place < length ? place : period - place;
}

uint32_t onnx_continued(struct onnx_import *import, uint32_t x, uint32_t axis, int64_t before,
                        int64_t after)
{
    const int64_t length = onnx_seen(import, x).dim[axis], out = length + before + after;
    const bool reflects = onnx_attribute_is(import, "mode", "reflect"),
               wraps = onnx_attribute_is(import, "mode", "wrap");
    int64_t *row =
        out > 0 && length > 0 && out <= MAX_ROWS ? leo_calloc((size_t)out, sizeof(*row)) : NULL;
    if (!row) {
        onnx_fail(import, "out of host memory, nothing to continue or more than 2^24 rows");
        return 0;
    }
    for (int64_t i = 0; i < out; i++) {
        row[i] = continued(i - before, length, reflects, wraps);
    }
    x = chosen(import, x, axis, row, out);
    leo_free(row);
    return x;
}
