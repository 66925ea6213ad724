// SPDX-License-Identifier: Apache-2.0
#include "runtime.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace torch_mlu
{

void check(cnrtRet_t ret, const char *what)
{
    TORCH_CHECK(ret == cnrtSuccess, what, ": ", cnrtGetErrorStr(ret));
}

void check(cnnlStatus_t status, const char *what)
{
    TORCH_CHECK(status == CNNL_STATUS_SUCCESS, what, ": ", cnnlGetErrorString(status),
                " (stderr says why)");
}

c10::DeviceIndex device_count() noexcept
{
    unsigned int count = 0;
    return cnrtGetDeviceCount(&count) == cnrtSuccess ? static_cast<c10::DeviceIndex>(count) : 0;
}

c10::DeviceIndex current_device()
{
    int ordinal = 0;
    check(cnrtGetDevice(&ordinal), "cnrtGetDevice");
    return static_cast<c10::DeviceIndex>(ordinal);
}

void set_device(c10::DeviceIndex index)
{
    if (index != current_device()) {
        check(cnrtSetDevice(index), "cnrtSetDevice");
    }
}

DeviceScope::DeviceScope(c10::DeviceIndex index) : before_(current_device())
{
    if (index != before_) {
        check(cnrtSetDevice(index), "cnrtSetDevice");
        changed_ = true;
    }
}

DeviceScope::~DeviceScope()
{
    if (changed_) {
        (void)cnrtSetDevice(before_);
    }
}

namespace
{

/** Queues that were made; a stream's number is its queue's place plus one. */
struct Queues {
    std::mutex lock;
    std::map<c10::DeviceIndex, std::deque<cnrtQueue_t>> of;
};

Queues &queues()
{
    static Queues *const all = new Queues; // never destroyed: threads may still use it at exit
    return *all;
}

std::map<c10::DeviceIndex, c10::StreamId> &thread_streams()
{
    static thread_local std::map<c10::DeviceIndex, c10::StreamId> streams;
    return streams;
}

/** Handles of one thread. */
class Handles
{
  public:
    cnnlHandle_t get(c10::DeviceIndex device, cnrtQueue_t queue)
    {
        cnnlHandle_t &handle = of_[{device, queue}];
        if (!handle) {
            check(cnnlCreate(&handle), "cnnlCreate");
            check(cnnlSetQueue(handle, queue), "cnnlSetQueue");
        }
        return handle;
    }
    ~Handles()
    {
        for (auto &[key, handle] : of_) {
            if (handle) {
                (void)cnnlDestroy(handle);
            }
        }
    }

  private:
    std::map<std::pair<c10::DeviceIndex, cnrtQueue_t>, cnnlHandle_t> of_;
};

} // namespace

c10::Stream current_stream(c10::DeviceIndex index)
{
    const auto found = thread_streams().find(index);
    const c10::StreamId id = found == thread_streams().end() ? 0 : found->second;
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kMlu, index), id);
}

c10::Stream exchange_stream(c10::Stream stream)
{
    const c10::Stream before = current_stream(stream.device_index());
    thread_streams()[stream.device_index()] = stream.id();
    return before;
}

c10::Stream new_stream(c10::DeviceIndex index, int priority)
{
    const DeviceScope scope(index);
    cnrtQueue_t queue = nullptr;
    int least = 0, greatest = 0;
    check(cnrtDeviceGetQueuePriorityRange(&least, &greatest), "cnrtDeviceGetQueuePriorityRange");
    const int wanted =
        std::clamp(least + priority, greatest, least); // torch's own is 0, before it goes -1
    check(cnrtQueueCreateWithPriority(&queue, 0, wanted), "cnrtQueueCreateWithPriority");
    const std::lock_guard<std::mutex> hold(queues().lock);
    auto &made = queues().of[index];
    made.push_back(queue);
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(kMlu, index),
                       static_cast<c10::StreamId>(made.size()));
}

cnrtQueue_t queue_of(const c10::Stream &stream)
{
    if (stream.id() == 0) {
        return cnrtQueueLegacy; // NULL would be a queue of the calling thread alone
    }
    const std::lock_guard<std::mutex> hold(queues().lock);
    const auto &made = queues().of[stream.device_index()];
    TORCH_CHECK(stream.id() > 0 && static_cast<size_t>(stream.id()) <= made.size(),
                "no stream has the number ", stream.id());
    return made[static_cast<size_t>(stream.id()) - 1];
}

cnrtQueue_t current_queue()
{
    return queue_of(current_stream(current_device()));
}

void synchronize(const c10::Stream &stream)
{
    const DeviceScope scope(stream.device_index());
    check(cnrtQueueSync(queue_of(stream)), "cnrtQueueSync");
}

void synchronize_device(c10::DeviceIndex index)
{
    const DeviceScope scope(index);
    check(cnrtSyncDevice(), "cnrtSyncDevice");
}

cnnlHandle_t current_handle()
{
    static thread_local Handles handles;
    return handles.get(current_device(), current_queue());
}

} // namespace torch_mlu
