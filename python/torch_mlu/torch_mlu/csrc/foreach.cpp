// SPDX-License-Identifier: Apache-2.0
// Lists of tensors in one call: what optimizers do to all parameters, and the unscaling of GradScaler.
#include "elementwise.hpp"

#include <ATen/native/ForeachUtils.h>
#include <torch/library.h>

#include <limits>

namespace torch_mlu {
namespace {

/** Takes the scale off gradients and tells whether one of them is infinite or no number; on the card, without a wait. */
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
        const at::Tensor finite = at::stack(largest).lt(std::numeric_limits<float>::infinity()).all();
        found.copy_(at::maximum(found, finite.logical_not().to(found.scalar_type())));
    }
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
}

} // namespace torch_mlu
