/* SPDX-License-Identifier: Apache-2.0 */
/* Activations with parameters, tests of numbers. */
#include "values.h"

#include <string.h>

static const char *type_of(const struct onnx_import *import)
{
    return import->node->op_type;
}

/* Softplus, Selu, Celu, ThresholdedRelu, Shrink, Swish. */
void onnx_activation(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t x = onnx_value(import, in);
    const struct leo_model_value seen = onnx_seen(import, x);
    const uint32_t out =
        model_build_value(&import->build, (enum leo_dtype)seen.dtype, seen.rank, seen.dim);
    const struct leo_model_arg self = model_build_tensor(x), result = model_build_tensor(out);
    if (strcmp(type_of(import), "Softplus") == 0) {
        // Above 20 the difference from x is below what single precision tells apart.
        MODEL_BUILD_CALL(&import->build, "Softplus", self, model_build_number(1),
                         model_build_number(20), result);
    } else if (strcmp(type_of(import), "Selu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Elu", self,
                         model_build_number((double)onnx_attribute_float(
                             import, "alpha", 1.67326319217681884765625f)),
                         model_build_number((double)onnx_attribute_float(
                             import, "gamma", 1.05070102214813232421875f)),
                         model_build_number(1), result);
    } else if (strcmp(type_of(import), "Celu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Celu", self,
                         model_build_number((double)onnx_attribute_float(import, "alpha", 1)),
                         result);
    } else if (strcmp(type_of(import), "ThresholdedRelu") == 0) {
        MODEL_BUILD_CALL(&import->build, "Threshold", self,
                         model_build_number((double)onnx_attribute_float(import, "alpha", 1)),
                         model_build_number(0), result);
    } else if (strcmp(type_of(import), "Shrink") == 0) {
        MODEL_BUILD_CALL(&import->build, "Shrink", self,
                         model_build_number((double)onnx_attribute_float(import, "lambd", 0.5f)),
                         model_build_number((double)onnx_attribute_float(import, "bias", 0)),
                         result);
    } else {
        MODEL_BUILD_CALL(&import->build, "Swish", self,
                         model_build_number((double)onnx_attribute_float(import, "alpha", 1)),
                         result);
    }
    onnx_give(import, 0, dtype, out);
}

/* The negative part times a slope that broadcasts to x. */
void onnx_prelu(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0), *slope = onnx_input(import, 1);
    if (!in || !slope) {
        onnx_fail(import, "it needs two inputs");
        return;
    }
    const enum leo_dtype dtype = in->dtype;
    const uint32_t x = onnx_value(import, in), s = onnx_value(import, slope);
    const enum leo_dtype own = (enum leo_dtype)onnx_seen(import, x).dtype;
    const uint32_t least = onnx_made_with(import, "ClampMax", x, 0),
                   scaled = onnx_made_of(import, "Mul", least, s, own);
    onnx_give(import, 0, dtype,
              onnx_made_of(import, "Add", onnx_made_with(import, "ClampMin", x, 0), scaled, own));
}

/* IsNaN and IsInf. */
void onnx_is(struct onnx_import *import)
{
    struct onnx_tensor *in = onnx_input(import, 0);
    if (!in) {
        return;
    }
    const uint32_t x = onnx_value(import, in);
    const bool up = onnx_attribute_int(import, "detect_positive", 1) != 0,
               down = onnx_attribute_int(import, "detect_negative", 1) != 0;
    if (strcmp(type_of(import), "IsNaN") == 0) {
        onnx_give(import, 0, LEO_DTYPE_B8, onnx_made_of(import, "NeTensor", x, x, LEO_DTYPE_B8));
        return;
    }
    const struct leo_model_value seen = onnx_seen(import, x);
    uint32_t out;
    if (up || down) {
        out = model_build_value(&import->build, LEO_DTYPE_B8, seen.rank, seen.dim);
        MODEL_BUILD_CALL(&import->build,
                         up && down ? "IsInf"
                         : up       ? "IsPosInf"
                                    : "IsNegInf",
                         model_build_tensor(x), model_build_tensor(out));
    } else {
        out = onnx_made_full(import, LEO_DTYPE_B8, seen.rank, seen.dim, 0);
    }
    onnx_give(import, 0, LEO_DTYPE_B8, out);
}
