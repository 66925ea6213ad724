// SPDX-License-Identifier: Apache-2.0
// Batch normalisation over several cards, in the parts of torch.nn.SyncBatchNorm, and group
// normalisation.
#include "elementwise.hpp"

#include <torch/library.h>

namespace torch_mlu
{
namespace
{

using Maybe = std::optional<at::Tensor>;

at::Tensor vector_like(const at::Tensor &x)
{
    const bool half = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
    return at::empty({x.size(1)}, x.options().dtype(half ? at::kFloat : x.scalar_type()));
}

std::tuple<at::Tensor, at::Tensor> stats(const at::Tensor &x, double eps)
{
    at::Tensor mean = vector_like(x), invstd = vector_like(x);
    run(cnnlSyncBatchNormStats_v2, channels(x), work(), static_cast<float>(eps), out(mean),
        out(invstd));
    return {mean, invstd};
}

std::tuple<at::Tensor, at::Tensor> gather_stats(const at::Tensor &x, const at::Tensor &means,
                                                const at::Tensor &invstds,
                                                const Maybe &running_mean, const Maybe &running_var,
                                                double momentum, double eps,
                                                const at::Tensor &counts)
{
    at::Tensor mean = vector_like(x), invstd = vector_like(x);
    run(cnnlSyncBatchNormGatherStatsWithCounts, in(means), in(invstds), in(running_mean),
        in(running_var), static_cast<float>(momentum), static_cast<float>(eps),
        in(as(counts, means.scalar_type())), out(mean), out(invstd));
    return {mean, invstd};
}

at::Tensor apply(const at::Tensor &x, const Maybe &weight, const Maybe &bias,
                 const at::Tensor &mean, const at::Tensor &invstd, double)
{
    at::Tensor y = at::empty_like(x);
    if (y.numel()) {
        run(cnnlSyncBatchNormElemt, channels(x), in(mean), in(invstd), in(weight), in(bias),
            channels(y));
    }
    return y;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>
backward_sums(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &mean,
              const at::Tensor &invstd, const Maybe &, bool for_input, bool for_weight,
              bool for_bias)
{
    const auto made = [&](bool wanted) { return wanted ? at::empty_like(mean) : at::Tensor(); };
    at::Tensor sum = made(for_input), sum_products = made(for_input), diff_w = made(for_weight),
               diff_b = made(for_bias);
    run(cnnlSyncBatchnormBackwardReduce_v2, channels(diff), channels(x), in(mean), in(invstd),
        work(), out(diff_w), out(diff_b), out(sum), out(sum_products), for_input, for_weight,
        for_bias);
    return {sum, sum_products, diff_w, diff_b};
}

at::Tensor backward_input(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &mean,
                          const at::Tensor &invstd, const Maybe &weight, const at::Tensor &sum,
                          const at::Tensor &sum_products, const at::Tensor &counts)
{
    at::Tensor diff_x = at::empty_like(x);
    if (diff_x.numel()) {
        run(cnnlSyncBatchNormBackwardElemtV2, channels(diff), channels(x), in(mean), in(invstd),
            in(weight), in(sum), in(sum_products), in(as(counts, at::kInt)), channels(diff_x));
    }
    return diff_x;
}

/** A group is a channel of one picture: its gradient is that of a batch normalisation. */
std::tuple<at::Tensor, at::Tensor, at::Tensor>
group_norm_backward(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &mean,
                    const at::Tensor &rstd, const Maybe &weight, int64_t images,
                    int64_t channel_count, int64_t plane, int64_t groups, std::array<bool, 3> mask)
{
    const at::Tensor planes = x.reshape({images, channel_count, plane}),
                     diffs = diff.reshape({images, channel_count, plane});
    at::Tensor diff_x, diff_w, diff_b;
    if (mask[0]) {
        const at::Tensor weighed = weight.has_value() && weight->defined()
                                       ? diffs * weight->view({1, channel_count, 1})
                                       : diffs;
        const std::vector<int64_t> as_channels = {1, images * groups,
                                                  channel_count / groups * plane};
        diff_x = std::get<0>(at::native_batch_norm_backward(weighed.reshape(as_channels),
                                                            planes.view(as_channels), {}, {}, {},
                                                            mean.reshape({-1}), rstd.reshape({-1}),
                                                            true, 0, {true, false, false}))
                     .view(x.sizes());
    }
    if (mask[1]) {
        const std::vector<int64_t> by_group = {images, groups, channel_count / groups * plane};
        const at::Tensor normal = (planes.view(by_group) - mean.view({images, groups, 1})) *
                                  rstd.view({images, groups, 1});
        diff_w = (diffs * normal.view(planes.sizes()))
                     .sum(at::IntArrayRef({0, 2}))
                     .to(weight->scalar_type());
    }
    if (mask[2]) {
        diff_b = diffs.sum(at::IntArrayRef({0, 2}));
    }
    return {diff_x, diff_w, diff_b};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("batch_norm_stats", stats);
    m.impl("batch_norm_gather_stats_with_counts", gather_stats);
    m.impl("batch_norm_elemt", apply);
    m.impl("batch_norm_backward_reduce", backward_sums);
    m.impl("batch_norm_backward_elemt", backward_input);
    m.impl("native_group_norm_backward", group_norm_backward);
}

} // namespace torch_mlu
