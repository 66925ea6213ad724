/* SPDX-License-Identifier: Apache-2.0 */
/* The standard operator types: names of inputs and outputs, attributes with defaults. */
#include "ge_data.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace ge
{

/* Words of a type: inputs ("x...": several, "b?": may be missing), outputs, attributes with
 * their defaults ("name:kind=value"; kinds i f b s, and I a list). Attributes that have no
 * default are set by every caller and not here. */
struct StandardType {
    const char *type, *inputs, *outputs, *attrs;
};

/** Sorted by type. Names and defaults are those of the documented operator list. */
static constexpr StandardType standard_types[] = {
    {"AddN", "x...", "y", ""},
    {"ApplyAdam", "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad", "var",
     "use_locking:b=0 use_nesterov:b=0"},
    {"ApplyAdamD", "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad", "var m v",
     "use_locking:b=0 use_nesterov:b=0"},
    {"ApplyGradientDescent", "var alpha delta", "var", "use_locking:b=0"},
    {"ApplyMomentum", "var accum lr grad momentum", "var", "use_nesterov:b=0 use_locking:b=0"},
    {"Assign", "ref value", "ref", "validate_shape:b=1 use_locking:b=0"},
    {"AssignAdd", "ref value", "ref", "use_locking:b=0"},
    {"BNInfer", "x scale offset mean variance", "y", ""},
    {"BNInferGrad", "grads scale batch_variance", "x_backprop", "epsilon:f=0.0001"},
    {"BNTrainingReduce", "x", "sum square_sum", ""},
    {"BNTrainingReduceGrad", "grads x diff_scale diff_offset scale batch_mean batch_variance", "y",
     "epsilon:f=0.0001"},
    {"BNTrainingUpdate", "x sum square_sum scale offset mean variance",
     "y mean variance batch_mean batch_variance", ""},
    {"BNTrainingUpdateGrad", "grads x batch_mean batch_variance", "diff_scale diff_offset",
     "epsilon:f=0.0001"},
    {"BatchMatMul", "x1 x2", "y", "adj_x1:b=0 adj_x2:b=0"},
    {"BiasAdd", "x bias", "y", "data_format:s=NHWC"},
    {"BiasAddGrad", "x", "y", "data_format:s=NHWC"},
    {"Cast", "x", "y", ""},
    {"Conv2D", "x filter bias? offset_w?", "y",
     "dilations:I=1,1,1,1 groups:i=1 data_format:s=NHWC offset_x:i=0"},
    {"Conv2DBackpropFilter", "x filter_size out_backprop", "y",
     "dilations:I=1,1,1,1 groups:i=1 data_format:s=NHWC"},
    {"Conv2DBackpropInput", "input_size filter out_backprop", "y",
     "dilations:I=1,1,1,1 groups:i=1 data_format:s=NHWC"},
    {"GatherV2", "x indices axis", "y", "batch_dims:i=0"},
    {"GetNext", "", "y...", "channel_name:s="},
    {"InitData", "", "", "channel_name:s="},
    {"LayerNorm", "x gamma beta", "y mean variance",
     "begin_norm_axis:i=0 begin_params_axis:i=0 epsilon:f=1e-7"},
    {"LayerNormGrad", "dy x variance mean gamma", "pd_x pd_gamma pd_beta", ""},
    {"MatMul", "x1 x2 bias?", "y", "transpose_x1:b=0 transpose_x2:b=0"},
    {"MaxPool", "x", "y", "data_format:s=NHWC"},
    {"MaxPoolGrad", "x1 x2 grad", "y", "data_format:s=NHWC"},
    {"OneHot", "x depth on_value off_value", "y", "axis:i=-1"},
    {"OnesLike", "x", "y", ""},
    {"OutfeedEnqueueOp", "x...", "", "channel_name:s="},
    {"OutfeedEnqueueOpV2", "tensor_name x...", "", "channel_name:s="},
    {"Pad", "x paddings", "y", ""},
    {"RealDiv", "x1 x2", "y", ""},
    {"ReduceMean", "x axes", "y", "keep_dims:b=0 noop_with_empty_axes:b=1"},
    {"ReduceSum", "x axes", "y", "keep_dims:b=0 noop_with_empty_axes:b=1"},
    {"ResizeNearestNeighborV2", "x size", "y", "align_corners:b=0 half_pixel_centers:b=0"},
    {"ResizeNearestNeighborV2Grad", "grads size", "y", "align_corners:b=0 half_pixel_centers:b=0"},
    {"ReverseSequence", "x seq_lengths", "y", "batch_dim:i=0"},
    {"SGD", "parameters gradient learning_rate accum momentum stat", "parameters",
     "dampening:f=0 weight_decay:f=0 nesterov:b=0"},
    {"Slice", "x offsets size", "y", ""},
    {"SoftmaxCrossEntropyWithLogits", "features labels", "loss backprop", ""},
    {"StridedSlice", "x begin end strides", "y",
     "begin_mask:i=0 end_mask:i=0 ellipsis_mask:i=0 new_axis_mask:i=0 shrink_axis_mask:i=0"},
    {"StridedSliceGrad", "shape begin end strides dy", "output",
     "begin_mask:i=0 end_mask:i=0 ellipsis_mask:i=0 new_axis_mask:i=0 shrink_axis_mask:i=0"},
    {"TensorMove", "x", "y", ""},
    {"UnsortedSegmentSum", "x segment_ids num_segments", "y", ""},
    {"ZerosLike", "x", "y", ""},
};

static constexpr bool IsSorted()
{
    for (size_t i = 1; i < std::size(standard_types); i++) {
        if (std::string_view(standard_types[i - 1].type) >= standard_types[i].type) {
            return false;
        }
    }
    return true;
}
static_assert(IsSorted(), "a type is found by halving the table");

static const StandardType *FindStandard(const std::string &type)
{
    auto at = std::lower_bound(std::begin(standard_types), std::end(standard_types), type,
                               [](const StandardType &row, const std::string &name) {
                                   return name.compare(row.type) > 0;
                               });
    return at != std::end(standard_types) && type == at->type ? at : nullptr;
}

bool IsStandardType(const std::string &type)
{
    return FindStandard(type) != nullptr;
}

// Names without their marks; a list's members are registered by its caller.
static void AddPlaces(const char *words, std::vector<Place> *places)
{
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        if (word.back() == '?') {
            word.pop_back();
        }
        if (word.back() != '.') {
            places->push_back({word, TensorDesc()});
        }
    }
}

static std::vector<int64_t> ListOf(const std::string &text)
{
    std::vector<int64_t> list;
    std::istringstream in(text);
    for (std::string each; std::getline(in, each, ',');) {
        list.push_back(std::stoll(each));
    }
    return list;
}

static Attr ValueOf(char kind, const std::string &text)
{
    switch (kind) {
    case 'b':
        return text == "1";
    case 'i':
        return static_cast<int64_t>(std::stoll(text));
    case 'f':
        return std::stof(text);
    case 'I':
        return ListOf(text);
    default:
        return text;
    }
}

bool DefineStandardType(const std::string &type, OperatorData *data)
{
    const StandardType *row = FindStandard(type);
    if (!row) {
        return false;
    }
    AddPlaces(row->inputs, &data->inputs);
    AddPlaces(row->outputs, &data->outputs);
    std::istringstream in(row->attrs);
    for (std::string word; in >> word;) {
        const size_t colon = word.find(':');
        data->attrs[word.substr(0, colon)] = ValueOf(word[colon + 1], word.substr(colon + 3));
    }
    return true;
}

} // namespace ge
