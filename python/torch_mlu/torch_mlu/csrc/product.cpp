// SPDX-License-Identifier: Apache-2.0
// Products of matrices. Whole numbers and doubles, which the card's products do not take, are
// multiplied on the host.
#include "elementwise.hpp"

#include <torch/library.h>

namespace torch_mlu
{
namespace
{

bool card_multiplies(at::ScalarType type)
{
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

/** y = alpha a b + beta c; a, b of y's type, c seen in its shape and not read for beta 0. */
void multiply(const at::Tensor &a, const at::Tensor &b, const at::Tensor &c, float alpha,
              float beta, const at::Tensor &y)
{
    using MatMulDescriptor =
        Descriptor<cnnlMatMulDescriptor_t, cnnlCreateMatMulDescriptor, cnnlDestroyMatMulDescriptor>;
    const MatMulDescriptor desc;
    run(cnnlMatMul_v2, desc, nullptr, &alpha, in(a), in(b), &beta, in(beta == 0 ? at::Tensor() : c),
        work(), out(y));
}

at::Tensor &addmm(const at::Tensor &c, const at::Tensor &a, const at::Tensor &b,
                  const at::Scalar &beta, const at::Scalar &alpha, at::Tensor &y)
{
    fit(y, {a.size(0), b.size(1)});
    if (!y.numel()) {
        return y;
    }
    if (!a.size(1)) {
        return beta.equal(0) ? y.zero_() : y.copy_(c.expand(y.sizes())).mul_(beta);
    }
    if (!card_multiplies(y.scalar_type())) {
        return y.copy_(at::addmm(c.cpu(), a.cpu(), b.cpu(), beta, alpha));
    }
    multiply(a, b, c.expand(y.sizes()), alpha.toFloat(), beta.toFloat(), y);
    return y;
}

at::Tensor &mm(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    return addmm(at::empty({}, y.options()), a, b, 0, 1, y); // c is not read
}

at::Tensor &bmm(const at::Tensor &a, const at::Tensor &b, at::Tensor &y)
{
    fit(y, {a.size(0), a.size(1), b.size(2)});
    if (!y.numel()) {
        return y;
    }
    if (!a.size(2)) {
        return y.zero_();
    }
    if (!card_multiplies(y.scalar_type())) {
        return y.copy_(at::bmm(a.cpu(), b.cpu()));
    }
    run(cnnlBatchMatMulBCast, false, false, in(a), in(b), work(), out(y));
    return y;
}

at::Tensor &baddbmm(const at::Tensor &c, const at::Tensor &a, const at::Tensor &b,
                    const at::Scalar &beta, const at::Scalar &alpha, at::Tensor &y)
{
    const at::Tensor product = at::bmm(a, b);
    if (beta.equal(0)) {
        fit(y, product.sizes());
        return at::mul_out(y, product, number(alpha));
    }
    const at::Tensor sum = beta.equal(1) ? c : c.mul(beta);
    return at::add_out(y, sum, product, alpha);
}

at::Tensor &addmv(const at::Tensor &c, const at::Tensor &a, const at::Tensor &v,
                  const at::Scalar &beta, const at::Scalar &alpha, at::Tensor &y)
{
    fit(y, {a.size(0)});
    at::Tensor column = y.unsqueeze(1);
    addmm(c.expand(y.sizes()).unsqueeze(1), a, v.unsqueeze(1), beta, alpha, column);
    return y;
}

at::Tensor dot(const at::Tensor &a, const at::Tensor &b)
{
    at::Tensor y = at::empty({1, 1}, a.options());
    return mm(a.unsqueeze(0), b.unsqueeze(1), y).squeeze();
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("mm.out", mm);
    m.impl("addmm.out", addmm);
    m.impl("bmm.out", bmm);
    m.impl("baddbmm.out", baddbmm);
    m.impl("addmv.out", addmv);
    m.impl("dot", dot);
}

} // namespace torch_mlu
