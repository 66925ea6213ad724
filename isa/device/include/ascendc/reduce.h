/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: sums, maxima and minima. */
#pragma once

namespace AscendC
{

template <typename T> constexpr uint32_t leo_lanes()
{
    return 256 / sizeof(T);
}

/* One result a repeat, side by side from `dst` on; how many. */
LEO_AC uint32_t leo_sum_stage(__ubuf__ T *dst, __ubuf__ const T *src, uint32_t count)
{
    leo_count_begin(count);
    vcadd(dst, src, 1, 1, 1, 8);
    leo_count_end();
    return (count + leo_lanes<T>() - 1) / leo_lanes<T>();
}

/** dst[0] = sum; `tmp` has room for an element a repeat of 256 bytes, and may be `dst`. Sums of
 * repeats are added in the same way until one is left. */
LEO_AC void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<T> &tmp, int32_t count)
{
    __ubuf__ const T *from = (__ubuf__ const T *)src.GetPhyAddr();
    __ubuf__ T *between = (__ubuf__ T *)tmp.GetPhyAddr();
    uint32_t left = (uint32_t)count;
    while (left > leo_lanes<T>()) {
        left = leo_sum_stage(between, from, left);
        from = between;
    }
    (void)leo_sum_stage((__ubuf__ T *)dst.GetPhyAddr(), from, left);
}

/** The sum that the last ReduceSum left. */
LEO_AC T GetAccVal()
{
    leo_sync_pair<HardEvent::V_S>();
    const uint64_t bits = (uint64_t)get_acc_val();
    T value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

/** The place of a value is the bits of an element. */
template <typename T> struct leo_index_bits {
    using type = uint32_t;
};
template <> struct leo_index_bits<half> {
    using type = uint16_t;
};

/* The best of pairs (value, index) of repeats of `tmp`, by the scalar unit: repeats are few. */
template <typename T, bool isMax>
LEO_AC_INLINE void leo_best_pair(const LocalTensor<T> &dst, const LocalTensor<T> &tmp,
                                 uint32_t pairs, bool index)
{
    using bits = typename leo_index_bits<T>::type;
    const LocalTensor<bits> places = tmp.template ReinterpretCast<bits>();
    T best = tmp.GetValue(0);
    uint32_t at = places.GetValue(1);
    for (uint32_t i = 1; i < pairs; i++) {
        const T value = tmp.GetValue(2 * i);
        if (isMax ? value > best : value < best) {
            best = value;
            at = i * leo_lanes<T>() + places.GetValue(2 * i + 1);
        }
    }
    dst.SetValue(0, best);
    if (index) {
        dst.template ReinterpretCast<bits>().SetValue(1, (bits)at);
    }
}

/** dst[0] = maximum; with calIndex dst[1] has the bits of its place. */
LEO_AC void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<T> &tmp, int32_t count, bool calIndex = false)
{
    leo_count_begin((uint64_t)count);
    vcmax((__ubuf__ T *)tmp.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), 1, 1, 1, 8,
          VALUE_INDEX);
    leo_count_end();
    leo_best_pair<T, true>(dst, tmp, ((uint32_t)count + leo_lanes<T>() - 1) / leo_lanes<T>(),
                           calIndex);
}

LEO_AC void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                      const LocalTensor<T> &tmp, int32_t count, bool calIndex = false)
{
    leo_count_begin((uint64_t)count);
    vcmin((__ubuf__ T *)tmp.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), 1, 1, 1, 8,
          VALUE_INDEX);
    leo_count_end();
    leo_best_pair<T, false>(dst, tmp, ((uint32_t)count + leo_lanes<T>() - 1) / leo_lanes<T>(),
                            calIndex);
}

/** One result a repeat; dstRepStride in elements. */
template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                                  int32_t repeat, int32_t dstRepStride, int32_t srcBlkStride,
                                  int32_t srcRepStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcadd((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
          (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride);
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                   int32_t repeat, M mask, int32_t, int32_t srcBlkStride,
                                   int32_t dstRepStride, int32_t srcRepStride)
{
    WholeReduceSum<T, isSetMask>(dst, src, mask, repeat, dstRepStride, srcBlkStride, srcRepStride);
}

/** A sum, maximum or minimum of each block of 32 bytes. */
template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void BlockReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                  int32_t repeat, M mask, int32_t dstRepStride,
                                  int32_t srcBlkStride, int32_t srcRepStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcgadd((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
           (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride);
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void BlockReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                  int32_t repeat, M mask, int32_t dstRepStride,
                                  int32_t srcBlkStride, int32_t srcRepStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcgmax((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
           (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride);
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void BlockReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                  int32_t repeat, M mask, int32_t dstRepStride,
                                  int32_t srcBlkStride, int32_t srcRepStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcgmin((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
           (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride);
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void PairReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                 int32_t repeat, M mask, int32_t dstRepStride, int32_t srcBlkStride,
                                 int32_t srcRepStride)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcpadd((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
           (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride);
}

constexpr Order_t leo_order(ReduceOrder order)
{
    return (Order_t)(order == ReduceOrder::ORDER_VALUE_INDEX   ? VALUE_INDEX
                     : order == ReduceOrder::ORDER_INDEX_VALUE ? INDEX_VALUE
                     : order == ReduceOrder::ORDER_ONLY_VALUE  ? ONLY_VALUE
                                                               : ONLY_INDEX);
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void WholeReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                                  int32_t repeat, int32_t dstRepStride, int32_t srcBlkStride,
                                  int32_t srcRepStride,
                                  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcmax((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
          (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride, leo_order(order));
}

template <typename T, bool isSetMask = true, typename M>
LEO_AC_INLINE void WholeReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src, M mask,
                                  int32_t repeat, int32_t dstRepStride, int32_t srcBlkStride,
                                  int32_t srcRepStride,
                                  ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX)
{
    leo_slice_begin<T, isSetMask>(mask);
    vcmin((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(), (uint64_t)repeat,
          (uint64_t)dstRepStride, (uint64_t)srcBlkStride, (uint64_t)srcRepStride, leo_order(order));
}

/** Which dimensions of a matrix are reduced: A is kept, R is reduced. */
namespace Pattern::Reduce
{
struct AR {
};
struct RA {
};
} // namespace Pattern::Reduce

/** Sums of rows (AR) or columns (RA) of a matrix [shape[0], shape[1]], rows of whole blocks. */
template <typename T, typename pattern, bool isReuseSource = false>
LEO_AC_INLINE void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                             const LocalTensor<uint8_t> &tmp, const uint32_t shape[2], bool)
{
    const uint32_t rows = shape[0], columns = shape[1];
    if constexpr (IsSameType<pattern, Pattern::Reduce::AR>::value) {
        for (uint32_t i = 0; i < rows; i++) {
            ReduceSum(dst[i], src[i * columns], tmp.template ReinterpretCast<T>(),
                      (int32_t)columns);
        }
    } else {
        static_assert(IsSameType<pattern, Pattern::Reduce::RA>::value, "ReduceSum: AR or RA");
        Adds(dst, src, (T)0, (int32_t)columns);
        for (uint32_t i = 1; i < rows; i++) {
            Add(dst, dst, src[i * columns], (int32_t)columns);
        }
    }
}

template <typename T, typename pattern, bool isReuseSource = false>
LEO_AC_INLINE void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                             const uint32_t shape[2], bool srcInnerPad)
{
    ReduceSum<T, pattern, isReuseSource>(dst, src, GetTPipePtr()->leo_rest(), shape, srcInnerPad);
}

/** Of each of `outter` rows of `inner` elements the sum of the first n. */
LEO_AC void Sum(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &params)
{
    for (uint32_t i = 0; i < params.outter; i++) {
        float sum = 0;
        for (uint32_t k = 0; k < params.n; k++) {
            sum += (float)src.GetValue(i * params.inner + k);
        }
        dst.SetValue(i, (T)sum);
    }
}

} // namespace AscendC
