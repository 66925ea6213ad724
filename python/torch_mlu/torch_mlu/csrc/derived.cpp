// SPDX-License-Identifier: Apache-2.0
// Operators that PyTorch leaves to a device and that are others of the device, one after the other.
#include "elementwise.hpp"
#include "generator.hpp"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include <limits>

namespace torch_mlu
{
namespace
{

using Chosen = std::optional<at::Generator>;

at::Tensor &signbit(const at::Tensor &x, at::Tensor &y)
{
    fit(y, x.sizes());
    const at::ScalarType type = x.scalar_type();
    if (type == at::kBool || type == at::kByte) {
        return y.zero_();
    }
    const at::ScalarType whole = type == at::kFloat         ? at::kInt
                                 : type == at::kDouble      ? at::kLong
                                 : at::isFloatingType(type) ? at::kShort
                                                            : type;
    return y.copy_(x.view(whole).lt(0));
}

at::Tensor &xlogy(const at::Tensor &x, const at::Tensor &other, at::Tensor &y)
{
    const at::Tensor product = x * other.log();
    const at::Tensor known = at::where(x.eq(0), at::zeros({}, product.options()), product);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    fit(y, known.sizes());
    return y.copy_(known.masked_fill(other.isnan().expand(known.sizes()), nan));
}

at::Tensor &put(at::Tensor &self, const at::Tensor &index, const at::Tensor &source,
                bool accumulate)
{
    TORCH_CHECK(index.numel() == source.numel() && self.scalar_type() == source.scalar_type(),
                "put_: ", index.numel(), " places, ", source.numel(), " elements");
    c10::List<std::optional<at::Tensor>> places;
    places.push_back(index.reshape({-1}));
    at::Tensor flat = self.reshape({-1});
    flat.index_put_(places, source.reshape({-1}), accumulate);
    return flat.is_alias_of(self) ? self : self.copy_(flat.view(self.sizes()));
}

at::Tensor normal_both(const at::Tensor &mean, const at::Tensor &deviation, Chosen generator)
{
    at::Tensor y = at::empty(at::infer_size(mean.sizes(), deviation.sizes()), mean.options());
    return y.normal_(0, 1, std::move(generator)).mul_(deviation).add_(mean);
}

at::Tensor normal_mean(const at::Tensor &mean, double deviation, Chosen generator)
{
    at::Tensor y = at::empty(mean.sizes(), mean.options());
    return y.normal_(0, deviation, std::move(generator)).add_(mean);
}

at::Tensor normal_deviation(double mean, const at::Tensor &deviation, Chosen generator)
{
    at::Tensor y = at::empty(deviation.sizes(), deviation.options());
    return y.normal_(0, 1, std::move(generator)).mul_(deviation).add_(mean);
}

/** A sum of products of a batch is one product of matrices side by side. */
at::Tensor addbmm(const at::Tensor &self, const at::Tensor &a, const at::Tensor &b,
                  const at::Scalar &beta, const at::Scalar &alpha)
{
    TORCH_CHECK(a.dim() == 3 && b.dim() == 3 && a.size(0) == b.size(0) && a.size(2) == b.size(1),
                "addbmm of ", a.sizes(), " and ", b.sizes());
    const at::Tensor left = a.permute({1, 0, 2}).reshape({a.size(1), -1});
    return at::addmm(self, left, b.reshape({-1, b.size(2)}), beta, alpha);
}

at::Tensor channel_shuffle(const at::Tensor &x, int64_t groups)
{
    TORCH_CHECK(x.dim() > 2 && groups > 0 && x.size(1) % groups == 0,
                "channel_shuffle: ", x.sizes(), " in ", groups, " groups");
    std::vector<int64_t> apart = {x.size(0), groups, x.size(1) / groups};
    apart.insert(apart.end(), x.sizes().begin() + 2, x.sizes().end());
    return x.reshape(apart).transpose(1, 2).reshape(x.sizes());
}

at::Tensor rrelu(const at::Tensor &x, at::Tensor &noise, const at::Scalar &low,
                 const at::Scalar &high, bool training, Chosen generator)
{
    if (!training) {
        return at::leaky_relu(x, (low.toDouble() + high.toDouble()) / 2);
    }
    at::Tensor y = at::empty_like(x);
    if (y.numel()) {
        const auto numbers = take_numbers(generator, x.numel());
        run(cnnlRreluWithNoise, in(x), false, numbers.seed, numbers.offset, nullptr, nullptr, 0U,
            low.toFloat(), high.toFloat(), work(), out(y), out(noise));
    }
    return y;
}

/** What stands at index before anything is joined there, so that it does not count. */
double neutral(std::string_view reduce)
{
    const double infinity = std::numeric_limits<double>::infinity();
    return reduce == "amax" ? -infinity : reduce == "amin" ? infinity : 0;
}

at::Tensor &scatter_reduce(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                           const at::Tensor &source, std::string_view reduce, bool include,
                           at::Tensor &y)
{
    const bool extreme = reduce == "amax" || reduce == "amin";
    fit(y, self.sizes());
    if (!(reduce == "sum" || reduce == "mean" || extreme) ||
        !at::isFloatingType(self.scalar_type()) || !self.dim() || !index.numel()) {
        TORCH_WARN_ONCE("scatter_reduce(", reduce, ") of ", self.scalar_type(),
                        " runs on the host: it is not there for an MLU");
        return y.copy_(self.cpu().scatter_reduce(dim, index.cpu(), source.cpu(), reduce, include));
    }
    const at::Tensor begun = include ? self : self.scatter(dim, index, at::Scalar(neutral(reduce)));
    if (!extreme) {
        at::Tensor sum = begun.scatter_add(dim, index, source);
        if (reduce == "mean") {
            const at::Tensor ones = at::ones_like(source);
            const at::Tensor count =
                at::full_like(self, include ? 1 : 0).scatter_add(dim, index, ones);
            sum = sum / count.clamp_min(1);
        }
        return y.copy_(sum);
    }
    const at::Tensor made = at::empty_like(self, at::MemoryFormat::Contiguous);
    run(cnnlScatter_v2, c10::maybe_wrap_dim(dim, self.dim()), in(begun), in(index), in(source),
        work(), out(made), reduce == "amax" ? CNNL_SCATTER_MAX : CNNL_SCATTER_MIN);
    return y.copy_(made);
}

at::Tensor pair_distances(const at::Tensor &x, double p)
{
    const int64_t count = x.size(0);
    const at::Tensor pairs = at::triu_indices(count, count, 1, at::kLong).to(x.device());
    return at::_cdist_forward(x, x, p, std::nullopt).index({pairs[0], pairs[1]});
}

at::Tensor unfold_backward(const at::Tensor &diff, at::IntArrayRef sizes, int64_t dim, int64_t size,
                           int64_t step)
{
    if (sizes.empty()) {
        return diff.reshape({});
    }
    at::Tensor y = at::zeros(sizes, diff.options());
    const int64_t windows = diff.size(dim);
    for (int64_t i = 0; i < size && windows; i++) {
        y.slice(dim, i, i + step * (windows - 1) + 1, step).add_(diff.select(-1, i));
    }
    return y;
}

/** How many elements of a sorted list (each its last dimension) come before each value. */
at::Tensor places_in(const at::Tensor &sorted, const at::Tensor &values, bool after, bool narrow)
{
    constexpr int64_t most = int64_t{1} << 28; // comparisons, a byte each on the card
    if (sorted.size(-1) > 0 && values.numel() > most / sorted.size(-1)) {
        TORCH_WARN_ONCE("searchsorted with more than 2^28 comparisons runs on the host");
        return at::searchsorted(sorted.cpu(), values.cpu(), narrow, after).to(values.device());
    }
    const at::Tensor list = sorted.unsqueeze(-2), each = values.unsqueeze(-1);
    const at::Tensor beyond = after ? list.gt(each) : list.ge(each); // NaN is beyond none: last
    return beyond.logical_not().sum(-1).to(narrow ? at::kInt : at::kLong);
}

bool comes_after(bool right, std::optional<std::string_view> side)
{
    TORCH_CHECK(!right || !side.has_value() || *side == "right",
                "searchsorted: right=True and side=", side.value_or(""), " contradict each other");
    return right || (side.has_value() && *side == "right");
}

at::Tensor places(const at::Tensor &sorted, const at::Tensor &values, bool narrow, bool right,
                  std::optional<std::string_view> side, const std::optional<at::Tensor> &sorter)
{
    const at::Tensor list =
        sorter.has_value() && sorter->defined() ? sorted.gather(-1, *sorter) : sorted;
    const bool after = comes_after(right, side);
    if (list.dim() == 1) {
        return places_in(list, values.reshape({-1}), after, narrow).view(values.sizes());
    }
    return places_in(list, values, after, narrow);
}

at::Tensor places_of_number(const at::Tensor &sorted, const at::Scalar &value, bool narrow,
                            bool right, std::optional<std::string_view> side,
                            const std::optional<at::Tensor> &sorter)
{
    const at::ScalarType type = at::result_type(sorted, value);
    return places(sorted, at::full({}, value, sorted.options().dtype(type)), narrow, right, side,
                  sorter);
}

at::Tensor bucketize(const at::Tensor &values, const at::Tensor &limits, bool narrow, bool right)
{
    return places(limits, values, narrow, right, std::nullopt, std::nullopt);
}

at::Tensor bucketize_number(const at::Scalar &value, const at::Tensor &limits, bool narrow,
                            bool right)
{
    return places_of_number(limits, value, narrow, right, std::nullopt, std::nullopt);
}

at::Tensor &embedding_renorm(at::Tensor &self, const at::Tensor &indices, double most, double order)
{
    const at::Tensor rows = std::get<0>(at::_unique2(indices.reshape({-1})));
    const at::Tensor chosen = self.index_select(0, rows),
                     norm = at::linalg_vector_norm(chosen, order, at::IntArrayRef{1}, true);
    const at::Tensor factor = at::where(norm.gt(most), (norm + 1e-7).reciprocal().mul(most),
                                        at::ones({}, norm.options()));
    return self.index_copy_(0, rows, chosen * factor);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("signbit.out", signbit);
    m.impl("xlogy.OutTensor", xlogy);
    m.impl("put_", put);
    m.impl("normal.Tensor_Tensor", normal_both);
    m.impl("normal.Tensor_float", normal_mean);
    m.impl("normal.float_Tensor", normal_deviation);
    m.impl("addbmm", addbmm);
    m.impl("channel_shuffle", channel_shuffle);
    m.impl("rrelu_with_noise", rrelu);
    m.impl("scatter_reduce.two_out", scatter_reduce);
    m.impl("_pdist_forward", pair_distances);
    m.impl("unfold_backward", unfold_backward);
    m.impl("searchsorted.Tensor", places);
    m.impl("searchsorted.Scalar", places_of_number);
    m.impl("bucketize.Tensor", bucketize);
    m.impl("bucketize.Scalar", bucketize_number);
    m.impl("embedding_renorm_", embedding_renorm);
}

} // namespace torch_mlu
