/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: masks, and calls that are one vector instruction. */
#pragma once

namespace AscendC
{

/** Calls on the first `count` elements use counter mode, and leave normal mode and a full mask. */
LEO_AC_INLINE void leo_count_begin(uint64_t count)
{
    leo_before_vector();
    set_mask_count();
    set_vector_mask(0, count);
}

LEO_AC_INLINE void leo_count_end()
{
    set_mask_norm();
    set_vector_mask(FULL_MASK, FULL_MASK);
}

/** The first `count` lanes. */
LEO_AC_INLINE void leo_set_lanes(uint64_t count)
{
    const uint64_t low = count >= 64 ? FULL_MASK : (UINT64_C(1) << count) - 1,
                   high = count >= 128 ? FULL_MASK
                          : count > 64 ? (UINT64_C(1) << (count - 64)) - 1
                                       : 0;
    set_vector_mask(high, low);
}

template <typename T, bool isSetMask> LEO_AC_INLINE void leo_slice_begin(uint64_t mask)
{
    leo_before_vector();
    if constexpr (isSetMask) {
        leo_set_lanes(mask);
    }
}

template <typename T, bool isSetMask> LEO_AC_INLINE void leo_slice_begin(const uint64_t *mask)
{
    leo_before_vector();
    if constexpr (isSetMask) {
        set_vector_mask(sizeof(T) == 2 ? mask[1] : 0, mask[0]);
    }
}

LEO_AC_INLINE void SetMaskCount()
{
    set_mask_count();
}

LEO_AC_INLINE void SetMaskNorm()
{
    set_mask_norm();
}

LEO_AC_INLINE void ResetMask()
{
    set_vector_mask(FULL_MASK, FULL_MASK);
}

/** Normal mode: words of lanes; counter mode: `low` elements. */
template <typename T, MaskMode mode = MaskMode::NORMAL>
LEO_AC_INLINE void SetVectorMask(uint64_t high, uint64_t low)
{
    set_vector_mask(mode == MaskMode::NORMAL ? high : 0, low);
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
LEO_AC_INLINE void SetVectorMask(int32_t count)
{
    if constexpr (mode == MaskMode::COUNTER) {
        set_vector_mask(0, (uint64_t)count);
    } else {
        leo_set_lanes((uint64_t)count);
    }
}

} // namespace AscendC

#include <ascendc/vector_calls.h>

namespace AscendC
{

/** The first `count` elements become `value`. */
template <typename T, typename V>
LEO_AC_INLINE void Duplicate(const LocalTensor<T> &dst, const V &value, int32_t count)
{
    leo_count_begin((uint64_t)count);
    vector_dup((__ubuf__ T *)dst.GetPhyAddr(), (T)value, 1, 1, 1, 8, 8);
    leo_count_end();
}

template <typename T, bool isSetMask = true, typename V, typename M>
LEO_AC_INLINE void Duplicate(const LocalTensor<T> &dst, const V &value, M mask, uint8_t repeat,
                             uint16_t blockStride, uint8_t repeatStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vector_dup((__ubuf__ T *)dst.GetPhyAddr(), (T)value, repeat, blockStride, 1, repeatStride, 8);
}

#if LEO_HAS_2201
/** Repeats of up to 256 bytes. */
template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                        uint8_t repeat, const CopyRepeatParams &params)
{
    leo_slice_begin<T, isSetMask>(mask);
    if constexpr (sizeof(T) == 2) {
        vcopy((__ubuf__ int16_t *)dst.GetPhyAddr(), (__ubuf__ const int16_t *)src.GetPhyAddr(),
              repeat, params.dstStride, params.srcStride, params.dstRepeatSize,
              params.srcRepeatSize);
    } else {
        vcopy((__ubuf__ int32_t *)dst.GetPhyAddr(), (__ubuf__ const int32_t *)src.GetPhyAddr(),
              repeat, params.dstStride, params.srcStride, params.dstRepeatSize,
              params.srcRepeatSize);
    }
}
#endif

} // namespace AscendC
