/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

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
    const struct onnx_tensor self = *in;
    double number = (double)onnx_attribute_float(import, "value", 0);
    if (!onnx_known_number(import, "constant_value", 2, &number)) {
        return;
    }
    for (uint32_t d = 0; d < self.rank; d++) {
        const uint32_t from = self.rank - 1 - d;
        last_first[2 * d] = before[from];
        last_first[2 * d + 1] = after[from];
        if (__builtin_add_overflow(self.dim[from], before[from], &dim[from]) ||
            __builtin_add_overflow(dim[from], after[from], &dim[from]) || dim[from] < 0) {
            onnx_fail(import, "nothing is left of a dimension, or its pads are out of range");
            return;
        }
    }
    if (!onnx_fits(import, self.rank, dim)) {
        return;
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
