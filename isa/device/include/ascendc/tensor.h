/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: tensors in global memory and in the buffers of a core.
 * By value; a tensor owns nothing.
 */
#pragma once

namespace AscendC
{

template <typename T> class GlobalTensor
{
  public:
    using PrimType = T;

    /** `count` elements; 0 = not known. */
    LEO_AC_METHOD void SetGlobalBuffer(__gm__ T *buffer, uint64_t count = 0)
    {
        address_ = (uint64_t)buffer;
        size_ = count;
    }

    LEO_AC_METHOD __gm__ T *GetPhyAddr(uint64_t index = 0) const
    {
        return (__gm__ T *)(address_ + leo_bytes_of<T>(index));
    }

    LEO_AC_METHOD T GetValue(uint64_t index) const
    {
        return *scalar(index);
    }

    LEO_AC_METHOD void SetValue(uint64_t index, T value)
    {
        *scalar(index) = value;
    }

    LEO_AC_METHOD __gm__ T &operator()(uint64_t index) const
    {
        return *scalar(index);
    }

    /** From element `index` on. */
    LEO_AC_METHOD GlobalTensor operator[](uint64_t index) const
    {
        GlobalTensor moved = *this;
        moved.address_ += leo_bytes_of<T>(index);
        return moved;
    }

    LEO_AC_METHOD uint64_t GetSize() const
    {
        return size_;
    }

    /** CACHE_MODE_DISABLE: copies of this tensor leave nothing in the L2. */
    template <CacheMode mode = CacheMode::CACHE_MODE_NORMAL>
    LEO_AC_METHOD void SetL2CacheHint(CacheMode how = mode)
    {
        const uint64_t past = UINT64_C(1) << LEO_GM_BIT_NO_L2;
        address_ = how == CacheMode::CACHE_MODE_DISABLE ? address_ | past : address_ & ~past;
    }

  private:
    LEO_AC_METHOD __gm__ T *scalar(uint64_t index) const
    {
        const uint64_t past = UINT64_C(1) << LEO_GM_BIT_NO_L2;
        return (__gm__ T *)((address_ & ~past) + leo_bytes_of<T>(index));
    }

    uint64_t address_ = 0, size_ = 0;
};

struct leo_buffer;

/* What an operator between tensors stands for until it is assigned. */
template <typename T, typename Operation> struct leo_expression;

/* A comparison of tensors until it is assigned. */
template <typename T> struct leo_comparison;

/** Where a tensor is, under the names that kernels use which set it themselves. */
struct TBuffAddr {
    uint64_t bufferAddr = 0; /**< offset in the memory of its position */
    uint32_t dataLen = 0;    /**< bytes */
    uint8_t logicPos = (uint8_t)TPosition::VECCALC;
    leo_buffer *bufferHandle = nullptr; /**< of a queue */
    uint64_t leo_event = 0;             /**< the event id of that buffer */
};

/** Offsets in the memory of its position: unified buffer, L1, L0A, L0B or L0C. */
template <typename T> class LocalTensor
{
  public:
    using PrimType = T;
    LocalTensor() = default;
    LEO_AC_METHOD LocalTensor(TPosition position, uint64_t address, uint32_t bytes,
                              leo_buffer *buffer = nullptr, uint64_t event = 0)
        : address_{address, bytes, (uint8_t)position, buffer, event}
    {
    }

    /** All elements that this has room for: z = x + y. */
    template <typename Operation>
    LEO_AC_METHOD const LocalTensor &operator=(const leo_expression<T, Operation> &of) const
    {
        Operation::run(*this, of.left, of.right, (int32_t)GetSize());
        return *this;
    }

    /** A bit for each element of the left tensor: mask = x < y. */
    template <typename U>
    LEO_AC_METHOD const LocalTensor &operator=(const leo_comparison<U> &of) const
    {
        of.run(*this);
        return *this;
    }

    LEO_AC_METHOD T *GetPhyAddr(uint32_t index = 0) const
    {
        return (T *)(address_.bufferAddr + leo_bytes_of<T>(index));
    }

    LEO_AC_METHOD T GetValue(uint32_t index) const
    {
        leo_before_get();
        return *(volatile T *)GetPhyAddr(index);
    }

    template <typename V> LEO_AC_METHOD void SetValue(uint32_t index, V value) const
    {
        leo_before_set();
        *(volatile T *)GetPhyAddr(index) = (T)value;
    }

    /** For reading and writing: counts as both. */
    LEO_AC_METHOD T &operator()(uint32_t index) const
    {
        leo_before_set();
        return *GetPhyAddr(index);
    }

    LEO_AC_METHOD LocalTensor operator[](uint32_t index) const
    {
        LocalTensor moved = *this;
        moved.address_.bufferAddr += leo_bytes_of<T>(index);
        moved.address_.dataLen -= (uint32_t)leo_bytes_of<T>(index);
        return moved;
    }

    template <typename U> LEO_AC_METHOD LocalTensor<U> ReinterpretCast() const
    {
        return LocalTensor<U>(GetPosition(), address_.bufferAddr, address_.dataLen,
                              address_.bufferHandle, address_.leo_event);
    }

    LEO_AC_METHOD uint32_t GetSize() const
    {
        return IsSameType<T, int4b_t>::value ? GetLength() * 2 : GetLength() / sizeof(T);
    }

    LEO_AC_METHOD void SetSize(uint32_t count)
    {
        address_.dataLen = (uint32_t)leo_bytes_of<T>(count);
    }

    LEO_AC_METHOD void SetAddr(const TBuffAddr &address)
    {
        address_ = address;
    }

    LEO_AC_METHOD uint32_t GetLength() const
    {
        return address_.dataLen;
    }

    LEO_AC_METHOD TPosition GetPosition() const
    {
        return (TPosition)address_.logicPos;
    }

    LEO_AC_METHOD void SetUserTag(int32_t tag)
    {
        tag_ = tag;
    }

    LEO_AC_METHOD int32_t GetUserTag() const
    {
        return tag_;
    }

    /** The buffer of a queue that this is, or is a part of. */
    LEO_AC_METHOD leo_buffer *leo_buffer_of() const
    {
        return address_.bufferHandle;
    }

    /** The event id of that buffer. */
    LEO_AC_METHOD uint64_t leo_event_of() const
    {
        return address_.leo_event;
    }

    TBuffAddr address_;

  private:
    int32_t tag_ = 0;
};

template <typename T, typename Operation> struct leo_expression {
    LocalTensor<T> left, right;
};

LEO_AC_INLINE bool leo_is_ub(TPosition position)
{
    return position == TPosition::VECIN || position == TPosition::VECOUT ||
           position == TPosition::VECCALC || position == TPosition::CO2;
}

LEO_AC_INLINE bool leo_is_l1(TPosition position)
{
    return position == TPosition::A1 || position == TPosition::B1 || position == TPosition::C1 ||
           position == TPosition::TSCM || position == TPosition::SPM;
}

template <typename T, CacheLine lines, DcciDst where = DcciDst::CACHELINE_ALL>
LEO_AC_INLINE void DataCacheCleanAndInvalid(const GlobalTensor<T> &tensor)
{
    dcci((__gm__ void *)&tensor(0),
         lines == CacheLine::SINGLE_CACHE_LINE ? SINGLE_CACHE_LINE : ENTIRE_DATA_CACHE);
}

} // namespace AscendC
