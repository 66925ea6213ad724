/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <kernel_operator.h>. Ascend C: TPipe gives out buffers and event ids, TQue hands
 * tensors from one unit to another.
 *
 * A buffer of a queue has one event id for both directions, taken at InitBuffer: AllocTensor waits
 * until the consumer has left the buffer, EnQue says that it is full, DeQue waits for that,
 * FreeTensor says that it is left. All buffers begin as left.
 */
#pragma once

namespace AscendC
{

/** Buffers of a core that TPipe gives out. */
enum leo_memory {
    LEO_MEMORY_UB,
    LEO_MEMORY_L1,
    LEO_MEMORY_L0A,
    LEO_MEMORY_L0B,
    LEO_MEMORY_L0C,
    LEO_MEMORY_BT, /**< bias table */
    LEO_MEMORY_FB, /**< fixpipe buffer */
    LEO_MEMORIES
};

LEO_AC_INLINE constexpr leo_memory leo_memory_of(TPosition position)
{
    switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
    case TPosition::SPM:
        return LEO_MEMORY_L1;
    case TPosition::A2:
        return LEO_MEMORY_L0A;
    case TPosition::B2:
        return LEO_MEMORY_L0B;
    case TPosition::CO1:
        return LEO_MEMORY_L0C;
    case TPosition::C2:
        return LEO_MEMORY_BT;
    case TPosition::C2PIPE2GM:
        return LEO_MEMORY_FB;
    default:
        return LEO_MEMORY_UB;
    }
}

/* Bytes of each. The documents keep 8 KB of the split core's unified buffer for calls with room of
 * their own; public kernels take all of it. */
#if LEO_HAS_2201
constexpr uint32_t leo_memory_bytes[LEO_MEMORIES] = {196608, 524288, 65536, 65536,
                                                     131072, 1024,   7168};
#else
constexpr uint32_t leo_memory_bytes[LEO_MEMORIES] = {262144, 1048576, 65536, 65536, 262144, 0, 0};
#endif

/** The unit that fills a buffer at a position, and the one that empties it. */
constexpr pipe_t leo_filled_by(TPosition position)
{
    switch (position) {
    case TPosition::VECIN:
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
        return PIPE_MTE2;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
        return PIPE_MTE1;
    case TPosition::CO1:
        return PIPE_M;
    default:
        return PIPE_V;
    }
}

constexpr pipe_t leo_emptied_by(TPosition position)
{
    switch (position) {
    case TPosition::VECOUT:
    case TPosition::CO2:
        return PIPE_MTE3;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM:
        return PIPE_MTE1;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2:
        return PIPE_M;
    case TPosition::CO1:
        return LEO_HAS_2201 ? PIPE_FIX : PIPE_V;
    default:
        return PIPE_V;
    }
}

constexpr int leo_event_of(pipe_t from, pipe_t to)
{
    for (int i = 0; i < (int)HardEvent::MAX; i++) {
        if (leo_event_pipes[i].from == from && leo_event_pipes[i].to == to) {
            return i;
        }
    }
    return -1;
}

class TPipe;

/** A buffer of a queue. */
struct leo_buffer {
    leo_buffer *queued; /**< the next one in its queue */
    leo_buffer *next;   /**< of the ring of its queue */
    uint64_t address, event;
    uint8_t is_out; /**< between AllocTensor and FreeTensor */
};

constexpr uint32_t LEO_BUFFERS = 64; /**< that a TPipe gives out in queues */

/** What TPipe knows of a queue: how to leave no flag behind. */
struct leo_queue_base {
    leo_queue_base *next;
    void (*drain)(leo_queue_base *queue);
    TPipe *pipe = nullptr;
};

template <TPosition source, TPosition destination, int32_t depth, auto mask = 0> class TQueBind;
template <TPosition position = TPosition::VECCALC> class TBuf;

LEO_AC_STATE TPipe *leo_pipe; /**< the one that lives */

class TPipe
{
  public:
    LEO_AC_METHOD TPipe()
    {
        Init();
    }

    LEO_AC_METHOD ~TPipe()
    {
        Destroy();
    }

    TPipe(const TPipe &) = delete;

    LEO_AC_METHOD void Init()
    {
        for (uint32_t i = 0; i < LEO_MEMORIES; i++) {
            used_[i] = 0;
        }
        for (uint32_t i = 0; i < (uint32_t)HardEvent::MAX; i++) {
            events_[i] = 0;
        }
        queues_ = nullptr;
        buffers_used_ = 0;
        leo_pipe = this;
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
        set_atomic_none();
    }

    /** Leaves no flag set; buffers and ids may be given out anew. */
    LEO_AC_SMALL void Reset()
    {
        Destroy();
        Init();
    }

    LEO_AC_METHOD void Destroy()
    {
        while (queues_) {
            leo_queue_base *queue = queues_;
            queues_ = queue->next;
            queue->pipe = nullptr;
            queue->drain(queue);
        }
    }

    /** `count` buffers of `bytes`, rounded up to blocks. */
    template <TPosition source, TPosition destination, int32_t depth, auto mask>
    LEO_AC_METHOD bool InitBuffer(TQueBind<source, destination, depth, mask> &queue, uint8_t count,
                                  uint32_t bytes)
    {
        queue.leo_init(this, count, bytes);
        return true;
    }

    template <TPosition position>
    LEO_AC_METHOD bool InitBuffer(TBuf<position> &buffer, uint32_t bytes)
    {
        buffer.leo_init(this, bytes);
        return true;
    }

    template <HardEvent event> inline int32_t AllocEventID()
    {
        return (int32_t)leo_take_pair((int)event, (int)event, 1);
    }

    template <HardEvent event> inline void ReleaseEventID(int32_t id)
    {
        events_[(int)event] &= (uint8_t)~(1u << id);
    }

    /** One that is free, and stays so. */
    LEO_AC_METHOD int32_t FetchEventID(HardEvent event)
    {
        return leo_free_id(events_[(int)event]);
    }

    template <HardEvent event> LEO_AC_METHOD int32_t FetchEventID()
    {
        return leo_free_id(events_[(int)event]);
    }

    template <TPosition position> LEO_AC_METHOD TBuf<position> GetBuf(uint32_t bytes)
    {
        TBuf<position> buffer;
        buffer.leo_init(this, bytes);
        return buffer;
    }

    /** Bytes of a memory; ends the kernel if it has no more. */
    LEO_AC_METHOD uint32_t leo_take_bytes(leo_memory memory, uint32_t bytes)
    {
        const uint32_t at = used_[memory];
        used_[memory] = at + bytes;
        if (__builtin_expect(at + bytes > leo_memory_bytes[memory], 0)) {
            leo_no_bytes(memory, at + bytes);
        }
        return at;
    }

    /** Bytes of the unified buffer that no buffer has, from a whole block on. */
    LEO_AC_METHOD LocalTensor<uint8_t> leo_rest() const
    {
        const uint32_t at = (used_[LEO_MEMORY_UB] + 31) / 32 * 32;
        return LocalTensor<uint8_t>(TPosition::VECCALC, at, leo_memory_bytes[LEO_MEMORY_UB] - at);
    }

    /** `count` ids in a row that are free in both events; ends the kernel if there are none. */
    LEO_AC_METHOD uint32_t leo_take_pair(int fill, int empty, uint32_t count)
    {
        const uint32_t want = (1u << count) - 1, taken = events_[fill] | events_[empty];
        uint32_t first = 0;
        while (taken >> first & want) {
            first++;
        }
        if (__builtin_expect(first + count > (uint32_t)LEO_EVENTS, 0)) {
            leo_no_events(count);
        }
        events_[fill] |= (uint8_t)(want << first);
        events_[empty] |= (uint8_t)(want << first);
        return first;
    }

    inline void leo_give_pair(int fill, int empty, uint32_t first, uint32_t count)
    {
        const uint32_t given = ~(((1u << count) - 1) << first);
        events_[fill] &= (uint8_t)given;
        events_[empty] &= (uint8_t)given;
    }

    /** A ring of buffers with ids of both events (none if fill is negative). */
    LEO_AC_METHOD leo_buffer *leo_open(leo_queue_base *queue, leo_memory memory, int fill,
                                       int empty, uint32_t count, uint32_t bytes)
    {
        leo_buffer *first = buffers_ + buffers_used_;
        buffers_used_ += count;
        if (__builtin_expect(buffers_used_ > LEO_BUFFERS, 0)) {
            leo_no_buffers();
        }
        const uint32_t address = leo_take_bytes(memory, bytes * count),
                       event = fill < 0 ? 0 : leo_take_pair(fill, empty, count);
        if (__builtin_constant_p(count) && count <= 2) {
            leo_open_buffer(first, 0, first + count - 1, address, event);
            if (count == 2) {
                leo_open_buffer(first, 1, first, address + bytes, event + 1);
            }
        } else {
#pragma clang loop unroll(disable)
            for (uint32_t i = 0; i < count; i++) {
                leo_open_buffer(first, i, first + (i + 1 < count ? i + 1 : 0), address + i * bytes,
                                event + i);
            }
        }
        queue->next = queues_;
        queue->pipe = this;
        queues_ = queue;
        return first;
    }

    LEO_AC_SMALL void leo_drop_queue(leo_queue_base *queue)
    {
        for (leo_queue_base **at = &queues_; *at; at = &(*at)->next) {
            if (*at == queue) {
                *at = queue->next;
                return;
            }
        }
    }

  private:
    LEO_AC_METHOD static void leo_open_buffer(leo_buffer *first, uint32_t index, leo_buffer *next,
                                              uint32_t address, uint32_t event)
    {
        first[index].next = next;
        first[index].address = address;
        first[index].event = event;
        first[index].is_out = 0;
    }

    static __attribute__((noinline, cold)) void leo_no_bytes(leo_memory memory, uint32_t bytes)
    {
        leo_print("TPipe::InitBuffer: memory %d has %u bytes, and %u are asked for\n", (int)memory,
                  leo_memory_bytes[memory], bytes);
        trap();
    }

    static __attribute__((noinline, cold)) void leo_no_events(uint32_t count)
    {
        leo_print("TPipe: no %u event ids are left for this pair of units: a core has %d\n", count,
                  LEO_EVENTS);
        trap();
    }

    static __attribute__((noinline, cold)) void leo_no_buffers()
    {
        leo_print("TPipe::InitBuffer: a pipe has at most %u buffers in queues\n", LEO_BUFFERS);
        trap();
    }

    /* The highest: queues take theirs from below. */
    LEO_AC_METHOD static int32_t leo_free_id(uint32_t taken)
    {
        for (int32_t id = LEO_EVENTS - 1; id > 0; id--) {
            if (!(taken >> id & 1)) {
                return id;
            }
        }
        return 0;
    }

    uint32_t used_[LEO_MEMORIES];
    uint8_t events_[(int)HardEvent::MAX];
    leo_queue_base *queues_;
    uint32_t buffers_used_;
    leo_buffer buffers_[LEO_BUFFERS];
};

LEO_AC_INLINE TPipe *GetTPipePtr()
{
    return leo_pipe;
}

/** Tensors come out in the order in which they went in; AllocTensor takes the buffers in turn. */
template <TPosition source, TPosition destination, int32_t depth, auto mask>
class TQueBind : public leo_queue_base
{
    static constexpr pipe_t filler = leo_filled_by(source), emptier = leo_emptied_by(destination);
    static constexpr int fill = leo_event_of(filler, emptier),
                         empty = leo_event_of(emptier, filler);

  public:
    TQueBind() = default;
    TQueBind(const TQueBind &) = delete;

    LEO_AC_METHOD ~TQueBind()
    {
        if (count_) {
            leo_leave();
        }
    }

    LEO_AC_METHOD void leo_init(TPipe *of, uint32_t count, uint32_t bytes)
    {
        if (__builtin_expect(count_, 0)) {
            leo_leave();
        }
        bytes_ = (bytes + 31) / 32 * 32;
        count_ = count;
        head_ = nullptr;
        drain = leo_drain;
        first_ = turn_ = of->leo_open(this, leo_memory_of(source), filler != emptier ? fill : -1,
                                      empty, count, bytes_);
        if constexpr (filler != emptier) {
            for (uint32_t i = 0; i < count; i++) {
                set_flag(emptier, filler, first_->event + i);
            }
        }
    }

    /** Waits until the buffer is left. All of them out: no flag will come, which is a fault. */
    template <typename T> LEO_AC_METHOD LocalTensor<T> AllocTensor()
    {
        leo_buffer *buffer = turn_;
        const uint64_t event = buffer->event;
        if constexpr (filler != emptier) {
            wait_flag(emptier, filler, event);
        } else {
            pipe_barrier(filler);
        }
        turn_ = buffer->next;
        buffer->is_out = 1;
        return leo_tensor<T>(buffer, event);
    }

    template <typename T> LEO_AC_METHOD void AllocTensor(LocalTensor<T> &tensor)
    {
        tensor = AllocTensor<T>();
    }

    template <typename T> LEO_AC_METHOD bool EnQue(const LocalTensor<T> &tensor)
    {
        leo_buffer *buffer = tensor.leo_buffer_of();
        buffer->queued = nullptr;
        if (head_) {
            tail_->queued = buffer;
        } else {
            head_ = buffer;
        }
        tail_ = buffer;
        if constexpr (filler != emptier) {
            set_flag(filler, emptier, tensor.leo_event_of());
        }
        return true;
    }

    template <typename T> LEO_AC_METHOD LocalTensor<T> DeQue()
    {
        leo_buffer *buffer = head_;
        if (__builtin_expect(!buffer, 0)) {
            leo_no_tensor();
        }
        head_ = buffer->queued;
        const uint64_t event = buffer->event;
        if constexpr (filler != emptier) {
            wait_flag(filler, emptier, event);
        } else {
            pipe_barrier(filler);
        }
        return leo_tensor<T>(buffer, event);
    }

    template <typename T> LEO_AC_METHOD void DeQue(LocalTensor<T> &tensor)
    {
        tensor = DeQue<T>();
    }

    template <TPosition from, TPosition to, typename T>
    LEO_AC_METHOD bool EnQue(const LocalTensor<T> &tensor)
    {
        return EnQue<T>(tensor);
    }

    template <TPosition from, TPosition to, typename T> LEO_AC_METHOD LocalTensor<T> DeQue()
    {
        return DeQue<T>();
    }

    template <typename T> LEO_AC_METHOD void FreeTensor(const LocalTensor<T> &tensor)
    {
        tensor.leo_buffer_of()->is_out = 0;
        if constexpr (filler != emptier) {
            set_flag(emptier, filler, tensor.leo_event_of());
        }
    }

    /** Waits until all buffers are left. */
    LEO_AC_METHOD void FreeAllEvent()
    {
        if (count_) {
            leo_leave();
        }
    }

    LEO_AC_METHOD bool HasTensorInQue() const
    {
        return head_ != nullptr;
    }

    LEO_AC_METHOD int32_t GetTensorCountInQue() const
    {
        int32_t count = 0;
        for (const leo_buffer *at = head_; at; at = at->queued) {
            count++;
        }
        return count;
    }

    LEO_AC_METHOD bool VacantInQue() const
    {
        return GetTensorCountInQue() < (depth > 0 ? depth : 1);
    }

    LEO_AC_METHOD bool HasIdleBuffer() const
    {
        return !turn_->is_out;
    }

  private:
    template <typename T>
    LEO_AC_METHOD LocalTensor<T> leo_tensor(leo_buffer *buffer, uint64_t event) const
    {
        return LocalTensor<T>(source, buffer->address, bytes_, buffer, event);
    }

    LEO_AC_SMALL void leo_leave()
    {
        if (pipe) {
            pipe->leo_drop_queue(this);
        }
        leo_drain(this);
    }

    /* Takes back the flags of what is still in the queue, and those that say that buffers are left.
     */
    static LEO_AC_SMALL void leo_drain(leo_queue_base *base)
    {
        TQueBind *queue = static_cast<TQueBind *>(base);
        if constexpr (filler != emptier) {
            while (queue->HasTensorInQue()) {
                (void)queue->template DeQue<uint8_t>();
            }
            for (uint32_t i = 0; i < queue->count_; i++) {
                if (!queue->first_[i].is_out) {
                    wait_flag(emptier, filler, queue->first_[i].event);
                }
            }
            if (queue->pipe) {
                queue->pipe->leo_give_pair(fill, empty, (uint32_t)queue->first_->event,
                                           queue->count_);
            }
        }
        queue->count_ = 0;
    }

    static __attribute__((noinline, cold)) void leo_no_tensor()
    {
        leo_print("TQue::DeQue: nothing is in the queue: EnQue is missing\n");
        trap();
    }

    leo_buffer *head_ = nullptr;
    leo_buffer *turn_ = nullptr; /**< without InitBuffer AllocTensor faults where it is called */
    leo_buffer *tail_, *first_;  // of a queue that is open
    uint32_t bytes_, count_ = 0;
};

template <TPosition position, int32_t depth, auto mask = 0>
using TQue = TQueBind<position, position, depth, mask>;

template <TPosition position> class TBuf
{
  public:
    inline void leo_init(TPipe *pipe, uint32_t bytes)
    {
        bytes_ = (bytes + 31) / 32 * 32;
        base_ = pipe->leo_take_bytes(leo_memory_of(position), bytes_);
    }

    template <typename T> LEO_AC_METHOD LocalTensor<T> Get() const
    {
        return LocalTensor<T>(position, base_, bytes_);
    }

    template <typename T> LEO_AC_METHOD LocalTensor<T> Get(uint32_t count) const
    {
        return LocalTensor<T>(position, base_, (uint32_t)leo_bytes_of<T>(count));
    }

    template <typename T>
    LEO_AC_METHOD LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset) const
    {
        return LocalTensor<T>(position, base_ + offset, (uint32_t)leo_bytes_of<T>(count));
    }

    /** All of it, as Get; a buffer of no queue has nothing to take or to give back. */
    template <typename T> LEO_AC_METHOD LocalTensor<T> AllocTensor() const
    {
        return Get<T>();
    }

    template <typename T> LEO_AC_METHOD void FreeTensor(const LocalTensor<T> &) const
    {
    }

  private:
    uint64_t base_ = 0;
    uint32_t bytes_ = 0;
};

} // namespace AscendC
