/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: elements picked, repeated and numbered. */
#pragma once

namespace AscendC
{

/** first, first + 1, ...: the scalar unit writes a block, sums double it. */
LEO_AC void CreateVecIndex(const LocalTensor<T> &dst, T first, uint32_t count)
{
    constexpr uint32_t block = 32 / sizeof(T);
    for (uint32_t i = 0; i < block; i++) {
        dst.SetValue(i, (T)(first + (T)(int32_t)i));
    }
    for (uint32_t have = block; have < count; have *= 2) {
        const uint32_t more = have < count - have ? have : count - have;
        Adds(dst[have], dst, (T)(int32_t)have, (int32_t)more);
    }
}

/** A number for each of `mask` elements of each repeat; those of a repeat follow the last one's. */
LEO_AC void CreateVecIndex(const LocalTensor<T> &dst, T first, uint64_t mask, uint8_t repeat,
                           uint16_t dstBlkStride, uint8_t dstRepStride)
{
    constexpr uint32_t block = 32 / sizeof(T);
    for (uint32_t r = 0; r < repeat; r++) {
        for (uint32_t i = 0; i < mask; i++) {
            dst.SetValue(r * dstRepStride * block + i / block * dstBlkStride * block + i % block,
                         (T)(first + (T)(int32_t)(r * mask + i)));
        }
    }
}

/** first + i * step. */
LEO_AC void ArithProgression(const LocalTensor<T> &dst, const T first, const T step, int32_t count)
{
    constexpr uint32_t block = 32 / sizeof(T);
    for (uint32_t i = 0; i < block; i++) {
        dst.SetValue(i, (T)(first + step * (T)(int32_t)i));
    }
    for (uint32_t have = block; have < (uint32_t)count; have *= 2) {
        const uint32_t more = have < (uint32_t)count - have ? have : (uint32_t)count - have;
        Adds(dst[have], dst, (T)(step * (T)(int32_t)have), (int32_t)more);
    }
}

#if LEO_HAS_2201
/** dst[i] = the element at byte offset[i] of src behind base. */
LEO_AC void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                   const LocalTensor<uint32_t> &offset, uint32_t base, uint32_t count)
{
    const uint64_t from = (uint64_t)(uintptr_t)src.GetPhyAddr() + base;
    leo_count_begin(count);
    if constexpr (sizeof(T) == 2) {
        vgather((__ubuf__ uint16_t *)dst.GetPhyAddr(), (__ubuf__ uint32_t *)offset.GetPhyAddr(),
                from, 8, 1);
    } else {
        vgather((__ubuf__ uint32_t *)dst.GetPhyAddr(), (__ubuf__ uint32_t *)offset.GetPhyAddr(),
                from, 8, 1);
    }
    leo_count_end();
}

/** `mask` elements a repeat; dstRepStride in blocks. */
LEO_AC void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                   const LocalTensor<uint32_t> &offset, uint32_t base, uint64_t mask,
                   uint8_t repeat, uint16_t dstRepStride)
{
    const uint64_t from = (uint64_t)(uintptr_t)src.GetPhyAddr() + base;
    leo_slice_begin<T, true>(mask);
    if constexpr (sizeof(T) == 2) {
        vgather((__ubuf__ uint16_t *)dst.GetPhyAddr(), (__ubuf__ uint32_t *)offset.GetPhyAddr(),
                from, dstRepStride, repeat);
    } else {
        vgather((__ubuf__ uint32_t *)dst.GetPhyAddr(), (__ubuf__ uint32_t *)offset.GetPhyAddr(),
                from, dstRepStride, repeat);
    }
}

/** Eight elements a repeat, each over a block. */
LEO_AC void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t repeat,
                 const BrcbRepeatParams &params)
{
    leo_before_vector();
    if constexpr (sizeof(T) == 2) {
        vbrcb((__ubuf__ uint16_t *)dst.GetPhyAddr(), (__ubuf__ const uint16_t *)src.GetPhyAddr(),
              params.dstBlkStride, params.dstRepStride, repeat);
    } else {
        vbrcb((__ubuf__ uint32_t *)dst.GetPhyAddr(), (__ubuf__ const uint32_t *)src.GetPhyAddr(),
              params.dstBlkStride, params.dstRepStride, repeat);
    }
}

template <typename T>
LEO_AC_INLINE void leo_gather_mask(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                                   uint64_t pattern_address, uint64_t pattern, bool reduceMode,
                                   uint32_t mask, const GatherMaskParams &p, uint64_t &count)
{
    leo_before_vector();
    if (reduceMode) {
        set_mask_count();
        set_vector_mask(0, mask);
    }
    if constexpr (sizeof(T) == 2) {
        vreducev2((__ubuf__ uint16_t *)dst.GetPhyAddr(), (__ubuf__ uint16_t *)src.GetPhyAddr(),
                  (__ubuf__ uint16_t *)pattern_address, p.repeatTimes, p.src0BlockStride, pattern,
                  p.src0RepeatStride, p.src1RepeatStride);
    } else {
        vreducev2((__ubuf__ uint32_t *)dst.GetPhyAddr(), (__ubuf__ uint32_t *)src.GetPhyAddr(),
                  (__ubuf__ uint32_t *)pattern_address, p.repeatTimes, p.src0BlockStride, pattern,
                  p.src0RepeatStride, p.src1RepeatStride);
    }
    leo_count_end();
    set_flag(PIPE_V, PIPE_S, LEO_SYNC_EVENT);
    wait_flag(PIPE_V, PIPE_S, LEO_SYNC_EVENT);
    count = (uint64_t)get_rsvd_cnt();
}

/** Elements that a pattern (1 to 7) picks are packed; `count` of them. reduceMode: `mask` elements
 * of each repeat. */
LEO_AC void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint8_t pattern,
                       bool reduceMode, uint32_t mask, const GatherMaskParams &params,
                       uint64_t &count)
{
    leo_gather_mask(dst, src, 0, pattern, reduceMode, mask, params, count);
}

/** By the bits of a tensor. */
template <typename T, typename U>
LEO_AC_INLINE void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                              const LocalTensor<U> &pattern, bool reduceMode, uint32_t mask,
                              const GatherMaskParams &params, uint64_t &count)
{
    leo_gather_mask(dst, src, (uint64_t)(uintptr_t)pattern.GetPhyAddr(), 0, reduceMode, mask,
                    params, count);
}

/** Rows of tiling.srcWidth elements, whole blocks, without the padding of each: the rows of dst
 * stand close to each other. A bit for each element of a row is kept in tmp. */
template <typename T, typename Tiling>
LEO_AC_INLINE void UnPad(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                         const UnPadParams &params, const LocalTensor<uint8_t> &tmp,
                         const Tiling &tiling)
{
    constexpr uint32_t block = 32 / sizeof(T), bits = 8 * sizeof(T);
    using Word = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "UnPad: 16 or 32 bits an element");
    const LocalTensor<Word> pattern = tmp.template ReinterpretCast<Word>();
    const uint32_t width = tiling.srcWidth, end = width - params.rightPad;
    for (uint32_t first = 0; first < width; first += bits) {
        Word word = 0;
        for (uint32_t i = 0; i < bits; i++) {
            word |= (Word)(first + i >= params.leftPad && first + i < end) << i;
        }
        pattern.SetValue(first / bits, word);
    }
    uint64_t count;
    GatherMask(dst, src, pattern, true, width,
               {1, (uint16_t)tiling.srcHeight, (uint16_t)(width / block), 0}, count);
}

template <typename T, typename Tiling>
LEO_AC_INLINE void UnPad(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                         const UnPadParams &params, const Tiling &tiling)
{
    UnPad(dst, src, params, GetTPipePtr()->leo_rest(), tiling);
}
#endif

} // namespace AscendC
