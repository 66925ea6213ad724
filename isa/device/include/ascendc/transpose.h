/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: blocks turned, sums along an axis. */
#pragma once

namespace AscendC
{

/** Element j of row i becomes element i of row j, of 16 rows of a block each; addresses in UB. Of
 * 32 bits two rows of dst hold one of 16; of 8 bits, halves of 32 rows. */
LEO_AC void TransDataTo5HD(uint64_t dstList[16], uint64_t srcList[16],
                           const TransDataTo5HDParams &params)
{
    leo_before_vector();
    set_va_reg_sb(VA0, dstList);
    set_va_reg_sb(VA1, dstList + 8);
    set_va_reg_sb(VA2, srcList);
    set_va_reg_sb(VA3, srcList + 8);
    const uint8_t times = params.repeatTimes;
    if constexpr (sizeof(T) == 1) {
        scatter_vnchwconv_b8(VA0, VA2, times, params.dstRepStride, params.srcRepStride,
                             params.dstHighHalf, params.srcHighHalf);
    } else if constexpr (sizeof(T) == 2) {
        scatter_vnchwconv_b16(VA0, VA2, times, params.dstRepStride, params.srcRepStride);
    } else {
#if LEO_HAS_2201
        static_assert(sizeof(T) == 4, "TransDataTo5HD: 8, 16 or 32 bits");
        scatter_vnchwconv_b32(VA0, VA2, times, params.dstRepStride, params.srcRepStride);
#else
        static_assert(sizeof(T) <= 2, "TransDataTo5HD: this chip has it of 8 and 16 bits");
#endif
    }
}

LEO_AC void TransDataTo5HD(const LocalTensor<T> (&dstList)[16], const LocalTensor<T> (&srcList)[16],
                           const TransDataTo5HDParams &params)
{
    uint64_t dst[16], src[16];
    for (int i = 0; i < 16; i++) {
        dst[i] = (uint64_t)(uintptr_t)dstList[i].GetPhyAddr();
        src[i] = (uint64_t)(uintptr_t)srcList[i].GetPhyAddr();
    }
    TransDataTo5HD<T>(dst, src, params);
}

struct CumSumConfig {
    bool isLastAxis = true, isReuseSource = false, outputLastRow = false;
};

struct CumSumInfo {
    uint32_t outter = 0, inner = 0; /**< rows, elements of one (a multiple of 32 bytes) */
};

inline constexpr CumSumConfig defaultCumSumConfig{true, false, true};

/** Running sums along the rows (isLastAxis) or down the columns. Along the rows the scalar unit
 * adds, down the columns the vector unit. lastRow: the last row of dst, if the configuration asks
 * for it.
 */
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
LEO_AC_INLINE void CumSum(const LocalTensor<T> &dst, const LocalTensor<T> &lastRow,
                          const LocalTensor<T> &src, const CumSumInfo &info)
{
    static_assert(IsSameType<T, float>::value || IsSameType<T, half>::value,
                  "CumSum: float or half");
    for (uint32_t row = 0; row < info.outter; row++) {
        const uint32_t at = row * info.inner;
        if (!config.isLastAxis && row > 0) {
            Add(dst[at], dst[at - info.inner], src[at], (int32_t)info.inner);
        } else if (!config.isLastAxis) {
            DataCopy(dst, src, info.inner);
        }
        float sum = 0;
        for (uint32_t i = 0; config.isLastAxis && i < info.inner; i++) {
            sum += (float)src.GetValue(at + i);
            dst.SetValue(at + i, (T)sum);
        }
    }
    if (config.outputLastRow) {
        DataCopy(lastRow, dst[(info.outter - 1) * info.inner], info.inner);
    }
}

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
LEO_AC_INLINE void CumSum(const LocalTensor<T> &dst, const LocalTensor<T> &lastRow,
                          const LocalTensor<T> &src, const LocalTensor<uint8_t> &,
                          const CumSumInfo &info)
{
    CumSum<T, config>(dst, lastRow, src, info);
}

} // namespace AscendC
