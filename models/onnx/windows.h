/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over tensors of one, two or three dimensions behind batch and channels. */
#pragma once

#include "values.h"

enum { WINDOWS_MAX = 3 };

/** Numbers by dimension. One dimension counts as two, of which the first has one element. */
struct windows {
    unsigned count;
    bool lifted;
    int64_t kernel[WINDOWS_MAX], stride[WINDOWS_MAX], dilation[WINDOWS_MAX], before[WINDOWS_MAX],
        after[WINDOWS_MAX], out[WINDOWS_MAX];
};

/** The tensor for windows: with one dimension more if it has three. False: it has not three to five
 * dimensions. */
bool onnx_lift(struct onnx_import *import, struct onnx_tensor *tensor, struct windows *windows);
/** Numbers of an attribute for each dimension, or `other`. False: it has another count. */
bool onnx_windows_list(struct onnx_import *import, const struct windows *windows, const char *name,
                       int64_t *list, int64_t other);
/** Strides, dilations and pads as they are written; kernel is set. False: out of range. */
bool onnx_windows_numbers(struct onnx_import *import, struct windows *windows);
/** The same with the sizes of the result and pads that follow from the input's. */
bool onnx_windows_take(struct onnx_import *import, const struct onnx_tensor *in,
                       struct windows *windows);
bool onnx_windows_are_even(const struct windows *windows); /**< the same pads at both ends */
/** The tensor padded with a number if its pads are not the same at both ends; they are 0 then. */
uint32_t onnx_padded(struct onnx_import *import, struct onnx_tensor *in, struct windows *windows,
                     double number);
/** Output 0 of the node: without the dimension that was added. */
void onnx_give_lifted(struct onnx_import *import, const struct windows *windows,
                      enum leo_dtype dtype, uint32_t value);
