// SPDX-License-Identifier: Apache-2.0
// Elements by place: indexing, gathering, scattering, joining, sorting; triangles, ranges.
#include "elementwise.hpp"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include <cmath>

namespace torch_mlu
{
namespace
{

/** Indices by dimension as CNNL takes them: truths become places, all get one shape; undefined ones
 * take all of a dimension. */
std::vector<at::Tensor> places(const at::Tensor &self,
                               const c10::List<std::optional<at::Tensor>> &indices)
{
    std::vector<at::Tensor> all;
    for (size_t i = 0; i < indices.size(); i++) {
        const std::optional<at::Tensor> given = indices.get(i);
        const at::Tensor index = given.has_value() ? *given : at::Tensor();
        if (!index.defined()) {
            all.push_back(index);
        } else if (index.scalar_type() == at::kBool || index.scalar_type() == at::kByte) {
            const at::Tensor where = index.nonzero();
            for (int64_t k = 0; k < index.dim(); k++) {
                all.push_back(where.select(1, k).to(self.device()));
            }
        } else {
            all.push_back(index.to(self.device()));
        }
    }
    TORCH_CHECK_INDEX(static_cast<int64_t>(all.size()) <= self.dim(),
                      "too many indices for a tensor of ", self.dim(), " dimensions");
    return at::expand_outplace(all);
}

/** Shape of what indices take: theirs in the place of their dimensions, in front if those are
 * apart. */
std::vector<int64_t> indexed_sizes(const at::Tensor &self, const std::vector<at::Tensor> &indices)
{
    std::vector<int64_t> before, after, own;
    bool seen = false, apart = false, ended = false;
    for (int64_t i = 0; i < self.dim(); i++) {
        const bool given =
            i < static_cast<int64_t>(indices.size()) && indices[static_cast<size_t>(i)].defined();
        apart = apart || (given && ended);
        ended = ended || (seen && !given);
        if (given) {
            own = indices[static_cast<size_t>(i)].sizes().vec();
            seen = true;
        } else {
            (seen ? after : before).push_back(self.size(i));
        }
    }
    std::vector<int64_t> sizes = apart ? own : before;
    const std::vector<int64_t> &second = apart ? before : own;
    sizes.insert(sizes.end(), second.begin(), second.end());
    sizes.insert(sizes.end(), after.begin(), after.end());
    return sizes;
}

at::Tensor index(const at::Tensor &self, const c10::List<std::optional<at::Tensor>> &indices)
{
    std::vector<at::Tensor> all = places(self, indices);
    at::Tensor y = at::empty(indexed_sizes(self, all), self.options());
    if (y.numel()) {
        all.resize(static_cast<size_t>(self.dim()));
        const Arguments list(all);
        run(cnnlAdvancedIndex_v2, in(self), list, work(), out(y), in(at::Tensor()),
            in(at::Tensor()));
    }
    return y;
}

at::Tensor &index_put(at::Tensor &self, const c10::List<std::optional<at::Tensor>> &indices,
                      const at::Tensor &values, bool accumulate, bool)
{
    const std::vector<at::Tensor> all = places(self, indices);
    const std::vector<int64_t> sizes = indexed_sizes(self, all);
    if (self.numel() && c10::multiply_integers(sizes)) {
        const at::Tensor value = values.to(self.options()).expand(sizes).contiguous();
        const Arguments list(all);
        run(cnnlIndexPut, in(self), list, static_cast<size_t>(list.size()), in(value), work(),
            accumulate, true, out(self));
    }
    return self;
}

/** The place of a dimension's index among those of all. */
c10::List<std::optional<at::Tensor>> along(int64_t axis, const at::Tensor &index)
{
    c10::List<std::optional<at::Tensor>> indices;
    for (int64_t i = 0; i < axis; i++) {
        indices.push_back(std::nullopt);
    }
    indices.push_back(index.reshape({-1}));
    return indices;
}

at::Tensor &index_fill(at::Tensor &self, int64_t dim, const at::Tensor &index,
                       const at::Scalar &value)
{
    if (self.dim() == 0) {
        return self.fill_(value);
    }
    return index_put(self, along(c10::maybe_wrap_dim(dim, self.dim()), index),
                     at::full({}, value, self.options()), false, true);
}

at::Tensor &index_copy(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                       const at::Tensor &source, at::Tensor &y)
{
    if (self.dim() == 0) {
        return y.copy_(source.reshape({}));
    }
    fit(y, self.sizes());
    give(y, self);
    return index_put(y, along(c10::maybe_wrap_dim(dim, self.dim()), index), source, false, true);
}

at::Tensor take(const at::Tensor &self, const at::Tensor &index)
{
    return self.reshape({-1}).index_select(0, index.reshape({-1})).view(index.sizes());
}

at::Tensor &index_select_out(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                             at::Tensor &y)
{
    const int64_t axis = c10::maybe_wrap_dim(dim, self.dim());
    std::vector<int64_t> sizes = self.sizes().vec();
    if (self.dim()) {
        sizes[static_cast<size_t>(axis)] = index.numel();
    }
    fit(y, sizes);
    if (y.numel()) {
        run(cnnlIndexSelect, static_cast<int>(axis), in(self), in(index.reshape({-1})), out(y));
    }
    return y;
}

at::Tensor index_select(const at::Tensor &self, int64_t dim, const at::Tensor &index)
{
    at::Tensor y = at::empty({0}, self.options());
    return index_select_out(self, dim, index, y);
}

/** y = x, before something is written into parts of it. */
void begin_with(const at::Tensor &x, const at::Tensor &y)
{
    fit(y, x.sizes());
    give(y, x);
}

at::Tensor &index_add(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                      const at::Tensor &source, const at::Scalar &alpha, at::Tensor &y)
{
    begin_with(self, y);
    if (source.numel()) {
        const at::Tensor scaled = alpha.equal(1) ? source : source.mul(alpha);
        run(cnnlIndexAdd_v2, c10::maybe_wrap_dim(dim, self.dim()), in(y), in(index.reshape({-1})),
            in(scaled), work(), out(y));
    }
    return y;
}

at::Tensor &gather(const at::Tensor &self, int64_t dim, const at::Tensor &index, bool,
                   at::Tensor &y)
{
    fit(y, index.sizes());
    if (self.dim() == 0) {
        return y.copy_(self);
    }
    if (y.numel()) {
        run(cnnlGather_v2, c10::maybe_wrap_dim(dim, self.dim()), in(self), in(index), work(),
            out(y));
    }
    return y;
}

template <cnnlScatterMode_t Mode>
at::Tensor &scatter(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                    const at::Tensor &source, at::Tensor &y)
{
    begin_with(self, y);
    if (index.numel()) {
        run(cnnlScatter_v2, c10::maybe_wrap_dim(dim, self.dim()), in(y), in(index),
            in(as(source, self.scalar_type())), work(), out(y), Mode);
    }
    return y;
}

at::Tensor &scatter_value(const at::Tensor &self, int64_t dim, const at::Tensor &index,
                          const at::Scalar &value, at::Tensor &y)
{
    return scatter<CNNL_SCATTER>(self, dim, index, at::full(index.sizes(), value, self.options()),
                                 y);
}

at::Tensor &cat(const at::ITensorListRef &tensors, int64_t dim, at::Tensor &y)
{
    std::vector<at::Tensor> parts;
    std::vector<int64_t> sizes;
    int64_t axis = 0;
    for (const at::Tensor &part : tensors) {
        if (part.dim() == 1 && part.numel() == 0) {
            continue; // of any shape, by an old rule
        }
        if (sizes.empty()) {
            sizes = part.sizes().vec();
            axis = c10::maybe_wrap_dim(dim, part.dim());
        } else {
            sizes[static_cast<size_t>(axis)] += part.size(axis);
        }
        if (part.numel()) {
            parts.push_back(as(part, y.scalar_type()));
        }
    }
    fit(y, sizes.empty() ? std::vector<int64_t>{0} : sizes);
    if (parts.size() == 1) {
        y.copy_(parts[0]);
    } else if (!parts.empty()) {
        const Arguments list(parts);
        run(cnnlConcat, static_cast<int>(list.size()), axis, list, work(), out(y));
    }
    return y;
}

template <bool Upper> at::Tensor &triangle(const at::Tensor &x, int64_t diagonal, at::Tensor &y)
{
    fit(y, x.sizes());
    if (y.numel()) {
        run(cnnlTri_v2, static_cast<int>(diagonal), Upper, in(x), out(y));
    }
    return y;
}

at::Tensor &arange(const at::Scalar &start, const at::Scalar &end, const at::Scalar &step,
                   at::Tensor &y)
{
    const double span = (end.toDouble() - start.toDouble()) / step.toDouble();
    TORCH_CHECK(std::isfinite(span) && span >= 0, "arange from ", start, " to ", end,
                " in steps of ", step);
    fit(y, {static_cast<int64_t>(std::ceil(span))});
    if (y.numel()) {
        const at::ScalarType type = y.scalar_type() == at::kHalf || y.scalar_type() == at::kBFloat16
                                        ? at::kFloat
                                        : y.scalar_type();
        run(cnnlArange_v3, held(start, type).const_data_ptr(), held(step, type).const_data_ptr(),
            out(y));
    }
    return y;
}

at::Tensor &linspace(const at::Scalar &start, const at::Scalar &end, int64_t steps, at::Tensor &y)
{
    fit(y, {steps});
    if (steps) {
        run(cnnlLinspace, start.toFloat(), end.toFloat(), out(y));
    }
    return y;
}

std::tuple<at::Tensor &, at::Tensor &> topk(const at::Tensor &x, int64_t k, int64_t dim,
                                            bool largest, bool sorted, at::Tensor &y,
                                            at::Tensor &index)
{
    const int64_t axis = c10::maybe_wrap_dim(dim, x.dim());
    std::vector<int64_t> sizes = x.sizes().vec();
    if (x.dim()) {
        sizes[static_cast<size_t>(axis)] = k;
    }
    fit(y, sizes);
    fit(index, sizes);
    if (x.dim() == 0) {
        y.copy_(x);
        index.zero_();
    } else if (y.numel()) {
        run(cnnlTopKTensor_v3, in(x), k, axis, largest, sorted, true, work(), out(y), out(index));
    }
    return {y, index};
}

/** Sorting is taking all of them in order. */
std::tuple<at::Tensor &, at::Tensor &> sort(const at::Tensor &x, std::optional<bool>, int64_t dim,
                                            bool descending, at::Tensor &y, at::Tensor &index)
{
    return topk(x, x.dim() ? x.size(dim) : 1, dim, descending, true, y, index);
}

at::Tensor flip(const at::Tensor &x, at::IntArrayRef dims)
{
    std::vector<int> axes;
    for (const int64_t dim : dims) {
        axes.push_back(static_cast<int>(c10::maybe_wrap_dim(dim, x.dim())));
    }
    at::Tensor y = at::empty_like(x);
    if (y.numel()) {
        run(cnnlFlip, axes.data(), static_cast<int>(axes.size()), in(x), out(y));
    }
    return y;
}

at::Tensor rolled(const at::Tensor &x, at::IntArrayRef shifts, at::IntArrayRef dims)
{
    if (dims.empty()) {
        const std::array<int64_t, 1> whole = {0};
        return rolled(x.reshape({-1}), shifts, whole).view(x.sizes());
    }
    at::Tensor y = at::empty_like(x, at::MemoryFormat::Contiguous);
    if (y.numel()) {
        run(cnnlRoll_v2, in(x), shifts.data(), static_cast<int64_t>(shifts.size()), dims.data(),
            static_cast<int64_t>(dims.size()), work(), out(y));
    }
    return y;
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("index.Tensor", index);
    m.impl("_index_put_impl_", index_put);
    m.impl("index_fill_.int_Scalar", index_fill);
    m.impl("index_copy.out", index_copy);
    m.impl("take", take);
    m.impl("index_select", index_select);
    m.impl("index_select.out", index_select_out);
    m.impl("index_add.out", index_add);
    m.impl("gather.out", gather);
    m.impl("scatter.src_out", scatter<CNNL_SCATTER>);
    m.impl("scatter.value_out", scatter_value);
    m.impl("scatter_add.out", scatter<CNNL_SCATTER_ADD>);
    m.impl("cat.out", cat);
    m.impl("tril.out", triangle<false>);
    m.impl("triu.out", triangle<true>);
    m.impl("arange.start_out", arange);
    m.impl("linspace.out", linspace);
    m.impl("topk.values", topk);
    m.impl("sort.values_stable", sort);
    m.impl("flip", flip);
    m.impl("roll", rolled);
}

} // namespace torch_mlu
