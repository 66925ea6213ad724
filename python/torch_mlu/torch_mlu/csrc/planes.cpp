// SPDX-License-Identifier: Apache-2.0
// Planes seen at points; distances and factors of matrices.
#include "elementwise.hpp"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

namespace torch_mlu
{
namespace
{

using GridSampleDescriptor = Descriptor<cnnlGridSampleDescriptor_t, cnnlCreateGridSampleDescriptor,
                                        cnnlDestroyGridSampleDescriptor>;

/** How the planes are read between their points: linearly, at the nearest point, by cubics. */
struct Grid {
    Grid(int64_t mode, int64_t padding, bool align, int64_t rank)
    {
        static const cnnlInterpMode_t modes[] = {CNNL_INTERP_BILINEAR, CNNL_INTERP_NEAREST,
                                                 CNNL_INTERP_BICUBIC};
        TORCH_CHECK(mode >= 0 && mode < (rank == 4 ? 3 : 2) && padding >= 0 && padding < 3,
                    "grid_sampler: mode ", mode, " and padding ", padding, " of a tensor of ", rank,
                    " dimensions");
        check(cnnlSetGridSampleDescriptor(
                  desc.get(), modes[mode],
                  static_cast<cnnlGridSamplePaddingMode_t>(CNNL_GRIDSAMPLE_PADDING_ZEROS + padding),
                  align),
              "cnnlSetGridSampleDescriptor");
    }
    GridSampleDescriptor desc;
};

at::Tensor grid_sample(const at::Tensor &x, const at::Tensor &grid, int64_t mode, int64_t padding,
                       bool align)
{
    std::vector<int64_t> sizes = {x.size(0), x.size(1)};
    for (int64_t i = 1; i + 1 < grid.dim(); i++) {
        sizes.push_back(grid.size(i));
    }
    at::Tensor y = at::empty(sizes, x.options());
    if (y.numel()) {
        const Grid made(mode, padding, align, x.dim());
        run(cnnlGridSampleForward, made.desc, channels(x), in(grid.contiguous()), channels(y),
            work());
    }
    return y;
}

std::tuple<at::Tensor, at::Tensor> grid_sample_backward(const at::Tensor &diff, const at::Tensor &x,
                                                        const at::Tensor &grid, int64_t mode,
                                                        int64_t padding, bool align,
                                                        std::array<bool, 2> mask)
{
    at::Tensor diff_x = at::empty(x.sizes(), x.options());
    at::Tensor diff_grid = at::empty(grid.sizes(), grid.options());
    if (diff.numel()) {
        const Grid made(mode, padding, align, x.dim());
        run(cnnlGridSampleBackward, made.desc, channels(diff.contiguous()), channels(x),
            in(grid.contiguous()), work(), channels(diff_x), out(diff_grid));
    } else {
        diff_x.zero_();
        diff_grid.zero_();
    }
    return {mask[0] ? diff_x : at::Tensor(), diff_grid};
}

/** Both with the batch they have together. */
std::pair<at::Tensor, at::Tensor> of_one_batch(const at::Tensor &a, const at::Tensor &b)
{
    const at::IntArrayRef left = a.sizes(), right = b.sizes();
    const std::vector<int64_t> batch =
        at::infer_size(left.slice(0, left.size() - 2), right.slice(0, right.size() - 2));
    const auto spread = [&](const at::Tensor &x) {
        std::vector<int64_t> sizes = batch;
        sizes.insert(sizes.end(), {x.size(-2), x.size(-1)});
        return x.expand(sizes).contiguous();
    };
    return {spread(a), spread(b)};
}

at::Tensor distances(const at::Tensor &left, const at::Tensor &right, double p,
                     std::optional<int64_t>)
{
    const auto [a, b] = of_one_batch(left, right);
    std::vector<int64_t> sizes = a.sizes().vec();
    sizes.back() = b.size(-2);
    at::Tensor y = at::empty(sizes, a.options());
    if (y.numel() && !a.size(-1)) {
        return y.zero_();
    }
    if (y.numel()) {
        run(cnnlCdistForward, in(a), in(b), p, out(y));
    }
    return y;
}

at::Tensor distances_backward(const at::Tensor &diff, const at::Tensor &left,
                              const at::Tensor &right, double p, const at::Tensor &distance)
{
    const auto [a, b] = of_one_batch(left, right);
    at::Tensor diff_a = at::zeros(a.sizes(), a.options());
    if (diff.numel() && a.numel() && b.numel()) {
        run(cnnlCdistBackward, in(a), in(b), in(distance.contiguous()), in(diff.contiguous()), p,
            out(diff_a));
    }
    return at::sum_to(diff_a, left.sizes());
}

std::tuple<at::Tensor &, at::Tensor &> qr(const at::Tensor &a, std::string_view mode, at::Tensor &q,
                                          at::Tensor &r)
{
    TORCH_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr: mode ", mode);
    const bool some = mode != "complete";
    const int64_t rows = a.size(-2), columns = a.size(-1);
    const int64_t inner = some ? std::min(rows, columns) : rows;
    std::vector<int64_t> left = a.sizes().vec(), right = left;
    left.back() = inner;
    right[right.size() - 2] = inner;
    fit(r, right);
    fit(q, mode == "r" ? std::vector<int64_t>{0} : left);
    if (a.numel()) {
        const at::Tensor whole = at::empty(left, a.options());
        const at::Tensor upper = at::empty(right, a.options());
        run(cnnlQR, in(a.contiguous()), out(whole), out(upper), work(), some);
        r.copy_(upper);
        if (mode != "r") {
            q.copy_(whole);
        }
    } else if (mode != "r" && q.numel()) {
        q.copy_(at::eye(rows, a.options()).expand(q.sizes()));
    }
    return {q, r};
}

/** u s v' : reduced, with both; other forms on the host. */
std::tuple<at::Tensor &, at::Tensor &, at::Tensor &>
svd(const at::Tensor &a, bool full, bool vectors, std::optional<std::string_view>, at::Tensor &u,
    at::Tensor &s, at::Tensor &vh)
{
    const int64_t rows = a.size(-2), columns = a.size(-1), inner = std::min(rows, columns);
    std::vector<int64_t> left = a.sizes().vec(), right = left, values = left;
    left.back() = full ? rows : inner;
    right[right.size() - 2] = full ? columns : inner;
    values.pop_back();
    values.back() = inner;
    fit(s, values);
    fit(u, vectors ? left : std::vector<int64_t>{0});
    fit(vh, vectors ? right : std::vector<int64_t>{0});
    if (a.numel() && vectors && (!full || rows == columns)) {
        const at::Tensor made_u = at::empty(left, a.options()), made_s = at::empty_like(s),
                         made_v = at::empty(right, a.options());
        run(cnnlSvd, in(a.contiguous()), true, true, false, true, size_t{0}, nullptr, out(made_u),
            out(made_s), out(made_v), in(at::Tensor()));
        give(u, made_u);
        give(s, made_s);
        give(vh, made_v);
        return {u, s, vh};
    }
    TORCH_WARN_ONCE("svd with full_matrices of a matrix that is not square, or of values alone, "
                    "runs on the host: it is not there for an MLU");
    const auto [host_u, host_s, host_v] = at::_linalg_svd(a.cpu(), full, vectors);
    u.copy_(host_u);
    s.copy_(host_s);
    vh.copy_(host_v);
    return {u, s, vh};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("grid_sampler_2d", grid_sample);
    m.impl("grid_sampler_3d", grid_sample);
    m.impl("grid_sampler_2d_backward", grid_sample_backward);
    m.impl("grid_sampler_3d_backward", grid_sample_backward);
    m.impl("_cdist_forward", distances);
    m.impl("_cdist_backward", distances_backward);
    m.impl("linalg_qr.out", qr);
    m.impl("_linalg_svd.U", svd);
}

} // namespace torch_mlu
