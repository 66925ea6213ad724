/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: lists of tensors as an argument of a custom operator's
 * kernel: the byte where the addresses start; of each tensor a word (rank low, index high) and its
 * dimensions; the addresses (kernels/custom/two_phase.cpp writes it). */
#pragma once

namespace AscendC
{

/** What is known of one tensor of a list; the caller gives room for its dimensions. */
template <typename T> class TensorDesc
{
  public:
    LEO_AC_METHOD void SetShapeAddr(uint64_t *room)
    {
        shape_ = room;
    }
    LEO_AC_METHOD uint64_t GetDim() const
    {
        return rank_;
    }
    LEO_AC_METHOD uint64_t GetIndex() const
    {
        return index_;
    }
    LEO_AC_METHOD uint64_t GetShape(uint32_t axis) const
    {
        return shape_[axis];
    }
    LEO_AC_METHOD T *GetDataPtr() const
    {
        return data_;
    }
    LEO_AC_METHOD GlobalTensor<T> GetDataObj() const
    {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer((__gm__ T *)data_);
        return tensor;
    }

  private:
    friend class ListTensorDesc;
    uint64_t *shape_ = nullptr;
    uint64_t rank_ = 0, index_ = 0;
    T *data_ = nullptr;
};

class ListTensorDesc
{
  public:
    ListTensorDesc() = default;
    LEO_AC_METHOD ListTensorDesc(__gm__ void *list, uint32_t = 0xffffffff, uint32_t = 0xffffffff)
    {
        Init(list);
    }
    LEO_AC_METHOD void Init(__gm__ void *list, uint32_t = 0xffffffff, uint32_t = 0xffffffff)
    {
        words_ = (__gm__ uint64_t *)list;
        first_ = (uint32_t)(words_[0] / sizeof(uint64_t));
        size_ = 0;
        for (uint32_t at = 1; at < first_; at += 1 + (uint32_t)words_[at]) {
            size_++;
        }
    }
    LEO_AC_METHOD uint32_t GetSize() const
    {
        return size_;
    }
    template <typename T> LEO_AC_METHOD T *GetDataPtr(uint32_t index) const
    {
        return (T *)words_[first_ + index];
    }
    template <typename T> LEO_AC_METHOD void GetDesc(TensorDesc<T> &desc, uint32_t index) const
    {
        uint32_t at = 1;
        for (uint32_t i = 0; i < index; i++) {
            at += 1 + (uint32_t)words_[at];
        }
        desc.rank_ = (uint32_t)words_[at];
        desc.index_ = index;
        desc.data_ = GetDataPtr<T>(index);
        for (uint32_t i = 0; desc.shape_ && i < desc.rank_; i++) {
            desc.shape_[i] = words_[at + 1 + i];
        }
    }

  private:
    __gm__ uint64_t *words_ = nullptr;
    uint32_t first_ = 0, size_ = 0;
};

} // namespace AscendC
