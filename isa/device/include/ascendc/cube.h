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

/** A tile of L0C to fractals in L1, converted to D. */
template <typename D, typename S, const FixpipeConfig &config = CFG_NZ>
LEO_AC_INLINE void Fixpipe(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                           const FixpipeParamsV220 &p)
{
    static_assert(config.format == CO2Layout::NZ, "Fixpipe: rows are not written to L1");
    const QuantMode_t quant = p.quantPre;
    copy_matrix_cc_to_cbuf((__cbuf__ D *)dst.GetPhyAddr(), (__cc__ S *)src.GetPhyAddr(), 0, p.nSize,
                           p.mSize, p.dstStride, p.srcStride, p.unitFlag, quant, p.reluEn,
                           p.isChannelSplit, false);
}

/** The older form: bursts of 32-byte units, of 16 columns each, m rows of 16 accumulators; as rows
 * of originalNSize elements if nz2ndEn. */
template <typename D, typename S, typename P>
LEO_AC_INLINE void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
                           const FixpipeParams<P> &params)
{
    static_assert(sizeof(S) == 4, "Fixpipe: L0C has 32 bits an element");
    constexpr uint32_t units = 2; // of a row of 16
    const bool rows = params.nz2ndParams.nz2ndEn;
    const uint32_t m = params.burstLen / units;
    FixpipeParamsV220 p;
    p.nSize = (uint16_t)(rows ? params.nz2ndParams.originalNSize : params.cburstNum * 16);
    p.mSize = (uint16_t)m;
    p.srcStride = (uint16_t)((params.burstLen + params.srcStride) / units);
    p.dstStride = rows ? params.dstStride : m * sizeof(D) / 2 + params.dstStride;
    p.quantPre = IsSameType<D, half>::value         ? F322F16
                 : IsSameType<D, bfloat16_t>::value ? F322BF16
                                                    : NoQuant;
    p.reluEn = params.reluEn;
    p.unitFlag = params.unitFlag;
    p.ndNum = params.nz2ndParams.ndNum;
    p.srcNdStride = params.nz2ndParams.srcNdStride;
    p.dstNdStride = params.nz2ndParams.dstNdStride;
    if (rows) {
        Fixpipe<D, S, CFG_ROW_MAJOR>(dst, src, p);
    } else {
        Fixpipe<D, S, CFG_NZ>(dst, src, p);
    }
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
