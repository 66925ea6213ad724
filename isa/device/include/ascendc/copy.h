/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: copies between global memory and buffers, and between
 * buffers. */
#pragma once

namespace AscendC
{

/** Whole blocks of 32 bytes. */
LEO_AC void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                     const DataCopyParams &params)
{
    leo_before_load();
    if (leo_is_l1(dst.GetPosition())) {
        copy_gm_to_cbuf((__cbuf__ void *)dst.GetPhyAddr(), (__gm__ void *)src.GetPhyAddr(), 0,
                        params.blockCount, params.blockLen, params.srcStride, params.dstStride,
                        PAD_NONE);
    } else {
        copy_gm_to_ubuf((__ubuf__ void *)dst.GetPhyAddr(), (__gm__ void *)src.GetPhyAddr(), 0,
                        params.blockCount, params.blockLen, params.srcStride, params.dstStride);
    }
}

LEO_AC void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                     const DataCopyParams &params)
{
    leo_before_store();
#if LEO_HAS_2201
    if (leo_is_l1(src.GetPosition())) {
        copy_cbuf_to_gm((__gm__ void *)dst.GetPhyAddr(), (__cbuf__ void *)src.GetPhyAddr(), 0,
                        params.blockCount, params.blockLen, params.srcStride, params.dstStride);
        return;
    }
#endif
    copy_ubuf_to_gm((__gm__ void *)dst.GetPhyAddr(), (__ubuf__ void *)src.GetPhyAddr(), 0,
                    params.blockCount, params.blockLen, params.srcStride, params.dstStride);
}

/** Inside UB; on the coupled core between UB and L1 too, which have no path on the split one; there
 * from L1 to the bias table (C2) and the fixpipe buffer (C2PIPE2GM), whose blocks are leo_unit_of.
 */
LEO_AC void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                     const DataCopyParams &params)
{
    if (leo_is_ub(dst.GetPosition()) && leo_is_ub(src.GetPosition())) {
        leo_before_vector();
        copy_ubuf_to_ubuf((__ubuf__ void *)dst.GetPhyAddr(), (__ubuf__ void *)src.GetPhyAddr(), 0,
                          params.blockCount, params.blockLen, params.srcStride, params.dstStride);
        return;
    }
#if LEO_HAS_1001
    if (leo_is_l1(dst.GetPosition())) {
        leo_before_store();
        copy_ubuf_to_cbuf((__cbuf__ void *)dst.GetPhyAddr(), (__ubuf__ void *)src.GetPhyAddr(), 0,
                          params.blockCount, params.blockLen, params.srcStride, params.dstStride);
    } else {
        copy_cbuf_to_ubuf((__ubuf__ void *)dst.GetPhyAddr(), (__cbuf__ void *)src.GetPhyAddr(), 0,
                          params.blockCount, params.blockLen, params.srcStride, params.dstStride);
    }
#else
    if (dst.GetPosition() == TPosition::C2) {
        copy_cbuf_to_bt((uint64_t)dst.GetPhyAddr(), (__cbuf__ void *)src.GetPhyAddr(), 0,
                        params.blockCount, params.blockLen, params.srcStride, params.dstStride);
        return;
    }
    if (dst.GetPosition() == TPosition::C2PIPE2GM) {
        copy_cbuf_to_fbuf((uint64_t)dst.GetPhyAddr(), (__cbuf__ void *)src.GetPhyAddr(),
                          params.blockCount, params.blockLen, params.srcStride, params.dstStride);
        return;
    }
    leo_print("DataCopy: no path leads from position %d to %d on this chip\n",
              (int)src.GetPosition(), (int)dst.GetPosition());
    trap();
#endif
}

/** `count` elements, rounded down to whole blocks. */
LEO_AC void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, uint32_t count)
{
    DataCopy(dst, src, DataCopyParams(1, (uint16_t)(leo_bytes_of<T>(count) / ONE_BLK_SIZE), 0, 0));
}

LEO_AC void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count)
{
    DataCopy(dst, src, DataCopyParams(1, (uint16_t)(leo_bytes_of<T>(count) / ONE_BLK_SIZE), 0, 0));
}

/** Bytes that blockLen and dstStride count where a copy goes. */
LEO_AC_INLINE uint32_t leo_unit_of(TPosition to)
{
    return to == TPosition::C2 ? 64 : to == TPosition::C2PIPE2GM ? 128 : ONE_BLK_SIZE;
}

LEO_AC void DataCopy(const LocalTensor<T> &dst, const LocalTensor<T> &src, uint32_t count)
{
    const uint32_t bytes = (uint32_t)leo_bytes_of<T>(count), unit = leo_unit_of(dst.GetPosition());
    const uint32_t blocks = unit == ONE_BLK_SIZE ? bytes / unit : DivCeil(bytes, unit);
    DataCopy(dst, src, DataCopyParams(1, (uint16_t)blocks, 0, 0));
}

/* What copies out of L0C do on their way, others do not have. */
LEO_AC_INLINE void leo_plain_copy(const DataCopyEnhancedParams &p)
{
    if (p.blockMode != BlockMode::BLOCK_MODE_NORMAL || p.deqScale != DeqScale::DEQ_NONE ||
        p.isRelu) {
        leo_print("DataCopy: between global memory and buffers no mode, scale or ReLU\n");
        trap();
    }
}

/** As without `enhanced`, which must say nothing more. */
LEO_AC void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                     const DataCopyParams &params, const DataCopyEnhancedParams &enhanced)
{
    leo_plain_copy(enhanced);
    DataCopy(dst, src, params);
}

LEO_AC void DataCopy(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                     const DataCopyParams &params, const DataCopyEnhancedParams &enhanced)
{
    leo_plain_copy(enhanced);
    DataCopy(dst, src, params);
}

#if LEO_HAS_2201
/** Rows of a matrix in global memory as fractals in L1. */
LEO_AC void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                     const Nd2NzParams &params)
{
    __cbuf__ void *to = (__cbuf__ void *)dst.GetPhyAddr();
    __gm__ void *from = (__gm__ void *)src.GetPhyAddr();
    leo_before_load();
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_cbuf_multi_nd2nz_b8(
            to, from, 0, params.ndNum, params.nValue, params.dValue, params.srcNdMatrixStride,
            params.srcDValue, params.dstNzC0Stride, params.dstNzNStride, params.dstNzMatrixStride);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_cbuf_multi_nd2nz_b16(
            to, from, 0, params.ndNum, params.nValue, params.dValue, params.srcNdMatrixStride,
            params.srcDValue, params.dstNzC0Stride, params.dstNzNStride, params.dstNzMatrixStride);
    } else {
        copy_gm_to_cbuf_multi_nd2nz_b32s(
            to, from, 0, params.ndNum, params.nValue, params.dValue, params.srcNdMatrixStride,
            params.srcDValue, params.dstNzC0Stride, params.dstNzNStride, params.dstNzMatrixStride);
    }
}

/** Rows of bytes; what a row leaves of its last block is filled if params ask for it. */
LEO_AC void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                        const DataCopyExtParams &params, const DataCopyPadExtParams<T> &pad)
{
    __ubuf__ void *to = (__ubuf__ void *)dst.GetPhyAddr();
    __gm__ void *from = (__gm__ void *)src.GetPhyAddr();
    const uint8_t left = pad.isPad ? pad.leftPadding : 0, right = pad.isPad ? pad.rightPadding : 0;
    leo_before_load();
    if (pad.isPad) {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, &pad.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
        set_mov_pad_val(bits);
    }
    if constexpr (sizeof(T) == 1) {
        copy_gm_to_ubuf_align_b8(to, from, 0, params.blockCount, params.blockLen, left, right,
                                 params.srcStride, params.dstStride);
    } else if constexpr (sizeof(T) == 2) {
        copy_gm_to_ubuf_align_b16(to, from, 0, params.blockCount, params.blockLen, left, right,
                                  params.srcStride, params.dstStride);
    } else {
        // Of 8 bytes: two words each.
        constexpr uint8_t words = sizeof(T) / 4;
        copy_gm_to_ubuf_align_b32(to, from, 0, params.blockCount, params.blockLen,
                                  (uint8_t)(left * words), (uint8_t)(right * words),
                                  params.srcStride, params.dstStride);
    }
}

LEO_AC void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                        const DataCopyExtParams &params)
{
    __gm__ void *to = (__gm__ void *)dst.GetPhyAddr();
    __ubuf__ void *from = (__ubuf__ void *)src.GetPhyAddr();
    leo_before_store();
    if constexpr (sizeof(T) == 1) {
        copy_ubuf_to_gm_align_b8(to, from, 0, params.blockCount, params.blockLen, 0, 0,
                                 params.srcStride, params.dstStride);
    } else if constexpr (sizeof(T) == 2) {
        copy_ubuf_to_gm_align_b16(to, from, 0, params.blockCount, params.blockLen, 0, 0,
                                  params.srcStride, params.dstStride);
    } else {
        copy_ubuf_to_gm_align_b32(to, from, 0, params.blockCount, params.blockLen, 0, 0,
                                  params.srcStride, params.dstStride);
    }
}

/** The older form: blockLen in bytes too. */
LEO_AC void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                        const DataCopyParams &params, const DataCopyPadParams &pad)
{
    DataCopyPadExtParams<T> ext;
    ext.isPad = pad.isPad;
    ext.leftPadding = pad.leftPadding;
    ext.rightPadding = pad.rightPadding;
    __builtin_memcpy(&ext.paddingValue, &pad.paddingValue, sizeof(T) < 8 ? sizeof(T) : 8);
    DataCopyPad(dst, src,
                DataCopyExtParams(params.blockCount, params.blockLen, params.srcStride,
                                  params.dstStride, 0),
                ext);
}

LEO_AC void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                        const DataCopyParams &params)
{
    DataCopyPad(dst, src,
                DataCopyExtParams(params.blockCount, params.blockLen, params.srcStride,
                                  params.dstStride, 0));
}
#else
#define LEO_NOT_ON_910A                                                                            \
    __attribute__((unavailable("not on this chip: the first generation copies whole blocks")))
template <typename T, typename... A>
LEO_NOT_ON_910A void DataCopyPad(const LocalTensor<T> &, const GlobalTensor<T> &, A...);
template <typename T, typename... A>
LEO_NOT_ON_910A void DataCopyPad(const GlobalTensor<T> &, const LocalTensor<T> &, A...);
#endif

/** What copies to global memory do with what is there. */
LEO_AC void SetAtomicType()
{
    if constexpr (IsSameType<T, float>::value) {
        set_atomic_f32();
    } else if constexpr (IsSameType<T, half>::value) {
        set_atomic_f16();
    } else if constexpr (IsSameType<T, int16_t>::value) {
        set_atomic_s16();
    } else if constexpr (IsSameType<T, int32_t>::value) {
        set_atomic_s32();
    } else if constexpr (IsSameType<T, int8_t>::value) {
        set_atomic_s8();
    } else {
        static_assert(IsSameType<T, bfloat16_t>::value, "no atomic operation has this type");
        set_atomic_bf16();
    }
}

LEO_AC void SetAtomicAdd()
{
    SetAtomicType<T>();
    set_atomic_add();
}

LEO_AC void SetAtomicMax()
{
    SetAtomicType<T>();
    set_atomic_max();
}

LEO_AC void SetAtomicMin()
{
    SetAtomicType<T>();
    set_atomic_min();
}

LEO_AC_INLINE void SetAtomicNone()
{
    set_atomic_none();
}

} // namespace AscendC
