// SPDX-License-Identifier: Apache-2.0
// Element by element: functions of one tensor and of two. A line of the table at the end is an
// operator.
#include "elementwise.hpp"

#include <ATen/ExpandUtils.h>
#include <ATen/ScalarOps.h>
#include <torch/library.h>

#include <limits>

namespace torch_mlu
{

void fit(const at::Tensor &y, at::IntArrayRef sizes)
{
    if (y.sizes() != sizes) {
        y.resize_(sizes);
    }
}

at::Tensor number(const at::Scalar &value)
{
    return at::native::wrapped_scalar_tensor(value);
}

at::Tensor held(const at::Scalar &value, at::ScalarType type)
{
    return at::scalar_tensor(value, at::TensorOptions().dtype(type));
}

namespace
{

/** The type that floating-point functions of x work in: torch's default type for whole numbers. */
at::ScalarType real_type(at::ScalarType type)
{
    return at::isFloatingType(type) ? type : c10::typeMetaToScalarType(at::get_default_dtype());
}

/** Whether F wants to be told how precise it must be. */
template <class F>
constexpr bool kTakesPreference =
    std::is_invocable_v<F, cnnlHandle_t, cnnlComputationPreference_t, cnnlTensorDescriptor_t,
                        const void *, cnnlTensorDescriptor_t, void *>;

/** y = F(x), all of y's type. */
template <auto F> at::Tensor &unary(const at::Tensor &x, at::Tensor &y)
{
    fit(y, x.sizes());
    if (!y.numel()) {
        return y;
    }
    if constexpr (kTakesPreference<decltype(F)>) {
        run(F, CNNL_COMPUTATION_HIGH_PRECISION, in(as(x, y.scalar_type())), out(y));
    } else {
        run(F, in(as(x, y.scalar_type())), out(y));
    }
    return y;
}

template <cnnlLogBase_t Base> at::Tensor &logarithm(const at::Tensor &x, at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        run(cnnlLog, Base, in(as(x, y.scalar_type())), out(y));
    }
    return y;
}

template <cnnlTrigonFunctionMode_t Mode>
at::Tensor &trigonometric(const at::Tensor &x, at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        const TrigonDescriptor desc;
        check(cnnlSetTrigonDescriptor(desc.get(), Mode), "cnnlSetTrigonDescriptor");
        run(cnnlTrigonForward, desc, in(as(x, y.scalar_type())), out(y));
    }
    return y;
}

at::Tensor &logical_not(const at::Tensor &x, at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        const at::Tensor truth = result(y, at::kBool);
        run(cnnlLogicOpNot, in(as(x, at::kBool)), out(truth));
        give(y, truth);
    }
    return y;
}

at::Tensor &bitwise_not(const at::Tensor &x, at::Tensor &y)
{
    if (x.scalar_type() == at::kBool) {
        return logical_not(x, y);
    }
    fit(y, x.sizes());
    if (y.numel()) {
        run(cnnlBitCompute_v2, CNNL_BNOT_OP, in(x), Argument(at::Tensor()), out(y), work());
    }
    return y;
}

/** Both operands in `type`, the result fitted and made in it; call(a, b, result) computes. */
template <class Call>
at::Tensor &binary(const at::Tensor &a, const at::Tensor &b, at::Tensor &y, at::ScalarType type,
                   at::ScalarType made, Call call)
{
    fit(y, at::infer_size(a.sizes(), b.sizes()));
    if (y.numel()) {
        const at::Tensor computed = result(y, made);
        call(as(a, type), as(b, type), computed);
        give(y, computed);
    }
    return y;
}

template <auto F> at::Tensor &binary_plain(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    const at::ScalarType type = common(a, b);
    return binary(a, b, y, type, type,
                  [](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      run(F, in(x), in(z), out(r), work());
                  });
}

template <auto F> at::Tensor &binary_real(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    const at::ScalarType type = real_type(common(a, b));
    return binary(a, b, y, type, type,
                  [](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      run(F, CNNL_COMPUTATION_HIGH_PRECISION, in(x), in(z), work(), out(r));
                  });
}

/** A factor as CNNL reads it: float, or for whole numbers int64_t or int32_t. */
at::Tensor factor(const at::Scalar &value, at::ScalarType type)
{
    return held(value, at::isFloatingType(type) ? at::kFloat
                       : type == at::kLong      ? at::kLong
                                                : at::kInt);
}

at::Tensor &op_tensor(cnnlOpTensorDesc_t op, const at::Tensor &a, const at::Tensor &b,
                      const at::Scalar &alpha, at::Tensor &y)
{
    const at::ScalarType promoted = common(a, b);
    const at::ScalarType type = promoted == at::kBool ? at::kInt : promoted;
    return binary(
        a, b, y, type, type, [&](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
            const OpTensorDescriptor desc;
            check(cnnlSetOpTensorDescriptor(desc.get(), op, data_type(type), CNNL_PROPAGATE_NAN),
                  "cnnlSetOpTensorDescriptor");
            const at::Tensor one = factor(1, type), by = factor(alpha, type),
                             none = factor(0, type);
            run(cnnlOpTensor, desc, one.const_data_ptr(), in(x), by.const_data_ptr(), in(z), work(),
                none.const_data_ptr(), out(r));
        });
}

at::Tensor &add(const at::Tensor &a, const at::Tensor &b, const at::Scalar &alpha, at::Tensor &y)
{
    return op_tensor(CNNL_OP_TENSOR_ADD, a, b, alpha, y);
}

at::Tensor &sub(const at::Tensor &a, const at::Tensor &b, const at::Scalar &alpha, at::Tensor &y)
{
    return op_tensor(CNNL_OP_TENSOR_SUB, a, b, alpha, y);
}

at::Tensor &mul(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    return op_tensor(CNNL_OP_TENSOR_MUL, a, b, 1, y);
}

at::Tensor &div_rounded(const at::Tensor &a, const at::Tensor &b,
                        std::optional<std::string_view> rounding, at::Tensor &y)
{
    if (!rounding.has_value()) {
        return binary_real<cnnlDiv_v2>(a, b, y);
    }
    const at::ScalarType type = common(a, b);
    const cnnlDivMode_t mode = *rounding == "floor" ? CNNL_DIV_FLOOR : CNNL_DIV_TRUNC;
    return binary(a, b, y, type, type,
                  [&](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      const DivDescriptor desc;
                      check(cnnlSetDivDescAttr(desc.get(), CNNL_DIV_MODE, &mode, sizeof(mode)),
                            "cnnlSetDivDescAttr");
                      run(cnnlDiv_v3, desc, in(x), in(z), work(), out(r));
                  });
}

at::Tensor &floor_divide(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    return div_rounded(a, b, "floor", y);
}

at::Tensor floor_divided(const at::Tensor &a, const at::Tensor &b)
{
    return at::div(a, b, "floor");
}

at::Tensor &floor_divide_(at::Tensor &a, const at::Tensor &b)
{
    return a.div_(b, "floor");
}

at::Tensor isnan(const at::Tensor &x)
{
    return x.ne(x);
}

bool equal(const at::Tensor &a, const at::Tensor &b)
{
    return a.sizes() == b.sizes() && (a.numel() == 0 || !a.ne(b).any().item<bool>());
}

at::Tensor &power(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    const at::ScalarType type = common(a, b);
    return binary(a, b, y, type, type,
                  [](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      run(cnnlPow_v2, in(x), in(z), work(), out(r));
                  });
}

at::Tensor &power_scalar(const at::Tensor &a, const at::Scalar &exponent, at::Tensor &y)
{
    return exponent.equal(2) ? mul(a, a, y) : power(a, number(exponent), y);
}

at::Tensor &power_of_scalar(const at::Scalar &a, const at::Tensor &exponent, at::Tensor &y)
{
    return power(number(a), exponent, y);
}

/** Comparisons work in the common type, logic in bool. */
template <cnnlLogicOp_t Op>
at::Tensor &logic(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    const bool truths =
        Op == CNNL_LOGIC_OP_AND || Op == CNNL_LOGIC_OP_OR || Op == CNNL_LOGIC_OP_XOR;
    return binary(a, b, y, truths ? at::kBool : common(a, b), at::kBool,
                  [](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      run(cnnlLogicOp, Op, in(x), in(z), work(), out(r));
                  });
}

template <cnnlLogicOp_t Op>
at::Tensor &logic_scalar(const at::Tensor &a, const at::Scalar &b, at::Tensor &y)
{
    return logic<Op>(a, number(b), y);
}

/** Whether x is the infinity of that sign; whole numbers never are. */
template <int Sign> at::Tensor &is_infinity(const at::Tensor &x, at::Tensor &y)
{
    if (at::isFloatingType(x.scalar_type())) {
        return logic_scalar<CNNL_LOGIC_OP_EQ>(x, Sign * std::numeric_limits<double>::infinity(), y);
    }
    fit(y, x.sizes());
    return y.zero_();
}

template <cnnlBitComputeOp_t Op, cnnlLogicOp_t Truth>
at::Tensor &bitwise(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    const at::ScalarType type = common(a, b);
    if (type == at::kBool) {
        return logic<Truth>(a, b, y);
    }
    return binary(a, b, y, type, type,
                  [](const at::Tensor &x, const at::Tensor &z, const at::Tensor &r) {
                      run(cnnlBitCompute_v2, Op, in(x), in(z), out(r), work());
                  });
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("abs.out", unary<cnnlAbs>);
    m.impl("ceil.out", unary<cnnlCeil>);
    m.impl("floor.out", unary<cnnlFloor>);
    m.impl("neg.out", unary<cnnlNegTensor>);
    m.impl("round.out", unary<cnnlRound>);
    m.impl("sgn.out", unary<cnnlSign>);
    m.impl("sign.out", unary<cnnlSign>);
    m.impl("trunc.out", unary<cnnlTrunc>);
    m.impl("cos.out", unary<cnnlCos>);
    m.impl("sin.out", unary<cnnlSin>);
    m.impl("exp.out", unary<cnnlExp>);
    m.impl("reciprocal.out", unary<cnnlReciprocal>);
    m.impl("rsqrt.out", unary<cnnlRsqrt>);
    m.impl("sqrt.out", unary<cnnlSqrt_v2>);
    m.impl("erf.out", unary<cnnlErf_v2>);
    m.impl("erfinv.out", unary<cnnlErfinv>);
    m.impl("expm1.out", unary<cnnlExpm1_v2>);
    m.impl("log1p.out", unary<cnnlLog1p_v2>);
    m.impl("log.out", logarithm<CNNL_LOG_E>);
    m.impl("log2.out", logarithm<CNNL_LOG_2>);
    m.impl("log10.out", logarithm<CNNL_LOG_10>);
    m.impl("tan.out", trigonometric<CNNL_TRIGON_TAN>);
    m.impl("asin.out", trigonometric<CNNL_TRIGON_ASIN>);
    m.impl("acos.out", trigonometric<CNNL_TRIGON_ACOS>);
    m.impl("atan.out", trigonometric<CNNL_TRIGON_ATAN>);
    m.impl("sinh.out", trigonometric<CNNL_TRIGON_SINH>);
    m.impl("cosh.out", trigonometric<CNNL_TRIGON_COSH>);
    m.impl("asinh.out", trigonometric<CNNL_TRIGON_ASINH>);
    m.impl("acosh.out", trigonometric<CNNL_TRIGON_ACOSH>);
    m.impl("atanh.out", trigonometric<CNNL_TRIGON_ATANH>);
    m.impl("logical_not.out", logical_not);
    m.impl("bitwise_not.out", bitwise_not);

    m.impl("add.out", add);
    m.impl("sub.out", sub);
    m.impl("mul.out", mul);
    m.impl("div.out", binary_real<cnnlDiv_v2>);
    m.impl("div.out_mode", div_rounded);
    m.impl("floor_divide", floor_divided);
    m.impl("floor_divide_.Tensor", floor_divide_);
    m.impl("floor_divide.out", floor_divide);
    m.impl("isnan", isnan);
    m.impl("equal", equal);
    m.impl("remainder.Tensor_out", binary_plain<cnnlFloorMod>);
    m.impl("fmod.Tensor_out", binary_plain<cnnlFloorModTrunc>);
    m.impl("maximum.out", binary_plain<cnnlMaximum>);
    m.impl("minimum.out", binary_plain<cnnlMinimum>);
    m.impl("atan2.out", binary_real<cnnlAtan2>);
    m.impl("pow.Tensor_Tensor_out", power);
    m.impl("pow.Tensor_Scalar_out", power_scalar);
    m.impl("pow.Scalar_out", power_of_scalar);

    m.impl("eq.Tensor_out", logic<CNNL_LOGIC_OP_EQ>);
    m.impl("ne.Tensor_out", logic<CNNL_LOGIC_OP_NE>);
    m.impl("gt.Tensor_out", logic<CNNL_LOGIC_OP_GT>);
    m.impl("ge.Tensor_out", logic<CNNL_LOGIC_OP_GE>);
    m.impl("lt.Tensor_out", logic<CNNL_LOGIC_OP_LT>);
    m.impl("le.Tensor_out", logic<CNNL_LOGIC_OP_LE>);
    m.impl("eq.Scalar_out", logic_scalar<CNNL_LOGIC_OP_EQ>);
    m.impl("ne.Scalar_out", logic_scalar<CNNL_LOGIC_OP_NE>);
    m.impl("gt.Scalar_out", logic_scalar<CNNL_LOGIC_OP_GT>);
    m.impl("ge.Scalar_out", logic_scalar<CNNL_LOGIC_OP_GE>);
    m.impl("lt.Scalar_out", logic_scalar<CNNL_LOGIC_OP_LT>);
    m.impl("le.Scalar_out", logic_scalar<CNNL_LOGIC_OP_LE>);
    m.impl("isposinf.out", is_infinity<1>);
    m.impl("isneginf.out", is_infinity<-1>);
    m.impl("logical_and.out", logic<CNNL_LOGIC_OP_AND>);
    m.impl("logical_or.out", logic<CNNL_LOGIC_OP_OR>);
    m.impl("logical_xor.out", logic<CNNL_LOGIC_OP_XOR>);
    m.impl("bitwise_and.Tensor_out", bitwise<CNNL_CYCLE_BAND_OP, CNNL_LOGIC_OP_AND>);
    m.impl("bitwise_or.Tensor_out", bitwise<CNNL_CYCLE_BOR_OP, CNNL_LOGIC_OP_OR>);
    m.impl("bitwise_xor.Tensor_out", bitwise<CNNL_CYCLE_BXOR_OP, CNNL_LOGIC_OP_XOR>);
}

} // namespace torch_mlu
