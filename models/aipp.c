/* SPDX-License-Identifier: Apache-2.0 */
#include "aipp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a pixel, and what it has of channels. */
static const struct {
    int64_t bytes;
    uint32_t channels;
} formats[LEO_AIPP_FORMATS] = {
    [LEO_AIPP_YUV420SP] = {1, 3},
    [LEO_AIPP_XRGB8888] = {4, 4},
    [LEO_AIPP_RGB888] = {3, 3},
    [LEO_AIPP_YUV400] = {1, 1},
};

enum { EXACT = 1 << 24 }; // integers up to here are floats of single precision

static int64_t number(const struct leo_aipp *aipp, uint32_t key)
{
    return (int64_t)aipp->at[key];
}

static bool is_on(const struct leo_aipp *aipp, uint32_t key)
{
    return aipp->at[key] != 0;
}

static bool is_yuv(const struct leo_aipp *aipp)
{
    return number(aipp, LEO_AIPP_FORMAT) == LEO_AIPP_YUV420SP;
}

// Settings that a switch turns off count as 0.
static void clear_if_off(struct leo_aipp *aipp, uint32_t key, uint32_t first, uint32_t last)
{
    for (uint32_t k = first; k <= last && !is_on(aipp, key); k++) {
        aipp->at[k] = 0;
    }
}

static void complete(struct leo_aipp *aipp, const int64_t dim[4])
{
    clear_if_off(aipp, LEO_AIPP_CROP, LEO_AIPP_CROP_X, LEO_AIPP_CROP_H);
    clear_if_off(aipp, LEO_AIPP_PADDING, LEO_AIPP_LEFT, LEO_AIPP_BOTTOM);
    for (uint32_t axis = 0; axis < 2; axis++) { // width, height
        const bool cut = is_on(aipp, LEO_AIPP_CROP);
        double *source = &aipp->at[LEO_AIPP_SOURCE_W + axis],
               *crop = &aipp->at[LEO_AIPP_CROP_W + axis];
        if (*source == 0 && !cut && !is_on(aipp, LEO_AIPP_PADDING)) {
            *source = (double)dim[3 - axis];
        }
        if (*crop == 0) {
            *crop = cut ? (double)dim[3 - axis] : *source;
        }
    }
}

// Whether one dimension's sizes fit; a text if not.
static bool axis_fits(const struct leo_aipp *aipp, uint32_t axis, int64_t model,
                      char error[LEO_MODEL_ERROR])
{
    static const char names[] = {'w', 'h'};
    const int64_t source = number(aipp, LEO_AIPP_SOURCE_W + axis),
                  start = number(aipp, LEO_AIPP_CROP_X + axis),
                  crop = number(aipp, LEO_AIPP_CROP_W + axis),
                  before = number(aipp, LEO_AIPP_LEFT + 2 * axis),
                  after = number(aipp, LEO_AIPP_RIGHT + 2 * axis);
    if (source < 1 || crop < 1 || start + crop > source) {
        snprintf(error, LEO_MODEL_ERROR,
                 "aipp_op: src_image_size_%c is %lld, of which %lld from %lld on are taken",
                 names[axis], (long long)source, (long long)crop, (long long)start);
        return false;
    }
    if (is_yuv(aipp) && (source % 2 || start % 2 || crop % 2)) {
        snprintf(error, LEO_MODEL_ERROR,
                 "aipp_op: sizes and starts of YUV420SP_U8 must be even (axis %c)", names[axis]);
        return false;
    }
    if (before + crop + after != model) {
        snprintf(error, LEO_MODEL_ERROR,
                 "aipp_op: %lld + %lld + %lld pixels along %c do not make the model's %lld",
                 (long long)before, (long long)crop, (long long)after, names[axis],
                 (long long)model);
        return false;
    }
    return true;
}

// Colours are computed with integers, which single precision holds up to a bound.
static bool colours_fit(const struct leo_aipp *aipp, int64_t channels, char error[LEO_MODEL_ERROR])
{
    const uint32_t has = formats[number(aipp, LEO_AIPP_FORMAT)].channels;
    const uint32_t makes = is_on(aipp, LEO_AIPP_CSC) ? 3 : has;
    if (channels < 1 || channels > makes || (is_on(aipp, LEO_AIPP_CSC) && has < 3)) {
        snprintf(error, LEO_MODEL_ERROR,
                 "aipp_op: a picture of %u channels%s cannot give the model's %lld", has,
                 is_on(aipp, LEO_AIPP_CSC) ? " with csc_switch" : "", (long long)channels);
        return false;
    }
    for (uint32_t row = 0; row < 3 && is_on(aipp, LEO_AIPP_CSC); row++) {
        double most = 0;
        for (uint32_t k = 0; k < 3; k++) {
            most += fabs(aipp->at[LEO_AIPP_MATRIX + 3 * row + k]) * 2 * 255;
        }
        if (most >= EXACT) {
            snprintf(error, LEO_MODEL_ERROR,
                     "aipp_op: the numbers of matrix_r%u are too large to be computed exactly",
                     row);
            return false;
        }
    }
    return true;
}

bool model_aipp_fit(struct leo_aipp *aipp, const int64_t dim[4], int64_t source[4],
                    char error[LEO_MODEL_ERROR])
{
    complete(aipp, dim);
    if (!axis_fits(aipp, 0, dim[3], error) || !axis_fits(aipp, 1, dim[2], error) ||
        !colours_fit(aipp, dim[1], error)) {
        return false;
    }
    const int64_t height = number(aipp, LEO_AIPP_SOURCE_H);
    source[0] = dim[0];
    source[1] = is_yuv(aipp) ? height / 2 * 3 : height;
    source[2] = number(aipp, LEO_AIPP_SOURCE_W);
    source[3] = formats[number(aipp, LEO_AIPP_FORMAT)].bytes;
    return true;
}

/** A picture being converted: its planes are [n, h, w] of single precision. */
struct conversion {
    struct model_build *build;
    const struct leo_aipp *aipp;
    uint32_t picture;
    int64_t plane[3]; /* n, h, w of what is cut out */
};

static uint32_t new_plane(const struct conversion *to)
{
    return model_build_value(to->build, LEO_DTYPE_F32, 3, to->plane);
}

static void copy(const struct conversion *to, uint32_t target, uint32_t from)
{
    MODEL_BUILD_CALL(to->build, "InplaceCopy", model_build_tensor(target),
                     model_build_tensor(from));
}

// Channel of pixels that lie behind each other.
static uint32_t take_packed(const struct conversion *to, uint32_t channel)
{
    const struct leo_aipp *aipp = to->aipp;
    const int64_t w = number(aipp, LEO_AIPP_SOURCE_W), h = number(aipp, LEO_AIPP_SOURCE_H),
                  bytes = formats[number(aipp, LEO_AIPP_FORMAT)].bytes,
                  rows = is_yuv(aipp) ? h / 2 * 3 : h,
                  stride[3] = {rows * w * bytes, w * bytes, bytes},
                  start =
                      (number(aipp, LEO_AIPP_CROP_Y) * w + number(aipp, LEO_AIPP_CROP_X)) * bytes;
    const uint32_t plane = new_plane(to);
    copy(to, plane,
         model_build_view(to->build, to->picture, 3, to->plane, stride, start + channel));
    return plane;
}

// U or V: one byte for two rows and two columns, behind the plane of Y.
static uint32_t take_chroma(const struct conversion *to, uint32_t which)
{
    const struct leo_aipp *aipp = to->aipp;
    const int64_t w = number(aipp, LEO_AIPP_SOURCE_W), h = number(aipp, LEO_AIPP_SOURCE_H),
                  dim[5] = {to->plane[0], to->plane[1] / 2, 2, to->plane[2] / 2, 2},
                  stride[5] = {h / 2 * 3 * w, w, 0, 2, 0},
                  start =
                      h * w + number(aipp, LEO_AIPP_CROP_Y) / 2 * w + number(aipp, LEO_AIPP_CROP_X),
                  own[5] = {to->plane[1] * to->plane[2], 2 * to->plane[2], to->plane[2], 2, 1};
    const uint32_t plane = new_plane(to);
    copy(to, model_build_view(to->build, plane, 5, dim, own, 0),
         model_build_view(to->build, to->picture, 5, dim, stride, start + which));
    return plane;
}

/* Channel `index` of the picture behind the exchanges. */
static uint32_t take_channel(const struct conversion *to, uint32_t index)
{
    const struct leo_aipp *aipp = to->aipp;
    const bool swaps = is_on(aipp, LEO_AIPP_SWAP_RB);
    if (is_yuv(aipp)) {
        return index == 0 ? take_packed(to, 0) : take_chroma(to, (index - 1) ^ swaps);
    }
    if (number(aipp, LEO_AIPP_FORMAT) == LEO_AIPP_XRGB8888) {
        // X lies before or behind the colours, whose order is turned about G.
        const uint32_t first = is_on(aipp, LEO_AIPP_SWAP_AX) ? 0 : 1, colour = index - first;
        return take_packed(to, index < first || colour > 2 ? 0 : 1 + (swaps ? 2 - colour : colour));
    }
    return take_packed(to, swaps && number(aipp, LEO_AIPP_FORMAT) == LEO_AIPP_RGB888 ? 2 - index
                                                                                     : index);
}

static uint32_t with(const struct conversion *to, const char *op, uint32_t plane, double by)
{
    const uint32_t out = new_plane(to);
    MODEL_BUILD_CALL(to->build, op, model_build_tensor(plane), model_build_number(by),
                     model_build_tensor(out));
    return out;
}

static uint32_t plus(const struct conversion *to, uint32_t plane, double by)
{
    if (by == 0) {
        return plane;
    }
    const uint32_t out = new_plane(to);
    MODEL_BUILD_CALL(to->build, "Adds", model_build_tensor(plane), model_build_number(by),
                     model_build_number(1), model_build_tensor(out));
    return out;
}

static uint32_t clipped(const struct conversion *to, uint32_t plane)
{
    const uint32_t whole = new_plane(to), out = new_plane(to);
    MODEL_BUILD_CALL(to->build, "Floor", model_build_tensor(plane), model_build_tensor(whole));
    MODEL_BUILD_CALL(to->build, "Clamp", model_build_tensor(whole), model_build_number(0),
                     model_build_number(255), model_build_tensor(out));
    return out;
}

/* One colour out of three: an integer product, shifted by 8 and clipped to a byte. */
static uint32_t converted(const struct conversion *to, const uint32_t in[3], uint32_t row)
{
    const double *matrix = &to->aipp->at[LEO_AIPP_MATRIX + 3 * row];
    double off = 0;
    uint32_t sum = with(to, "Muls", in[0], matrix[0]);
    for (uint32_t k = 0; k < 3; k++) {
        off += is_yuv(to->aipp) ? matrix[k] * to->aipp->at[LEO_AIPP_INPUT_BIAS + k] : 0;
    }
    for (uint32_t k = 1; k < 3; k++) {
        const uint32_t next = new_plane(to);
        MODEL_BUILD_CALL(to->build, "Add", model_build_tensor(sum), model_build_tensor(in[k]),
                         model_build_number(matrix[k]), model_build_tensor(next));
        sum = next;
    }
    // A whole bias may be added before the shift: it stays whole.
    off -= is_yuv(to->aipp) ? 0 : 256 * to->aipp->at[LEO_AIPP_OUTPUT_BIAS + row];
    return clipped(to, with(to, "Muls", plus(to, sum, -off), 1.0 / 256));
}

__extension__ typedef _Float16 aipp_half;

// Settings of half precision.
static double half(double value)
{
    return (double)(aipp_half)value;
}

static uint32_t normalised(const struct conversion *to, uint32_t plane, uint32_t channel)
{
    const double *at = to->aipp->at, scale = half(at[LEO_AIPP_VAR_RECI + channel]);
    plane = plus(to, plane, -at[LEO_AIPP_MEAN + channel]);
    plane = plus(to, plane, -half(at[LEO_AIPP_MIN + channel]));
    return scale == 1 ? plane : with(to, "Muls", plane, scale);
}

static uint32_t made_channel(const struct conversion *to, const uint32_t in[4], uint32_t channel)
{
    return normalised(to, is_on(to->aipp, LEO_AIPP_CSC) ? converted(to, in, channel) : in[channel],
                      channel);
}

void model_aipp_build(struct model_build *build, const struct leo_aipp *aipp, uint32_t picture,
                      uint32_t out)
{
    if (build->failed) {
        return;
    }
    const struct leo_model_value target = build->model.values[out];
    const struct conversion to = {
        build,
        aipp,
        picture,
        {target.dim[0], number(aipp, LEO_AIPP_CROP_H), number(aipp, LEO_AIPP_CROP_W)}};
    const uint32_t channels = (uint32_t)target.dim[1],
                   first = is_on(aipp, LEO_AIPP_CSC) && // A or X has no part in colours
                           number(aipp, LEO_AIPP_FORMAT) == LEO_AIPP_XRGB8888 &&
                           !is_on(aipp, LEO_AIPP_SWAP_AX);
    const int64_t stride[3] = {target.stride[0], target.stride[2], target.stride[3]},
                  start = number(aipp, LEO_AIPP_TOP) * stride[1] + number(aipp, LEO_AIPP_LEFT);
    uint32_t in[4] = {0};
    for (uint32_t k = 0; k < (is_on(aipp, LEO_AIPP_CSC) ? 3 : channels); k++) {
        in[k] = take_channel(&to, first + k);
    }
    if (is_on(aipp, LEO_AIPP_PADDING)) {
        MODEL_BUILD_CALL(build, "InplaceFillScalar", model_build_tensor(out),
                         model_build_number(aipp->at[LEO_AIPP_PADDING_VALUE]));
    }
    for (uint32_t c = 0; c < channels; c++) {
        const uint32_t made = made_channel(&to, in, c);
        copy(&to, model_build_view(build, out, 3, to.plane, stride, start + c * target.stride[1]),
             made);
    }
}
