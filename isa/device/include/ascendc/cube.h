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

/** Sources that only hold it compile. */
template <typename T>
__attribute__((unavailable("InitConstValue is not there"))) void
InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<T> &params);

#if LEO_HAS_2201
/** A tile of L0C to global memory, converted to D: rows (CFG_ROW_MAJOR) or fractals. */
template <typename D, typename S, const FixpipeConfig &config = CFG_ROW_MAJOR>
LEO_AC_INLINE void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
                           const FixpipeParamsV220 &p)
{
    constexpr bool rows = config.format == CO2Layout::ROW_MAJOR;
    if constexpr (rows) {
        set_nd_para((uint64_t)p.ndNum | (uint64_t)p.srcNdStride << 16 |
                    (uint64_t)p.dstNdStride << 32);
    }
    const QuantMode_t quant = p.quantPre;
    copy_matrix_cc_to_gm((__gm__ D *)dst.GetPhyAddr(), (__cc__ S *)src.GetPhyAddr(), 0, p.nSize,
                         p.mSize, p.dstStride, p.srcStride, p.unitFlag, quant, p.reluEn,
                         p.isChannelSplit, rows);
}

/** The older form: sources that only hold it compile. */
template <typename D, typename S, typename P>
__attribute__((unavailable("the older Fixpipe is not there: use FixpipeParamsV220"))) void
Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src, const FixpipeParams<P> &params);
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
