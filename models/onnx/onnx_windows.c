/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

#include <string.h>

bool onnx_lift(struct onnx_import *import, struct onnx_tensor *tensor, struct windows *windows)
{
    windows->lifted = tensor->rank == 3;
    if (tensor->rank < 3 || tensor->rank > 2 + WINDOWS_MAX) {
        onnx_fail(import, "a tensor of %u dimensions is not one for windows", tensor->rank);
        return false;
    }
    if (windows->lifted) {
        const int64_t dim[] = {tensor->dim[0], tensor->dim[1], 1, tensor->dim[2]};
        if (!tensor->known) {
            tensor->value = onnx_made_flat(import, onnx_value(import, tensor), 4, dim);
            tensor->has_value = true;
        } else {
            tensor->has_value = false; // a weight of the new shape
        }
        tensor->rank = 4;
        memcpy(tensor->dim, dim, sizeof(dim));
    }
    windows->count = tensor->rank - 2;
    return true;
}

bool onnx_windows_list(struct onnx_import *import, const struct windows *windows, const char *name,
                       int64_t *list, int64_t other)
{
    int64_t told[WINDOWS_MAX];
    const uint32_t count = onnx_attribute_ints(import, name, told, WINDOWS_MAX);
    for (unsigned d = 0; d < windows->count; d++) {
        list[d] = count && d >= windows->lifted ? told[d - windows->lifted] : other;
    }
    if (count && count != windows->count - windows->lifted) {
        onnx_fail(import, "its %s have %u numbers for %u dimensions", name, count,
                  windows->count - windows->lifted);
        return false;
    }
    return true;
}

bool onnx_windows_numbers(struct onnx_import *import, struct windows *windows)
{
    int64_t pads[2 * WINDOWS_MAX];
    const unsigned own = windows->count - windows->lifted;
    const uint32_t padded = onnx_attribute_ints(import, "pads", pads, 2 * WINDOWS_MAX);
    bool good = onnx_windows_list(import, windows, "strides", windows->stride, 1) &&
                onnx_windows_list(import, windows, "dilations", windows->dilation, 1) &&
                (padded == 0 || padded == 2 * own);
    for (unsigned d = 0; d < windows->count; d++) {
        const bool told = padded && d >= windows->lifted;
        const unsigned at = d - windows->lifted;
        windows->before[d] = told ? pads[at] : 0;
        windows->after[d] = told ? pads[at + own] : 0;
        if (windows->lifted && d == 0) {
            windows->kernel[d] = 1;
        }
        good = good && windows->stride[d] > 0 && windows->dilation[d] > 0 &&
               windows->kernel[d] > 0 && windows->before[d] >= 0 && windows->after[d] >= 0;
    }
    if (!good) {
        onnx_fail(import, "its strides, dilations, kernel or pads are out of range");
    }
    return good;
}

static void automatic_pads(struct windows *w, const int64_t *size, bool upper)
{
    for (unsigned d = 0; d < w->count; d++) {
        const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1,
                      steps = (size[d] + w->stride[d] - 1) / w->stride[d],
                      need = (steps - 1) * w->stride[d] + reach - size[d],
                      all = need > 0 ? need : 0;
        w->before[d] = upper ? all / 2 : all - all / 2;
        w->after[d] = all - w->before[d];
    }
}

bool onnx_windows_take(struct onnx_import *import, const struct onnx_tensor *in, struct windows *w)
{
    const bool ceil_mode = onnx_attribute_int(import, "ceil_mode", 0) != 0,
               upper = onnx_attribute_is(import, "auto_pad", "SAME_UPPER");
    if (!onnx_windows_numbers(import, w)) {
        return false;
    }
    if (upper || onnx_attribute_is(import, "auto_pad", "SAME_LOWER")) {
        automatic_pads(w, in->dim + 2, upper);
    }
    for (unsigned d = 0; d < w->count; d++) {
        const int64_t room =
            in->dim[2 + d] + w->before[d] + w->after[d] - ((w->kernel[d] - 1) * w->dilation[d] + 1);
        if (room < 0) {
            onnx_fail(import, "its window is larger than the picture");
            return false;
        }
        w->out[d] = (room + (ceil_mode ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
        // A window that begins behind the picture and its pads is none.
        if (ceil_mode && (w->out[d] - 1) * w->stride[d] >= in->dim[2 + d] + w->before[d]) {
            w->out[d]--;
        }
    }
    return true;
}

bool onnx_windows_are_even(const struct windows *windows)
{
    bool even = true;
    for (unsigned d = 0; d < windows->count; d++) {
        even = even && windows->before[d] == windows->after[d];
    }
    return even;
}

uint32_t onnx_padded(struct onnx_import *import, struct onnx_tensor *in, struct windows *w,
                     double number)
{
    const uint32_t value = onnx_value(import, in);
    int64_t dim[2 + WINDOWS_MAX], last_first[2 * WINDOWS_MAX];
    if (onnx_windows_are_even(w)) {
        return value;
    }
    memcpy(dim, in->dim, sizeof(dim));
    for (unsigned d = 0; d < w->count; d++) {
        const unsigned place = 2 * (w->count - 1 - d);
        last_first[place] = w->before[d];
        last_first[place + 1] = w->after[d];
        dim[2 + d] += w->before[d] + w->after[d];
        w->before[d] = w->after[d] = 0;
    }
    const uint32_t result =
        model_build_value(&import->build, onnx_dtype(import, in), 2 + w->count, dim);
    MODEL_BUILD_CALL(&import->build, "ConstantPadNd", model_build_tensor(value),
                     model_build_ints(last_first, 2 * w->count), model_build_number(number),
                     model_build_tensor(result));
    return result;
}

void onnx_give_lifted(struct onnx_import *import, const struct windows *windows,
                      enum leo_dtype dtype, uint32_t value)
{
    const struct leo_model_value seen = onnx_seen(import, value);
    const int64_t dim[] = {seen.dim[0], seen.dim[1], seen.dim[3]};
    onnx_give(import, 0, dtype, windows->lifted ? onnx_made_flat(import, value, 3, dim) : value);
}
