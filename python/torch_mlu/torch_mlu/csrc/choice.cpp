// SPDX-License-Identifier: Apache-2.0
// Element by element: bounds, choices by a mask, mixtures, filling.
#include "elementwise.hpp"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include <cfloat>

namespace torch_mlu
{
namespace
{

at::Tensor &clamp_tensor(const at::Tensor &x, const std::optional<at::Tensor> &low,
                         const std::optional<at::Tensor> &high, at::Tensor &y)
{
    at::ScalarType type = x.scalar_type();
    std::vector<int64_t> sizes = x.sizes().vec();
    for (const auto *bound : {&low, &high}) {
        if (bound->has_value() && (*bound)->defined()) {
            type = at::promote_types(type, common(x, **bound));
            sizes = at::infer_size(sizes, (*bound)->sizes());
        }
    }
    fit(y, sizes);
    if (y.numel()) {
        const at::Tensor r = result(y, type);
        const auto bound = [&](const std::optional<at::Tensor> &b) {
            return b.has_value() && b->defined() ? as(*b, type) : at::Tensor();
        };
        run(cnnlClip_v3, in(as(x, type)), in(bound(low)), in(bound(high)), work(), out(r));
        give(y, r);
    }
    return y;
}

std::optional<at::Tensor> number(const std::optional<at::Scalar> &value)
{
    return value.has_value() ? std::optional(torch_mlu::number(*value)) : std::nullopt;
}

at::Tensor &clamp(const at::Tensor &x, const std::optional<at::Scalar> &low,
                  const std::optional<at::Scalar> &high, at::Tensor &y)
{
    return clamp_tensor(x, number(low), number(high), y);
}

at::Tensor &clamp_min(const at::Tensor &x, const at::Scalar &low, at::Tensor &y)
{
    return clamp_tensor(x, torch_mlu::number(low), std::nullopt, y);
}

at::Tensor &clamp_max(const at::Tensor &x, const at::Scalar &high, at::Tensor &y)
{
    return clamp_tensor(x, std::nullopt, torch_mlu::number(high), y);
}

at::Tensor hardtanh(const at::Tensor &x, const at::Scalar &low, const at::Scalar &high)
{
    at::Tensor y = at::empty_like(x);
    return clamp(x, low, high, y);
}

at::Tensor &hardtanh_(at::Tensor &x, const at::Scalar &low, const at::Scalar &high)
{
    return clamp(x, low, high, x);
}

at::Tensor hardtanh_backward(const at::Tensor &diff, const at::Tensor &x, const at::Scalar &low,
                             const at::Scalar &high)
{
    at::Tensor y = at::empty_like(x);
    if (y.numel()) {
        run(cnnlHardtanhBackward, in(x), in(diff), high.toFloat(), low.toFloat(), out(y));
    }
    return y;
}

at::Tensor &where_out(const at::Tensor &condition, const at::Tensor &a, const at::Tensor &b,
                      at::Tensor &y)
{
    fit(y, at::infer_size(condition.sizes(), at::infer_size(a.sizes(), b.sizes())));
    if (y.numel()) {
        const at::ScalarType type = common(a, b);
        const at::Tensor r = result(y, type);
        run(cnnlSelectV2, in(as(condition, at::kBool)), in(as(a, type)), in(as(b, type)), work(),
            out(r));
        give(y, r);
    }
    return y;
}

at::Tensor where(const at::Tensor &condition, const at::Tensor &a, const at::Tensor &b)
{
    at::Tensor y = at::empty({0}, condition.options().dtype(common(a, b)));
    return where_out(condition, a, b, y);
}

template <auto F>
at::Tensor &pointwise(const at::Tensor &self, const at::Tensor &a, const at::Tensor &b,
                      const at::Scalar &value, at::Tensor &y)
{
    fit(y, at::infer_size(self.sizes(), at::infer_size(a.sizes(), b.sizes())));
    if (y.numel()) {
        const at::ScalarType type = y.scalar_type();
        TORCH_CHECK(at::isFloatingType(type),
                    "addcmul and addcdiv of whole numbers are not possible on an MLU");
        const float factor = value.toFloat();
        run(F, in(as(self, type)), &factor, in(as(a, type)), in(as(b, type)), work(), out(y));
    }
    return y;
}

at::Tensor &lerp_tensor(const at::Tensor &self, const at::Tensor &end, const at::Tensor &weight,
                        at::Tensor &y)
{
    fit(y, at::infer_size(self.sizes(), at::infer_size(end.sizes(), weight.sizes())));
    if (y.numel()) {
        run(cnnlLerp, in(self), in(end), in(as(weight, self.scalar_type())), work(), out(y));
    }
    return y;
}

at::Tensor &lerp_scalar(const at::Tensor &self, const at::Tensor &end, const at::Scalar &weight,
                        at::Tensor &y)
{
    return lerp_tensor(self, end, torch_mlu::number(weight), y);
}

at::Tensor &nan_to_num(const at::Tensor &x, std::optional<double> nan, std::optional<double> high,
                       std::optional<double> low, at::Tensor &y)
{
    fit(y, x.sizes());
    if (!y.numel()) {
        return y;
    }
    const bool real = at::isFloatingType(x.scalar_type());
    const double most = x.scalar_type() == at::kHalf       ? 65504.0
                        : x.scalar_type() == at::kBFloat16 ? 3.3895313892515355e38
                                                           : FLT_MAX;
    if (real) {
        run(cnnlNanToNum, in(x), static_cast<float>(nan.value_or(0)),
            static_cast<float>(high.value_or(most)), static_cast<float>(low.value_or(-most)),
            out(y));
    } else {
        y.copy_(x);
    }
    return y;
}

at::Tensor &fill_scalar(at::Tensor &self, const at::Scalar &value)
{
    if (self.numel()) {
        run(cnnlFill_v3, CNNL_POINTER_MODE_HOST, held(value, self.scalar_type()).const_data_ptr(),
            out(self));
    }
    return self;
}

at::Tensor &fill_tensor(at::Tensor &self, const at::Tensor &value)
{
    TORCH_CHECK(value.dim() == 0, "fill_ takes a number, this tensor has ", value.dim(),
                " dimensions");
    return value.is_cpu() ? fill_scalar(self, value.item())
                          : self.copy_(value.expand(self.sizes()));
}

at::Tensor &zero_(at::Tensor &self)
{
    return fill_scalar(self, 0);
}

at::Tensor &masked_fill_scalar(at::Tensor &self, const at::Tensor &mask, const at::Scalar &value)
{
    if (self.numel()) {
        run(cnnlMasked_v4, CNNL_MASKED_FILL_HOST, in(self), in(as(mask, at::kBool)),
            Argument(at::Tensor()), held(value, self.scalar_type()).const_data_ptr(), work(),
            out(self), nullptr);
    }
    return self;
}

at::Tensor &masked_fill_tensor(at::Tensor &self, const at::Tensor &mask, const at::Tensor &value)
{
    TORCH_CHECK(value.dim() == 0, "masked_fill_ takes a number, this tensor has ", value.dim(),
                " dimensions");
    if (value.is_cpu()) {
        return masked_fill_scalar(self, mask, value.item());
    }
    if (self.numel()) {
        run(cnnlMasked_v4, CNNL_MASKED_FILL, in(self), in(as(mask, at::kBool)),
            in(as(value, self.scalar_type())), nullptr, work(), out(self), nullptr);
    }
    return self;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("clamp.out", clamp);
    m.impl("clamp.Tensor_out", clamp_tensor);
    m.impl("clamp_min.out", clamp_min);
    m.impl("clamp_max.out", clamp_max);
    m.impl("hardtanh", hardtanh);
    m.impl("hardtanh_", hardtanh_);
    m.impl("hardtanh_backward", hardtanh_backward);
    m.impl("where.self", where);
    m.impl("where.self_out", where_out);
    m.impl("addcmul.out", pointwise<cnnlAddcmul>);
    m.impl("addcdiv.out", pointwise<cnnlAddcdiv>);
    m.impl("lerp.Tensor_out", lerp_tensor);
    m.impl("lerp.Scalar_out", lerp_scalar);
    m.impl("fill_.Scalar", fill_scalar);
    m.impl("fill_.Tensor", fill_tensor);
    m.impl("zero_", zero_);
    m.impl("masked_fill_.Scalar", masked_fill_scalar);
    m.impl("masked_fill_.Tensor", masked_fill_tensor);
    m.impl("nan_to_num.out", nan_to_num);
}

} // namespace torch_mlu
