/* SPDX-License-Identifier: Apache-2.0 */
/* Layers with weights: convolutions, products, pools, normalisations. */
#include "caffe_net.hpp"

#include <cmath>

namespace leo
{

using caffe_file::Convolution;
using caffe_file::Pooling;

namespace
{

/* Two numbers of a list, of one that stands for both, or of fields of their own; `other` if none is
 * there. */
dims pair_of(const google::protobuf::RepeatedField<uint32_t> &list, bool apart, int64_t h,
             int64_t w, int64_t other)
{
    if (apart) {
        return {h, w};
    }
    if (list.empty()) {
        return {other, other};
    }
    return {list.Get(0), list.Get(list.size() > 1 ? 1 : 0)};
}

struct window {
    dims kernel, stride, pads, dilation;
};

window window_of(const caffe_layer &now, const Convolution &conv)
{
    now.need(conv.axis() == 1 && conv.kernel_size_size() <= 2, "only two dimensions are served");
    window w;
    w.kernel =
        pair_of(conv.kernel_size(), conv.has_kernel_h(), conv.kernel_h(), conv.kernel_w(), 0);
    w.stride = pair_of(conv.stride(), conv.has_stride_h(), conv.stride_h(), conv.stride_w(), 1);
    w.dilation = pair_of(conv.dilation(), false, 0, 0, 1);
    const dims pad =
        pair_of(conv.pad(), conv.has_pad_h() || conv.has_pad_w(), conv.pad_h(), conv.pad_w(), 0);
    w.pads = {pad[0], pad[1], pad[0], pad[1]};
    const int64_t most = 1 << 20; // far beyond what a chip can do, and products stay in range
    now.need(w.kernel[0] > 0 && w.kernel[1] > 0 && conv.num_output() > 0, "it has no size");
    now.need(w.kernel[0] < most && w.kernel[1] < most && conv.num_output() < most,
             "its size is out of range");
    return w;
}

void set_window(onnx_file::Node &node, const window &w)
{
    set_ints(node, "kernel_shape", w.kernel);
    set_ints(node, "strides", w.stride);
    set_ints(node, "pads", w.pads);
    if (!w.dilation.empty()) {
        set_ints(node, "dilations", w.dilation);
    }
}

// A convolution whose weights have `rows` rows of rows_of / group channels.
void convolve(caffe_layer &now, const char *type, bool forward)
{
    const Convolution &conv = now.layer.convolution_param();
    const window w = window_of(now, conv);
    const std::vector<float> weights = now.data(0);
    const std::string &kind = now.layer.type();
    const bool depthwise =
        kind == "DepthwiseConvolution" || kind == "ConvolutionDepthwise" || kind == "DepthwiseConv";
    const int64_t out = conv.num_output(), group = depthwise ? out : conv.group(),
                  area = w.kernel[0] * w.kernel[1], columns = forward ? out : out / group;
    now.need(group > 0 && out % group == 0 && columns > 0, "its groups do not divide its outputs");
    const int64_t other = static_cast<int64_t>(weights.size()) / (columns * area);
    now.need(other > 0 && other * columns * area == static_cast<int64_t>(weights.size()),
             "its weights are not of the size that the text says");
    const dims shape = forward ? dims{out, other, w.kernel[0], w.kernel[1]}
                               : dims{other, columns, w.kernel[0], w.kernel[1]};
    names inputs = {now.in[0], now.to.floats(shape, weights)};
    if (conv.bias_term()) {
        const std::vector<float> bias = now.data(1);
        now.need(static_cast<int64_t>(bias.size()) == out, "its bias has another size");
        inputs.push_back(now.to.floats({out}, bias));
    }
    auto &node = now.end(type, inputs);
    set_window(node, w);
    set_int(node, "group", group);
}

} // namespace

void caffe_convolution(caffe_layer &now)
{
    convolve(now, "Conv", true);
}

void caffe_deconvolution(caffe_layer &now)
{
    convolve(now, "ConvTranspose", false);
}

void caffe_inner_product(caffe_layer &now)
{
    const auto &product = now.layer.inner_product_param();
    const std::vector<float> weights = now.data(0);
    const int64_t n = product.num_output(), axis = now.axis(product.axis());
    now.need(n > 0 && !weights.empty() && static_cast<int64_t>(weights.size()) % n == 0,
             "its weights are not of the size that the text says");
    const int64_t k = static_cast<int64_t>(weights.size()) / n;
    onnx_file::Node *flatten;
    const std::string rows = now.to.apply("Flatten", {now.in[0]}, flatten);
    set_int(*flatten, "axis", axis);
    const bool turned = product.transpose();
    names inputs = {rows, now.to.floats(turned ? dims{k, n} : dims{n, k}, weights)};
    if (product.bias_term()) {
        const std::vector<float> bias = now.data(1);
        now.need(static_cast<int64_t>(bias.size()) == n, "its bias has another size");
        inputs.push_back(now.to.floats({n}, bias));
    }
    if (axis == 1) {
        set_int(now.end("Gemm", inputs, 2), "transB", !turned);
        return;
    }
    // More than one dimension stays in front of the row.
    onnx_file::Node *gemm;
    const std::string result = now.to.apply("Gemm", inputs, gemm);
    set_int(*gemm, "transB", !turned);
    const std::string front = now.to.apply(
        "Slice", {now.to.apply("Shape", {now.in[0]}), now.to.ints({0}), now.to.ints({axis})});
    onnx_file::Node *concat;
    const std::string shape = now.to.apply("Concat", {front, now.to.ints({n})}, concat);
    set_int(*concat, "axis", 0);
    now.end("Reshape", {result, shape}, static_cast<int>(axis) + 1);
}

void caffe_pooling(caffe_layer &now)
{
    const Pooling &pool = now.layer.pooling_param();
    now.need(pool.pool() != Pooling::STOCHASTIC, "stochastic pooling is not served");
    const bool is_max = pool.pool() == Pooling::MAX;
    now.need(now.out.size() == 1, "only its first top is served");
    if (pool.global_pooling()) {
        now.end(is_max ? "GlobalMaxPool" : "GlobalAveragePool", {now.in[0]});
        return;
    }
    const dims kernel = pool.has_kernel_h() ? dims{pool.kernel_h(), pool.kernel_w()}
                                            : dims{pool.kernel_size(), pool.kernel_size()},
               stride = pool.has_stride_h() ? dims{pool.stride_h(), pool.stride_w()}
                                            : dims{pool.stride(), pool.stride()};
    const bool apart = pool.has_pad_h() || pool.has_pad_w();
    const int64_t h = apart ? pool.pad_h() : pool.pad(), w = apart ? pool.pad_w() : pool.pad();
    now.need(kernel[0] > 0 && kernel[1] > 0, "it has no size");
    auto &node = now.end(is_max ? "MaxPool" : "AveragePool", {now.in[0]});
    set_window(node, {kernel, stride, {h, w, h, w}, {}});
    set_int(node, "ceil_mode", pool.round_mode() == Pooling::CEIL && pool.ceil_mode());
    if (!is_max) {
        set_int(node, "count_include_pad", 1);
    }
}

void caffe_batch_norm(caffe_layer &now)
{
    std::vector<float> mean = now.data(0), variance = now.data(1);
    const std::vector<float> factor = now.data(2);
    now.need(!factor.empty() && !mean.empty() && mean.size() == variance.size(),
             "its statistics are not complete");
    const float scale = factor[0] == 0 ? 0 : 1 / factor[0];
    for (size_t i = 0; i < mean.size(); i++) {
        mean[i] *= scale;
        variance[i] *= scale;
    }
    const dims shape = {static_cast<int64_t>(mean.size())};
    const std::string one = now.to.floats(shape, std::vector<float>(mean.size(), 1)),
                      zero = now.to.floats(shape, std::vector<float>(mean.size(), 0));
    auto &node = now.end("BatchNormalization", {now.in[0], one, zero, now.to.floats(shape, mean),
                                                now.to.floats(shape, variance)});
    set_float(node, "epsilon", now.layer.batch_norm_param().eps());
    now.net.norms[now.out[0]] = &node;
}

namespace
{

// Numbers along dimensions `axis` and on of an input, in a shape that broadcasts.
std::string along(caffe_layer &now, int blob, int axis)
{
    dims shape = now.shape(blob);
    const std::vector<float> data = now.data(blob);
    if (!now.weights->Get(blob).has_shape()) { // old files: (1, 1, 1, C)
        shape = {static_cast<int64_t>(data.size())};
    }
    const int behind = now.rank() - axis - static_cast<int>(shape.size());
    now.need(behind >= 0, "its weights have more dimensions than its input");
    shape.insert(shape.end(), static_cast<size_t>(behind), 1);
    return now.to.floats(shape, data);
}

// The second bottom of a layer of two, which counts from dimension `axis` of the first on.
std::string other_bottom(caffe_layer &now, int axis)
{
    const int behind = now.rank(0) - axis - now.rank(1);
    now.need(behind >= 0, "its second bottom has more dimensions than its first");
    if (behind == 0) {
        return now.in[1];
    }
    dims axes;
    for (int d = 0; d < behind; d++) {
        axes.push_back(now.rank(1) + d);
    }
    return now.to.apply("Unsqueeze", {now.in[1], now.to.ints(axes)});
}

/* A norm and the scale behind it are one node, if nothing else reads what is between them. */
bool join_norm(caffe_layer &now)
{
    const auto found = now.net.norms.find(now.in[0]);
    if (found == now.net.norms.end() || now.net.uses[now.in[0]] != 1 || now.in.size() != 1 ||
        now.axis(now.layer.scale_param().axis()) != 1) {
        return false;
    }
    onnx_file::Node &node = *found->second;
    const std::vector<float> scale = now.data(0);
    const dims shape = {static_cast<int64_t>(scale.size())};
    node.set_input(1, now.to.floats(shape, scale));
    if (now.layer.scale_param().bias_term()) {
        node.set_input(2, now.to.floats(shape, now.data(1)));
    }
    node.set_output(0, now.out[0]);
    node.set_name(now.layer.name());
    now.net.rank[now.out[0]] = now.rank();
    return true;
}

} // namespace

void caffe_scale(caffe_layer &now)
{
    const auto &scale = now.layer.scale_param();
    if (join_norm(now)) {
        return;
    }
    const int axis = now.axis(scale.axis());
    const std::string factor = now.in.size() > 1 ? other_bottom(now, axis) : along(now, 0, axis);
    if (!scale.bias_term()) {
        now.end("Mul", {now.in[0], factor});
        return;
    }
    const std::string product = now.to.apply("Mul", {now.in[0], factor});
    now.end("Add", {product, along(now, now.in.size() > 1 ? 0 : 1, axis)});
}

void caffe_bias(caffe_layer &now)
{
    const int axis = now.axis(now.layer.bias_param().axis());
    now.end("Add", {now.in[0], now.in.size() > 1 ? other_bottom(now, axis) : along(now, 0, axis)});
}

void caffe_lrn(caffe_layer &now)
{
    const auto &lrn = now.layer.lrn_param();
    const int64_t size = lrn.local_size();
    if (lrn.norm_region() == caffe_file::Lrn::ACROSS_CHANNELS) {
        auto &node = now.end("LRN", {now.in[0]});
        set_int(node, "size", size);
        set_float(node, "alpha", lrn.alpha());
        set_float(node, "beta", lrn.beta());
        set_float(node, "bias", lrn.k());
        return;
    }
    // Within a channel: x / (1 + alpha * mean of squares of a window) ^ beta, pads count.
    const int64_t pad = (size - 1) / 2;
    onnx_file::Node *pool;
    const std::string mean =
        now.to.apply("AveragePool", {now.to.apply("Mul", {now.in[0], now.in[0]})}, pool);
    set_window(*pool, {{size, size}, {1, 1}, {pad, pad, pad, pad}, {}});
    set_int(*pool, "count_include_pad", 1);
    const std::string sum = now.to.apply(
        "Add", {now.to.apply("Mul", {mean, now.to.number(lrn.alpha())}), now.to.number(1)});
    now.end("Div", {now.in[0], now.to.apply("Pow", {sum, now.to.number(lrn.beta())})});
}

void caffe_mvn(caffe_layer &now)
{
    const auto &mvn = now.layer.mvn_param();
    dims axes;
    for (int d = mvn.across_channels() ? 1 : 2; d < now.rank(); d++) {
        axes.push_back(d);
    }
    onnx_file::Node *mean, *variance;
    const std::string middle = now.to.apply("ReduceMean", {now.in[0]}, mean);
    set_ints(*mean, "axes", axes);
    if (!mvn.normalize_variance()) {
        now.end("Sub", {now.in[0], middle});
        return;
    }
    const std::string apart = now.to.apply("Sub", {now.in[0], middle}),
                      squares = now.to.apply("ReduceMean", {now.to.apply("Mul", {apart, apart})},
                                             variance);
    set_ints(*variance, "axes", axes);
    now.end("Div", {apart, now.to.apply("Add", {now.to.apply("Sqrt", {squares}),
                                                now.to.number(mvn.eps())})});
}

// Each place of a picture (or a whole one) divided by its length, then scaled by channel.
void caffe_normalize(caffe_layer &now)
{
    const auto &norm = now.layer.norm_param();
    const std::vector<float> scale = now.data(0);
    onnx_file::Node *length;
    const std::string sum = now.to.apply("ReduceL2", {now.in[0]}, length);
    set_ints(*length, "axes", norm.across_spatial() ? dims{1, 2, 3} : dims{1});
    // A place that is 0 everywhere stays 0: the least length is the root of the layer's eps.
    const std::string least = now.to.number(std::sqrt(norm.eps())),
                      one = now.to.apply("Div", {now.in[0], now.to.apply("Max", {sum, least})});
    now.need(scale.size() >= 1, "it has no scale");
    now.end("Mul", {one, now.to.floats({static_cast<int64_t>(scale.size()), 1, 1}, scale)});
}

} // namespace leo
