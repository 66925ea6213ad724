/* SPDX-License-Identifier: Apache-2.0 */
/* Which handler imports which type of layer. */
#include "caffe_net.hpp"

namespace leo
{

caffe_handler caffe_find(const std::string &type)
{
    static const std::map<std::string, caffe_handler> table = {
        {"AbsVal", caffe_unary},
        {"ArgMax", caffe_arg_max},
        {"BNLL", caffe_unary},
        {"BatchNorm", caffe_batch_norm},
        {"Bias", caffe_bias},
        {"Clip", caffe_clip},
        {"Concat", caffe_concat},
        {"Convolution", caffe_convolution},
        {"ConvolutionDepthwise", caffe_convolution},
        {"Crop", caffe_crop},
        {"Deconvolution", caffe_deconvolution},
        {"DepthwiseConv", caffe_convolution},
        {"DepthwiseConvolution", caffe_convolution},
        {"Dropout", caffe_identity},
        {"ELU", caffe_elu},
        {"Eltwise", caffe_eltwise},
        {"Exp", caffe_exp},
        {"Flatten", caffe_flatten},
        {"InnerProduct", caffe_inner_product},
        {"Interp", caffe_interp},
        {"LRN", caffe_lrn},
        {"Log", caffe_log},
        {"MVN", caffe_mvn},
        {"Normalize", caffe_normalize},
        {"PReLU", caffe_prelu},
        {"Permute", caffe_permute},
        {"Pooling", caffe_pooling},
        {"Power", caffe_power},
        {"PriorBox", caffe_prior_box},
        {"ReLU", caffe_relu},
        {"ReLU6", caffe_relu6},
        {"Reduction", caffe_reduction},
        {"Reshape", caffe_reshape},
        {"Scale", caffe_scale},
        {"ShuffleChannel", caffe_shuffle},
        {"Sigmoid", caffe_unary},
        {"Slice", caffe_slice},
        {"Softmax", caffe_softmax},
        {"Split", caffe_identity},
        {"Swish", caffe_swish},
        {"TanH", caffe_unary},
        {"Threshold", caffe_threshold},
        {"Tile", caffe_tile},
        {"Upsample", caffe_upsample},
    };
    const auto found = table.find(type);
    return found == table.end() ? nullptr : found->second;
}

} // namespace leo
