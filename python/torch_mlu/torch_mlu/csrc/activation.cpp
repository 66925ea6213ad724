// SPDX-License-Identifier: Apache-2.0
// Activations and their gradients: cnnlActivationForward and -Backward by mode.
#include "elementwise.hpp"

#include <torch/library.h>

namespace torch_mlu
{
namespace
{

/** Numbers of a descriptor beside its mode. */
struct Settings {
    float coef = 0, gamma = 1, scale = 1;
    bool is_result = false, approximate = false;
};

template <class T>
void set(const ActivationDescriptor &desc, cnnlActivationDescAttribute_t attribute, const T &value)
{
    check(cnnlSetActivationDescAttr(desc.get(), attribute, &value, sizeof(value)),
          "cnnlSetActivationDescAttr");
}

void describe(const ActivationDescriptor &desc, cnnlActivationMode_t mode, const Settings &settings)
{
    check(cnnlSetActivationDescriptor(desc.get(), mode, CNNL_PROPAGATE_NAN, settings.coef),
          "cnnlSetActivationDescriptor");
    set(desc, CNNL_ACTIVATION_GAMMA, settings.gamma);
    set(desc, CNNL_ACTIVATION_SCALE, settings.scale);
    set(desc, CNNL_ACTIVATION_IS_RESULT, settings.is_result);
    set(desc, CNNL_ACTIVATION_APPROXIMATE, settings.approximate);
}

at::Tensor &activate(cnnlActivationMode_t mode, const Settings &settings, const at::Tensor &x,
                     at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        const ActivationDescriptor desc;
        describe(desc, mode, settings);
        run(cnnlActivationForward, desc, nullptr, in(as(x, y.scalar_type())), nullptr, out(y));
    }
    return y;
}

/** `saved` is x, or the result for those modes whose gradient takes it. */
at::Tensor &activate_backward(cnnlActivationMode_t mode, const Settings &settings,
                              const at::Tensor &diff, const at::Tensor &saved, at::Tensor &diff_x)
{
    fit(diff_x, diff.sizes());
    if (diff_x.numel()) {
        const bool by_result = mode == CNNL_ACTIVATION_SIGMOID || mode == CNNL_ACTIVATION_TANH;
        const at::Tensor none;
        const ActivationDescriptor desc;
        describe(desc, mode, settings);
        run(cnnlActivationBackward, desc, nullptr, in(by_result ? saved : none), in(diff),
            in(by_result ? none : saved), nullptr, out(diff_x));
    }
    return diff_x;
}

template <cnnlActivationMode_t Mode> at::Tensor &plain_out(const at::Tensor &x, at::Tensor &y)
{
    return activate(Mode, {}, x, y);
}

template <cnnlActivationMode_t Mode> at::Tensor plain(const at::Tensor &x)
{
    at::Tensor y = at::empty_like(x);
    return activate(Mode, {}, x, y);
}

template <cnnlActivationMode_t Mode> at::Tensor &plain_inplace(at::Tensor &x)
{
    return activate(Mode, {}, x, x);
}

template <cnnlActivationMode_t Mode>
at::Tensor &plain_backward_out(const at::Tensor &diff, const at::Tensor &saved, at::Tensor &diff_x)
{
    return activate_backward(Mode, {}, diff, saved, diff_x);
}

template <cnnlActivationMode_t Mode>
at::Tensor plain_backward(const at::Tensor &diff, const at::Tensor &x)
{
    at::Tensor diff_x = at::empty_like(x);
    return activate_backward(Mode, {}, diff, x, diff_x);
}

at::Tensor &gelu(const at::Tensor &x, std::string_view approximate, at::Tensor &y)
{
    return activate(CNNL_ACTIVATION_GELU, {.approximate = approximate == "tanh"}, x, y);
}

at::Tensor &gelu_backward(const at::Tensor &diff, const at::Tensor &x, std::string_view approximate,
                          at::Tensor &diff_x)
{
    return activate_backward(CNNL_ACTIVATION_GELU, {.approximate = approximate == "tanh"}, diff, x,
                             diff_x);
}

at::Tensor &leaky_relu(const at::Tensor &x, const at::Scalar &slope, at::Tensor &y)
{
    return activate(CNNL_ACTIVATION_LEAKYRELU, {.coef = slope.toFloat()}, x, y);
}

at::Tensor &leaky_relu_backward(const at::Tensor &diff, const at::Tensor &x,
                                const at::Scalar &slope, bool is_result, at::Tensor &diff_x)
{
    return activate_backward(CNNL_ACTIVATION_LEAKYRELU,
                             {.coef = slope.toFloat(), .is_result = is_result}, diff, x, diff_x);
}

Settings elu_settings(const at::Scalar &alpha, const at::Scalar &scale,
                      const at::Scalar &input_scale)
{
    return {.coef = input_scale.toFloat(), .gamma = alpha.toFloat(), .scale = scale.toFloat()};
}

at::Tensor &elu(const at::Tensor &x, const at::Scalar &alpha, const at::Scalar &scale,
                const at::Scalar &input_scale, at::Tensor &y)
{
    return activate(CNNL_ACTIVATION_ELU_V2, elu_settings(alpha, scale, input_scale), x, y);
}

at::Tensor &elu_backward(const at::Tensor &diff, const at::Scalar &alpha, const at::Scalar &scale,
                         const at::Scalar &input_scale, bool is_result, const at::Tensor &saved,
                         at::Tensor &diff_x)
{
    Settings settings = elu_settings(alpha, scale, input_scale);
    settings.is_result = is_result;
    return activate_backward(CNNL_ACTIVATION_ELU_V2, settings, diff, saved, diff_x);
}

at::Tensor &threshold_backward(const at::Tensor &diff, const at::Tensor &x,
                               const at::Scalar &threshold, at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        run(cnnlThresholdBackward, in(x), in(as(diff, x.scalar_type())),
            held(threshold, x.scalar_type()).mutable_data_ptr(), out(diff_x));
    }
    return diff_x;
}

/** The buffer holds nothing: the gradient takes x. */
std::tuple<at::Tensor, at::Tensor> log_sigmoid(const at::Tensor &x)
{
    return {plain<CNNL_ACTIVATION_LOGSIGMOID>(x), at::empty({0}, x.options())};
}

at::Tensor log_sigmoid_backward(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &)
{
    return plain_backward<CNNL_ACTIVATION_LOGSIGMOID>(diff, x);
}

at::Tensor prelu(const at::Tensor &x, const at::Tensor &weight)
{
    return at::where(x.gt(0), x, x * weight);
}

std::tuple<at::Tensor, at::Tensor> prelu_backward(const at::Tensor &diff, const at::Tensor &x,
                                                  const at::Tensor &weight)
{
    const at::Tensor positive = x.gt(0);
    return {at::where(positive, diff, diff * weight), (diff * x).masked_fill(positive, 0)};
}

at::Tensor &softplus(const at::Tensor &x, const at::Scalar &beta, const at::Scalar &threshold,
                     at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        const float factor = beta.toFloat(), from = threshold.toFloat();
        run(cnnlSoftplusForward_v2, &factor, &from, in(x), out(y));
    }
    return y;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("relu", plain<CNNL_ACTIVATION_RELU>);
    m.impl("relu_", plain_inplace<CNNL_ACTIVATION_RELU>);
    m.impl("sigmoid.out", plain_out<CNNL_ACTIVATION_SIGMOID>);
    m.impl("tanh.out", plain_out<CNNL_ACTIVATION_TANH>);
    m.impl("silu.out", plain_out<CNNL_ACTIVATION_SILU>);
    m.impl("mish.out", plain_out<CNNL_ACTIVATION_MISH>);
    m.impl("hardsigmoid.out", plain_out<CNNL_ACTIVATION_HARDSIGMOID>);
    m.impl("hardswish", plain<CNNL_ACTIVATION_HARDSWISH>);
    m.impl("hardswish_", plain_inplace<CNNL_ACTIVATION_HARDSWISH>);
    m.impl("erfc.out", plain_out<CNNL_ACTIVATION_ERFC>);
    m.impl("log_sigmoid_forward", log_sigmoid);
    m.impl("log_sigmoid_backward", log_sigmoid_backward);
    m.impl("_prelu_kernel", prelu);
    m.impl("_prelu_kernel_backward", prelu_backward);
    m.impl("gelu.out", gelu);
    m.impl("leaky_relu.out", leaky_relu);
    m.impl("elu.out", elu);
    m.impl("softplus.out", softplus);
    m.impl("sigmoid_backward.grad_input", plain_backward_out<CNNL_ACTIVATION_SIGMOID>);
    m.impl("tanh_backward.grad_input", plain_backward_out<CNNL_ACTIVATION_TANH>);
    m.impl("silu_backward.grad_input", plain_backward_out<CNNL_ACTIVATION_SILU>);
    m.impl("hardsigmoid_backward.grad_input", plain_backward_out<CNNL_ACTIVATION_HARDSIGMOID>);
    m.impl("mish_backward", plain_backward<CNNL_ACTIVATION_MISH>);
    m.impl("hardswish_backward", plain_backward<CNNL_ACTIVATION_HARDSWISH>);
    m.impl("gelu_backward.grad_input", gelu_backward);
    m.impl("leaky_relu_backward.grad_input", leaky_relu_backward);
    m.impl("elu_backward.grad_input", elu_backward);
    m.impl("threshold_backward.grad_input", threshold_backward);
}

} // namespace torch_mlu
