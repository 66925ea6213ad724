// SPDX-License-Identifier: Apache-2.0
// Lists of tensors in one call: what optimizers do to all parameters, and the unscaling of
// GradScaler.
#include "elementwise.hpp"

#include <ATen/native/ForeachUtils.h>
#include <ATen/ops/_foreach_add_native.h>
#include <ATen/ops/_foreach_addcdiv_native.h>
#include <ATen/ops/_foreach_addcmul_native.h>
#include <ATen/ops/_foreach_div_native.h>
#include <ATen/ops/_foreach_mul_native.h>
#include <ATen/ops/_foreach_sqrt_native.h>
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

using Numbers = at::ArrayRef<at::Scalar>;
using List = std::vector<at::Tensor>;

/** Whether lists go in one call: float tensors of one type, alike in shape and strides; else torch
 * takes them one after the other. */
bool in_one_call(at::ArrayRef<at::TensorList> lists, Numbers numbers = {})
{
    if (lists[0].empty() || !at::native::can_use_fast_route(lists, numbers, true)) {
        return false;
    }
    for (const at::Tensor &tensor : lists[0]) {
        if (!at::isReducedFloatingType(tensor.scalar_type()) &&
            tensor.scalar_type() != at::kFloat) {
            return false;
        }
        if (!tensor.numel()) {
            return false;
        }
    }
    return true;
}

List like(at::TensorList tensors)
{
    List made;
    for (const at::Tensor &tensor : tensors) {
        made.push_back(at::empty_like(tensor));
    }
    return made;
}

std::vector<float> floats(Numbers numbers)
{
    std::vector<float> made;
    for (const at::Scalar &number : numbers) {
        made.push_back(number.toFloat());
    }
    return made;
}

/** ys = as op bs (times alpha). */
void with_list(cnnlForeachOpMode_t op, at::TensorList as, at::TensorList bs,
               const std::optional<at::Scalar> &alpha, at::TensorList ys)
{
    const float factor = alpha.has_value() ? alpha->toFloat() : 1;
    const Arguments a(as), b(bs), y(ys);
    run(cnnlForeachBinaryOp, op, FOREACH_BINARY_TENSOR_LIST, a.size(), a, b, in(at::Tensor()),
        alpha.has_value() ? &factor : nullptr, work(), y);
}

/** ys = as op numbers: one, or one each. */
void with_numbers(cnnlForeachOpMode_t op, at::TensorList as, Numbers numbers, at::TensorList ys)
{
    const std::vector<float> values = floats(numbers);
    const Arguments a(as), y(ys);
    run(cnnlForeachBinaryOp, op,
        numbers.size() == 1 ? FOREACH_BINARY_SCALAR : FOREACH_BINARY_SCALAR_LIST, a.size(), a,
        static_cast<const cnnlTensorDescriptor_t *>(nullptr), static_cast<void *const *>(nullptr),
        static_cast<cnnlTensorDescriptor_t>(nullptr), static_cast<const void *>(values.data()),
        nullptr, work(), y);
}

void add_list_(at::TensorList as, at::TensorList bs, const at::Scalar &alpha)
{
    if (!in_one_call({as, bs}, {alpha})) {
        return at::native::foreach_tensor_add_list_kernel_slow_(as, bs, alpha);
    }
    with_list(CNNL_FOREACH_ADD, as, bs, alpha, as);
}

List add_list(at::TensorList as, at::TensorList bs, const at::Scalar &alpha)
{
    if (!in_one_call({as, bs}, {alpha})) {
        return at::native::foreach_tensor_add_list_kernel_slow(as, bs, alpha);
    }
    List ys = like(as);
    with_list(CNNL_FOREACH_ADD, as, bs, alpha, ys);
    return ys;
}

template <cnnlForeachOpMode_t Op, auto Slow> void list_(at::TensorList as, at::TensorList bs)
{
    if (!in_one_call({as, bs})) {
        return Slow(as, bs);
    }
    with_list(Op, as, bs, std::nullopt, as);
}

template <cnnlForeachOpMode_t Op, auto Slow>
void number_(at::TensorList as, const at::Scalar &number)
{
    if (!in_one_call({as}, {number})) {
        return Slow(as, number);
    }
    with_numbers(Op, as, {number}, as);
}

template <cnnlForeachOpMode_t Op, auto Slow>
List number(at::TensorList as, const at::Scalar &number)
{
    if (!in_one_call({as}, {number})) {
        return Slow(as, number);
    }
    List ys = like(as);
    with_numbers(Op, as, {number}, ys);
    return ys;
}

template <cnnlForeachOpMode_t Op, auto Slow> void numbers_(at::TensorList as, Numbers numbers)
{
    if (as.size() != numbers.size() || !in_one_call({as}, numbers)) {
        return Slow(as, numbers);
    }
    with_numbers(Op, as, numbers, as);
}

List roots(at::TensorList xs)
{
    if (!in_one_call({xs})) {
        return at::native::foreach_tensor_sqrt_slow(xs);
    }
    List ys = like(xs);
    const Arguments x(xs), y(ys);
    run(cnnlForeachUnaryOp, CNNL_FOREACH_SQRT, x.size(), x, work(), y);
    return ys;
}

/** xs += numbers as op bs: one number, or one each. */
void three_lists(cnnlForeachOpMode_t op, at::TensorList xs, at::TensorList as, at::TensorList bs,
                 Numbers numbers)
{
    const std::vector<float> values = floats(numbers);
    const Arguments x(xs), a(as), b(bs);
    run(cnnlForeachPointwiseOp, op,
        numbers.size() == 1 ? FOREACH_POINTWISE_SCALAR : FOREACH_POINTWISE_SCALAR_LIST, x.size(), x,
        a, b, static_cast<const void *>(values.data()), x);
}

template <cnnlForeachOpMode_t Op, auto Slow>
void pointwise_(at::TensorList xs, at::TensorList as, at::TensorList bs, const at::Scalar &number)
{
    if (!in_one_call({xs, as, bs}, {number})) {
        return Slow(xs, as, bs, number);
    }
    three_lists(Op, xs, as, bs, {number});
}

template <cnnlForeachOpMode_t Op, auto Slow>
void pointwise_numbers_(at::TensorList xs, at::TensorList as, at::TensorList bs, Numbers numbers)
{
    if (xs.size() != numbers.size() || !in_one_call({xs, as, bs}, numbers)) {
        return Slow(xs, as, bs, numbers);
    }
    three_lists(Op, xs, as, bs, numbers);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("_amp_foreach_non_finite_check_and_unscale_", unscale);
    m.impl("_amp_update_scale_", update_scale);
    m.impl("_foreach_add_.List", add_list_);
    m.impl("_foreach_add.List", add_list);
    m.impl("_foreach_mul_.List",
           list_<CNNL_FOREACH_MUL, at::native::foreach_tensor_mul_list_kernel_slow_>);
    m.impl("_foreach_div_.List",
           list_<CNNL_FOREACH_DIV, at::native::foreach_tensor_div_list_kernel_slow_>);
    m.impl("_foreach_add_.Scalar",
           number_<CNNL_FOREACH_ADD, at::native::foreach_tensor_add_scalar_kernel_slow_>);
    m.impl("_foreach_mul_.Scalar",
           number_<CNNL_FOREACH_MUL, at::native::foreach_tensor_mul_scalar_kernel_slow_>);
    m.impl("_foreach_mul.Scalar",
           number<CNNL_FOREACH_MUL, at::native::foreach_tensor_mul_scalar_kernel_slow>);
    m.impl("_foreach_div_.Scalar",
           number_<CNNL_FOREACH_DIV, at::native::foreach_tensor_div_scalar_kernel_slow_>);
    m.impl("_foreach_div_.ScalarList",
           numbers_<CNNL_FOREACH_DIV, at::native::foreach_tensor_div_scalarlist_kernel_slow_>);
    m.impl("_foreach_mul_.ScalarList",
           numbers_<CNNL_FOREACH_MUL, at::native::foreach_tensor_mul_scalarlist_kernel_slow_>);
    m.impl("_foreach_sqrt", roots);
    m.impl("_foreach_addcmul_.Scalar",
           pointwise_<CNNL_FOREACH_ADDCMUL, at::native::foreach_tensor_addcmul_scalar_slow_>);
    m.impl("_foreach_addcdiv_.Scalar",
           pointwise_<CNNL_FOREACH_ADDCDIV, at::native::foreach_tensor_addcdiv_scalar_slow_>);
    m.impl("_foreach_addcdiv_.ScalarList",
           pointwise_numbers_<CNNL_FOREACH_ADDCDIV,
                              at::native::foreach_tensor_addcdiv_scalarlist_slow_>);
}

} // namespace torch_mlu
