/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations whose numbers are those of the input, and losses. */
#include "values.h"

#include <string.h>

/* InstanceNormalization, and GroupNormalization, whose scale is by channel since opset 21. */
void onnx_group_norm(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *scale = onnx_input(import, 1),
                       *bias = onnx_input(import, 2);
    if (!in || !scale || !bias || in->rank < 3) {
        onnx_fail(import, "it needs three inputs, the first of three dimensions or more");
        return;
    }
    const struct onnx_tensor self = *in;
    const bool instance = strcmp(import->node->op_type, "InstanceNormalization") == 0;
    const int64_t n = self.dim[0], c = self.dim[1],
                  groups = instance ? c : onnx_attribute_int(import, "num_groups", 0);
    if (groups < 1 || c % groups || onnx_count(scale) != c || onnx_count(bias) != c) {
        onnx_fail(import, "its groups must divide the channels, and scale and bias be by channel");
        return;
    }
    const int64_t area = n && c ? onnx_count(&self) / (n * c) : 0, stats[] = {n, groups};
    const uint32_t x = onnx_dense(import, in), s = onnx_value(import, scale),
                   b = onnx_value(import, bias),
                   out = model_build_value(&import->build, import->floats, self.rank, self.dim),
                   mean = model_build_value(&import->build, import->floats, 2, stats),
                   rstd = model_build_value(&import->build, import->floats, 2, stats);
    MODEL_BUILD_CALL(&import->build, "GroupNorm", model_build_tensor(x), model_build_tensor(s),
                     model_build_tensor(b), model_build_number((double)n),
                     model_build_number((double)c), model_build_number((double)area),
                     model_build_number((double)groups),
                     model_build_number((double)onnx_attribute_float(import, "epsilon", 1e-5f)),
                     model_build_tensor(out), model_build_tensor(mean), model_build_tensor(rstd));
    onnx_give(import, 0, self.dtype, out);
}

void onnx_layer_norm(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *scale = onnx_input(import, 1),
                       *bias = onnx_input(import, 2);
    int64_t kept[LEO_OP_RANK_MAX];
    if (!in || !scale) {
        return;
    }
    const struct onnx_tensor self = *in;
    const uint32_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", -1), self.rank);
    for (uint32_t d = 0; d < self.rank; d++) {
        kept[d] = d < axis ? self.dim[d] : 1;
    }
    const uint32_t x = onnx_value(import, in), s = onnx_value(import, scale),
                   b = bias ? onnx_value(import, bias) : 0,
                   result = model_build_value(&import->build, import->floats, self.rank, self.dim),
                   mean = model_build_value(&import->build, import->floats, self.rank, kept),
                   rstd = model_build_value(&import->build, import->floats, self.rank, kept);
    const bool told = onnx_asked(import, 1) || onnx_asked(import, 2);
    MODEL_BUILD_CALL(&import->build, "LayerNorm", model_build_tensor(x),
                     model_build_ints(self.dim + axis, self.rank - axis), model_build_tensor(s),
                     bias ? model_build_tensor(b) : model_build_none(),
                     model_build_number((double)onnx_attribute_float(import, "epsilon", 1e-5f)),
                     model_build_tensor(result),
                     told ? model_build_tensor(mean) : model_build_none(),
                     told ? model_build_tensor(rstd) : model_build_none());
    onnx_give(import, 0, self.dtype, result);
    onnx_give(import, 1, LEO_DTYPE_F32, mean);
    onnx_give(import, 2, LEO_DTYPE_F32, rstd);
}

void onnx_rms_norm(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *scale = onnx_input(import, 1);
    int64_t axes[LEO_OP_RANK_MAX];
    if (!in || !scale) {
        onnx_fail(import, "it needs two inputs");
        return;
    }
    const struct onnx_tensor self = *in;
    const uint32_t first = onnx_axis(import, onnx_attribute_int(import, "axis", -1), self.rank);
    for (uint32_t d = first; d < self.rank; d++) {
        axes[d - first] = d;
    }
    const enum leo_dtype own = import->floats;
    const uint32_t x = onnx_value(import, in), s = onnx_value(import, scale),
                   square = onnx_made_of(import, "Mul", x, x, own),
                   mean = onnx_made_over(import, "Mean", square, axes, self.rank - first),
                   base = onnx_made_with(import, "Adds", mean,
                                         (double)onnx_attribute_float(import, "epsilon", 1e-5f)),
                   part = onnx_made_of(import, "Mul", x, onnx_made(import, "Rsqrt", base), own);
    onnx_give(import, 0, self.dtype, onnx_made_of(import, "Mul", part, s, own));
}

/* (x - mean) / deviation over some dimensions, all but the channels unless they are named. */
void onnx_mean_variance(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    int64_t axes[LEO_OP_RANK_MAX] = {0, 2, 3};
    if (!in) {
        return;
    }
    const struct onnx_tensor self = *in;
    uint32_t count = onnx_attribute_ints(import, "axes", axes, LEO_OP_RANK_MAX);
    count = count ? count : 3;
    for (uint32_t i = 0; i < count; i++) {
        axes[i] = onnx_axis(import, axes[i], self.rank);
    }
    const enum leo_dtype own = import->floats;
    const uint32_t x = onnx_value(import, in),
                   mean = onnx_made_over(import, "Mean", x, axes, count),
                   far = onnx_made_of(import, "Sub", x, mean, own),
                   square = onnx_made_of(import, "Mul", far, far, own),
                   deviation = onnx_made(import, "Sqrt",
                                         onnx_made_over(import, "Mean", square, axes, count)),
                   // The format's own summand, which keeps 0 / 0 away.
        base = onnx_made_with(import, "Adds", deviation, 1e-9);
    onnx_give(import, 0, self.dtype, onnx_made_of(import, "Div", far, base, own));
}

void onnx_lp_norm(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    const int64_t p = onnx_attribute_int(import, "p", 2);
    if (!in || (p != 1 && p != 2)) {
        onnx_fail(import, "its p must be 1 or 2");
        return;
    }
    const struct onnx_tensor self = *in;
    const int64_t axis = onnx_axis(import, onnx_attribute_int(import, "axis", -1), self.rank);
    const enum leo_dtype own = import->floats;
    const uint32_t x = onnx_value(import, in),
                   each = p == 1 ? onnx_made(import, "Abs", x)
                                 : onnx_made_of(import, "Mul", x, x, own),
                   sum = onnx_made_over(import, "ReduceSum", each, &axis, 1),
                   norm = p == 1 ? sum : onnx_made(import, "Sqrt", sum);
    onnx_give(import, 0, self.dtype, onnx_made_of(import, "Div", x, norm, own));
}

// Classes, dimension 1, come last; the others are one.
static uint32_t rows_of_classes(struct onnx_import *import, uint32_t x)
{
    const struct leo_model_value seen = onnx_seen(import, x);
    uint32_t order[LEO_OP_RANK_MAX], at = 1;
    int64_t dim[2] = {1, seen.dim[1]};
    order[0] = 0;
    for (uint32_t d = 2; d < seen.rank; d++) {
        order[at++] = d;
    }
    order[at] = 1;
    for (uint32_t d = 0; d < seen.rank; d++) {
        dim[0] *= d == 1 ? 1 : seen.dim[d];
    }
    return onnx_made_flat(import, onnx_made_turned(import, x, order), 2, dim);
}

// The loss of rows of logarithms, by reduction; weight may be NULL.
static uint32_t loss_of_rows(struct onnx_import *import, uint32_t rows, struct onnx_tensor *target,
                             struct onnx_tensor *weight)
{
    enum { NONE, MEAN, SUM };
    struct model_build *build = &import->build;
    const struct leo_model_value seen = onnx_seen(import, rows);
    const int64_t count = seen.dim[0], classes = seen.dim[1];
    const int reduction = onnx_attribute_is(import, "reduction", "none")  ? NONE
                          : onnx_attribute_is(import, "reduction", "sum") ? SUM
                                                                          : MEAN;
    struct leo_model_value told = onnx_seen(import, onnx_value(import, target));
    const uint32_t places = onnx_made_flat(import, onnx_value(import, target), 1, &count),
                   each = weight ? onnx_value(import, weight)
                                 : onnx_made_full(import, import->floats, 1, &classes, 1),
                   out =
                       model_build_value(build, import->floats, reduction == NONE ? 1 : 0, &count),
                   total = model_build_value(build, import->floats, 0, NULL);
    // A class that no target is, unless one is to be left out.
    const int64_t ignored = onnx_attribute_int(import, "ignore_index", -100);
    MODEL_BUILD_CALL(build, "NLLLoss", model_build_tensor(rows), model_build_tensor(places),
                     model_build_tensor(each), model_build_number(reduction),
                     model_build_number((double)ignored), model_build_tensor(out),
                     model_build_tensor(total));
    return reduction == NONE ? onnx_made_flat(import, out, told.rank, told.dim) : out;
}

/* NegativeLogLikelihoodLoss, and SoftmaxCrossEntropyLoss with its logarithms. */
void onnx_class_loss(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *target = onnx_input(import, 1),
                       *weight = onnx_input(import, 2);
    if (!in || !target || in->rank < 2 || target->rank + 1 != in->rank) {
        onnx_fail(import, "it needs scores by class and a class for each of them");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    uint32_t x = onnx_value(import, in);
    const bool soft = strcmp(import->node->op_type, "SoftmaxCrossEntropyLoss") == 0;
    if (soft) {
        const struct leo_model_value seen = onnx_seen(import, x);
        const uint32_t logs =
            model_build_value(&import->build, import->floats, seen.rank, seen.dim);
        MODEL_BUILD_CALL(&import->build, "LogSoftmax", model_build_tensor(x), model_build_number(1),
                         model_build_tensor(logs));
        x = logs;
    }
    onnx_give(import, 0, dtype, loss_of_rows(import, rows_of_classes(import, x), target, weight));
    if (soft) {
        onnx_give(import, 1, dtype, x);
    }
}
