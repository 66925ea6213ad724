/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: products by hand: fractals into L0A and L0B, Mmad, and
 * results out of L0C. */
#pragma once

namespace AscendC
{

/** Fractals of 512 bytes from L1 to the memory of dst's position (A2, B2). */
LEO_AC void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                     const LoadData2dParams &p)
{
    const addr_cal_mode_t mode = p.addrMode ? dec : inc;
    if (dst.GetPosition() == TPosition::B2) {
        if (p.ifTranspose) {
            load_cbuf_to_cb((__cb__ T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),
                            p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, true, mode);
        } else {
            load_cbuf_to_cb((__cb__ T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),
                            p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, false, mode);
        }
    } else if (p.ifTranspose) {
        load_cbuf_to_ca((__ca__ T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),
                        p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, true, mode);
    } else {
        load_cbuf_to_ca((__ca__ T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),
                        p.startIndex, p.repeatTimes, p.srcStride, p.dstGap, p.sid, false, mode);
    }
}

/** dst = src0 * src1, or added to what is there. */
template <typename D, typename A, typename B>
LEO_AC_INLINE void Mmad(const LocalTensor<D> &dst, const LocalTensor<A> &src0,
                        const LocalTensor<B> &src1, const MmadParams &p)
{
#if LEO_HAS_2201
    mad((__cc__ D *)dst.GetPhyAddr(), (__ca__ const A *)src0.GetPhyAddr(),
        (__cb__ const B *)src1.GetPhyAddr(), p.m, p.k, p.n, p.unitFlag, p.kDirectionAlign,
        p.cmatrixSource, p.cmatrixInitVal && !p.isBias);
#else
    mad((__cc__ D *)dst.GetPhyAddr(), (__ca__ const A *)src0.GetPhyAddr(),
        (__cb__ const B *)src1.GetPhyAddr(), p.m, p.k, p.n, p.cmatrixInitVal && !p.isBias);
#endif
}

#if LEO_HAS_2201
/** dst = bias + src0 * src1: each row begins as the n numbers of bias, which is at C2. */
template <typename D, typename A, typename B, typename C>
LEO_AC_INLINE void Mmad(const LocalTensor<D> &dst, const LocalTensor<A> &src0,
                        const LocalTensor<B> &src1, const LocalTensor<C> &bias, const MmadParams &p)
{
    static_assert(sizeof(C) == 4, "Mmad: the bias table holds 32 bits a column");
    if (bias.GetPosition() != TPosition::C2) {
        leo_print("Mmad: the bias is at position %d, not at C2: copy it there from L1\n",
                  (int)bias.GetPosition());
        trap();
    }
    mad((__cc__ D *)dst.GetPhyAddr(), (__ca__ const A *)src0.GetPhyAddr(),
        (__cb__ const B *)src1.GetPhyAddr(), (uint64_t)bias.GetPhyAddr(), p.m, p.k, p.n, p.unitFlag,
        p.kDirectionAlign, true, false);
}

/** Blocks of one value: of 32 bytes in L1, of 512 in L0A and L0B. */
LEO_AC void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<T> &params)
{
    const uint64_t pieces = leo_pack_create(params.repeatTimes, params.blockNum, params.dstGap, 0);
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &params.initValue, sizeof(T));
    if constexpr (sizeof(T) == 2) {
        half value;
        __builtin_memcpy(&value, &bits, sizeof(value));
        dst.GetPosition() == TPosition::A2
            ? create_ca_matrix((__ca__ void *)dst.GetPhyAddr(), pieces, value)
        : dst.GetPosition() == TPosition::B2
            ? create_cb_matrix((__cb__ void *)dst.GetPhyAddr(), pieces, value)
            : create_cbuf_matrix((__cbuf__ void *)dst.GetPhyAddr(), pieces, value);
    } else {
        static_assert(sizeof(T) == 4, "InitConstValue: 16 or 32 bits");
        dst.GetPosition() == TPosition::A2
            ? create_ca_matrix((__ca__ void *)dst.GetPhyAddr(), pieces, bits)
        : dst.GetPosition() == TPosition::B2
            ? create_cb_matrix((__cb__ void *)dst.GetPhyAddr(), pieces, bits)
            : create_cbuf_matrix((__cbuf__ void *)dst.GetPhyAddr(), pieces, bits);
    }
}
#else
/** Blocks of L0C to UB. */
template <typename D, typename S>
LEO_AC_INLINE void DataCopy(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                            const DataCopyParams &params, const DataCopyEnhancedParams &enhanced)
{
    constexpr CRMODE_t mode = IsSameType<D, half>::value && IsSameType<S, float>::value
                                  ? CRMODE_F32toF16_NONE
                                  : CRMODE_NONE;
    if (enhanced.blockMode == BlockMode::BLOCK_MODE_VECTOR) {
        copy_vector_cc_to_ubuf((__ubuf__ void *)dst.GetPhyAddr(), (__cc__ void *)src.GetPhyAddr(),
                               0, params.blockCount, params.blockLen, params.srcStride,
                               params.dstStride, mode);
    } else {
        copy_matrix_cc_to_ubuf((__ubuf__ void *)dst.GetPhyAddr(), (__cc__ void *)src.GetPhyAddr(),
                               0, params.blockCount, params.blockLen, params.srcStride,
                               params.dstStride, mode);
    }
}
#endif

} // namespace AscendC
