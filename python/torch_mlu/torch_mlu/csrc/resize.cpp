// SPDX-License-Identifier: Apache-2.0
// Pictures of another size: by the nearest point, between points, and with borders that mirror or
// repeat what is inside.
#include "elementwise.hpp"

#include <torch/library.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace torch_mlu
{
namespace
{

using Scale = std::optional<double>;

/** A resizing: unless all scales are given, the sizes say them. */
struct Resizing {
    Resizing(cnnlInterpMode_t mode, cnnlInterpAlgo_t algo, const at::Tensor &x,
             std::initializer_list<Scale> scales)
    {
        std::vector<double> told;
        for (const Scale &scale : scales) {
            if (scale.has_value()) {
                told.push_back(*scale);
            }
        }
        check(cnnlSetInterpDescriptor_v2(desc.get(), channels(x).desc(), mode, algo,
                                         told.size() == scales.size() ? told.data() : nullptr),
              "cnnlSetInterpDescriptor_v2");
    }
    InterpDescriptor desc;
};

at::Tensor &resize(const Resizing &resizing, const at::Tensor &x, at::IntArrayRef size,
                   at::Tensor &y)
{
    std::vector<int64_t> sizes = {x.size(0), x.size(1)};
    sizes.insert(sizes.end(), size.begin(), size.end());
    fit(y, sizes);
    run(cnnlInterp_v3, resizing.desc, channels(x), channels(y));
    return y;
}

at::Tensor &resize_backward(const Resizing &resizing, const at::Tensor &diff, at::IntArrayRef size,
                            at::Tensor &diff_x)
{
    fit(diff_x, size);
    run(cnnlInterpBackward_v3, resizing.desc, channels(diff), channels(diff_x));
    return diff_x;
}

/** ALGO_0: the point before, ALGO_1: the nearest one. S: a scale for each side. */
template <cnnlInterpAlgo_t Algo, class... S>
at::Tensor &nearest(const at::Tensor &x, at::IntArrayRef size, S... scales, at::Tensor &y)
{
    return resize(Resizing(CNNL_INTERP_NEAREST, Algo, x, {scales...}), x, size, y);
}

template <cnnlInterpAlgo_t Algo, class... S>
at::Tensor &nearest_backward(const at::Tensor &diff, at::IntArrayRef, at::IntArrayRef size,
                             S... scales, at::Tensor &diff_x)
{
    return resize_backward(Resizing(CNNL_INTERP_NEAREST, Algo, diff, {scales...}), diff, size,
                           diff_x);
}

cnnlInterpAlgo_t alignment(bool align)
{
    return align ? CNNL_INTERP_ALGO_2 : CNNL_INTERP_ALGO_1;
}

template <cnnlInterpMode_t Mode, class... S>
at::Tensor &smooth(const at::Tensor &x, at::IntArrayRef size, bool align, S... scales,
                   at::Tensor &y)
{
    return resize(Resizing(Mode, alignment(align), x, {scales...}), x, size, y);
}

template <cnnlInterpMode_t Mode, class... S>
at::Tensor &smooth_backward(const at::Tensor &diff, at::IntArrayRef, at::IntArrayRef size,
                            bool align, S... scales, at::Tensor &diff_x)
{
    return resize_backward(Resizing(Mode, alignment(align), diff, {scales...}), diff, size, diff_x);
}

/** Where each element of a dimension with borders comes from. */
template <bool Mirrors>
at::Tensor sources(const at::Tensor &x, int64_t axis, int64_t before, int64_t after)
{
    const int64_t size = x.size(axis);
    TORCH_CHECK(!Mirrors || (before < size && after < size), "borders of ", before, " and ", after,
                " mirror more than dimension ", axis, " of ", size);
    TORCH_CHECK(size > 0 && size + before + after > 0, "borders of ", before, " and ", after,
                " around dimension ", axis, " of ", size);
    std::vector<int64_t> from(static_cast<size_t>(size + before + after));
    std::iota(from.begin(), from.end(), -before);
    for (int64_t &at : from) {
        at = !Mirrors     ? std::clamp<int64_t>(at, 0, size - 1)
             : at < 0     ? -at
             : at >= size ? 2 * (size - 1) - at
                          : at;
    }
    return at::tensor(from).to(x.device());
}

/** x with borders, as in torch: those of the last dimension first. */
template <bool Mirrors> at::Tensor pad(const at::Tensor &x, at::IntArrayRef padding)
{
    at::Tensor y = x;
    for (size_t i = 0; i < padding.size() / 2; i++) {
        const int64_t axis = x.dim() - 1 - static_cast<int64_t>(i);
        y = y.index_select(axis, sources<Mirrors>(x, axis, padding[2 * i], padding[2 * i + 1]));
    }
    return y;
}

template <bool Mirrors>
at::Tensor &pad_out(const at::Tensor &x, at::IntArrayRef padding, at::Tensor &y)
{
    const at::Tensor made = pad<Mirrors>(x, padding);
    fit(y, made.sizes());
    return y.copy_(made);
}

template <bool Mirrors>
at::Tensor pad_backward(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef padding)
{
    at::Tensor sums = diff;
    for (size_t i = padding.size() / 2; i-- > 0;) {
        const int64_t axis = x.dim() - 1 - static_cast<int64_t>(i);
        std::vector<int64_t> sizes = sums.sizes().vec();
        sizes[static_cast<size_t>(axis)] = x.size(axis);
        sums = at::zeros(sizes, diff.options())
                   .index_add(axis, sources<Mirrors>(x, axis, padding[2 * i], padding[2 * i + 1]),
                              sums);
    }
    return sums;
}

template <bool Mirrors>
at::Tensor &pad_backward_out(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef padding,
                             at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    return diff_x.copy_(pad_backward<Mirrors>(diff, x, padding));
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("upsample_nearest1d.out", nearest<CNNL_INTERP_ALGO_0, Scale>);
    m.impl("upsample_nearest2d.out", nearest<CNNL_INTERP_ALGO_0, Scale, Scale>);
    m.impl("upsample_nearest3d.out", nearest<CNNL_INTERP_ALGO_0, Scale, Scale, Scale>);
    m.impl("_upsample_nearest_exact1d.out", nearest<CNNL_INTERP_ALGO_1, Scale>);
    m.impl("_upsample_nearest_exact2d.out", nearest<CNNL_INTERP_ALGO_1, Scale, Scale>);
    m.impl("_upsample_nearest_exact3d.out", nearest<CNNL_INTERP_ALGO_1, Scale, Scale, Scale>);
    m.impl("upsample_nearest1d_backward.grad_input", nearest_backward<CNNL_INTERP_ALGO_0, Scale>);
    m.impl("upsample_nearest2d_backward.grad_input",
           nearest_backward<CNNL_INTERP_ALGO_0, Scale, Scale>);
    m.impl("upsample_nearest3d_backward.grad_input",
           nearest_backward<CNNL_INTERP_ALGO_0, Scale, Scale, Scale>);
    m.impl("_upsample_nearest_exact1d_backward.grad_input",
           nearest_backward<CNNL_INTERP_ALGO_1, Scale>);
    m.impl("_upsample_nearest_exact2d_backward.grad_input",
           nearest_backward<CNNL_INTERP_ALGO_1, Scale, Scale>);
    m.impl("_upsample_nearest_exact3d_backward.grad_input",
           nearest_backward<CNNL_INTERP_ALGO_1, Scale, Scale, Scale>);
    m.impl("upsample_linear1d.out", smooth<CNNL_INTERP_LINEAR, Scale>);
    m.impl("upsample_bilinear2d.out", smooth<CNNL_INTERP_BILINEAR, Scale, Scale>);
    m.impl("upsample_bicubic2d.out", smooth<CNNL_INTERP_BICUBIC, Scale, Scale>);
    m.impl("upsample_trilinear3d.out", smooth<CNNL_INTERP_TRILINEAR, Scale, Scale, Scale>);
    m.impl("upsample_linear1d_backward.grad_input", smooth_backward<CNNL_INTERP_LINEAR, Scale>);
    m.impl("upsample_bilinear2d_backward.grad_input",
           smooth_backward<CNNL_INTERP_BILINEAR, Scale, Scale>);
    m.impl("upsample_bicubic2d_backward.grad_input",
           smooth_backward<CNNL_INTERP_BICUBIC, Scale, Scale>);
    m.impl("upsample_trilinear3d_backward.grad_input",
           smooth_backward<CNNL_INTERP_TRILINEAR, Scale, Scale, Scale>);

    m.impl("reflection_pad1d.out", pad_out<true>);
    m.impl("reflection_pad2d", pad<true>);
    m.impl("reflection_pad2d.out", pad_out<true>);
    m.impl("reflection_pad3d.out", pad_out<true>);
    m.impl("replication_pad1d.out", pad_out<false>);
    m.impl("replication_pad2d.out", pad_out<false>);
    m.impl("replication_pad3d.out", pad_out<false>);
    m.impl("reflection_pad1d_backward.grad_input", pad_backward_out<true>);
    m.impl("reflection_pad2d_backward", pad_backward<true>);
    m.impl("reflection_pad2d_backward.grad_input", pad_backward_out<true>);
    m.impl("reflection_pad3d_backward.grad_input", pad_backward_out<true>);
    m.impl("replication_pad1d_backward.grad_input", pad_backward_out<false>);
    m.impl("replication_pad2d_backward", pad_backward<false>);
    m.impl("replication_pad2d_backward.grad_input", pad_backward_out<false>);
    m.impl("replication_pad3d_backward", pad_backward<false>);
    m.impl("replication_pad3d_backward.grad_input", pad_backward_out<false>);
}

} // namespace torch_mlu
