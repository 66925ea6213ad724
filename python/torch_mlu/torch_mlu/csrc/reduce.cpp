// SPDX-License-Identifier: Apache-2.0
// Sums, extremes, norms, truths over dimensions; running sums; softmax.
#include "elementwise.hpp"

#include <ATen/WrapDimUtilsMulti.h>
#include <torch/library.h>

#include <cmath>

namespace torch_mlu
{
namespace
{

/** The dimensions of a reduction: which are reduced, and the shape of the result. */
struct Dims {
    Dims(const at::Tensor &x, at::OptionalIntArrayRef dims, bool keep)
    {
        const bool all = !dims.has_value() || dims->empty();
        const auto mask = at::dim_list_to_bitset(all ? at::OptionalIntArrayRef() : dims,
                                                 static_cast<size_t>(x.dim()));
        for (int64_t i = 0; i < x.dim(); i++) {
            const bool reduced = mask[static_cast<size_t>(i)];
            if (reduced) {
                axes.push_back(static_cast<int>(i));
            }
            if (!reduced || keep) {
                sizes.push_back(reduced ? 1 : x.size(i));
            }
        }
    }
    std::vector<int> axes;
    std::vector<int64_t> sizes;
};

/** y = op over dims of x; both have elements. p: of a norm. */
void reduce(cnnlReduceOp_t op, const at::Tensor &x, const Dims &dims, const at::Tensor &y,
            float p = 2)
{
    const ReduceDescriptor desc;
    check(cnnlSetReduceDescriptor_v2(desc.get(), dims.axes.data(),
                                     static_cast<int>(dims.axes.size()), op,
                                     data_type(x.scalar_type()), CNNL_PROPAGATE_NAN,
                                     CNNL_REDUCE_NO_INDICES, CNNL_32BIT_INDICES, p),
          "cnnlSetReduceDescriptor_v2");
    run(cnnlReduce_v2, desc, in(x), nullptr, nullptr, work(), out(y), out(at::Tensor()));
}

/** The largest or smallest along one dimension and where it is; either may be undefined. */
void extreme(cnnlReduceOp_t op, const at::Tensor &x, int64_t dim, const at::Tensor &y,
             const at::Tensor &index)
{
    const int axis = static_cast<int>(dim);
    const ReduceDescriptor desc;
    check(cnnlSetReduceDescriptor_v2(
              desc.get(), &axis, 1, op, data_type(x.scalar_type()), CNNL_PROPAGATE_NAN,
              y.defined() ? CNNL_REDUCE_FLATTENED_INDICES : CNNL_REDUCE_ONLY_INDICES,
              CNNL_64BIT_INDICES, 2),
          "cnnlSetReduceDescriptor_v2");
    run(cnnlReduce_v2, desc, in(x), nullptr, nullptr, work(), out(y), out(index));
}

/** Sums and means: in y's type; nothing is summed to `none`. */
at::Tensor &sum_like(cnnlReduceOp_t op, double none, const at::Tensor &x,
                     at::OptionalIntArrayRef over, bool keep, at::Tensor &y)
{
    const Dims dims(x, over, keep);
    fit(y, dims.sizes);
    if (!x.numel()) {
        return y.fill_(none);
    }
    const at::Tensor operand = at::isFloatingType(x.scalar_type()) ? x : as(x, y.scalar_type());
    if (x.dim() == 0 || dims.axes.empty()) {
        return y.copy_(operand.view(y.sizes()));
    }
    reduce(op, operand, dims, y);
    return y;
}

at::Tensor &sum(const at::Tensor &x, at::OptionalIntArrayRef dims, bool keep,
                std::optional<at::ScalarType>, at::Tensor &y)
{
    return sum_like(CNNL_REDUCE_ADD, 0, x, dims, keep, y);
}

at::Tensor &mean(const at::Tensor &x, at::OptionalIntArrayRef dims, bool keep,
                 std::optional<at::ScalarType>, at::Tensor &y)
{
    return sum_like(CNNL_REDUCE_AVG, NAN, x, dims, keep, y);
}

at::Tensor nansum(const at::Tensor &x, at::OptionalIntArrayRef dims, bool keep,
                  std::optional<at::ScalarType> dtype)
{
    return x.masked_fill(x.ne(x), 0).sum(dims, keep, dtype);
}

at::Tensor &prod_dim(const at::Tensor &x, int64_t dim, bool keep, std::optional<at::ScalarType>,
                     at::Tensor &y)
{
    return sum_like(CNNL_REDUCE_MUL, 1, x, at::IntArrayRef(dim), keep, y);
}

at::Tensor prod(const at::Tensor &x, std::optional<at::ScalarType> dtype)
{
    const at::ScalarType type =
        dtype.value_or(at::isIntegralType(x.scalar_type(), true) ? at::kLong : x.scalar_type());
    at::Tensor y = at::empty({}, x.options().dtype(type));
    return prod_dim(x.reshape({-1}), 0, false, dtype, y);
}

template <cnnlReduceOp_t Op>
at::Tensor &extremes(const at::Tensor &x, at::IntArrayRef over, bool keep, at::Tensor &y)
{
    const Dims dims(x, over, keep);
    fit(y, dims.sizes);
    if (x.dim() == 0) {
        return y.copy_(x);
    }
    TORCH_CHECK(x.numel() || !y.numel(), "the extreme of no elements");
    if (y.numel()) {
        reduce(Op, x, dims, y);
    }
    return y;
}

template <cnnlReduceOp_t Op> at::Tensor extreme_of_all(const at::Tensor &x)
{
    at::Tensor y = at::empty({}, x.options());
    return extremes<Op>(x, {}, false, y);
}

template <cnnlReduceOp_t Op>
std::tuple<at::Tensor &, at::Tensor &> extreme_dim(const at::Tensor &x, int64_t dim, bool keep,
                                                   at::Tensor &y, at::Tensor &index)
{
    const int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    const Dims dims(x, at::IntArrayRef(axis), keep);
    fit(y, dims.sizes);
    fit(index, dims.sizes);
    if (x.dim() == 0) {
        y.copy_(x);
        index.zero_();
    } else if (y.numel()) {
        extreme(Op, x, axis, y, index);
    }
    return {y, index};
}

template <cnnlReduceOp_t Op>
at::Tensor &extreme_place(const at::Tensor &x, std::optional<int64_t> dim, bool keep,
                          at::Tensor &index)
{
    const at::Tensor operand = dim.has_value() ? x : x.reshape({-1});
    const int64_t axis = c10::maybe_wrap_dim(dim.value_or(0), operand.dim());
    std::vector<int64_t> sizes = Dims(operand, at::IntArrayRef(axis), keep).sizes;
    if (!dim.has_value() && keep) {
        sizes.assign(static_cast<size_t>(x.dim()), 1);
    }
    fit(index, sizes);
    if (operand.dim() == 0) {
        index.zero_();
    } else if (index.numel()) {
        extreme(Op, operand, axis, at::Tensor(), index);
    }
    return index;
}

/** Whether any or all are not zero. */
template <cnnlReduceOp_t Op>
at::Tensor &truth(const at::Tensor &x, at::OptionalIntArrayRef over, bool keep, at::Tensor &y)
{
    const Dims dims(x, over, keep);
    fit(y, dims.sizes);
    if (!x.numel()) {
        return y.fill_(Op == CNNL_REDUCE_AND);
    }
    const at::Tensor r = result(y, at::kBool);
    if (x.dim() == 0) {
        r.copy_(x);
    } else {
        reduce(Op, as(x, at::kBool), dims, r);
    }
    give(y, r);
    return y;
}

template <cnnlReduceOp_t Op>
at::Tensor &truth_dim(const at::Tensor &x, int64_t dim, bool keep, at::Tensor &y)
{
    return truth<Op>(x, at::IntArrayRef(dim), keep, y);
}

template <cnnlReduceOp_t Op> at::Tensor &truth_all(const at::Tensor &x, at::Tensor &y)
{
    return truth<Op>(x, std::nullopt, false, y);
}

at::Tensor &vector_norm(const at::Tensor &x, const at::Scalar &order, at::OptionalIntArrayRef over,
                        bool keep, std::optional<at::ScalarType> dtype, at::Tensor &y)
{
    const at::Tensor operand = dtype.has_value() ? as(x, *dtype) : x;
    const double p = order.toDouble();
    if (std::isinf(p)) {
        const std::vector<int64_t> dims = over.has_value() ? over->vec() : std::vector<int64_t>();
        return p > 0 ? at::amax_out(y, operand.abs(), dims, keep)
                     : at::amin_out(y, operand.abs(), dims, keep);
    }
    if (p == 0) {
        return y.copy_(operand.ne(0).sum(over, keep));
    }
    const Dims dims(operand, over, keep);
    fit(y, dims.sizes);
    if (!operand.numel()) {
        return y.zero_();
    }
    if (operand.dim() == 0) {
        return y.copy_(operand.abs());
    }
    reduce(p == 1   ? CNNL_REDUCE_NORM1
           : p == 2 ? CNNL_REDUCE_NORM2
                    : CNNL_REDUCE_NORMP,
           operand, dims, y, static_cast<float>(p));
    return y;
}

/** Spread and mean over dims; Op says which of the two are wanted. */
template <cnnlStdVarMeanOp_t Op>
std::tuple<at::Tensor, at::Tensor> spread(const at::Tensor &x, at::OptionalIntArrayRef over,
                                          const std::optional<at::Scalar> &correction, bool keep)
{
    const double less = correction.has_value() ? correction->toDouble() : 1;
    TORCH_CHECK(less == 0 || less == 1, "a correction of ", less,
                " is not possible on an MLU: 0 and 1 are");
    const Dims dims(x, over, keep);
    const bool means = Op == CNNL_STD_MEAN || Op == CNNL_VAR_MEAN,
               roots = Op == CNNL_STD || Op == CNNL_STD_MEAN;
    at::Tensor y = at::empty(dims.sizes, x.options()),
               middle = means ? at::empty(dims.sizes, x.options()) : at::Tensor();
    if (!x.numel() || x.dim() == 0) {
        y.fill_(x.numel() && less == 0 ? 0 : NAN);
        return {y, means ? middle.copy_(x.numel() ? x : y) : middle};
    }
    std::vector<int> axes = dims.axes;
    const StdVarMeanDescriptor desc;
    check(cnnlSetStdVarMeanDescriptor_v2(desc.get(), Op, static_cast<int>(axes.size()), axes.data(),
                                         less == 1),
          "cnnlSetStdVarMeanDescriptor_v2");
    run(cnnlStdVarMean, desc, in(x), work(), out(roots ? y : at::Tensor()),
        out(roots ? at::Tensor() : y), out(middle));
    return {y, middle};
}

template <cnnlStdVarMeanOp_t Op>
at::Tensor spread_alone(const at::Tensor &x, at::OptionalIntArrayRef over,
                        const std::optional<at::Scalar> &correction, bool keep)
{
    return std::get<0>(spread<Op>(x, over, correction, keep));
}

/** Running sums (Sum) or products along a dimension. */
template <bool Sum>
at::Tensor &running(const at::Tensor &x, int64_t dim, std::optional<at::ScalarType>, at::Tensor &y)
{
    fit(y, x.sizes());
    if (x.dim() == 0) {
        return y.copy_(x);
    }
    const int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    if (y.numel() && Sum) {
        run(cnnlCumsum_v2, in(as(x, y.scalar_type())), axis, false, false, CNNL_PROPAGATE_NAN,
            out(y), work());
    } else if (y.numel()) {
        run(cnnlCumprod_v2, in(as(x, y.scalar_type())), axis, false, false, out(y), work());
    }
    return y;
}

/** A tensor as three dimensions with `dim` in the middle. */
at::Tensor around(const at::Tensor &x, int64_t dim)
{
    const int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    const int64_t size = x.dim() ? x.size(axis) : 1;
    const int64_t outer =
        x.dim() ? c10::multiply_integers(x.sizes().slice(0, static_cast<size_t>(axis))) : 1;
    return x.contiguous().view({outer, size, outer && size ? x.numel() / (outer * size) : 1});
}

template <cnnlSoftmaxAlgorithm_t Algorithm>
at::Tensor &softmax(const at::Tensor &x, int64_t dim, bool, at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        const at::Tensor made = y.is_contiguous() ? y : at::empty(y.sizes(), y.options());
        run(cnnlSoftmaxForward, Algorithm, CNNL_SOFTMAX_MODE_MEDIUM_DIMENSION, nullptr,
            in(around(as(x, y.scalar_type()), dim)), nullptr, out(around(made, dim)));
        give(y, made);
    }
    return y;
}

template <cnnlSoftmaxAlgorithm_t Algorithm>
at::Tensor &softmax_backward(const at::Tensor &diff, const at::Tensor &y, int64_t dim,
                             at::ScalarType type, at::Tensor &diff_x)
{
    fit(diff_x, y.sizes());
    if (diff_x.numel()) {
        const at::Tensor made =
            at::empty(diff_x.sizes(), diff_x.options().dtype(diff.scalar_type()));
        run(cnnlSoftmaxBackward, Algorithm, CNNL_SOFTMAX_MODE_MEDIUM_DIMENSION, nullptr,
            in(around(y, dim)), in(around(diff, dim)), nullptr, out(around(made, dim)));
        diff_x.copy_(made.to(type));
    }
    return diff_x;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("sum.IntList_out", sum);
    m.impl("nansum", nansum);
    m.impl("mean.out", mean);
    m.impl("prod.int_out", prod_dim);
    m.impl("prod", prod);
    m.impl("amax.out", extremes<CNNL_REDUCE_MAX>);
    m.impl("amin.out", extremes<CNNL_REDUCE_MIN>);
    m.impl("max", extreme_of_all<CNNL_REDUCE_MAX>);
    m.impl("min", extreme_of_all<CNNL_REDUCE_MIN>);
    m.impl("max.dim_max", extreme_dim<CNNL_REDUCE_MAX>);
    m.impl("min.dim_min", extreme_dim<CNNL_REDUCE_MIN>);
    m.impl("argmax.out", extreme_place<CNNL_REDUCE_MAX>);
    m.impl("argmin.out", extreme_place<CNNL_REDUCE_MIN>);
    m.impl("any.out", truth_dim<CNNL_REDUCE_OR>);
    m.impl("any.dims_out", truth<CNNL_REDUCE_OR>);
    m.impl("any.all_out", truth_all<CNNL_REDUCE_OR>);
    m.impl("all.out", truth_dim<CNNL_REDUCE_AND>);
    m.impl("all.dims_out", truth<CNNL_REDUCE_AND>);
    m.impl("all.all_out", truth_all<CNNL_REDUCE_AND>);
    m.impl("linalg_vector_norm.out", vector_norm);
    m.impl("var.correction", spread_alone<CNNL_VAR>);
    m.impl("std.correction", spread_alone<CNNL_STD>);
    m.impl("var_mean.correction", spread<CNNL_VAR_MEAN>);
    m.impl("std_mean.correction", spread<CNNL_STD_MEAN>);
    m.impl("cumsum.out", running<true>);
    m.impl("cumprod.out", running<false>);
    m.impl("_softmax.out", softmax<CNNL_SOFTMAX_ACCURATE>);
    m.impl("_log_softmax.out", softmax<CNNL_SOFTMAX_LOG>);
    m.impl("_softmax_backward_data.out", softmax_backward<CNNL_SOFTMAX_ACCURATE>);
    m.impl("_log_softmax_backward_data.out", softmax_backward<CNNL_SOFTMAX_LOG>);
}

} // namespace torch_mlu
