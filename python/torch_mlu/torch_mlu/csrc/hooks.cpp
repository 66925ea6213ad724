// SPDX-License-Identifier: Apache-2.0
// What torch asks of the back end as a whole.
#include "generator.hpp"
#include "runtime.hpp"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_mlu
{
namespace
{

/** Memory of the host that cards copy from and to without a copy of its own. */
class PinnedAllocator final : public c10::Allocator
{
  public:
    c10::DataPtr allocate(size_t bytes) override
    {
        void *ptr = nullptr;
        if (bytes) {
            check(cnrtHostMalloc(&ptr, bytes), "cnrtHostMalloc");
        }
        return {ptr, ptr, &PinnedAllocator::release, c10::Device(c10::DeviceType::CPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override
    {
        return &PinnedAllocator::release;
    }
    void copy_data(void *dest, const void *src, size_t count) const override
    {
        default_copy_data(dest, src, count);
    }

  private:
    static void release(void *ptr)
    {
        if (ptr) {
            (void)cnrtFreeHost(ptr);
        }
    }
};

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override
    {
        return true;
    }
    bool isAvailable() const override
    {
        return device_count() > 0;
    }
    bool hasPrimaryContext(c10::DeviceIndex) const override
    {
        return true;
    }
    void init() const override
    {
    }
    c10::DeviceIndex deviceCount() const override
    {
        return device_count();
    }
    void setCurrentDevice(c10::DeviceIndex index) const override
    {
        set_device(index);
    }
    c10::DeviceIndex getCurrentDevice() const override
    {
        return current_device();
    }
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override
    {
        const c10::DeviceIndex before = current_device();
        set_device(index);
        return before;
    }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override
    {
        return exchangeDevice(index);
    }
    const at::Generator &getDefaultGenerator(c10::DeviceIndex index) const override
    {
        return default_generator(index);
    }
    at::Generator getNewGenerator(c10::DeviceIndex index) const override
    {
        return new_generator(index);
    }
    at::Device getDeviceFromPtr(void *) const override
    {
        return at::Device(kMlu, current_device());
    }
    bool isPinnedPtr(const void *data) const override
    {
        cnrtPointerAttributes_t attributes{};
        return cnrtPointerGetAttributes(&attributes, data) == cnrtSuccess &&
               attributes.type == cnrtMemTypeHost;
    }
    c10::Allocator *getPinnedMemoryAllocator() const override
    {
        static PinnedAllocator pinned;
        return &pinned;
    }
    void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override
    {
        c10::StorageImpl *const impl = storage.unsafeGetStorageImpl();
        const DeviceScope scope(impl->device().index());
        c10::DataPtr data = impl->allocator()->allocate(bytes);
        const size_t kept = std::min(bytes, impl->nbytes());
        if (kept) {
            check(cnrtMemcpyAsync(data.get(), impl->mutable_data(), kept, current_queue(),
                                  CNRT_MEM_TRANS_DIR_DEV2DEV),
                  "cnrtMemcpyAsync");
        }
        impl->set_data_ptr_noswap(std::move(data));
        impl->set_nbytes(bytes);
    }
};

/** Registered when the library is loaded. */
const bool registered = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

} // namespace
} // namespace torch_mlu
