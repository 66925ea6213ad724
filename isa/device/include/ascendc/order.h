/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: values sorted with their indices, largest first; a
 * record is 8 bytes, a value and its index. */
#pragma once

#if LEO_HAS_2201
namespace AscendC
{

/** 32 elements a repeat with their indices, the largest first: pairs of 8 bytes. */
LEO_AC void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                   const LocalTensor<uint32_t> &index, int32_t repeat)
{
    leo_before_vector();
    vbitsort((__ubuf__ T *)dst.GetPhyAddr(), (__ubuf__ const T *)src.GetPhyAddr(),
             (__ubuf__ const uint32_t *)index.GetPhyAddr(), repeat);
}

/** Up to four lists of records. */
template <typename T> struct MrgSortSrcList {
    LocalTensor<T> src1, src2, src3, src4;
    MrgSortSrcList() = default;
    LEO_AC_METHOD MrgSortSrcList(const LocalTensor<T> &a, const LocalTensor<T> &b,
                                 const LocalTensor<T> &c, const LocalTensor<T> &d)
        : src1(a), src2(b), src3(c), src4(d)
    {
    }
};

struct MrgSort4Info {
    uint16_t elementLengths[4] = {0};   /**< records of each list */
    bool ifExhaustedSuspension = false; /**< end with the first list that is used up */
    uint16_t validBit = 0b11;           /**< lists that are there: the first two, three or four */
    uint8_t repeatTimes = 1; /**< more than one: lists of one length that follow each other */
    MrgSort4Info() = default;
    LEO_AC_METHOD MrgSort4Info(const uint16_t lengths[4], bool suspends, uint16_t valid,
                               uint16_t times)
        : ifExhaustedSuspension(suspends), validBit(valid), repeatTimes((uint8_t)times)
    {
        for (int i = 0; i < 4; i++) {
            elementLengths[i] = lengths[i];
        }
    }
};

/** Sorted lists become one. */
LEO_AC void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src,
                    const MrgSort4Info &params)
{
    __ubuf__ T *lists[4] = {
        (__ubuf__ T *)src.src1.GetPhyAddr(), (__ubuf__ T *)src.src2.GetPhyAddr(),
        (__ubuf__ T *)src.src3.GetPhyAddr(), (__ubuf__ T *)src.src4.GetPhyAddr()};
    leo_before_vector();
    vmrgsort4((__ubuf__ T *)dst.GetPhyAddr(), lists, params.repeatTimes, params.elementLengths[0],
              params.elementLengths[1], params.elementLengths[2], params.elementLengths[3],
              params.ifExhaustedSuspension, params.validBit);
}

/** Records that the last MrgSort took from each list. */
LEO_AC_INLINE void GetMrgSortResult(uint16_t &list1, uint16_t &list2, uint16_t &list3,
                                    uint16_t &list4)
{
    leo_sync_pair<HardEvent::V_S>();
    const uint64_t taken = (uint64_t)get_vms4_sr();
    list1 = (uint16_t)taken;
    list2 = (uint16_t)(taken >> 16);
    list3 = (uint16_t)(taken >> 32);
    list4 = (uint16_t)(taken >> 48);
}

constexpr uint32_t LEO_SORTED = 32; /**< records that one instruction sorts */

/** Values as Sort takes them: on this chip as they are. */
LEO_AC void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &,
                   int32_t)
{
    concat = src;
}

/* Lists of `length` records side by side become lists of four times that; the last may be shorter.
 */
LEO_AC void leo_merge_pass(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t length,
                           uint32_t count)
{
    constexpr uint32_t words = 8 / sizeof(T);
    for (uint32_t at = 0; at < count; at += 4 * length) {
        MrgSort4Info info;
        uint32_t lists = 0;
        for (uint32_t from = at; lists < 4 && from < count; from += length) {
            info.elementLengths[lists++] =
                (uint16_t)(count - from < length ? count - from : length);
        }
        info.validBit = (uint16_t)((1u << lists) - 1);
        if (lists == 1) {
            DataCopy(dst[at * words], src[at * words], info.elementLengths[0] * words);
            continue;
        }
        MrgSort(dst[at * words],
                {src[at * words], src[(at + length) * words], src[(at + 2 * length) * words],
                 src[(at + 3 * length) * words]},
                info);
    }
}

/** Blocks of 32 records sorted, `repeat` of them; isFullSort: all of them as one list, at most 4095
 * in each that is merged. `tmp` has room for all records. */
template <typename T, bool isFullSort>
LEO_AC_INLINE void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat,
                        const LocalTensor<uint32_t> &index, LocalTensor<T> &tmp, int32_t repeat)
{
    const uint32_t count = (uint32_t)repeat * LEO_SORTED;
    Sort32(dst, concat, index, repeat);
    if constexpr (isFullSort) {
        LocalTensor<T> from = dst, to = tmp;
        uint32_t length = LEO_SORTED;
        for (; length < count; length *= 4) {
            leo_merge_pass(to, from, length, count);
            const LocalTensor<T> last = to;
            to = from;
            from = last;
        }
        if (from.GetPhyAddr() != dst.GetPhyAddr()) {
            DataCopy(dst, from, count * (8 / sizeof(T)));
        }
    }
}

/** Values and indices of `repeat` times 32 records. */
LEO_AC void Extract(const LocalTensor<T> &value, const LocalTensor<uint32_t> &index,
                    const LocalTensor<T> &sorted, int32_t repeat)
{
    constexpr uint8_t first = sizeof(T) == 4 ? 1 : 3; // of each two, or four
    const GatherMaskParams params(1, (uint16_t)repeat, 8, 0);
    uint64_t count = 0;
    GatherMask(value, sorted, first, false, 0, params, count);
    GatherMask(index, sorted.template ReinterpretCast<uint32_t>(), (uint8_t)2, false, 0, params,
               count);
}

} // namespace AscendC
#endif
