/* SPDX-License-Identifier: Apache-2.0 */
/* Pools: the largest or the mean of windows, or of whole pictures. */
#include "windows.h"

#include <float.h>
#include <leo/alloc.h>
#include <string.h>

static const double LEAST_HALF = -65504; // the least finite number of half precision

// Of means that leave pads out: the kernel's area by the elements that are no pads, by place.
static uint32_t area_by_count(struct onnx_import *import, const struct onnx_tensor *in,
                              const struct windows *w)
{
    int64_t dim[2 + WINDOWS_MAX] = {1, 1}, places = 1, area = 1;
    for (unsigned d = 0; d < w->count; d++) {
        dim[2 + d] = w->out[d];
        places *= w->out[d];
        area *= w->kernel[d];
    }
    float *factors = leo_calloc((size_t)places + 1, sizeof(*factors));
    if (!factors) {
        onnx_fail(import, "out of host memory");
        return 0;
    }
    for (int64_t i = 0; i < places; i++) {
        int64_t count = 1, left = i;
        for (unsigned d = w->count; d-- > 0; left /= w->out[d]) {
            const int64_t first = left % w->out[d] * w->stride[d] - w->before[d],
                          end = first + w->kernel[d] < in->dim[2 + d] ? first + w->kernel[d]
                                                                      : in->dim[2 + d];
            count *= end - (first > 0 ? first : 0);
        }
        factors[i] = (float)area / (float)(count > 0 ? count : 1);
    }
    const uint32_t weight = onnx_weight(import, 2 + w->count, dim, factors);
    leo_free(factors);
    return weight;
}

static void add_max_pool(struct onnx_import *import, uint32_t x, const struct windows *w, bool up,
                         const int64_t *dim, uint32_t result)
{
    const uint32_t places = model_build_value(&import->build, LEO_DTYPE_S32, 2 + w->count, dim);
    MODEL_BUILD_CALL(&import->build, w->count == 3 ? "MaxPool3dWithArgmax" : "MaxPool2dWithIndices",
                     model_build_tensor(x), model_build_ints(w->kernel, w->count),
                     model_build_ints(w->stride, w->count), model_build_ints(w->before, w->count),
                     model_build_ints(w->dilation, w->count), model_build_number(up),
                     model_build_tensor(result), model_build_tensor(places));
}

static void add_mean_pool(struct onnx_import *import, uint32_t x, const struct windows *w, bool up,
                          bool with_pads, uint32_t result)
{
    const struct leo_model_arg args[] = {model_build_tensor(x),
                                         model_build_ints(w->kernel, w->count),
                                         model_build_ints(w->stride, w->count),
                                         model_build_ints(w->before, w->count),
                                         model_build_number(up),
                                         model_build_number(with_pads),
                                         model_build_number(0),
                                         w->count == 3 ? model_build_tensor(result)
                                                       : model_build_number(0), // the Cube's type
                                         model_build_tensor(result)};
    model_build_call(&import->build, w->count == 3 ? "AvgPool3d" : "AvgPool2d", args,
                     w->count == 3 ? 8 : 9);
}

static bool is_dilated(const struct windows *w)
{
    bool dilated = false;
    for (unsigned d = 0; d < w->count; d++) {
        dilated = dilated || w->dilation[d] != 1;
    }
    return dilated;
}

static void pool(struct onnx_import *import, struct onnx_tensor *in, struct windows *w)
{
    const bool max = strcmp(import->node->op_type, "MaxPool") == 0,
               with_pads = onnx_attribute_int(import, "count_include_pad", 0) != 0,
               up = onnx_attribute_int(import, "ceil_mode", 0) != 0,
               uneven = !onnx_windows_are_even(w);
    const struct windows asked = *w;
    if (!max && (is_dilated(w) || (uneven && up))) {
        onnx_fail(import,
                  "means of dilated windows, and ceil_mode with pads that differ before and "
                  "behind, are not served");
        return;
    }
    int64_t dim[2 + WINDOWS_MAX] = {in->dim[0], in->dim[1]};
    memcpy(dim + 2, w->out, w->count * sizeof(*dim));
    if (max && uneven && in->dtype != LEO_DTYPE_F32) {
        onnx_fail(import, "integers with pads that differ before and behind are not served");
        return;
    }
    const double least = import->floats == LEO_DTYPE_F32 ? -(double)FLT_MAX : LEAST_HALF;
    const uint32_t x = onnx_padded(import, in, w, max ? least : 0);
    uint32_t result = model_build_value(&import->build, onnx_dtype(import, in), 2 + w->count, dim);
    if (max) {
        add_max_pool(import, x, w, up, dim, result);
    } else {
        add_mean_pool(import, x, w, up, with_pads || uneven, result);
    }
    if (!max && uneven && !with_pads) {
        result =
            onnx_made_of(import, "Mul", result, area_by_count(import, in, &asked), import->floats);
    }
    onnx_give_lifted(import, w, in->dtype, result);
}

void onnx_pool(struct onnx_import *import)
{
    const struct onnx_tensor *told = onnx_input(import, 0);
    struct windows w;
    if (!told || onnx_asked(import, 1) || onnx_attribute_int(import, "storage_order", 0)) {
        onnx_fail(import, "it has one output, in the order of rows");
        return;
    }
    struct onnx_tensor in = *told;
    if (!onnx_lift(import, &in, &w) ||
        !onnx_windows_list(import, &w, "kernel_shape", w.kernel, 1) ||
        !onnx_windows_take(import, &in, &w)) {
        return;
    }
    if (!onnx_attribute(import, "kernel_shape")) {
        onnx_fail(import, "it has no kernel_shape");
        return;
    }
    pool(import, &in, &w);
}

void onnx_global_pool(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t axes[LEO_OP_RANK_MAX], dim[LEO_OP_RANK_MAX];
    if (!in || in->rank < 3) {
        onnx_fail(import, "its input must have three dimensions or more");
        return;
    }
    const struct onnx_tensor self = *in;
    for (uint32_t d = 0; d < self.rank; d++) {
        dim[d] = d < 2 ? self.dim[d] : 1;
        axes[d] = d + 2;
    }
    const uint32_t x = onnx_value(import, in),
                   result = model_build_value(&import->build, import->floats, self.rank, dim);
    if (strcmp(import->node->op_type, "GlobalMaxPool") == 0) {
        MODEL_BUILD_CALL(&import->build, "Amax", model_build_tensor(x),
                         model_build_ints(axes, self.rank - 2), model_build_number(1),
                         model_build_tensor(result));
    } else {
        MODEL_BUILD_CALL(&import->build, "Mean", model_build_tensor(x),
                         model_build_ints(axes, self.rank - 2), model_build_number(1),
                         model_build_dtype(import->floats), model_build_tensor(result));
    }
    onnx_set_value(onnx_output(import, 0, self.dtype, self.rank, dim), result);
}
