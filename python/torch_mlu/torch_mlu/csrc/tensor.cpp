// SPDX-License-Identifier: Apache-2.0
// Tensors as such: making, viewing, resizing, copying; and what happens to operators that are not
// there.
#include "call.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <torch/library.h>

#include <mutex>
#include <set>

namespace torch_mlu
{
namespace
{

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Device wanted(std::optional<at::Device> device)
{
    return device.has_value() && device->has_index() ? *device : at::Device(kMlu, current_device());
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> layout, std::optional<at::Device> device,
                 std::optional<bool> pin, std::optional<at::MemoryFormat> format)
{
    TORCH_CHECK(c10::layout_or_default(layout) == at::kStrided,
                "only strided tensors are possible on an MLU");
    TORCH_CHECK(!c10::pinned_memory_or_default(pin), "only memory of the host can be pinned");
    const DeviceScope scope(wanted(device).index());
    return at::detail::empty_generic(size, c10::GetAllocator(kMlu), kKeys,
                                     c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>)
{
    const DeviceScope scope(wanted(device).index());
    return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(kMlu), kKeys,
                                             c10::dtype_or_default(dtype));
}

/** resize_ of the host's tensors would read card memory: this one grows the storage on the card. */
const at::Tensor &resize_(const at::Tensor &self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> format)
{
    if (self.sizes() == size && !format.has_value()) {
        return self;
    }
    at::TensorImpl *const impl = self.unsafeGetTensorImpl();
    const size_t bytes = at::detail::computeStorageNbytesContiguous(
        size, self.dtype().itemsize(), static_cast<size_t>(self.storage_offset()));
    if (bytes > self.storage().nbytes()) {
        at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(self.storage(), bytes);
    }
    impl->set_sizes_contiguous(size);
    if (format.has_value()) {
        TORCH_CHECK(*format != at::MemoryFormat::Preserve, "resize_ cannot keep a memory format");
        impl->empty_tensor_restride(*format);
    }
    return self;
}

at::Tensor &set_storage(at::Tensor &self, at::Storage storage, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride)
{
    at::native::checkSetStorage(self, storage, offset, size, stride);
    self.unsafeGetTensorImpl()->set_storage_offset(offset);
    self.unsafeGetTensorImpl()->set_sizes_and_strides(
        size, stride.data() ? stride : at::IntArrayRef(c10::contiguous_strides(size)));
    return self;
}

at::Tensor &set_storage_whole(at::Tensor &self, at::Storage storage)
{
    const int64_t count = static_cast<int64_t>(storage.nbytes() / self.dtype().itemsize());
    return set_storage(self, std::move(storage), 0, {count}, {1});
}

at::Tensor &set_tensor(at::Tensor &self, const at::Tensor &source)
{
    return self.is_same(source) ? self
                                : set_storage(self, source.storage(), source.storage_offset(),
                                              source.sizes(), source.strides());
}

at::Tensor &set_nothing(at::Tensor &self)
{
    return set_storage(
        self, at::Storage(at::Storage::use_byte_size_t(), 0, c10::GetAllocator(kMlu), true), 0, {0},
        {1});
}

/** Between host and card; both dense in the same order and of the same type. */
void copy_bytes(const at::Tensor &dst, const at::Tensor &src, bool wait)
{
    const bool up = src.is_cpu();
    const DeviceScope scope((up ? dst : src).device().index());
    const size_t bytes = src.numel() * src.element_size();
    check(cnrtMemcpyAsync(dst.data_ptr(), const_cast<void *>(src.const_data_ptr()), bytes,
                          current_queue(),
                          up ? CNRT_MEM_TRANS_DIR_HOST2DEV : CNRT_MEM_TRANS_DIR_DEV2HOST),
          "cnrtMemcpyAsync");
    if (wait) {
        check(cnrtQueueSync(current_queue()), "cnrtQueueSync");
    }
}

bool same_order(const at::Tensor &a, const at::Tensor &b)
{
    return a.is_non_overlapping_and_dense() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

void copy_host(const at::Tensor &dst, const at::Tensor &src, bool non_blocking)
{
    const bool up = src.is_cpu();
    const at::Tensor from =
        src.scalar_type() == dst.scalar_type() || !up ? src : src.to(dst.scalar_type());
    if (from.scalar_type() == dst.scalar_type() && same_order(from, dst)) {
        const at::Tensor &host = up ? from : dst;
        copy_bytes(dst, from, !(non_blocking && host.is_pinned()) || !from.is_same(src));
        return;
    }
    const at::Tensor dense = from.expand(dst.sizes()).contiguous();
    const at::Tensor landed = at::empty(dst.sizes(), dense.options().device(dst.device()));
    copy_bytes(landed, dense, true);
    dst.copy_(landed);
}

/** From one card to another. */
void copy_peer(const at::Tensor &dst, const at::Tensor &src)
{
    const at::Tensor dense = src.to(dst.scalar_type()).expand(dst.sizes()).contiguous();
    synchronize(current_stream(src.device().index()));
    const DeviceScope scope(dst.device().index());
    const at::Tensor landed = dst.is_contiguous() ? dst : at::empty(dst.sizes(), dst.options());
    synchronize(current_stream(dst.device().index()));
    check(cnrtMemcpyPeer(landed.data_ptr(), dst.device().index(), dense.data_ptr(),
                         src.device().index(), dense.numel() * dense.element_size()),
          "cnrtMemcpyPeer");
    give(dst, landed);
}

/** Both with dimensions that lie one in the other made one, if there are more than CNNL takes. */
std::pair<at::Tensor, at::Tensor> merged(const at::Tensor &src, const at::Tensor &dst)
{
    if (dst.dim() <= CNNL_DIM_MAX) {
        return {src, dst};
    }
    std::vector<int64_t> sizes, from, to;
    for (int64_t i = 0; i < dst.dim(); i++) {
        if (dst.size(i) == 1) {
            continue;
        }
        const bool joins = !sizes.empty() && from.back() == src.stride(i) * src.size(i) &&
                           to.back() == dst.stride(i) * dst.size(i);
        if (joins) {
            sizes.back() *= dst.size(i);
            from.back() = src.stride(i);
            to.back() = dst.stride(i);
        } else {
            sizes.push_back(dst.size(i));
            from.push_back(src.stride(i));
            to.push_back(dst.stride(i));
        }
    }
    return {src.as_strided(sizes, from, src.storage_offset()),
            dst.as_strided(sizes, to, dst.storage_offset())};
}

void copy_card(const at::Tensor &dst, const at::Tensor &src)
{
    const DeviceScope scope(dst.device().index());
    if (src.scalar_type() == dst.scalar_type() && same_order(src, dst)) {
        check(cnrtMemcpyAsync(dst.data_ptr(), const_cast<void *>(src.const_data_ptr()),
                              dst.numel() * dst.element_size(), current_queue(),
                              CNRT_MEM_TRANS_DIR_DEV2DEV),
              "cnrtMemcpyAsync");
    } else {
        const auto [from, to] = merged(src.expand(dst.sizes()), dst);
        run(cnnlCopy, in(from), out(to), work());
    }
}

at::Tensor &copy_(at::Tensor &self, const at::Tensor &src, bool non_blocking)
{
    at::assert_no_internal_overlap(self);
    TORCH_CHECK(!at::isComplexType(self.scalar_type()) && !at::isComplexType(src.scalar_type()),
                "complex numbers are not possible on an MLU");
    if (self.is_same(src) || self.numel() == 0) {
        return self;
    }
    if (self.is_cpu() || src.is_cpu()) {
        copy_host(self, src.dim() == self.dim() ? src : src.expand(self.sizes()), non_blocking);
    } else if (self.device() != src.device()) {
        copy_peer(self, src);
    } else {
        copy_card(self, src);
    }
    return self;
}

at::Tensor copy_from(const at::Tensor &self, const at::Tensor &dst, bool non_blocking)
{
    at::Tensor target = dst;
    return copy_(target, self, non_blocking);
}

at::Tensor copy_from_and_resize(const at::Tensor &self, const at::Tensor &dst)
{
    if (self.sizes() != dst.sizes()) {
        dst.resize_(self.sizes());
    }
    return copy_from(self, dst, false);
}

void record_stream(at::Tensor &self, at::Stream stream)
{
    c10::getDeviceAllocator(kMlu)->recordStream(self.storage().data_ptr(), stream);
}

at::Scalar local_scalar(const at::Tensor &self)
{
    return at::native::_local_scalar_dense_cpu(self.cpu());
}

/** Operators without a row run on the host, which is said once for each. */
void on_host(const c10::OperatorHandle &op, torch::jit::Stack *stack)
{
    static std::mutex lock;
    static auto *const told = new std::set<std::string>;
    const std::string name = c10::toString(op.operator_name());
    {
        const std::lock_guard<std::mutex> hold(lock);
        if (told->insert(name).second) {
            TORCH_WARN("operator '", name,
                       "' is not there for the MLU and will fall back to run on the CPU");
        }
    }
    at::native::cpu_fallback(op, stack);
}

} // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m)
{
    m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_host>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", at::native::view);
    m.impl("_reshape_alias", at::native::_reshape_alias);
    m.impl("unfold", at::native::unfold);
    m.impl("resize_", resize_);
    m.impl("set_.source_Storage", set_storage_whole);
    m.impl("set_.source_Storage_storage_offset", set_storage);
    m.impl("set_.source_Tensor", set_tensor);
    m.impl("set_", set_nothing);
    m.impl("copy_", copy_);
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", copy_from_and_resize);
    m.impl("_local_scalar_dense", local_scalar);
    m.impl("record_stream", record_stream);
}

} // namespace torch_mlu
