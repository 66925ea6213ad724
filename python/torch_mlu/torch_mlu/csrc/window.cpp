// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling; windows as columns.
#include "elementwise.hpp"

#include <ATen/native/ConvUtils.h>
#include <ATen/native/Pool.h>
#include <torch/library.h>

namespace torch_mlu
{
namespace
{

/** A list of one number for each side, from one for all. */
std::vector<int> each_side(at::IntArrayRef list, size_t sides)
{
    std::vector<int> all(sides);
    for (size_t i = 0; i < sides; i++) {
        all[i] = static_cast<int>(list[list.size() == 1 ? 0 : i]);
    }
    return all;
}

/** Padding before and after each side. */
std::vector<int> both_ends(const std::vector<int> &pad)
{
    std::vector<int> all;
    for (const int p : pad) {
        all.insert(all.end(), {p, p});
    }
    return all;
}

struct Convolution {
    Convolution(at::IntArrayRef stride, at::IntArrayRef pad, at::IntArrayRef dilation,
                int64_t groups, const at::Tensor &x)
    {
        const size_t sides = static_cast<size_t>(x.dim()) - 2;
        const std::vector<int> pads = both_ends(each_side(pad, sides)),
                               steps = each_side(stride, sides), gaps = each_side(dilation, sides);
        check(cnnlSetConvolutionDescriptor(desc.get(), x.dim(), pads.data(), steps.data(),
                                           gaps.data(), static_cast<int>(groups),
                                           data_type(x.scalar_type())),
              "cnnlSetConvolutionDescriptor");
    }
    void forward(const at::Tensor &x, const at::Tensor &w, const std::optional<at::Tensor> &bias,
                 const at::Tensor &y) const
    {
        run(cnnlConvolutionForward, desc, CNNL_CONVOLUTION_FWD_ALGO_DIRECT, nullptr, channels(x),
            channels(w), in(bias), work(), nullptr, channels(y));
    }
    void backward_data(const at::Tensor &w, const at::Tensor &diff, const at::Tensor &diff_x) const
    {
        run(cnnlConvolutionBackwardData, nullptr, channels(w), channels(diff), desc,
            CNNL_CONVOLUTION_BWD_DATA_ALGO_DIRECT, work(), nullptr, channels(diff_x));
    }
    void backward_filter(const at::Tensor &x, const at::Tensor &diff,
                         const at::Tensor &diff_w) const
    {
        run(cnnlConvolutionBackwardFilter, nullptr, channels(x), channels(diff), desc,
            CNNL_CONVOLUTION_BWD_FILTER_ALGO_DIRECT, work(), nullptr, channels(diff_w));
    }
    ConvolutionDescriptor desc;
};

at::Tensor convolution(const at::Tensor &x, const at::Tensor &w,
                       const std::optional<at::Tensor> &bias, at::IntArrayRef stride,
                       at::IntArrayRef pad, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups)
{
    const std::vector<int64_t> sizes =
        transposed ? at::native::conv_input_size(x.sizes(), w.sizes(), pad, output_padding, stride,
                                                 dilation, groups)
                   : at::native::conv_output_size(x.sizes(), w.sizes(), pad, stride, dilation);
    at::Tensor y = at::empty(sizes, x.options(), x.suggest_memory_format());
    if (!y.numel()) {
        return y;
    }
    if (!x.numel()) {
        return y.zero_();
    }
    const Convolution made(stride, pad, dilation, groups, x);
    if (!transposed) {
        made.forward(x, w, bias, y);
        return y;
    }
    made.backward_data(w, x, y);
    if (bias.has_value() && bias->defined()) {
        std::vector<int64_t> by_channel(static_cast<size_t>(y.dim()), 1);
        by_channel[1] = -1;
        y.add_(bias->view(by_channel));
    }
    return y;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
convolution_backward(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &w,
                     at::IntArrayRef stride, at::IntArrayRef pad, at::IntArrayRef dilation,
                     bool transposed, at::IntArrayRef, int64_t groups, std::array<bool, 3> mask)
{
    at::Tensor diff_x, diff_w, diff_bias;
    const Convolution made(stride, pad, dilation, groups, x);
    const bool empty = !diff.numel() || !x.numel();
    if (mask[0]) {
        diff_x = at::empty(x.sizes(), x.options(), x.suggest_memory_format());
        if (empty) {
            diff_x.zero_();
        } else if (transposed) {
            made.forward(diff, w, std::nullopt, diff_x);
        } else {
            made.backward_data(w, diff, diff_x);
        }
    }
    if (mask[1]) {
        diff_w = at::empty(w.sizes(), w.options(), w.suggest_memory_format());
        if (empty) {
            diff_w.zero_();
        } else if (transposed) {
            made.backward_filter(diff, x, diff_w);
        } else {
            made.backward_filter(x, diff, diff_w);
        }
    }
    if (mask[2]) {
        std::vector<int64_t> others = {0};
        for (int64_t i = 2; i < diff.dim(); i++) {
            others.push_back(i);
        }
        diff_bias = diff.sum(others);
    }
    return {diff_x, diff_w, diff_bias};
}

/** A pooling's window over Sides dimensions; strides default to the window. */
template <size_t Sides> struct Pooling {
    Pooling(cnnlPoolingMode_t mode, at::IntArrayRef kernel, at::IntArrayRef stride,
            at::IntArrayRef pad, at::IntArrayRef dilation, bool ceil)
    {
        const std::vector<int> window = each_side(kernel, Sides),
                               steps = each_side(stride.empty() ? kernel : stride, Sides),
                               pads = both_ends(each_side(pad, Sides)),
                               gaps = each_side(dilation, Sides);
        check(cnnlSetPoolingNdDescriptor_v2(desc.get(), mode, CNNL_PROPAGATE_NAN,
                                            static_cast<int>(Sides) + 2, window.data(), pads.data(),
                                            steps.data(), gaps.data(), ceil),
              "cnnlSetPoolingNdDescriptor_v2");
    }
    PoolingDescriptor desc;
};

/** Pictures of a batch; a single one becomes a batch of one. */
template <size_t Sides> at::Tensor batch(const at::Tensor &x)
{
    return x.dim() == Sides + 1 ? x.unsqueeze(0) : x;
}

template <size_t Sides>
std::vector<int64_t> pooled_sizes(const at::Tensor &x, at::IntArrayRef kernel,
                                  at::IntArrayRef stride, at::IntArrayRef pad,
                                  at::IntArrayRef dilation, bool ceil)
{
    std::vector<int64_t> sizes = x.sizes().vec();
    const std::vector<int> window = each_side(kernel, Sides),
                           steps = each_side(stride.empty() ? kernel : stride, Sides),
                           pads = each_side(pad, Sides), gaps = each_side(dilation, Sides);
    for (size_t i = 0; i < Sides; i++) {
        int64_t &side = sizes[sizes.size() - Sides + i];
        side = at::native::pooling_output_shape_pad_lr<int64_t>(side, window[i], pads[i], pads[i],
                                                                steps[i], gaps[i], ceil);
    }
    return sizes;
}

template <size_t Sides>
std::tuple<at::Tensor &, at::Tensor &>
max_pool(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef stride, at::IntArrayRef pad,
         at::IntArrayRef dilation, bool ceil, at::Tensor &y, at::Tensor &index)
{
    const std::vector<int64_t> sizes = pooled_sizes<Sides>(x, kernel, stride, pad, dilation, ceil);
    fit(y, sizes);
    fit(index, sizes);
    if (y.numel()) {
        const Pooling<Sides> made(CNNL_POOLING_MAX, kernel, stride, pad, dilation, ceil);
        run(cnnlPoolingForwardWithIndex, made.desc, nullptr, channels(batch<Sides>(x)), nullptr,
            channels(batch<Sides>(y)), channels(batch<Sides>(index)), work());
    }
    return {y, index};
}

template <size_t Sides>
at::Tensor &max_pool_backward(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef kernel,
                              at::IntArrayRef stride, at::IntArrayRef pad, at::IntArrayRef dilation,
                              bool ceil, const at::Tensor &index, at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        const Pooling<Sides> made(CNNL_POOLING_MAX, kernel, stride, pad, dilation, ceil);
        run(cnnlPoolingBackward_v2, made.desc, nullptr, channels(batch<Sides>(index)),
            channels(batch<Sides>(diff)), channels(batch<Sides>(x)), nullptr,
            channels(batch<Sides>(diff_x)), work());
    }
    return diff_x;
}

std::tuple<at::Tensor, at::Tensor> max_pool3d(const at::Tensor &x, at::IntArrayRef kernel,
                                              at::IntArrayRef stride, at::IntArrayRef pad,
                                              at::IntArrayRef dilation, bool ceil)
{
    at::Tensor y = at::empty({0}, x.options()),
               index = at::empty({0}, x.options().dtype(at::kLong));
    max_pool<3>(x, kernel, stride, pad, dilation, ceil, y, index);
    return {y, index};
}

at::Tensor max_pool3d_backward(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef kernel,
                               at::IntArrayRef stride, at::IntArrayRef pad,
                               at::IntArrayRef dilation, bool ceil, const at::Tensor &index)
{
    at::Tensor diff_x = at::empty_like(x);
    return max_pool_backward<3>(diff, x, kernel, stride, pad, dilation, ceil, index, diff_x);
}

cnnlPoolingMode_t mean_mode(bool count_padding)
{
    return count_padding ? CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                         : CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
}

/** What makes means over whole windows sums over a divisor. */
template <size_t Sides> double over_divisor(at::IntArrayRef kernel, int64_t divisor)
{
    double whole = 1;
    for (const int side : each_side(kernel, Sides)) {
        whole *= side;
    }
    return whole / static_cast<double>(divisor);
}

template <size_t Sides>
at::Tensor &avg_pool(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef stride,
                     at::IntArrayRef pad, bool ceil, bool count_padding,
                     std::optional<int64_t> divisor, at::Tensor &y)
{
    if (divisor.has_value() && ceil) { // windows that hang over are no whole ones: on the host
        const auto pool = Sides == 2 ? at::avg_pool2d : at::avg_pool3d;
        const at::Tensor made = pool(x.cpu(), kernel, stride, pad, ceil, count_padding, divisor);
        fit(y, made.sizes());
        return y.copy_(made);
    }
    if (divisor.has_value()) {
        return avg_pool<Sides>(x, kernel, stride, pad, ceil, true, std::nullopt, y)
            .mul_(over_divisor<Sides>(kernel, *divisor));
    }
    fit(y, pooled_sizes<Sides>(x, kernel, stride, pad, {1}, ceil));
    if (y.numel()) {
        const Pooling<Sides> made(mean_mode(count_padding), kernel, stride, pad, {1}, ceil);
        run(cnnlPoolingForward, made.desc, nullptr, channels(batch<Sides>(x)), nullptr,
            channels(batch<Sides>(y)), work());
    }
    return y;
}

template <size_t Sides>
at::Tensor &avg_pool_backward(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef kernel,
                              at::IntArrayRef stride, at::IntArrayRef pad, bool ceil,
                              bool count_padding, std::optional<int64_t> divisor,
                              at::Tensor &diff_x)
{
    if (divisor.has_value() && ceil) {
        const auto pool = Sides == 2 ? at::avg_pool2d_backward : at::avg_pool3d_backward;
        fit(diff_x, x.sizes());
        return diff_x.copy_(
            pool(diff.cpu(), x.cpu(), kernel, stride, pad, ceil, count_padding, divisor));
    }
    if (divisor.has_value()) {
        return avg_pool_backward<Sides>(diff, x, kernel, stride, pad, ceil, true, std::nullopt,
                                        diff_x)
            .mul_(over_divisor<Sides>(kernel, *divisor));
    }
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        const Pooling<Sides> made(mean_mode(count_padding), kernel, stride, pad, {1}, ceil);
        run(cnnlPoolingBackward_v2, made.desc, nullptr, in(at::Tensor()),
            channels(batch<Sides>(diff)), in(at::Tensor()), nullptr, channels(batch<Sides>(diff_x)),
            work());
    }
    return diff_x;
}

template <size_t Sides> at::Tensor adaptive_avg_pool(const at::Tensor &x, at::IntArrayRef size)
{
    std::vector<int64_t> sizes = x.sizes().vec();
    std::copy(size.begin(), size.end(), sizes.end() - static_cast<int64_t>(Sides));
    at::Tensor y = at::empty(sizes, x.options(), x.suggest_memory_format());
    if (y.numel()) {
        run(cnnlAdaptivePoolingForward_v2, channels(batch<Sides>(x)),
            CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, work(), channels(batch<Sides>(y)),
            in(at::Tensor()));
    }
    return y;
}

template <size_t Sides>
at::Tensor adaptive_avg_pool_backward(const at::Tensor &diff, const at::Tensor &x)
{
    at::Tensor diff_x = at::empty(x.sizes(), x.options(), x.suggest_memory_format());
    if (diff_x.numel()) {
        run(cnnlAdaptivePoolingBackward, channels(batch<Sides>(diff)), in(at::Tensor()),
            CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, channels(batch<Sides>(diff_x)));
    }
    return diff_x;
}

std::tuple<at::Tensor &, at::Tensor &> adaptive_max_pool(const at::Tensor &x, at::IntArrayRef size,
                                                         at::Tensor &y, at::Tensor &index)
{
    std::vector<int64_t> sizes = x.sizes().vec();
    std::copy(size.begin(), size.end(), sizes.end() - 2);
    fit(y, sizes);
    fit(index, sizes);
    if (y.numel()) {
        run(cnnlAdaptivePoolingForward_v2, channels(batch<2>(x)), CNNL_POOLING_MAX, work(),
            channels(batch<2>(y)), channels(batch<2>(index)));
    }
    return {y, index};
}

at::Tensor &adaptive_max_pool_backward(const at::Tensor &diff, const at::Tensor &x,
                                       const at::Tensor &index, at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        run(cnnlAdaptivePoolingBackward, channels(batch<2>(diff)), channels(batch<2>(index)),
            CNNL_POOLING_MAX, channels(batch<2>(diff_x)));
    }
    return diff_x;
}

/** The window of the columns of pictures, and how many columns a picture has. */
struct Columns {
    Columns(at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef pad,
            at::IntArrayRef stride, const at::Tensor &pictures)
        : window(stride, pad, dilation, 1, pictures)
    {
        const std::vector<int> sides = each_side(kernel, 2);
        const int sizes[] = {1, 1, sides[0], sides[1]};
        check(cnnlSetTensorDescriptor(filter.get(), CNNL_LAYOUT_NCHW,
                                      data_type(pictures.scalar_type()), 4, sizes),
              "cnnlSetTensorDescriptor");
        area = int64_t{sides[0]} * sides[1];
        const std::vector<int64_t> counts =
            pooled_sizes<2>(pictures, kernel, stride, pad, dilation, false);
        count = std::max<int64_t>(counts[2], 0) * std::max<int64_t>(counts[3], 0);
    }
    Convolution window;
    TensorDescriptor filter;
    int64_t area, count;
};

at::Tensor &im2col_out(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef dilation,
                       at::IntArrayRef pad, at::IntArrayRef stride, at::Tensor &y)
{
    const at::Tensor pictures = batch<2>(x);
    const Columns made(kernel, dilation, pad, stride, pictures);
    TORCH_CHECK(made.count > 0, "im2col: the window does not fit the image");
    std::vector<int64_t> sizes = {pictures.size(0), pictures.size(1) * made.area, made.count};
    if (x.dim() == 3) {
        sizes.erase(sizes.begin());
    }
    fit(y, sizes);
    if (y.numel()) {
        run(cnnlIm2Col, channels(pictures), made.filter, made.window.desc, nullptr, nullptr,
            nullptr, work(), out(batch<1>(y)));
    }
    return y;
}

at::Tensor im2col(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef dilation,
                  at::IntArrayRef pad, at::IntArrayRef stride)
{
    at::Tensor y = at::empty({0}, x.options());
    return im2col_out(x, kernel, dilation, pad, stride, y);
}

at::Tensor &col2im_out(const at::Tensor &x, at::IntArrayRef size, at::IntArrayRef kernel,
                       at::IntArrayRef dilation, at::IntArrayRef pad, at::IntArrayRef stride,
                       at::Tensor &y)
{
    const int64_t planes = x.size(-2) / (kernel[0] * kernel.back());
    std::vector<int64_t> sizes = {x.size(0), planes, size[0], size.back()};
    if (x.dim() == 2) {
        sizes.erase(sizes.begin());
    }
    fit(y, sizes);
    if (y.numel()) {
        const at::Tensor pictures = batch<2>(y);
        const Columns made(kernel, dilation, pad, stride, pictures);
        TORCH_CHECK(made.count == x.size(-1) && planes * made.area == x.size(-2),
                    "col2im: ", x.sizes(), " are not the columns of an image of ", size);
        run(cnnlCol2Im, in(batch<1>(x).contiguous()), made.filter, made.window.desc, work(),
            channels(pictures));
    }
    return y;
}

at::Tensor col2im(const at::Tensor &x, at::IntArrayRef size, at::IntArrayRef kernel,
                  at::IntArrayRef dilation, at::IntArrayRef pad, at::IntArrayRef stride)
{
    at::Tensor y = at::empty({0}, x.options());
    return col2im_out(x, size, kernel, dilation, pad, stride, y);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("convolution_overrideable", convolution);
    m.impl("convolution_backward_overrideable", convolution_backward);
    m.impl("max_pool2d_with_indices.out", max_pool<2>);
    m.impl("max_pool2d_with_indices_backward.grad_input", max_pool_backward<2>);
    m.impl("max_pool3d_with_indices", max_pool3d);
    m.impl("max_pool3d_with_indices.out", max_pool<3>);
    m.impl("max_pool3d_with_indices_backward", max_pool3d_backward);
    m.impl("max_pool3d_with_indices_backward.grad_input", max_pool_backward<3>);
    m.impl("avg_pool2d.out", avg_pool<2>);
    m.impl("avg_pool2d_backward.grad_input", avg_pool_backward<2>);
    m.impl("avg_pool3d.out", avg_pool<3>);
    m.impl("avg_pool3d_backward.grad_input", avg_pool_backward<3>);
    m.impl("_adaptive_avg_pool2d", adaptive_avg_pool<2>);
    m.impl("_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>);
    m.impl("_adaptive_avg_pool3d", adaptive_avg_pool<3>);
    m.impl("_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>);
    m.impl("adaptive_max_pool2d.out", adaptive_max_pool);
    m.impl("adaptive_max_pool2d_backward.grad_input", adaptive_max_pool_backward);
    m.impl("im2col", im2col);
    m.impl("im2col.out", im2col_out);
    m.impl("col2im", col2im);
    m.impl("col2im.out", col2im_out);
}

} // namespace torch_mlu
