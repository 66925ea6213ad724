// SPDX-License-Identifier: Apache-2.0
// Memory of the cards for tensors: blocks are kept when tensors die and given again in the order of
// their stream.
#include "runtime.hpp"

#include <c10/core/CachingDeviceAllocator.h>

#include <bit>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace torch_mlu
{
namespace
{

constexpr size_t kSmallest = 512;              // blocks are multiples of it
constexpr size_t kLargeStep = size_t{1} << 20; // and of this from 1 MB on: like sizes share blocks

struct Block {
    void *ptr;
    size_t bytes;
    c10::DeviceIndex device;
    c10::StreamId stream;
    std::vector<cnrtNotifier_t> users; ///< places in other streams up to which it is used
};

/** Free blocks of one card and stream by size. */
using Pool = std::multimap<size_t, Block *>;

size_t rounded(size_t bytes)
{
    const size_t step = bytes < kLargeStep ? kSmallest : kLargeStep;
    return (bytes + step - 1) / step * step;
}

void change(c10::CachingAllocator::StatArray &stats, int64_t by)
{
    auto &stat = stats[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
    if (by >= 0) {
        stat.increase(static_cast<size_t>(by));
    } else {
        stat.decrease(static_cast<size_t>(-by));
    }
}

class Allocator final : public c10::DeviceAllocator
{
  public:
    c10::DataPtr allocate(size_t bytes) override
    {
        const c10::DeviceIndex device = current_device();
        const c10::Device place(kMlu, device);
        if (!bytes) {
            return {nullptr, nullptr, &Allocator::release, place};
        }
        Block *const block = take(device, current_stream(device).id(), rounded(bytes));
        return {block->ptr, block, &Allocator::release, place};
    }
    c10::DeleterFnPtr raw_deleter() const override
    {
        return nullptr;
    }
    void copy_data(void *dest, const void *src, size_t count) const override
    {
        check(cnrtMemcpyAsync(dest, const_cast<void *>(src), count, current_queue(),
                              CNRT_MEM_TRANS_DIR_DEV2DEV),
              "cnrtMemcpyAsync");
    }
    bool initialized() override
    {
        return true;
    }
    void emptyCache(c10::MempoolId_t) override
    {
        const std::lock_guard<std::mutex> hold(lock_);
        empty();
    }
    void recordStream(const c10::DataPtr &data, c10::Stream stream) override
    {
        auto *const block = static_cast<Block *>(data.get_context());
        if (!block || block->stream == stream.id()) {
            return;
        }
        const DeviceScope scope(block->device);
        cnrtNotifier_t notifier = nullptr;
        check(cnrtNotifierCreate(&notifier), "cnrtNotifierCreate");
        check(cnrtPlaceNotifier(notifier, queue_of(stream)), "cnrtPlaceNotifier");
        const std::lock_guard<std::mutex> hold(lock_);
        block->users.push_back(notifier);
    }
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override
    {
        const std::lock_guard<std::mutex> hold(lock_);
        return stats_[device];
    }
    void resetAccumulatedStats(c10::DeviceIndex device) override
    {
        const std::lock_guard<std::mutex> hold(lock_);
        for (auto *stats : arrays(device)) {
            for (auto &stat : *stats) {
                stat.reset_accumulated();
            }
        }
    }
    void resetPeakStats(c10::DeviceIndex device) override
    {
        const std::lock_guard<std::mutex> hold(lock_);
        for (auto *stats : arrays(device)) {
            for (auto &stat : *stats) {
                stat.reset_peak();
            }
        }
    }
    std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override
    {
        const DeviceScope scope(device);
        size_t free = 0, total = 0;
        check(cnrtMemGetInfo(&free, &total), "cnrtMemGetInfo");
        return {free, total};
    }

  private:
    std::vector<c10::CachingAllocator::StatArray *> arrays(c10::DeviceIndex device)
    {
        auto &s = stats_[device];
        return {&s.allocation,     &s.segment,      &s.active,         &s.allocated_bytes,
                &s.reserved_bytes, &s.active_bytes, &s.requested_bytes};
    }

    /** A kept block of at most twice the size, or a new one. */
    Block *take(c10::DeviceIndex device, c10::StreamId stream, size_t bytes)
    {
        const std::lock_guard<std::mutex> hold(lock_);
        Pool &pool = pools_[{device, stream}];
        const auto found = pool.lower_bound(bytes);
        Block *block;
        if (found != pool.end() && found->first <= 2 * bytes) {
            block = found->second;
            pool.erase(found);
        } else {
            block = make(device, stream, bytes);
        }
        count(*block, 1);
        return block;
    }

    Block *make(c10::DeviceIndex device, c10::StreamId stream, size_t bytes)
    {
        void *ptr = nullptr;
        cnrtRet_t ret = cnrtMalloc(&ptr, bytes);
        if (ret != cnrtSuccess) {
            stats_[device].num_alloc_retries++;
            (void)cnrtGetLastError();
            empty();
            ret = cnrtMalloc(&ptr, bytes);
        }
        if (ret != cnrtSuccess) {
            stats_[device].num_ooms++;
            size_t free = 0, total = 0;
            (void)cnrtMemGetInfo(&free, &total);
            TORCH_CHECK_WITH(OutOfMemoryError, false, "MLU out of memory: ", bytes,
                             " bytes asked for on card ", static_cast<int>(device), ", ", free,
                             " of ", total, " are free");
        }
        change(stats_[device].segment, 1);
        change(stats_[device].reserved_bytes, static_cast<int64_t>(bytes));
        return new Block{ptr, bytes, device, stream, {}};
    }

    void count(const Block &block, int sign)
    {
        auto &s = stats_[block.device];
        const int64_t bytes = sign * static_cast<int64_t>(block.bytes);
        change(s.allocation, sign);
        change(s.active, sign);
        change(s.allocated_bytes, bytes);
        change(s.active_bytes, bytes);
        change(s.requested_bytes, bytes);
    }

    static void release(void *context);

    /** A block whose tensor died: its stream first waits for other streams that used it. */
    void give_back(Block *block)
    {
        const std::lock_guard<std::mutex> hold(lock_);
        const c10::Stream own(c10::Stream::UNSAFE, c10::Device(kMlu, block->device), block->stream);
        for (cnrtNotifier_t notifier : block->users) {
            (void)cnrtQueueWaitNotifier(notifier, queue_of(own), 0);
            (void)cnrtNotifierDestroy(notifier);
        }
        block->users.clear();
        count(*block, -1);
        pools_[{block->device, block->stream}].emplace(block->bytes, block);
    }

    /** Gives all kept blocks back to the cards, after their work; under the lock. */
    void empty()
    {
        for (auto &[key, pool] : pools_) {
            if (pool.empty()) {
                continue;
            }
            synchronize_device(key.first);
            const DeviceScope scope(key.first);
            for (auto &[bytes, block] : pool) {
                change(stats_[key.first].segment, -1);
                change(stats_[key.first].reserved_bytes, -static_cast<int64_t>(bytes));
                check(cnrtFree(block->ptr), "cnrtFree");
                delete block;
            }
            pool.clear();
        }
    }

    std::mutex lock_;
    std::map<std::pair<c10::DeviceIndex, c10::StreamId>, Pool> pools_;
    std::map<c10::DeviceIndex, c10::CachingDeviceAllocator::DeviceStats> stats_;
};

Allocator &allocator()
{
    static auto *const one = new Allocator; // never destroyed: tensors may die at exit
    return *one;
}

void Allocator::release(void *context)
{
    if (context) {
        allocator().give_back(static_cast<Block *>(context));
    }
}

/** Registered when the library is loaded. */
const bool registered = (c10::SetAllocator(kMlu, &allocator(), 1), true);

} // namespace
} // namespace torch_mlu
