// SPDX-License-Identifier: Apache-2.0
// What torch asks of a device type: current card and stream, events.
#include "runtime.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace torch_mlu
{
namespace
{

cnrtNotifier_t notifier_of(void *event)
{
    return static_cast<cnrtNotifier_t>(event);
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override
    {
        return kMlu;
    }
    c10::Device exchangeDevice(c10::Device device) const override
    {
        const c10::Device before = getDevice();
        set_device(device.index());
        return before;
    }
    c10::Device getDevice() const override
    {
        return c10::Device(kMlu, current_device());
    }
    void setDevice(c10::Device device) const override
    {
        set_device(device.index());
    }
    void uncheckedSetDevice(c10::Device device) const noexcept override
    {
        (void)cnrtSetDevice(device.index());
    }
    c10::DeviceIndex deviceCount() const noexcept override
    {
        return device_count();
    }

    c10::Stream getStream(c10::Device device) const override
    {
        return current_stream(device.index());
    }
    c10::Stream getDefaultStream(c10::Device device) const override
    {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool high) const override
    {
        return new_stream(device.index(), high ? -1 : 0);
    }
    c10::Stream getNewStream(c10::Device device, int priority) const override
    {
        return new_stream(device.index(), priority);
    }
    c10::Stream exchangeStream(c10::Stream stream) const override
    {
        return exchange_stream(stream);
    }
    void *getStreamNativeHandle(const c10::Stream stream) const override
    {
        return queue_of(stream);
    }
    bool queryStream(const c10::Stream &stream) const override
    {
        return cnrtQueueQuery(queue_of(stream)) == cnrtSuccess;
    }
    void synchronizeStream(const c10::Stream &stream) const override
    {
        synchronize(stream);
    }
    void synchronizeDevice(const c10::DeviceIndex index) const override
    {
        synchronize_device(index);
    }

    void record(void **event, const c10::Stream &stream, const c10::DeviceIndex index,
                const c10::EventFlag) const override
    {
        TORCH_CHECK(index == -1 || index == stream.device_index(), "an event of card ", index,
                    " on a stream of card ", stream.device_index());
        const DeviceScope scope(stream.device_index());
        if (!*event) {
            cnrtNotifier_t notifier = nullptr;
            check(cnrtNotifierCreate(&notifier), "cnrtNotifierCreate");
            *event = notifier;
        }
        check(cnrtPlaceNotifier(notifier_of(*event), queue_of(stream)), "cnrtPlaceNotifier");
    }
    void block(void *event, const c10::Stream &stream) const override
    {
        if (event) {
            check(cnrtQueueWaitNotifier(notifier_of(event), queue_of(stream), 0),
                  "cnrtQueueWaitNotifier");
        }
    }
    bool queryEvent(void *event) const override
    {
        return !event || cnrtQueryNotifier(notifier_of(event)) == cnrtSuccess;
    }
    void synchronizeEvent(void *event) const override
    {
        if (event) {
            check(cnrtWaitNotifier(notifier_of(event)), "cnrtWaitNotifier");
        }
    }
    void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override
    {
        if (event) {
            (void)cnrtNotifierDestroy(notifier_of(event));
        }
    }
    double elapsedTime(void *start, void *end, const c10::DeviceIndex) const override
    {
        TORCH_CHECK(start && end,
                    "both events must be recorded before the time between them is asked for");
        float us = 0;
        check(cnrtWaitNotifier(notifier_of(end)), "cnrtWaitNotifier");
        check(cnrtNotifierDuration(notifier_of(start), notifier_of(end), &us),
              "cnrtNotifierDuration");
        return us / 1000.0;
    }
    void recordDataPtrOnStream(const c10::DataPtr &data, const c10::Stream &stream) const override
    {
        c10::getDeviceAllocator(kMlu)->recordStream(data, stream);
    }
};

} // namespace
} // namespace torch_mlu

namespace at
{
C10_REGISTER_GUARD_IMPL(PrivateUse1, torch_mlu::Guard)
}
