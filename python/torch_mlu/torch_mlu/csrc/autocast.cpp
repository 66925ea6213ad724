// SPDX-License-Identifier: Apache-2.0
// Which operators autocast runs in half precision, in float, or in the widest type of their
// arguments: torch's own lists.
#include <ATen/autocast_mode.h>

namespace at::autocast
{
namespace
{

Tensor refuse_binary_cross_entropy(const Tensor &, const Tensor &, const std::optional<Tensor> &,
                                   int64_t)
{
    TORCH_CHECK(false, "binary_cross_entropy is unsafe to autocast: use "
                       "binary_cross_entropy_with_logits, or turn autocast off around it");
}

} // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m)
{
    m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m)
{
#define KERNEL_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define KERNEL_FLOAT(...)           KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define KERNEL_FLOAT_DTYPE(...)     KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define KERNEL_WIDEST(...)          KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
    AT_FORALL_LOWER_PRECISION_FP(KERNEL_LOWER_PRECISION)
    AT_FORALL_FP32(KERNEL_FLOAT)
    AT_FORALL_FP32_SET_OPT_DTYPE(KERNEL_FLOAT_DTYPE)
    AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
    AT_FORALL_PROMOTE(KERNEL_WIDEST)
    m.impl("binary_cross_entropy", TORCH_FN(refuse_binary_cross_entropy));
}

} // namespace at::autocast
