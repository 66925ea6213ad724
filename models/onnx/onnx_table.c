/* SPDX-License-Identifier: Apache-2.0 */
/* Which handler imports which operator of ONNX's default domain. */
#include "import.h"

#include <string.h>

static const struct {
    const char *op;
    onnx_handler handler;
} table[] = {
    {"Abs", onnx_unary},
    {"Acos", onnx_unary},
    {"Add", onnx_binary},
    {"And", onnx_binary},
    {"Asin", onnx_unary},
    {"Atan", onnx_unary},
    {"AveragePool", onnx_pool},
    {"BatchNormalization", onnx_batch_norm},
    {"Cast", onnx_cast},
    {"Ceil", onnx_unary},
    {"Clip", onnx_clip},
    {"Concat", onnx_concat},
    {"Constant", onnx_constant},
    {"ConstantOfShape", onnx_constant_of_shape},
    {"Conv", onnx_conv},
    {"Cos", onnx_unary},
    {"Div", onnx_binary},
    {"Dropout", onnx_identity},
    {"Elu", onnx_with_slope},
    {"Equal", onnx_binary},
    {"Erf", onnx_unary},
    {"Exp", onnx_unary},
    {"Expand", onnx_expand},
    {"Flatten", onnx_flatten},
    {"Floor", onnx_unary},
    {"Gather", onnx_gather},
    {"Gelu", onnx_gelu},
    {"Gemm", onnx_gemm},
    {"GlobalAveragePool", onnx_global_pool},
    {"GlobalMaxPool", onnx_global_pool},
    {"Greater", onnx_binary},
    {"GreaterOrEqual", onnx_binary},
    {"HardSigmoid", onnx_hard_sigmoid},
    {"HardSwish", onnx_unary},
    {"Identity", onnx_identity},
    {"LRN", onnx_lrn},
    {"LayerNormalization", onnx_layer_norm},
    {"LeakyRelu", onnx_with_slope},
    {"Less", onnx_binary},
    {"LessOrEqual", onnx_binary},
    {"Log", onnx_unary},
    {"LogSoftmax", onnx_softmax},
    {"MatMul", onnx_matmul},
    {"Max", onnx_sum},
    {"MaxPool", onnx_pool},
    {"Mean", onnx_sum},
    {"Min", onnx_sum},
    {"Mod", onnx_binary},
    {"Mul", onnx_binary},
    {"Neg", onnx_unary},
    {"Not", onnx_unary},
    {"Or", onnx_binary},
    {"Pad", onnx_pad},
    {"Pow", onnx_binary},
    {"Reciprocal", onnx_unary},
    {"ReduceMax", onnx_reduce},
    {"ReduceMean", onnx_reduce},
    {"ReduceMin", onnx_reduce},
    {"ReduceSum", onnx_reduce},
    {"Relu", onnx_unary},
    {"Reshape", onnx_reshape},
    {"Resize", onnx_resize},
    {"Round", onnx_unary},
    {"Shape", onnx_shape},
    {"Sigmoid", onnx_unary},
    {"Sign", onnx_unary},
    {"Sin", onnx_unary},
    {"Slice", onnx_slice},
    {"Softmax", onnx_softmax},
    {"Split", onnx_split},
    {"Sqrt", onnx_unary},
    {"Squeeze", onnx_squeeze},
    {"Sub", onnx_binary},
    {"Sum", onnx_sum},
    {"Tan", onnx_unary},
    {"Tanh", onnx_unary},
    {"Transpose", onnx_transpose},
    {"Unsqueeze", onnx_unsqueeze},
    {"Upsample", onnx_resize},
    {"Where", onnx_where},
};

onnx_handler onnx_find_handler(const char *op)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].op, op) == 0) {
            return table[i].handler;
        }
    }
    return NULL;
}
