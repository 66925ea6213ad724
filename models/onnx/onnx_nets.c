/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, and normalisation with what is known. */
#include "folds.h"
#include "windows.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

// Of a convolution, transposed or not: picture and weights are lifted, w has pads that are even.
static uint32_t convolve(struct onnx_import *import, uint32_t x, uint32_t weight,
                         const uint32_t *bias, const struct windows *w, const int64_t *dim,
                         const int64_t *output_pads, int64_t groups)
{
    static const int64_t none[WINDOWS_MAX] = {0};
    const uint32_t result = model_build_value(&import->build, import->floats, 2 + w->count, dim);
    MODEL_BUILD_CALL(
        &import->build, "Convolution", model_build_tensor(x), model_build_tensor(weight),
        bias ? model_build_tensor(*bias) : model_build_none(),
        model_build_ints(w->stride, w->count), model_build_ints(w->before, w->count),
        model_build_ints(w->dilation, w->count), model_build_number(output_pads != NULL),
        model_build_ints(output_pads ? output_pads : none, w->count),
        model_build_number((double)groups), model_build_tensor(result), model_build_number(0));
    return result;
}

static void add_convolution(struct onnx_import *import, struct onnx_tensor *in, uint32_t weight,
                            const uint32_t *bias, struct windows *w, int64_t channels,
                            int64_t groups)
{
    int64_t dim[2 + WINDOWS_MAX] = {in->dim[0], channels};
    memcpy(dim + 2, w->out, w->count * sizeof(*dim));
    const uint32_t x = onnx_padded(import, in, w, 0);
    onnx_give_lifted(import, w, LEO_DTYPE_F32,
                     convolve(import, x, weight, bias, w, dim, NULL, groups));
}

// A convolution with known weights, with what stands behind it and can be folded into them.
static void convolve_known(struct onnx_import *import, struct onnx_tensor *in,
                           const struct onnx_tensor *weight, const struct onnx_tensor *bias,
                           struct windows *w, int64_t groups)
{
    const int64_t channels = weight->dim[0], count = onnx_count(weight);
    const char *last = NULL;
    float *weights = leo_calloc((size_t)count + 1, sizeof(*weights)),
          *biases = leo_calloc((size_t)channels + 1, sizeof(*biases));
    if (!weights || !biases || count == 0) {
        onnx_fail(import, "out of host memory, or it has no weights");
    } else {
        memcpy(weights, weight->known, (size_t)count * sizeof(*weights));
        if (bias) {
            memcpy(biases, bias->known, (size_t)channels * sizeof(*biases));
        }
        last = onnx_fold_behind(import,
                                &(struct onnx_rows){channels, count / channels,
                                                    w->lifted ? 1 : w->count, weights, biases});
        const bool adds = bias || last;
        const uint32_t own = onnx_weight(import, weight->rank, weight->dim, weights),
                       sum = adds ? onnx_weight(import, 1, &channels, biases) : 0;
        add_convolution(import, in, own, adds ? &sum : NULL, w, channels, groups);
        if (last && !import->build.failed) {
            // The result of the last one folded is this one.
            const struct onnx_tensor made = import->tensors[import->tensor_count - 1];
            import->tensors[import->tensor_count] = made;
            import->tensors[import->tensor_count++].name = last;
        }
    }
    leo_free(weights);
    leo_free(biases);
}

// Picture and weights of the node, lifted. False: they are none of a convolution.
static bool take_operands(struct onnx_import *import, struct onnx_tensor *in,
                          struct onnx_tensor *weight, struct windows *w)
{
    const struct onnx_tensor *a = onnx_input(import, 0), *b = onnx_input(import, 1),
                             *bias = onnx_input(import, 2);
    if (!a || !b || a->rank != b->rank || (bias && bias->rank != 1)) {
        onnx_fail(import, "it needs a picture and weights of as many dimensions");
        return false;
    }
    *in = *a;
    *weight = *b;
    if (!onnx_lift(import, in, w) || !onnx_lift(import, weight, w)) {
        return false;
    }
    memcpy(w->kernel, weight->dim + 2, w->count * sizeof(*w->kernel));
    return !import->build.failed;
}

void onnx_conv(struct onnx_import *import)
{
    struct onnx_tensor in, weight, *bias = onnx_input(import, 2);
    struct windows w;
    const int64_t groups = onnx_attribute_int(import, "group", 1);
    if (!take_operands(import, &in, &weight, &w)) {
        return;
    }
    if (groups < 1 || in.dim[1] != weight.dim[1] * groups ||
        (bias && onnx_count(bias) != weight.dim[0])) {
        onnx_fail(import, "its picture, weights, biases and groups do not fit");
        return;
    }
    if (!onnx_windows_take(import, &in, &w)) {
        return;
    }
    if (weight.known && (!bias || bias->known)) {
        convolve_known(import, &in, &weight, bias, &w, groups);
        return;
    }
    const uint32_t own = onnx_value(import, &weight), sum = bias ? onnx_value(import, bias) : 0;
    add_convolution(import, &in, own, bias ? &sum : NULL, &w, weight.dim[0], groups);
}

// Pads that an output_shape or auto_pad asks for; `extra` is what the output has more at its end.
static bool transposed_pads(struct onnx_import *import, const struct onnx_tensor *in,
                            struct windows *w, const int64_t *extra)
{
    const bool upper = onnx_attribute_is(import, "auto_pad", "SAME_UPPER"),
               same = upper || onnx_attribute_is(import, "auto_pad", "SAME_LOWER"),
               sized = onnx_attribute(import, "output_shape") != NULL;
    int64_t shape[WINDOWS_MAX];
    if (!onnx_windows_list(import, w, "output_shape", shape, 1)) {
        return false;
    }
    for (unsigned d = 0; d < w->count; d++) {
        const int64_t size = in->dim[2 + d],
                      full = w->stride[d] * (size - 1) + extra[d] +
                             (w->kernel[d] - 1) * w->dilation[d] + 1,
                      asked = sized ? shape[d] : size * w->stride[d], pads = full - asked;
        if ((same || sized) && !(w->lifted && d == 0)) {
            w->before[d] = upper ? pads / 2 : pads - pads / 2;
            w->after[d] = pads - w->before[d];
        }
        w->out[d] = full - w->before[d] - w->after[d];
        if (w->before[d] < 0 || w->after[d] < 0 || w->out[d] < 1) {
            onnx_fail(import, "its output would be larger than what the picture reaches");
            return false;
        }
    }
    return true;
}

// The whole result, and a look at it without the pads.
static uint32_t without_pads(struct onnx_import *import, uint32_t whole, const struct windows *w,
                             const int64_t *dim)
{
    const struct leo_model_value seen = onnx_seen(import, whole);
    int64_t offset = 0;
    for (unsigned d = 0; d < w->count; d++) {
        offset += w->before[d] * seen.stride[2 + d];
    }
    return model_build_view(&import->build, whole, 2 + w->count, dim, seen.stride, offset);
}

void onnx_conv_transpose(struct onnx_import *import)
{
    struct onnx_tensor in, weight, *bias = onnx_input(import, 2);
    struct windows w;
    int64_t extra[WINDOWS_MAX];
    const int64_t groups = onnx_attribute_int(import, "group", 1);
    if (!take_operands(import, &in, &weight, &w) || !onnx_windows_numbers(import, &w) ||
        !onnx_windows_list(import, &w, "output_padding", extra, 0) ||
        !transposed_pads(import, &in, &w, extra)) {
        return;
    }
    if (groups < 1 || in.dim[1] != weight.dim[0]) {
        onnx_fail(import, "its picture and weights do not fit");
        return;
    }
    int64_t dim[2 + WINDOWS_MAX] = {in.dim[0], weight.dim[1] * groups}, whole[2 + WINDOWS_MAX];
    memcpy(dim + 2, w.out, w.count * sizeof(*dim));
    memcpy(whole, dim, sizeof(whole));
    const bool even = onnx_windows_are_even(&w);
    struct windows used = w;
    for (unsigned d = 0; d < w.count && !even; d++) {
        whole[2 + d] += w.before[d] + w.after[d];
        used.before[d] = 0;
    }
    const uint32_t own = onnx_value(import, &weight), sum = bias ? onnx_value(import, bias) : 0,
                   x = onnx_value(import, &in);
    const uint32_t out = convolve(import, x, own, bias ? &sum : NULL, &used, whole, extra, groups);
    onnx_give_lifted(import, &w, LEO_DTYPE_F32, even ? out : without_pads(import, out, &w, dim));
}

static bool has_known_norm(struct onnx_import *import)
{
    bool known = true;
    for (size_t k = 1; k < 5; k++) {
        const struct onnx_tensor *tensor = onnx_input(import, k);
        known = known && tensor && tensor->known;
    }
    return known;
}

/* A normalisation in inference whose numbers come when the model runs; `dim` spreads a number a
 * channel. */
static void norm_by_inputs(struct onnx_import *import, struct onnx_tensor *in, const int64_t *dim)
{
    const struct onnx_tensor self = *in;
    const enum leo_dtype own = import->floats;
    uint32_t value[5];
    for (size_t k = 0; k < 5; k++) {
        struct onnx_tensor *tensor = onnx_input(import, k);
        value[k] = onnx_value(import, tensor);
        if (!tensor || (k && onnx_count(tensor) != self.dim[1])) {
            onnx_fail(import, "its inputs must have a number a channel");
            return;
        }
        value[k] = k ? onnx_made_flat(import, value[k], self.rank - 1, dim) : value[k];
    }
    const double epsilon = (double)onnx_attribute_float(import, "epsilon", 1e-5f);
    const uint32_t root = onnx_made(import, "Rsqrt",
                                    onnx_made_with(import, "Adds", value[4], epsilon)),
                   factor = onnx_made_of(import, "Mul", root, value[1], own),
                   far = onnx_made_of(import, "Sub", value[0], value[3], own),
                   part = onnx_made_of(import, "Mul", far, factor, own);
    onnx_give(import, 0, self.dtype, onnx_made_of(import, "Add", part, value[2], own));
}

void onnx_batch_norm(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    float *factor = NULL, *summand = NULL;
    if (!in || in->rank < 2 || import->node->n_input < 5) {
        onnx_fail(import, "it needs five inputs, the first of two dimensions or more");
        return;
    }
    const struct onnx_tensor self = *in;
    int64_t dim[LEO_OP_RANK_MAX];
    for (uint32_t d = 0; d + 1 < self.rank; d++) {
        dim[d] = d == 0 ? self.dim[1] : 1; // broadcast over what is behind
    }
    if (onnx_attribute_int(import, "training_mode", 0)) {
        onnx_fail(import, "training is not served");
        return;
    }
    if (!has_known_norm(import)) {
        norm_by_inputs(import, in, dim);
        return;
    }
    if (onnx_norm_factors(import, import->node, self.dim[1], &factor, &summand)) {
        const uint32_t rank = self.rank - 1, x = onnx_value(import, in),
                       f = onnx_weight(import, rank, dim, factor),
                       s = onnx_weight(import, rank, dim, summand),
                       scaled = onnx_made_of(import, "Mul", x, f, import->floats);
        onnx_give(import, 0, self.dtype, onnx_made_of(import, "Add", scaled, s, import->floats));
    }
    leo_free(factor);
    leo_free(summand);
}

/* x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta. Squares are scaled
 * before they are summed: halves end at 65504. */
void onnx_lrn(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    const int64_t size = onnx_attribute_int(import, "size", 0);
    if (!in || in->rank != 4 || size < 1) {
        onnx_fail(import, "it needs pictures and a size");
        return;
    }
    const struct onnx_tensor self = *in;
    struct model_build *build = &import->build;
    const double alpha = (double)onnx_attribute_float(import, "alpha", 1e-4f),
                 beta = (double)onnx_attribute_float(import, "beta", 0.75f),
                 bias = (double)onnx_attribute_float(import, "bias", 1),
                 scale = sqrt(alpha / (double)size);
    const int64_t before = (size - 1) / 2, after = size - 1 - before,
                  pads[] = {0, 0, 0, 0, before, after};
    int64_t wide[4], stride[4];
    memcpy(wide, self.dim, sizeof(wide));
    wide[1] += size - 1;
    const uint32_t x = onnx_value(import, in), scaled = onnx_made_with(import, "Muls", x, scale),
                   square = onnx_made_of(import, "Mul", scaled, scaled, import->floats),
                   rows = model_build_value(build, import->floats, 4, wide);
    MODEL_BUILD_CALL(build, "ConstantPadNd", model_build_tensor(square), model_build_ints(pads, 6),
                     model_build_number(0), model_build_tensor(rows));
    if (build->failed) {
        return;
    }
    memcpy(stride, build->model.values[rows].stride, sizeof(stride));
    uint32_t sum = model_build_view(build, rows, 4, self.dim, stride, 0);
    for (int64_t i = 1; i < size; i++) {
        const uint32_t next = model_build_view(build, rows, 4, self.dim, stride, i * stride[1]);
        sum = onnx_made_of(import, "Add", sum, next, import->floats);
    }
    const uint32_t base = onnx_made_with(import, "Adds", sum, bias),
                   power = onnx_made_with(import, "PowTensorScalar", base, beta);
    onnx_give(import, 0, self.dtype, onnx_made_of(import, "Div", x, power, import->floats));
}
