// SPDX-License-Identifier: Apache-2.0
// Planes seen at points and in windows; distances and factors of matrices.
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

/** The window of an image's columns. */
struct Columns {
    Columns(at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef pad,
            at::IntArrayRef stride, const at::Tensor &image)
        : size{1, 1, static_cast<int>(kernel[0]), static_cast<int>(kernel.back())}
    {
        const int pads[] = {static_cast<int>(pad[0]), static_cast<int>(pad[0]),
                            static_cast<int>(pad.back()), static_cast<int>(pad.back())},
                  steps[] = {static_cast<int>(stride[0]), static_cast<int>(stride.back())},
                  gaps[] = {static_cast<int>(dilation[0]), static_cast<int>(dilation.back())};
        const cnnlDataType_t type = data_type(image.scalar_type());
        check(cnnlSetConvolutionDescriptor(desc.get(), 4, pads, steps, gaps, 1, type),
              "cnnlSetConvolutionDescriptor");
        check(cnnlSetTensorDescriptor(filter.get(), CNNL_LAYOUT_NCHW, type, 4, size.data()),
              "cnnlSetTensorDescriptor");
        for (int64_t i = 0; i < 2; i++) {
            const int64_t reach = gaps[i] * (size[2 + i] - 1) + 1;
            count *= (image.size(-2 + i) + 2 * pads[2 * i] - reach) / steps[i] + 1;
        }
    }
    std::array<int, 4> size;
    int64_t count = 1; ///< columns of an image
    ConvolutionDescriptor desc;
    TensorDescriptor filter;
};

at::Tensor &im2col_out(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef dilation,
                       at::IntArrayRef pad, at::IntArrayRef stride, at::Tensor &y)
{
    const at::Tensor image = x.dim() == 3 ? x.unsqueeze(0) : x;
    const Columns made(kernel, dilation, pad, stride, image);
    TORCH_CHECK(made.count > 0, "im2col: the window does not fit the image");
    const int64_t rows = image.size(1) * made.size[2] * made.size[3];
    fit(y, x.dim() == 3 ? std::vector<int64_t>{rows, made.count}
                        : std::vector<int64_t>{image.size(0), rows, made.count});
    if (y.numel()) {
        run(cnnlIm2Col, channels(image), made.filter, made.desc, nullptr, nullptr, nullptr, work(),
            out(x.dim() == 3 ? y.unsqueeze(0) : y));
    }
    return y;
}

at::Tensor im2col(const at::Tensor &x, at::IntArrayRef kernel, at::IntArrayRef dilation,
                  at::IntArrayRef pad, at::IntArrayRef stride)
{
    at::Tensor y = at::empty({0}, x.options());
    return im2col_out(x, kernel, dilation, pad, stride, y);
}

at::Tensor &col2im_out(const at::Tensor &x, at::IntArrayRef size, at::IntArrayRef kernel,
                       at::IntArrayRef dilation, at::IntArrayRef pad, at::IntArrayRef stride,
                       at::Tensor &y)
{
    const int64_t planes = x.size(-2) / (kernel[0] * kernel.back());
    fit(y, x.dim() == 2 ? std::vector<int64_t>{planes, size[0], size.back()}
                        : std::vector<int64_t>{x.size(0), planes, size[0], size.back()});
    if (y.numel()) {
        const Columns made(kernel, dilation, pad, stride, y);
        TORCH_CHECK(made.count == x.size(-1) && planes * kernel[0] * kernel.back() == x.size(-2),
                    "col2im: ", x.sizes(), " are not the columns of an image of ", size);
        run(cnnlCol2Im, in((x.dim() == 2 ? x.unsqueeze(0) : x).contiguous()), made.filter,
            made.desc, work(), channels(x.dim() == 2 ? y.unsqueeze(0) : y));
    }
    return y;
}

at::Tensor col2im(const at::Tensor &x, at::IntArrayRef size, at::IntArrayRef kernel,
                  at::IntArrayRef dilation, at::IntArrayRef pad, at::IntArrayRef stride)
{
    at::Tensor y = at::empty({0}, x.options());
    return col2im_out(x, size, kernel, dilation, pad, stride, y);
}

/** With a batch of one in front if x is one sample. */
at::Tensor batched(const at::Tensor &x)
{
    return x.dim() == 3 ? x.unsqueeze(0) : x;
}

std::tuple<at::Tensor &, at::Tensor &> adaptive_max_pool(const at::Tensor &x, at::IntArrayRef size,
                                                         at::Tensor &y, at::Tensor &index)
{
    std::vector<int64_t> sizes = x.sizes().vec();
    std::copy(size.begin(), size.end(), sizes.end() - 2);
    fit(y, sizes);
    fit(index, sizes);
    if (y.numel()) {
        run(cnnlAdaptivePoolingForward_v2, channels(batched(x)), CNNL_POOLING_MAX, work(),
            channels(batched(y)), channels(batched(index)));
    }
    return {y, index};
}

at::Tensor &adaptive_max_pool_backward(const at::Tensor &diff, const at::Tensor &x,
                                       const at::Tensor &index, at::Tensor &diff_x)
{
    fit(diff_x, x.sizes());
    if (diff_x.numel()) {
        run(cnnlAdaptivePoolingBackward, channels(batched(diff)), channels(batched(index)),
            CNNL_POOLING_MAX, channels(batched(diff_x)));
    }
    return diff_x;
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
    m.impl("im2col", im2col);
    m.impl("im2col.out", im2col_out);
    m.impl("col2im", col2im);
    m.impl("col2im.out", col2im_out);
    m.impl("adaptive_max_pool2d.out", adaptive_max_pool);
    m.impl("adaptive_max_pool2d_backward.grad_input", adaptive_max_pool_backward);
    m.impl("_cdist_forward", distances);
    m.impl("_cdist_backward", distances_backward);
    m.impl("linalg_qr.out", qr);
    m.impl("_linalg_svd.U", svd);
}

} // namespace torch_mlu
