/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: comparisons and choices. A mask has a bit an element,
 * the first one lowest. */
#pragma once

namespace AscendC
{

template <typename T>
LEO_AC_INLINE void leo_compare(__ubuf__ uint8_t *dst, __ubuf__ const T *a, __ubuf__ const T *b,
                               CMPMODE mode, uint8_t repeat, const BinaryRepeatParams &p)
{
    switch (mode) {
    case CMPMODE::LT:
        vcmpv_lt(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    case CMPMODE::GT:
        vcmpv_gt(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    case CMPMODE::EQ:
        vcmpv_eq(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    case CMPMODE::LE:
        vcmpv_le(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    case CMPMODE::GE:
        vcmpv_ge(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    default:
        vcmpv_ne(dst, a, b, repeat, 1, p.src0BlkStride, p.src1BlkStride, 8, p.src0RepStride,
                 p.src1RepStride);
        return;
    }
}

template <typename T>
LEO_AC_INLINE void leo_compare_scalar(__ubuf__ uint8_t *dst, __ubuf__ const T *a, T number,
                                      CMPMODE mode, uint8_t repeat, const UnaryRepeatParams &p)
{
    switch (mode) {
    case CMPMODE::LT:
        vcmpvs_lt(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    case CMPMODE::GT:
        vcmpvs_gt(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    case CMPMODE::EQ:
        vcmpvs_eq(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    case CMPMODE::LE:
        vcmpvs_le(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    case CMPMODE::GE:
        vcmpvs_ge(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    default:
        vcmpvs_ne(dst, a, number, repeat, 1, p.srcBlkStride, 8, p.srcRepStride);
        return;
    }
}

/** Whole repeats of 256 bytes: count * sizeof(T) is a multiple of 256. */
template <typename T, typename U>
LEO_AC_INLINE void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                           const LocalTensor<T> &src1, CMPMODE mode, uint32_t count)
{
    leo_count_begin(count);
    leo_compare((__ubuf__ uint8_t *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(),
                (__ubuf__ const T *)src1.GetPhyAddr(), mode, 1, BinaryRepeatParams());
    leo_count_end();
}

template <typename T, typename U, bool isSetMask = true, typename M>
LEO_AC_INLINE void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                           const LocalTensor<T> &src1, CMPMODE mode, M mask, uint8_t repeat,
                           const BinaryRepeatParams &params)
{
    leo_slice_begin<T, isSetMask>(mask);
    leo_compare((__ubuf__ uint8_t *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(),
                (__ubuf__ const T *)src1.GetPhyAddr(), mode, repeat, params);
}

template <typename T, typename U, typename V>
LEO_AC_INLINE void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, V number,
                                 CMPMODE mode, uint32_t count)
{
    leo_count_begin(count);
    leo_compare_scalar((__ubuf__ uint8_t *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(),
                       (T)number, mode, 1, UnaryRepeatParams());
    leo_count_end();
}

template <typename T, typename U, bool isSetMask = true, typename V, typename M>
LEO_AC_INLINE void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src, V number,
                                 CMPMODE mode, M mask, uint8_t repeat,
                                 const UnaryRepeatParams &params)
{
    leo_slice_begin<T, isSetMask>(mask);
    leo_compare_scalar((__ubuf__ uint8_t *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(),
                       (T)number, mode, repeat, params);
}

/** The newer name. */
template <typename T, typename U, typename V>
LEO_AC_INLINE void Compares(const LocalTensor<U> &dst, const LocalTensor<T> &src, V number,
                            CMPMODE mode, uint32_t count)
{
    CompareScalar(dst, src, number, mode, count);
}

template <typename T> struct leo_comparison {
    LocalTensor<T> left, right;
    CMPMODE mode;

    template <typename U> LEO_AC_METHOD void run(const LocalTensor<U> &mask) const
    {
        const uint32_t count = left.GetSize();
        if (mask.GetLength() < (count + 7) / 8 || right.GetSize() < count) {
            leo_print("a comparison of %d elements: the mask has room for %d, the right side %d\n",
                      (int)count, (int)mask.GetLength() * 8, (int)right.GetSize());
            trap();
        }
        Compare(mask, left, right, mode, count);
    }
};

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator<(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::LT};
}

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator>(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::GT};
}

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator<=(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::LE};
}

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator>=(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::GE};
}

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator==(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::EQ};
}

template <typename T>
LEO_AC_INLINE leo_comparison<T> operator!=(const LocalTensor<T> &left, const LocalTensor<T> &right)
{
    return {left, right, CMPMODE::NE};
}

/* The mode that uses the same bits for each repeat would choose others here. */
LEO_AC_INLINE void leo_check_selection(SELMODE mode)
{
    if (mode == SELMODE::VSEL_CMPMASK_SPR) {
        leo_print("Select: VSEL_CMPMASK_SPR is not there\n");
        trap();
    }
}

/** src0 where the bit is set, else src1. */
template <typename T, typename U>
LEO_AC_INLINE void Select(const LocalTensor<T> &dst, const LocalTensor<U> &mask,
                          const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE mode,
                          uint32_t count)
{
    leo_check_selection(mode);
    leo_count_begin(count);
    set_selmask_addr((__ubuf__ const void *)mask.GetPhyAddr());
    vsel((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(),
         (__ubuf__ const T *)src1.GetPhyAddr(), 1, 1, 1, 1, 8, 8, 8, 2);
    leo_count_end();
}

template <typename T, typename U, typename V>
LEO_AC_INLINE void Select(const LocalTensor<T> &dst, const LocalTensor<U> &mask,
                          const LocalTensor<T> &src0, V number, SELMODE mode, uint32_t count)
{
    leo_check_selection(mode);
    leo_count_begin(count);
    set_selmask_addr((__ubuf__ const void *)mask.GetPhyAddr());
    vsel((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(), (T)number, 1, 1, 1,
         1, 8, 8, 8, 1);
    leo_count_end();
}

template <typename T, typename U, bool isSetMask = true, typename M>
LEO_AC_INLINE void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection,
                          const LocalTensor<T> &src0, const LocalTensor<T> &src1, SELMODE mode,
                          M mask, uint8_t repeat, const BinaryRepeatParams &p)
{
    leo_check_selection(mode);
    leo_slice_begin<T, isSetMask>(mask);
    set_selmask_addr((__ubuf__ const void *)selection.GetPhyAddr());
    vsel((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(),
         (__ubuf__ const T *)src1.GetPhyAddr(), repeat, p.dstBlkStride, p.src0BlkStride,
         p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride, 2);
}

template <typename T, typename U, bool isSetMask = true, typename V, typename M>
LEO_AC_INLINE void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selection,
                          const LocalTensor<T> &src0, V number, SELMODE mode, M mask,
                          uint8_t repeat, const BinaryRepeatParams &p)
{
    leo_check_selection(mode);
    leo_slice_begin<T, isSetMask>(mask);
    set_selmask_addr((__ubuf__ const void *)selection.GetPhyAddr());
    vsel((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src0.GetPhyAddr(), (T)number, repeat,
         p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride, p.src0RepStride,
         p.src1RepStride, 1);
}

} // namespace AscendC
