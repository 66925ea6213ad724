// SPDX-License-Identifier: Apache-2.0
// Lists of tensors in one call: what optimizers do to all parameters, and the unscaling of
// GradScaler.
#include "elementwise.hpp"

#include <ATen/native/ForeachUtils.h>
#include <torch/library.h>

#include <limits>

namespace torch_mlu
{
namespace
{

/** Takes the scale off gradients and tells whether one of them is infinite or no number; on the
 * card, without a wait. */
void unscale(at::TensorList gradients, at::Tensor &found, const at::Tensor &inverse)
{
    std::vector<at::Tensor> largest;
    for (const at::Tensor &given : gradients) {
        if (given.numel()) {
            at::Tensor gradient = given;
            largest.push_back(gradient.abs().amax().to(at::kFloat));
            gradient.mul_(inverse);
        }
    }
    if (!largest.empty()) {
        const at::Tensor finite =
            at::stack(largest).lt(std::numeric_limits<float>::infinity()).all();
        found.copy_(at::maximum(found, finite.logical_not().to(found.scalar_type())));
    }
}

/** The scale shrinks after an overflow and grows after `interval` steps without one, unless it
 * would be infinite. */
at::Tensor &update_scale(at::Tensor &scale, at::Tensor &tracker, const at::Tensor &found,
                         double growth, double backoff, int64_t interval)
{
    const at::Tensor bad = found.gt(0), count = tracker + 1, grown = scale * growth;
    const at::Tensor grows = count.eq(interval).logical_and(bad.logical_not());
    const at::Tensor larger =
        at::where(grown.lt(std::numeric_limits<float>::infinity()), grown, scale);
    scale.copy_(at::where(bad, scale * backoff, at::where(grows, larger, scale)));
    tracker.copy_(count.masked_fill(bad.logical_or(grows), 0));
    return scale;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
    m.impl("_amp_update_scale_", update_scale);
}

} // namespace torch_mlu
