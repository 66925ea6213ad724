// SPDX-License-Identifier: Apache-2.0
// Normalisation, losses, embedding.
#include "elementwise.hpp"

#include <torch/library.h>

#include <cmath>

namespace torch_mlu
{
namespace
{

at::Tensor dense(const std::optional<at::Tensor> &tensor)
{
    return tensor.has_value() && tensor->defined() ? tensor->contiguous() : at::Tensor();
}

/** The type in which statistics of x are kept: float for halves. */
at::ScalarType statistic_type(const at::Tensor &x)
{
    return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16 ? at::kFloat
                                                                            : x.scalar_type();
}

/** Weights, biases and statistics of a batch normalisation, all of one type and without gaps. */
struct Vectors {
    Vectors(const at::Tensor &x, const std::optional<at::Tensor> &weight,
            const std::optional<at::Tensor> &mean)
    {
        type = weight.has_value() && weight->defined() ? weight->scalar_type()
               : mean.has_value() && mean->defined()   ? mean->scalar_type()
                                                       : statistic_type(x);
        count = x.size(1);
        shaped = at::empty({count}, x.options().dtype(type));
    }
    at::Tensor take(const std::optional<at::Tensor> &tensor) const
    {
        const at::Tensor vector = dense(tensor);
        return vector.defined() ? as(vector, type) : vector;
    }
    at::ScalarType type;
    int64_t count;
    at::Tensor shaped; ///< tells shape and type
};

std::tuple<at::Tensor, at::Tensor, at::Tensor>
batch_norm(const at::Tensor &x, const std::optional<at::Tensor> &weight,
           const std::optional<at::Tensor> &bias, const std::optional<at::Tensor> &running_mean,
           const std::optional<at::Tensor> &running_var, bool training, double momentum, double eps)
{
    const Vectors vectors(x, weight, running_mean);
    const at::Tensor w = vectors.take(weight), b = vectors.take(bias),
                     mean = vectors.take(running_mean), var = vectors.take(running_var);
    at::Tensor y = at::empty_like(x);
    at::Tensor saved_mean = at::empty({training ? vectors.count : 0}, vectors.shaped.options()),
               saved_invstd = at::empty_like(saved_mean);
    if (!x.numel()) {
        return {y, saved_mean.zero_(), saved_invstd.zero_()};
    }
    if (!training) {
        run(cnnlBatchNormForwardInference, nullptr, nullptr, channels(x), shape(vectors.shaped),
            memory(w), memory(b), memory(mean), memory(var), static_cast<float>(eps), channels(y));
        return {y, saved_mean, saved_invstd};
    }
    run(cnnlBatchNormForwardTraining, nullptr, nullptr, channels(x), shape(vectors.shaped),
        memory(w), memory(b), memory(mean), memory(var), static_cast<float>(eps),
        static_cast<float>(momentum), channels(y), memory(saved_mean), memory(saved_invstd));
    if (mean.defined() && !mean.is_same(*running_mean)) {
        running_mean->copy_(mean);
        running_var->copy_(var);
    }
    return {y, saved_mean, saved_invstd};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_backward(
    const at::Tensor &diff, const at::Tensor &x, const std::optional<at::Tensor> &weight,
    const std::optional<at::Tensor> &running_mean, const std::optional<at::Tensor> &running_var,
    const std::optional<at::Tensor> &saved_mean, const std::optional<at::Tensor> &saved_invstd,
    bool training, double eps, std::array<bool, 3> mask)
{
    const Vectors vectors(x, weight, running_mean);
    const at::Tensor w = vectors.take(weight);
    at::Tensor diff_x = at::empty_like(x);
    at::Tensor diff_w = mask[1] ? at::empty_like(vectors.shaped) : at::Tensor(),
               diff_b = mask[2] ? at::empty_like(vectors.shaped) : at::Tensor();
    if (!x.numel()) {
        return {diff_x, mask[1] ? diff_w.zero_() : diff_w, mask[2] ? diff_b.zero_() : diff_b};
    }
    if (training) {
        const at::Tensor mean = vectors.take(saved_mean), invstd = vectors.take(saved_invstd);
        run(cnnlBatchNormBackward_v2, nullptr, CNNL_BATCHNORM_SPATIAL, CNNL_BATCHNORM_OPS_BN,
            nullptr, nullptr, nullptr, nullptr, channels(x), in(at::Tensor()), channels(diff),
            shape(vectors.shaped), memory(w), nullptr, memory(mean), memory(invstd),
            static_cast<float>(eps), in(at::Tensor()), channels(diff_x), memory(diff_w),
            memory(diff_b), work(), nullptr, size_t{0});
    } else {
        const at::Tensor mean = vectors.take(running_mean), var = vectors.take(running_var);
        run(cnnlFrozenBatchNormBackward_v2, nullptr, CNNL_BATCHNORM_SPATIAL, CNNL_BATCHNORM_OPS_BN,
            channels(x), in(at::Tensor()), channels(diff), shape(vectors.shaped), memory(w),
            nullptr, memory(mean), memory(var), static_cast<float>(eps), work(), in(at::Tensor()),
            channels(diff_x), memory(diff_w), memory(diff_b));
    }
    return {mask[0] ? diff_x : at::Tensor(), diff_w, diff_b};
}

/** Shape of a layer normalisation's statistics: ones where it normalises. */
std::vector<int64_t> row_sizes(const at::Tensor &x, at::IntArrayRef normalized)
{
    std::vector<int64_t> sizes = x.sizes().vec();
    std::fill(sizes.end() - static_cast<int64_t>(normalized.size()), sizes.end(), 1);
    return sizes;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
layer_norm(const at::Tensor &x, at::IntArrayRef normalized, const std::optional<at::Tensor> &weight,
           const std::optional<at::Tensor> &bias, double eps)
{
    const int64_t axis = x.dim() - static_cast<int64_t>(normalized.size());
    const at::Tensor from = x.contiguous(), w = dense(weight), b = dense(bias);
    at::Tensor y = at::empty_like(from);
    at::Tensor mean = at::empty(row_sizes(x, normalized), x.options().dtype(statistic_type(x))),
               rstd = at::empty_like(mean);
    if (x.numel()) {
        run(cnnlLayerNormForward_v2, nullptr, in(from), axis, shape(w), memory(w), memory(b), eps,
            work(), out(y), shape(mean), memory(mean), memory(rstd));
    }
    return {y, mean, rstd};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
layer_norm_backward(const at::Tensor &diff, const at::Tensor &x, at::IntArrayRef normalized,
                    const at::Tensor &mean, const at::Tensor &rstd,
                    const std::optional<at::Tensor> &weight, const std::optional<at::Tensor> &,
                    std::array<bool, 3> mask)
{
    const int64_t axis = x.dim() - static_cast<int64_t>(normalized.size());
    const at::Tensor from = x.contiguous(), w = dense(weight);
    const auto vector = x.options().dtype(w.defined() ? w.scalar_type() : x.scalar_type());
    at::Tensor diff_x = at::empty_like(from),
               diff_w = mask[1] ? at::empty(normalized, vector) : at::Tensor(),
               diff_b = mask[2] ? at::empty(normalized, vector) : at::Tensor();
    if (!x.numel()) {
        return {diff_x, mask[1] ? diff_w.zero_() : diff_w, mask[2] ? diff_b.zero_() : diff_b};
    }
    run(cnnlLayerNormBackward_v3, nullptr, in(from), axis, in(diff.contiguous()), shape(w),
        memory(w), shape(mean), memory(mean), memory(rstd), work(), out(diff_x), memory(diff_w),
        memory(diff_b));
    return {mask[0] ? diff_x : at::Tensor(), diff_w, diff_b};
}

/** The reduction of a loss: CNNL counts sums before means. */
template <class T> T reduction(int64_t mode)
{
    const int counted[] = {CNNL_REDUCTION_NONE, CNNL_REDUCTION_MEAN, CNNL_REDUCTION_SUM};
    return static_cast<T>(counted[mode]);
}

/** Shape of a loss of elements like x. */
std::vector<int64_t> loss_sizes(at::IntArrayRef each, int64_t mode)
{
    return mode == at::Reduction::None ? each.vec() : std::vector<int64_t>();
}

at::Tensor rows(const at::Tensor &x)
{
    return x.dim() == 1 ? x.unsqueeze(0) : x;
}

std::tuple<at::Tensor &, at::Tensor &> nll_loss(const at::Tensor &x, const at::Tensor &target,
                                                const std::optional<at::Tensor> &weight,
                                                int64_t mode, int64_t ignore, at::Tensor &y,
                                                at::Tensor &total)
{
    fit(y, loss_sizes(target.sizes(), mode));
    fit(total, {});
    if (!x.numel()) {
        total.zero_();
        y.fill_(mode == at::Reduction::Mean ? NAN : 0);
        return {y, total};
    }
    run(cnnlNlllossForward_v2, reduction<cnnlNlllossAlgorithm_t>(mode), in(rows(x)),
        in(target.reshape({-1})), ignore, in(weight), work(), out(total), out(y));
    return {y, total};
}

at::Tensor &nll_loss_backward(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &target,
                              const std::optional<at::Tensor> &weight, int64_t mode, int64_t ignore,
                              const at::Tensor &total, at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        run(cnnlNlllossBackward_v2, reduction<cnnlNlllossAlgorithm_t>(mode), in(diff),
            in(target.reshape({-1})), ignore, in(weight), in(total), out(rows(diff_x)));
    }
    return diff_x;
}

/** Classes of pictures' points as rows of scores. */
at::Tensor points(const at::Tensor &x)
{
    return x.permute({0, 2, 3, 1}).reshape({-1, x.size(1)});
}

std::tuple<at::Tensor, at::Tensor> nll_loss_points(const at::Tensor &x, const at::Tensor &target,
                                                   const std::optional<at::Tensor> &weight,
                                                   int64_t mode, int64_t ignore)
{
    at::Tensor y = at::empty({0}, x.options()), total = at::empty({}, x.options());
    nll_loss(points(x), target.reshape({-1}), weight, mode, ignore, y, total);
    return {mode == at::Reduction::None ? y.view(target.sizes()) : y, total};
}

at::Tensor nll_loss_points_backward(const at::Tensor &diff, const at::Tensor &x,
                                    const at::Tensor &target,
                                    const std::optional<at::Tensor> &weight, int64_t mode,
                                    int64_t ignore, const at::Tensor &total)
{
    at::Tensor rows_diff = at::empty({0}, x.options());
    nll_loss_backward(mode == at::Reduction::None ? diff.reshape({-1}) : diff, points(x),
                      target.reshape({-1}), weight, mode, ignore, total, rows_diff);
    return rows_diff.view({x.size(0), x.size(2), x.size(3), x.size(1)})
        .permute({0, 3, 1, 2})
        .contiguous();
}

at::Tensor &mse_loss(const at::Tensor &x, const at::Tensor &target, int64_t mode, at::Tensor &y)
{
    const auto both = at::broadcast_tensors({x, target});
    fit(y, loss_sizes(both[0].sizes(), mode));
    run(cnnlMSELoss_v2, reduction<cnnlMSELossReduction_t>(mode), in(both[0]), in(both[1]), work(),
        out(y));
    return y;
}

at::Tensor mse_loss_backward(const at::Tensor &diff, const at::Tensor &x, const at::Tensor &target,
                             int64_t mode)
{
    at::Tensor diff_x = at::empty_like(x);
    run(cnnlMSELossBackward, reduction<cnnlMSELossReduction_t>(mode), in(x), in(target), in(diff),
        out(diff_x));
    return diff_x;
}

at::Tensor &smooth_l1_loss(const at::Tensor &x, const at::Tensor &target, int64_t mode, double beta,
                           at::Tensor &y)
{
    const auto both = at::broadcast_tensors({x, target});
    fit(y, loss_sizes(both[0].sizes(), mode));
    run(cnnlSmoothL1LossForward_v2, in(both[0]), in(both[1]), beta,
        reduction<cnnlSmoothL1LossAlgorithm_t>(mode), work(), out(y));
    return y;
}

at::Tensor &smooth_l1_loss_backward(const at::Tensor &diff, const at::Tensor &x,
                                    const at::Tensor &target, int64_t mode, double beta,
                                    at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    run(cnnlSmoothL1LossBackward_v2, in(x), in(target), in(diff), beta,
        reduction<cnnlSmoothL1LossAlgorithm_t>(mode), work(), out(diff_x));
    return diff_x;
}

at::Tensor binary_cross_entropy(const at::Tensor &x, const at::Tensor &target,
                                const std::optional<at::Tensor> &weight, int64_t mode)
{
    at::Tensor y = at::empty(loss_sizes(x.sizes(), mode), x.options());
    run(cnnlBceLoss, in(x), in(target), in(weight), reduction<cnnlBceLossReduction_t>(mode), work(),
        out(y));
    return y;
}

at::Tensor binary_cross_entropy_backward(const at::Tensor &diff, const at::Tensor &x,
                                         const at::Tensor &target,
                                         const std::optional<at::Tensor> &weight, int64_t mode)
{
    at::Tensor diff_x = at::empty_like(x);
    run(cnnlBceLossBackward, in(diff), in(x), in(target), in(weight),
        reduction<cnnlBceLossReduction_t>(mode), work(), out(diff_x));
    return diff_x;
}

at::Tensor embedding_backward(const at::Tensor &diff, const at::Tensor &indices, int64_t count,
                              int64_t padding, bool by_frequency)
{
    at::Tensor diff_w = at::empty({count, diff.size(-1)}, diff.options());
    run(cnnlEmbeddingBackward, padding, by_frequency, in(indices), in(diff), work(), out(diff_w));
    return diff_w;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("native_batch_norm", batch_norm);
    m.impl("native_batch_norm_backward", batch_norm_backward);
    m.impl("native_layer_norm", layer_norm);
    m.impl("native_layer_norm_backward", layer_norm_backward);
    m.impl("nll_loss_forward.output", nll_loss);
    m.impl("nll_loss_backward.grad_input", nll_loss_backward);
    m.impl("nll_loss2d_forward", nll_loss_points);
    m.impl("nll_loss2d_backward", nll_loss_points_backward);
    m.impl("mse_loss.out", mse_loss);
    m.impl("mse_loss_backward", mse_loss_backward);
    m.impl("smooth_l1_loss.out", smooth_l1_loss);
    m.impl("smooth_l1_loss_backward.grad_input", smooth_l1_loss_backward);
    m.impl("binary_cross_entropy", binary_cross_entropy);
    m.impl("binary_cross_entropy_backward", binary_cross_entropy_backward);
    m.impl("embedding_dense_backward", embedding_backward);
}

} // namespace torch_mlu
