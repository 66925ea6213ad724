/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, normalisation and pooling. */
#include "values.h"

#include <leo/alloc.h>
#include <math.h>
#include <string.h>

enum { PLANE = 2 }; // dimensions of a picture

/** Windows over pictures: [height, width]. */
struct windows {
    int64_t kernel[PLANE], stride[PLANE], dilation[PLANE], before[PLANE], after[PLANE], out[PLANE];
};

static void automatic_pads(struct windows *w, const int64_t *size, bool upper)
{
    for (unsigned d = 0; d < PLANE; d++) {
        const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1,
                      steps = (size[d] + w->stride[d] - 1) / w->stride[d],
                      need = (steps - 1) * w->stride[d] + reach - size[d],
                      all = need > 0 ? need : 0;
        w->before[d] = upper ? all / 2 : all - all / 2;
        w->after[d] = all - w->before[d];
    }
}

// Attributes of windows; kernel is set. False: something is not served.
static bool take_windows(struct onnx_import *import, const struct onnx_tensor *in,
                         struct windows *w)
{
    int64_t pads[2 * PLANE] = {0};
    const bool ceil_mode = onnx_attribute_int(import, "ceil_mode", 0) != 0;
    if (in->rank != 2 + PLANE) {
        onnx_fail(import, "it works on %u dimensions; pictures of four are served", in->rank);
        return false;
    }
    for (unsigned d = 0; d < PLANE; d++) {
        w->stride[d] = w->dilation[d] = 1;
    }
    onnx_attribute_ints(import, "strides", w->stride, PLANE);
    onnx_attribute_ints(import, "dilations", w->dilation, PLANE);
    onnx_attribute_ints(import, "pads", pads, 2 * PLANE);
    for (unsigned d = 0; d < PLANE; d++) {
        w->before[d] = pads[d];
        w->after[d] = pads[d + PLANE];
        if (w->stride[d] < 1 || w->dilation[d] < 1 || w->kernel[d] < 1 || pads[d] < 0 ||
            pads[d + PLANE] < 0) {
            onnx_fail(import, "its strides, dilations, kernel or pads are out of range");
            return false;
        }
    }
    if (onnx_attribute_is(import, "auto_pad", "SAME_UPPER") ||
        onnx_attribute_is(import, "auto_pad", "SAME_LOWER")) {
        automatic_pads(w, in->dim + 2, onnx_attribute_is(import, "auto_pad", "SAME_UPPER"));
    }
    for (unsigned d = 0; d < PLANE; d++) {
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

// The picture with pads, where the library's windows take none that differ before and behind.
static uint32_t padded(struct onnx_import *import, struct onnx_tensor *in, struct windows *w,
                       double number)
{
    const uint32_t value = onnx_value(import, in);
    int64_t dim[2 + PLANE];
    const int64_t pads[2 * PLANE] = {w->before[1], w->after[1], w->before[0], w->after[0]};
    if (w->before[0] == w->after[0] && w->before[1] == w->after[1]) {
        return value;
    }
    memcpy(dim, in->dim, sizeof(dim));
    for (unsigned d = 0; d < PLANE; d++) {
        dim[2 + d] += w->before[d] + w->after[d];
        w->before[d] = w->after[d] = 0;
    }
    const uint32_t result = model_build_value(&import->build, import->floats, 2 + PLANE, dim);
    MODEL_BUILD_CALL(&import->build, "ConstantPadNd", model_build_tensor(value),
                     model_build_ints(pads, 2 * PLANE), model_build_number(number),
                     model_build_tensor(result));
    return result;
}

// The one node that uses a name, if it is a BatchNormalization of known numbers; its number, -1:
// none.
static long norm_behind(struct onnx_import *import, const char *name)
{
    const OnnxFile__Graph *graph = import->graph;
    long user = -1;
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            if (strcmp(graph->node[i]->input[k], name) == 0) {
                if (user >= 0) {
                    return -1;
                }
                user = (long)i;
            }
        }
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        if (strcmp(graph->output[i]->name, name) == 0) {
            return -1;
        }
    }
    const OnnxFile__Node *node = user < 0 ? NULL : graph->node[user];
    if (!node || !node->op_type || strcmp(node->op_type, "BatchNormalization") != 0 ||
        node->n_input < 5 || strcmp(node->input[0], name) != 0) {
        return -1;
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->name && strcmp(node->attribute[i]->name, "training_mode") == 0 &&
            node->attribute[i]->i) {
            return -1;
        }
    }
    for (size_t k = 1; k < 5; k++) {
        const struct onnx_tensor *tensor = onnx_find(import, node->input[k]);
        if (!tensor || !tensor->known || tensor->dtype != LEO_DTYPE_F32) {
            return -1;
        }
    }
    return user;
}

/* What a normalisation in inference multiplies and adds, by channel. */
static bool norm_factors(struct onnx_import *import, const OnnxFile__Node *node, int64_t channels,
                         float **factor, float **summand)
{
    const float *known[4];
    float epsilon = 1e-5f;
    for (size_t k = 0; k < 4; k++) {
        const struct onnx_tensor *tensor = onnx_find(import, node->input[k + 1]);
        if (!tensor || !tensor->known || onnx_count(tensor) != channels) {
            onnx_fail(import, "its %zu. input must be known and have a number a channel", k + 2);
            return false;
        }
        known[k] = tensor->known;
    }
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->name && strcmp(node->attribute[i]->name, "epsilon") == 0) {
            epsilon = node->attribute[i]->f;
        }
    }
    *factor = leo_calloc((size_t)channels, sizeof(float));
    *summand = leo_calloc((size_t)channels, sizeof(float));
    for (int64_t c = 0; *factor && *summand && c < channels; c++) {
        (*factor)[c] = known[0][c] / sqrtf(known[3][c] + epsilon);
        (*summand)[c] = known[1][c] - known[2][c] * (*factor)[c];
    }
    if (!*factor || !*summand) {
        onnx_fail(import, "out of host memory");
    }
    return *factor && *summand;
}

/* Weights and biases of a convolution, after the normalisation behind it is folded in. */
static void fold_norm(struct onnx_import *import, const OnnxFile__Node *norm, int64_t channels,
                      float *weights, int64_t each, float *bias)
{
    float *factor = NULL, *summand = NULL;
    if (norm_factors(import, norm, channels, &factor, &summand)) {
        for (int64_t c = 0; c < channels; c++) {
            for (int64_t i = 0; i < each; i++) {
                weights[c * each + i] *= factor[c];
            }
            bias[c] = bias[c] * factor[c] + summand[c];
        }
    }
    leo_free(factor);
    leo_free(summand);
}

static void add_convolution(struct onnx_import *import, struct onnx_tensor *in, uint32_t weight,
                            uint32_t bias, bool has_bias, struct windows *w, int64_t channels,
                            int64_t groups)
{
    const struct onnx_tensor self = *in;
    const uint32_t x = padded(import, in, w, 0);
    const int64_t dim[] = {self.dim[0], channels, w->out[0], w->out[1]}, none[PLANE] = {0};
    struct onnx_tensor *out = onnx_output(import, 0, LEO_DTYPE_F32, 4, dim);
    if (!out) {
        return;
    }
    const uint32_t result = model_build_value(&import->build, import->floats, 4, dim);
    MODEL_BUILD_CALL(
        &import->build, "Convolution", model_build_tensor(x), model_build_tensor(weight),
        has_bias ? model_build_tensor(bias) : model_build_none(),
        model_build_ints(w->stride, PLANE), model_build_ints(w->before, PLANE),
        model_build_ints(w->dilation, PLANE), model_build_number(0), model_build_ints(none, PLANE),
        model_build_number((double)groups), model_build_tensor(result), model_build_number(0));
    onnx_set_value(out, result);
}

// A convolution with known weights, with the normalisation behind it.
static void convolve_known(struct onnx_import *import, struct onnx_tensor *in,
                           const struct onnx_tensor *weight, const struct onnx_tensor *bias,
                           struct windows *w, int64_t groups)
{
    const int64_t channels = weight->dim[0], count = onnx_count(weight);
    const long norm = norm_behind(import, import->node->output[0]);
    float *weights = leo_calloc((size_t)count, sizeof(*weights)),
          *biases = leo_calloc((size_t)channels, sizeof(*biases));
    if (!weights || !biases) {
        onnx_fail(import, "out of host memory");
    } else {
        memcpy(weights, weight->known, (size_t)count * sizeof(*weights));
        if (bias) {
            memcpy(biases, bias->known, (size_t)channels * sizeof(*biases));
        }
        if (norm >= 0) {
            fold_norm(import, import->graph->node[norm], channels, weights, count / channels,
                      biases);
        }
        const uint32_t own = onnx_weight(import, weight->rank, weight->dim, weights),
                       sum = bias || norm >= 0 ? onnx_weight(import, 1, &channels, biases) : 0;
        add_convolution(import, in, own, sum, bias || norm >= 0, w, channels, groups);
        if (norm >= 0 && !import->build.failed) {
            // The normalisation's result is this one.
            const struct onnx_tensor made = import->tensors[import->tensor_count - 1];
            import->tensors[import->tensor_count] = made;
            import->tensors[import->tensor_count++].name = import->graph->node[norm]->output[0];
            import->skipped[norm] = true;
        }
    }
    leo_free(weights);
    leo_free(biases);
}

void onnx_conv(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *weight = onnx_input(import, 1),
                       *bias = onnx_input(import, 2);
    struct windows w;
    if (!in || !weight) {
        return;
    }
    const int64_t groups = onnx_attribute_int(import, "group", 1);
    if (weight->rank != 2 + PLANE || groups < 1 || in->rank != 2 + PLANE ||
        in->dim[1] != weight->dim[1] * groups) {
        onnx_fail(import, "its picture, weights and groups do not fit (two-dimensional "
                          "convolutions are served)");
        return;
    }
    memcpy(w.kernel, weight->dim + 2, sizeof(w.kernel));
    if (!take_windows(import, in, &w)) {
        return;
    }
    if (weight->known && (!bias || bias->known)) {
        convolve_known(import, in, weight, bias, &w, groups);
        return;
    }
    const int64_t channels = weight->dim[0];
    const uint32_t own = onnx_value(import, weight), sum = bias ? onnx_value(import, bias) : 0;
    add_convolution(import, in, own, sum, bias != NULL, &w, channels, groups);
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
    if (norm_factors(import, import->node, self.dim[1], &factor, &summand)) {
        const uint32_t rank = self.rank - 1, x = onnx_value(import, in),
                       f = onnx_weight(import, rank, dim, factor),
                       s = onnx_weight(import, rank, dim, summand),
                       scaled =
                           model_build_value(&import->build, import->floats, self.rank, self.dim),
                       result =
                           model_build_value(&import->build, import->floats, self.rank, self.dim);
        MODEL_BUILD_CALL(&import->build, "Mul", model_build_tensor(x), model_build_tensor(f),
                         model_build_tensor(scaled));
        MODEL_BUILD_CALL(&import->build, "Add", model_build_tensor(scaled), model_build_tensor(s),
                         model_build_number(1), model_build_tensor(result));
        onnx_set_value(onnx_output(import, 0, self.dtype, self.rank, self.dim), result);
    }
    leo_free(factor);
    leo_free(summand);
}

// Of windows that also cover pads: kernel's area by the elements that are no pads, by place.
static uint32_t area_by_count(struct onnx_import *import, const struct onnx_tensor *in,
                              const struct windows *w)
{
    const int64_t dim[] = {1, 1, w->out[0], w->out[1]};
    float *factors = leo_calloc((size_t)(w->out[0] * w->out[1]), sizeof(*factors));
    if (!factors) {
        onnx_fail(import, "out of host memory");
        return 0;
    }
    for (int64_t i = 0; i < w->out[0] * w->out[1]; i++) {
        const int64_t at[PLANE] = {i / w->out[1], i % w->out[1]};
        int64_t count = 1;
        for (unsigned d = 0; d < PLANE; d++) {
            const int64_t first = at[d] * w->stride[d] - w->before[d],
                          end = first + w->kernel[d] < in->dim[2 + d] ? first + w->kernel[d]
                                                                      : in->dim[2 + d];
            count *= end - (first > 0 ? first : 0);
        }
        factors[i] = (float)(w->kernel[0] * w->kernel[1]) / (float)(count > 0 ? count : 1);
    }
    const uint32_t weight = onnx_weight(import, 4, dim, factors);
    leo_free(factors);
    return weight;
}

static void add_max_pool(struct onnx_import *import, uint32_t x, const struct windows *w, bool up,
                         const int64_t *dim, uint32_t result)
{
    const uint32_t places = model_build_value(&import->build, LEO_DTYPE_S32, 4, dim);
    MODEL_BUILD_CALL(&import->build, "MaxPool2dWithIndices", model_build_tensor(x),
                     model_build_ints(w->kernel, PLANE), model_build_ints(w->stride, PLANE),
                     model_build_ints(w->before, PLANE), model_build_ints(w->dilation, PLANE),
                     model_build_number(up), model_build_tensor(result),
                     model_build_tensor(places));
}

static void add_mean_pool(struct onnx_import *import, uint32_t x, const struct windows *w, bool up,
                          bool with_pads, uint32_t result)
{
    MODEL_BUILD_CALL(&import->build, "AvgPool2d", model_build_tensor(x),
                     model_build_ints(w->kernel, PLANE), model_build_ints(w->stride, PLANE),
                     model_build_ints(w->before, PLANE), model_build_number(up),
                     model_build_number(with_pads), model_build_number(0), model_build_number(0),
                     model_build_tensor(result));
}

void onnx_pool(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    struct windows w;
    if (!in || onnx_attribute_ints(import, "kernel_shape", w.kernel, PLANE) != PLANE ||
        import->node->n_output > 1) {
        onnx_fail(import, "its kernel must have two dimensions, and it one output");
        return;
    }
    const struct onnx_tensor self = *in;
    const bool max = strcmp(import->node->op_type, "MaxPool") == 0,
               with_pads = onnx_attribute_int(import, "count_include_pad", 0) != 0,
               up = onnx_attribute_int(import, "ceil_mode", 0) != 0;
    if (!take_windows(import, in, &w)) {
        return;
    }
    const struct windows asked = w;
    const bool uneven = w.before[0] != w.after[0] || w.before[1] != w.after[1];
    if (!max && (w.dilation[0] != 1 || w.dilation[1] != 1 || (uneven && up))) {
        onnx_fail(import,
                  "means of dilated windows, and ceil_mode with pads that differ before and "
                  "behind, are not served");
        return;
    }
    // Below every number of either type.
    const uint32_t x = padded(import, in, &w, max ? -65504.0 : 0);
    const int64_t dim[] = {self.dim[0], self.dim[1], w.out[0], w.out[1]};
    struct onnx_tensor *out = onnx_output(import, 0, self.dtype, 4, dim);
    if (!out) {
        return;
    }
    uint32_t result = model_build_value(&import->build, import->floats, 4, dim);
    if (max) {
        add_max_pool(import, x, &w, up, dim, result);
    } else {
        add_mean_pool(import, x, &w, up, with_pads || uneven, result);
    }
    if (!max && uneven && !with_pads) {
        const uint32_t factor = area_by_count(import, &self, &asked),
                       scaled = model_build_value(&import->build, import->floats, 4, dim);
        MODEL_BUILD_CALL(&import->build, "Mul", model_build_tensor(result),
                         model_build_tensor(factor), model_build_tensor(scaled));
        result = scaled;
    }
    onnx_set_value(out, result);
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
    const uint32_t x = onnx_value(import, in),
                   scaled = model_build_value(build, import->floats, 4, self.dim),
                   square = model_build_value(build, import->floats, 4, self.dim),
                   rows = model_build_value(build, import->floats, 4, wide);
    MODEL_BUILD_CALL(build, "Muls", model_build_tensor(x), model_build_number(scale),
                     model_build_tensor(scaled));
    MODEL_BUILD_CALL(build, "Mul", model_build_tensor(scaled), model_build_tensor(scaled),
                     model_build_tensor(square));
    MODEL_BUILD_CALL(build, "ConstantPadNd", model_build_tensor(square), model_build_ints(pads, 6),
                     model_build_number(0), model_build_tensor(rows));
    if (build->failed) {
        return;
    }
    memcpy(stride, build->model.values[rows].stride, sizeof(stride));
    uint32_t sum = model_build_view(build, rows, 4, self.dim, stride, 0);
    for (int64_t i = 1; i < size; i++) {
        const uint32_t next = model_build_view(build, rows, 4, self.dim, stride, i * stride[1]),
                       more = model_build_value(build, import->floats, 4, self.dim);
        MODEL_BUILD_CALL(build, "Add", model_build_tensor(sum), model_build_tensor(next),
                         model_build_number(1), model_build_tensor(more));
        sum = more;
    }
    const uint32_t base = model_build_value(build, import->floats, 4, self.dim),
                   power = model_build_value(build, import->floats, 4, self.dim),
                   result = model_build_value(build, import->floats, 4, self.dim);
    MODEL_BUILD_CALL(build, "Adds", model_build_tensor(sum), model_build_number(bias),
                     model_build_number(1), model_build_tensor(base));
    MODEL_BUILD_CALL(build, "PowTensorScalar", model_build_tensor(base), model_build_number(beta),
                     model_build_tensor(power));
    MODEL_BUILD_CALL(build, "Div", model_build_tensor(x), model_build_tensor(power),
                     model_build_tensor(result));
    onnx_set_value(onnx_output(import, 0, self.dtype, 4, self.dim), result);
}
