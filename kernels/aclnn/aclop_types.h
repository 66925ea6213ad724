/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by type name: which row each is and where the row's arguments come from. The arguments'
 * words, in the order of the row's parameters:
 *
 * - x0 y0: input or output tensor; x0':name with its last two dimensions exchanged if the
 *   attribute is set; x0? is NULL if the call has not so many inputs, or its type is undefined
 * - X: all inputs, as a list
 * - a0: input 0 with its dimensions in the order of attribute perm, or of input 1 in host memory
 * - 0 1: a scalar, or a number where the row takes one
 * - h1: the integers of input 1, which lies in host memory; v1: the one number of it; v1:2: its
 *   number 2, counted from 0
 * - q1: pairs (before, after) of input 1 in host memory, the last dimension first; q1:4 the first 4
 * - d:x0:2: the size of a tensor from dimension 2 on
 * - l:name: integers of an attribute; l:name:2 from the third on, l:name:1:2 two of them
 * - p:name: paddings (before, after) of an attribute for two or three dimensions
 * - P:name: paddings that the word VALID, SAME or CALCULATED (attribute pads) stands for
 * - s:name: a number from an attribute, 1 if it is not given
 * - i:name: an integer or bool from an attribute (the first of a list), 0 if it is not given
 * - e:name: 1 if an attribute is false
 * - k2: 1 - the number of input 2, which lies in host memory
 * - o:name: 1 if the text is "iof"
 * - m:010: flags
 * - t:y0: type of a tensor
 * - -: NULL
 *
 * Products of float32 may go through the Cube unit's narrower types: the mode in which programs
 * that call by type name compile ("allow_fp32_to_fp16").
 *
 * A line "Type:word" is for calls whose attribute mode is that word. A type that is not here but
 * has the name of a pointwise row is that row with the call's tensors.
 */
#pragma once

struct aclop_mapping {
    const char *type, *row, *args;
};

/** Sorted by type. */
static const struct aclop_mapping aclop_mappings[] = {
    {"Abs", "Abs", "x0 y0"},
    {"AdaptiveAvgPool2d", "AdaptiveAvgPool2d", "x0 l:output_size y0"},
    {"AdaptiveAvgPool2dGrad", "AdaptiveAvgPool2dBackward", "x0 y0 y0"},
    {"Add", "Add", "x0 x1 1 y0"},
    {"AddN", "AddN", "X y0"},
    {"Addcdiv", "Addcdiv", "x0 x1 x2 v3 y0"},
    {"Addcmul", "Addcmul", "x0 x1 x2 v3 y0"},
    {"Adds", "Adds", "x0 s:value 1 y0"},
    {"ApplyAdam", "AclApplyAdam", "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 i:use_nesterov y0 x1 x2"},
    {"ApplyAdamD", "AclApplyAdam", "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 i:use_nesterov y0 y1 y2"},
    {"ArgMaxD", "ArgMax", "x0 i:dimension 0 y0"},
    {"ArgMaxWithValue", "MaxDim", "x0 i:dimension i:keep_dims y1 y0"},
    {"ArgMinWithValue", "MinDim", "x0 i:dimension i:keep_dims y1 y0"},
    {"Assign", "InplaceCopy", "y0 x1"},
    {"AssignAdd", "Add", "x0 x1 1 y0"},
    {"AssignSub", "Sub", "x0 x1 1 y0"},
    {"AvgPool3D", "AvgPool3d",
     "x0 l:ksize l:strides p:pads i:ceil_mode i:count_include_pad i:divisor_override y0"},
    {"AvgPool3DGrad", "AvgPool3dBackward",
     "x1 y0 l:ksize:2 l:strides:2 p:pads i:ceil_mode i:count_include_pad i:divisor_override y0"},
    {"AvgPoolV2", "AvgPool2d",
     "x0 l:ksize:2 l:strides:2 p:pads i:ceil_mode e:exclusive i:divisor_override 0 y0"},
    {"AvgPoolV2Grad", "AvgPool2dBackward",
     "x1 y0 l:ksize:2 l:strides:2 p:pads i:ceil_mode e:exclusive i:divisor_override 0 y0"},
    {"Axpy", "Add", "x0 x1 s:alpha y0"},
    {"AxpyV2", "Add", "x0 x1 v2 y0"},
    {"BNInfer", "AclBnInfer", "x0 x1 x2 x3 x4 s:epsilon y0"},
    {"BNTrainingReduce", "AclBnReduce", "x0 y0 y1"},
    {"BNTrainingReduceGrad", "AclBnReduceGrad", "x0 x1 x2 x3 x4 x5 x6 s:epsilon y0"},
    {"BNTrainingUpdate", "AclBnUpdate", "x0 x1 x2 x3 x4 x5 x6 s:factor s:epsilon y0 y1 y2 y3 y4"},
    {"BNTrainingUpdateGrad", "AclBnUpdateGrad", "x0 x1 x2 x3 s:epsilon y0 y1"},
    {"BatchMatMul", "BatchMatMul", "x0':adj_x1 x1':adj_x2 y0 1"},
    {"BatchMatMulV2", "BatchMatMul", "x0':adj_x1 x1':adj_x2 y0 1"},
    {"BiasAdd", "Add", "x0 x1 1 y0"},
    {"BiasAddGrad", "AclBiasGrad", "x0 y0"},
    {"BroadcastTo", "InplaceCopy", "y0 x0"},
    {"Cast", "Cast", "x0 t:y0 y0"},
    {"CdistGrad", "CdistBackward", "x0 x1 x2 x3 s:p y0"},
    {"Ceil", "Ceil", "x0 y0"},
    {"ClipByValue", "Clamp", "x0 v1 v2 y0"},
    {"ClipByValueV2", "Clamp", "x0 v1 v2 y0"},
    {"ConcatD", "Cat", "X i:concat_dim y0"},
    {"Conv2D", "Convolution", "x0 x1 x2? l:strides:2 p:pads l:dilations:2 0 l:none i:groups y0 1"},
    {"Conv2DBackpropFilter", "ConvolutionBackward",
     "x2 x0 y0 - l:strides:2 p:pads l:dilations:2 0 l:none i:groups m:010 1 - y0 -"},
    {"Conv2DBackpropInput", "ConvolutionBackward",
     "x2 y0 x1 - l:strides:2 p:pads l:dilations:2 0 l:none i:groups m:100 1 y0 - -"},
    {"Conv2DTranspose", "Convolution",
     "x1 x2 x3? l:strides:2 p:pads l:dilations:2 1 l:output_padding:2 i:groups y0 1"},
    {"Div", "Div", "x0 x1 y0"},
    {"DropOutDoMask", "DropoutDoMask", "x0 x1 k2 y0"},
    {"DropOutGenMask", "DropoutGenMask", "h0 k1 i:seed i:seed2 y0"},
    {"DropOutGenMaskV3", "DropoutGenMask", "h0 k1 i:seed i:seed2 y0"},
    {"DynamicRNN", "DynamicRnn", "x0 x1 x2? x4? x5? y0 y1 y2 y3 y4 y5 y6 y7"},
    {"DynamicRNNGrad", "DynamicRnnGrad",
     "x0 x1 x4 x5 x6 x7 x8 x9? x10? x11 x12 x13 x14 x15 y0 y1 y2 y3 y4"},
    {"DynamicRNNV2", "DynamicRnnV2", "x0 x1 x2 x3? x5? x6? y0 y1 y2 y3 y4 y5 y6 y7"},
    {"DynamicRNNV2Grad", "DynamicRnnV2Grad",
     "x0 x1 x2 x4 x5 x6 x7 x8 x9? x10? x11 x12 x13 x14 x15 y0 y1 y2 y3 y4 y5"},
    {"Elu", "Elu", "x0 s:alpha s:scale s:input_scale y0"},
    {"EluGradV2", "EluBackward", "x0 s:alpha s:scale s:input_scale i:is_result x1 y0"},
    {"Equal", "EqTensor", "x0 x1 y0"},
    {"Exp", "Exp", "x0 y0"},
    {"FastGelu", "FastGelu", "x0 y0"},
    {"FastGeluGrad", "FastGeluBackward", "x0 x1 y0"},
    {"Fill", "InplaceFillScalar", "y0 v1"},
    {"Floor", "Floor", "x0 y0"},
    {"GeluGrad", "GeluBackward", "x0 x1 y0"},
    {"Greater", "GtTensor", "x0 x1 y0"},
    {"GreaterEqual", "GeTensor", "x0 x1 y0"},
    {"HardSigmoid", "Hardsigmoid", "x0 y0"},
    {"HardSigmoidGrad", "HardsigmoidBackward", "x0 x1 y0"},
    {"HardSwish", "Hardswish", "x0 y0"},
    {"HardSwishGrad", "HardswishBackward", "x0 x1 y0"},
    {"HardtanhGrad", "HardtanhBackward", "x1 x0 s:min_val s:max_val y0"},
    {"Identity", "TransData", "x0 y0"},
    {"Im2col", "Im2col", "x0 l:ksizes l:dilations p:pads l:strides y0"},
    {"Iou", "Overlap", "x0 x1 o:mode s:eps y0"},
    {"LeakyRelu", "LeakyRelu", "x0 s:negative_slope y0"},
    {"LeakyReluGrad", "LeakyReluBackward", "x0 x1 s:negative_slope 0 y0"},
    {"Less", "LtTensor", "x0 x1 y0"},
    {"LessEqual", "LeTensor", "x0 x1 y0"},
    {"Log", "Log", "x0 y0"},
    {"LogSoftmaxGrad", "LogSoftmaxBackward", "x0 x1 i:axis y0"},
    {"LogSoftmaxV2", "LogSoftmax", "x0 i:axes y0"},
    {"LogicalAnd", "LogicalAnd", "x0 x1 y0"},
    {"LogicalNot", "LogicalNot", "x0 y0"},
    {"LogicalOr", "LogicalOr", "x0 x1 y0"},
    {"MatMul", "Matmul", "x0':transpose_x1 x1':transpose_x2 y0 1"},
    {"MatMulV2", "Matmul", "x0':transpose_x1 x1':transpose_x2 y0 1"},
    {"MaxPool", "AclMaxPool", "x0 l:ksize:2 l:strides:2 P:padding l:dilation:2 i:ceil_mode y0 -"},
    {"MaxPool3D", "AclMaxPool", "x0 l:ksize:2 l:strides:2 p:pads l:dilation:2 i:ceil_mode y0 -"},
    {"MaxPool3DGrad", "AclMaxPoolGrad",
     "x0 x2 l:ksize:2 l:strides:2 p:pads l:dilation:2 i:ceil_mode y0"},
    {"MaxPoolGrad", "AclMaxPoolGrad",
     "x0 x2 l:ksize:2 l:strides:2 P:padding l:dilation:2 i:ceil_mode y0"},
    {"MaxPoolGradWithArgmaxV1", "AclMaxPoolGrad",
     "x0 x1 l:ksize:1:2 l:strides:1:2 l:pads:1:2 l:dilations:1:2 i:ceil_mode y0"},
    {"MaxPoolWithArgmaxV1", "AclMaxPool",
     "x0 l:ksize:1:2 l:strides:1:2 l:pads:1:2 l:dilation:1:2 i:ceil_mode y0 y1"},
    {"Maximum", "Maximum", "x0 x1 y0"},
    {"Minimum", "Minimum", "x0 x1 y0"},
    {"MirrorPad", "ReflectionPad2d", "x0 q1:4 y0"},
    {"Mish", "Mish", "x0 y0"},
    {"MishGrad", "MishBackward", "x0 x1 y0"},
    {"Mul", "Mul", "x0 x1 y0"},
    {"Muls", "Muls", "x0 s:value y0"},
    {"Neg", "Neg", "x0 y0"},
    {"NonMaxSuppressionV4", "Suppress", "x0 x1 x2 x3 x4 y0 y1"},
    {"NotEqual", "NeTensor", "x0 x1 y0"},
    {"OneHot", "OneHot", "x0 v1 x2 x3 i:axis y0"},
    {"OnesLike", "InplaceOne", "y0"},
    {"PRelu", "Prelu", "x0 x1 y0"},
    {"PReluGrad", "PreluBackward", "x0 x1 x2 y0 y1"},
    {"Pack", "Stack", "X i:axis y0"},
    {"Pad", "ConstantPadNd", "x0 q1 0 y0"},
    {"PadV3", "ConstantPadNd", "x0 q1 v2 y0"},
    {"PadV3:edge", "ReplicationPad2d", "x0 q1:4 y0"},
    {"PadV3:reflect", "ReflectionPad2d", "x0 q1:4 y0"},
    {"PadV3Grad", "ReflectionPad2dBackward", "x0 y0 q1:4 y0"},
    {"PadV3Grad:edge", "ReplicationPad2dBackward", "x0 y0 q1:4 y0"},
    {"Pow", "PowTensorTensor", "x0 x1 y0"},
    {"RealDiv", "Div", "x0 x1 y0"},
    {"Reciprocal", "Reciprocal", "x0 y0"},
    {"ReduceMax", "Amax", "x0 h1 i:keep_dims y0"},
    {"ReduceMean", "Mean", "x0 h1 i:keep_dims t:y0 y0"},
    {"ReduceMin", "Amin", "x0 h1 i:keep_dims y0"},
    {"ReduceSum", "ReduceSum", "x0 h1 i:keep_dims t:y0 y0"},
    {"ReduceSumD", "ReduceSum", "x0 l:axes i:keep_dims t:y0 y0"},
    {"Relu", "Relu", "x0 y0"},
    {"ReluGrad", "ThresholdBackward", "x0 x1 0 y0"},
    {"ResizeBilinearV2", "UpsampleBilinear2d", "x0 h1 i:align_corners 0 0 y0"},
    {"ResizeBilinearV2Grad", "UpsampleBilinear2dBackward", "x0 d:x0:2 d:y0 i:align_corners 0 0 y0"},
    {"ResizeNearestNeighborV2", "UpsampleNearest2d", "x0 h1 y0"},
    {"ResizeNearestNeighborV2Grad", "UpsampleNearest2dBackward", "x0 d:x0:2 d:y0 0 0 y0"},
    {"Rsqrt", "Rsqrt", "x0 y0"},
    {"ScaledMaskedSoftmax", "ScaledMaskedSoftmax", "x0 x1 s:scale i:fixed_triu_mask y0"},
    {"Select", "SWhere", "x0 x1 x2 y0"},
    {"Sigmoid", "Sigmoid", "x0 y0"},
    {"SigmoidGrad", "SigmoidBackward", "x1 x0 y0"},
    {"SiluGrad", "SiluBackward", "x0 x1 y0"},
    {"Slice", "SliceSize", "x0 h1 h2 y0"},
    {"SoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits", "x0 x1 y0 y1"},
    {"SoftmaxGrad", "SoftmaxBackward", "x1 x0 i:axes y0"},
    {"SoftmaxV2", "Softmax", "x0 i:axes y0"},
    {"SoftplusV2", "Softplus", "x0 s:beta s:threshold y0"},
    {"SoftplusV2Grad", "SoftplusBackward", "x0 x1 s:beta s:threshold y0"},
    {"Sqrt", "Sqrt", "x0 y0"},
    {"Square", "Mul", "x0 x0 y0"},
    {"StatelessDropOutGenMask", "DropoutGenMask", "h0 k1 v2 v4:1 y0"},
    {"StrideAdd", "StrideAdd", "x0 x1 i:x1_c1_offset i:x2_c1_offset i:c1_len y0"},
    {"Sub", "Sub", "x0 x1 1 y0"},
    {"Swish", "Swish", "x0 s:scale y0"},
    {"Tanh", "Tanh", "x0 y0"},
    {"TanhGrad", "TanhBackward", "x1 x0 y0"},
    {"TensorMove", "InplaceCopy", "y0 x0"},
    {"TransData", "TransData", "x0 y0"},
    {"Transpose", "InplaceCopy", "y0 a0"},
    {"TransposeD", "InplaceCopy", "y0 a0"},
    {"ZerosLike", "InplaceZero", "y0"},
};
