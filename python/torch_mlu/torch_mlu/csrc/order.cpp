// SPDX-License-Identifier: Apache-2.0
// What is found by comparing: middle and running elements, elements without repetition, truths and
// their places, counts.
#include "elementwise.hpp"

#include <ATen/ExpandUtils.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <torch/library.h>

namespace torch_mlu
{
namespace
{

using UniqueDescriptor =
    Descriptor<cnnlUniqueDescriptor_t, cnnlCreateUniqueDescriptor, cnnlDestroyUniqueDescriptor>;
using ConsecutiveDescriptor =
    Descriptor<cnnlUniqueConsecutiveDescriptor_t, cnnlCreateUniqueConsecutiveDescriptor,
               cnnlDestroyUniqueConsecutiveDescriptor>;
using HistogramDescriptor = Descriptor<cnnlHistogramDescriptor_t, cnnlCreateHistogramDescriptor,
                                       cnnlDestroyHistogramDescriptor>;

using Pair = std::tuple<at::Tensor &, at::Tensor &>;

template <bool IgnoreNan> at::Tensor median_of_all(const at::Tensor &x)
{
    if (!x.numel()) {
        return at::full({}, std::numeric_limits<double>::quiet_NaN(), x.options());
    }
    at::Tensor y = at::empty({}, x.options());
    run(cnnlMedian_v2, int64_t{0}, true, IgnoreNan, in(x.contiguous()), work(), out(y),
        in(at::Tensor()));
    return y;
}

template <bool IgnoreNan>
Pair median_along(const at::Tensor &x, int64_t axis, bool keep, at::Tensor &y, at::Tensor &index)
{
    const int64_t dim = c10::maybe_wrap_dim(axis, x.dim());
    const auto sizes = at::meta::get_reduction_shape(x, dim, keep);
    fit(y, sizes);
    fit(index, sizes);
    if (y.numel()) {
        TORCH_CHECK_INDEX(x.numel(), "median of no element along dimension ", dim);
        run(cnnlMedian_v2, dim, false, IgnoreNan, in(at::atleast_1d(x)), work(), out(y),
            out(index));
    }
    return {y, index};
}

Pair kthvalue(const at::Tensor &x, int64_t k, int64_t axis, bool keep, at::Tensor &y,
              at::Tensor &index)
{
    const int64_t dim = c10::maybe_wrap_dim(axis, x.dim()), count = x.dim() ? x.size(dim) : 1;
    TORCH_CHECK(k >= 1 && k <= count, "kthvalue(): selected number k out of range for dimension ",
                dim);
    const auto sizes = at::meta::get_reduction_shape(x, dim, keep);
    fit(y, sizes);
    fit(index, sizes);
    if (y.numel()) {
        run(cnnlKthValue_v2, k, dim, in(at::atleast_1d(x)), work(), out(y), out(index));
    }
    return {y, index};
}

template <auto F>
void running_extreme(const at::Tensor &x, at::Tensor &y, at::Tensor &index, int64_t axis)
{
    if (x.numel()) {
        run(F, in(at::atleast_1d(x)), c10::maybe_wrap_dim(axis, x.dim()), out(at::atleast_1d(y)),
            out(at::atleast_1d(index)));
    }
}

int64_t count_true(const at::Tensor &x)
{
    const at::Tensor count = at::empty({1}, x.options().dtype(at::kInt));
    run(cnnlNumTrue_v3, in(x), work(), out(count));
    return count.item<int>();
}

at::Tensor &nonzero_out(const at::Tensor &x, at::Tensor &y)
{
    const int64_t count = x.numel() ? count_true(x) : 0;
    fit(y, {count, x.dim()});
    if (y.numel()) {
        run(cnnlWhere_v2, in(x), shape(y), nullptr, false, work(), shape(y),
            static_cast<int *>(memory(y)));
    }
    return y;
}

at::Tensor nonzero(const at::Tensor &x)
{
    at::Tensor y = at::empty({0}, x.options().dtype(at::kLong));
    return nonzero_out(x, y);
}

at::Tensor &masked_select_out(const at::Tensor &x, const at::Tensor &mask, at::Tensor &y)
{
    const auto [values, truth] = expand_outplace(x, mask);
    const at::Tensor chosen = as(*truth, at::kBool).contiguous();
    const int64_t count = chosen.numel() ? count_true(chosen) : 0;
    fit(y, {count});
    if (count) {
        run(cnnlMasked_v4, CNNL_MASKED_SELECT, in(values->contiguous()), in(chosen),
            in(at::Tensor()), nullptr, work(), out(y), nullptr);
    }
    return y;
}

at::Tensor masked_select(const at::Tensor &x, const at::Tensor &mask)
{
    at::Tensor y = at::empty({0}, x.options());
    return masked_select_out(x, mask, y);
}

at::Tensor &masked_scatter(at::Tensor &self, const at::Tensor &mask, const at::Tensor &source)
{
    TORCH_CHECK(self.scalar_type() == source.scalar_type(), "masked_scatter: ", self.scalar_type(),
                " gets elements of ", source.scalar_type());
    if (self.numel()) {
        const at::Tensor truth = as(mask, at::kBool).expand(self.sizes()).contiguous();
        TORCH_CHECK(source.numel() >= count_true(truth),
                    "masked_scatter: the mask has more truths than source has elements");
        run(cnnlMasked_v4, CNNL_MASKED_SCATTER, in(self), in(truth), in(source.contiguous()),
            nullptr, work(), out(self), nullptr);
    }
    return self;
}

using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/** Values with room for all, places and counts of i64. */
Triple room(const at::Tensor &x, int64_t dim)
{
    const at::TensorOptions whole = x.options().dtype(at::kLong);
    if (dim < 0) {
        return {at::empty({x.numel()}, x.options()), at::empty(x.sizes(), whole),
                at::empty({x.numel()}, whole)};
    }
    return {at::empty(x.sizes(), x.options()), at::empty({x.size(dim)}, whole),
            at::empty({x.size(dim)}, whole)};
}

/** What is asked for, at its length. */
Triple shortened(Triple made, int64_t dim, int64_t length, bool inverse, bool counts)
{
    auto &[values, index, times] = made;
    const at::Tensor none = at::empty({0}, index.options());
    std::vector<int64_t> sizes = values.sizes().vec(); // what is there stands without gaps
    sizes[static_cast<size_t>(std::max<int64_t>(dim, 0))] = length;
    return {values.view({-1}).narrow(0, 0, c10::multiply_integers(sizes)).view(sizes).clone(),
            inverse ? index : none, counts ? times.narrow(0, 0, length).clone() : none};
}

Triple unique(const at::Tensor &given, int64_t dim, bool inverse, bool counts)
{
    const at::Tensor x = given.contiguous();
    Triple made = room(x, dim);
    if (!x.numel()) {
        return shortened(made, dim, 0, inverse, counts);
    }
    const UniqueDescriptor desc;
    const at::Tensor length = at::empty({1}, x.options().dtype(at::kInt));
    check(cnnlSetUniqueDescriptor(desc.get(), CNNL_SORT_ASCEND, static_cast<int>(dim), inverse,
                                  counts),
          "cnnlSetUniqueDescriptor");
    run(cnnlUnique_v2, desc, in(x), work(), static_cast<int *>(memory(length)),
        out(std::get<0>(made)), out(std::get<1>(made)), out(std::get<2>(made)));
    return shortened(made, dim, length.item<int>(), inverse, counts);
}

Triple unique_of_all(const at::Tensor &x, bool, bool inverse, bool counts)
{
    return unique(x, -1, inverse, counts);
}

Triple unique_slices(const at::Tensor &x, int64_t dim, bool, bool inverse, bool counts)
{
    return unique(x, c10::maybe_wrap_dim(dim, x.dim()), inverse, counts);
}

Triple unique_consecutive(const at::Tensor &given, bool inverse, bool counts,
                          std::optional<int64_t> axis)
{
    const at::Tensor x = given.contiguous();
    const int64_t dim = axis.has_value() ? c10::maybe_wrap_dim(*axis, x.dim()) : -1;
    Triple made = room(x, dim);
    if (!x.numel()) {
        return shortened(made, dim, 0, inverse, counts);
    }
    const ConsecutiveDescriptor desc;
    const at::Tensor length = at::empty({1}, x.options().dtype(at::kLong));
    check(cnnlSetUniqueConsecutiveDescriptor(desc.get(), static_cast<int>(dim < 0 ? x.dim() : dim),
                                             inverse, counts),
          "cnnlSetUniqueConsecutiveDescriptor");
    run(cnnlUniqueConsecutive, desc, in(at::atleast_1d(x)), work(),
        static_cast<int64_t *>(memory(length)), out(std::get<0>(made)),
        out(at::atleast_1d(std::get<1>(made))), out(std::get<2>(made)));
    const int64_t elements = length.item<int64_t>();
    return shortened(made, dim, dim < 0 ? elements : elements * x.size(dim) / x.numel(), inverse,
                     counts);
}

at::Tensor bincount(const at::Tensor &x, const std::optional<at::Tensor> &weights, int64_t least)
{
    const bool weighted = weights.has_value() && weights->defined();
    const at::ScalarType type = !weighted                              ? at::kLong
                                : weights->scalar_type() == at::kFloat ? at::kFloat
                                                                       : at::kDouble;
    TORCH_CHECK(x.dim() == 1 && least >= 0, "bincount takes a list of numbers from 0 on");
    int64_t count = 0;
    if (x.numel()) {
        TORCH_CHECK(x.min().item<int64_t>() >= 0, "bincount takes a list of numbers from 0 on");
        count = x.max().item<int64_t>() + 1;
    }
    at::Tensor y = at::empty({std::max(count, least)}, x.options().dtype(type));
    if (!x.numel()) {
        return y.zero_();
    }
    const HistogramDescriptor desc;
    check(cnnlSetHistogramDescriptorBinCountMode(desc.get(), 0, y.numel() - 1, 0, false),
          "cnnlSetHistogramDescriptorBinCountMode");
    run(cnnlBincount, desc, in(x), weighted ? in(as(*weights, type)) : in(at::Tensor()), work(),
        out(y));
    return y;
}

at::Tensor &histc_out(const at::Tensor &x, int64_t bins, const at::Scalar &low,
                      const at::Scalar &high, at::Tensor &y)
{
    float least = low.toFloat(), most = high.toFloat();
    TORCH_CHECK(bins > 0 && least <= most, "histc: ", bins, " bins from ", least, " to ", most);
    fit(y, {bins});
    if (least == most && x.numel()) {
        least = x.min().item<float>();
        most = x.max().item<float>();
    }
    if (least == most) {
        least -= 1;
        most += 1;
    }
    if (!x.numel()) {
        return y.zero_();
    }
    const HistogramDescriptor desc;
    check(cnnlSetHistogramDescriptorHistoCountMode(desc.get(), static_cast<int>(bins), least, most,
                                                   false, false),
          "cnnlSetHistogramDescriptorHistoCountMode");
    run(cnnlHistc, desc, in(x), work(), out(y));
    return y;
}

at::Tensor histc(const at::Tensor &x, int64_t bins, const at::Scalar &low, const at::Scalar &high)
{
    at::Tensor y = at::empty({0}, x.options());
    return histc_out(x, bins, low, high, y);
}

at::Tensor repeat_places(const at::Tensor &repeats, std::optional<int64_t> size)
{
    TORCH_CHECK(repeats.dim() == 1, "repeat_interleave takes a list of numbers");
    const int64_t count = size.has_value()  ? *size
                          : repeats.numel() ? repeats.sum().item<int64_t>()
                                            : 0;
    at::Tensor y = at::empty({count}, repeats.options().dtype(at::kLong));
    if (count) {
        const at::Tensor numbers = at::arange(repeats.numel(), y.options());
        run(cnnlRepeatInterleave, in(numbers), in(repeats), 0, out(y));
    }
    return y;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("median", median_of_all<false>);
    m.impl("nanmedian", median_of_all<true>);
    m.impl("median.dim_values", median_along<false>);
    m.impl("nanmedian.dim_values", median_along<true>);
    m.impl("kthvalue.values", kthvalue);
    m.impl("_cummax_helper", running_extreme<cnnlCummax>);
    m.impl("_cummin_helper", running_extreme<cnnlCummin>);
    m.impl("nonzero", nonzero);
    m.impl("nonzero.out", nonzero_out);
    m.impl("masked_select", masked_select);
    m.impl("masked_select.out", masked_select_out);
    m.impl("masked_scatter_", masked_scatter);
    m.impl("_unique2", unique_of_all);
    m.impl("unique_dim", unique_slices);
    m.impl("unique_consecutive", unique_consecutive);
    m.impl("bincount", bincount);
    m.impl("histc", histc);
    m.impl("histc.out", histc_out);
    m.impl("repeat_interleave.Tensor", repeat_places);
}

} // namespace torch_mlu
