/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: results out of L0C (2201), with conversion. */
#pragma once

namespace AscendC
{

#if LEO_HAS_2201
/** Where Fixpipe finds what it converts with: one scale word, or one a column at the head of the
 * fixpipe buffer (a V form of quantPre). */
LEO_AC_INLINE constexpr bool leo_quant_by_column(QuantMode_t mode)
{
    return mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8 || mode == VREQ4 ||
           mode == VQF322B4_PRE || mode == VDEQS16;
}

/** The scale words of p.nSize columns, from L1, replace those that the last Fixpipe used. */
LEO_AC_INLINE void leo_load_scales(const LocalTensor<uint64_t> &scales, uint32_t columns)
{
    leo_sync_pair<HardEvent::FIX_MTE1>();
    copy_cbuf_to_fbuf(0, (__cbuf__ const void *)scales.GetPhyAddr(), 1,
                      DivCeil(columns * sizeof(uint64_t), leo_unit_of(TPosition::C2PIPE2GM)), 0, 0);
    leo_sync_pair<HardEvent::MTE1_FIX>();
    set_fpc(0);
}

LEO_AC_INLINE void leo_one_scale(const FixpipeParamsV220 &p)
{
    if (leo_quant_by_column(p.quantPre)) {
        leo_print("Fixpipe: quantPre %d takes a tensor of scale words\n", (int)p.quantPre);
        trap();
    }
    if (p.quantPre != NoQuant && p.quantPre != F322F16 && p.quantPre != F322BF16) {
        set_quant_pre(p.deqScalar);
    }
}

template <typename D, typename S, const FixpipeConfig &config>
LEO_AC_INLINE void leo_fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
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

template <typename D, typename S, const FixpipeConfig &config>
LEO_AC_INLINE void leo_fixpipe(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                               const FixpipeParamsV220 &p)
{
    static_assert(config.format == CO2Layout::NZ, "Fixpipe: rows are not written to L1");
    const QuantMode_t quant = p.quantPre;
    copy_matrix_cc_to_cbuf((__cbuf__ D *)dst.GetPhyAddr(), (__cc__ S *)src.GetPhyAddr(), 0, p.nSize,
                           p.mSize, p.dstStride, p.srcStride, p.unitFlag, quant, p.reluEn,
                           p.isChannelSplit, false);
}

/** A tile of L0C to global memory, converted to D: rows (CFG_ROW_MAJOR) or fractals; by p.deqScalar
 * where quantPre asks for a factor. */
template <typename D, typename S, const FixpipeConfig &config = CFG_ROW_MAJOR>
LEO_AC_INLINE void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
                           const FixpipeParamsV220 &p)
{
    leo_one_scale(p);
    leo_fixpipe<D, S, config>(dst, src, p);
}

/** With scale words of the columns, a tensor in L1. */
template <typename D, typename S, const FixpipeConfig &config = CFG_ROW_MAJOR>
LEO_AC_INLINE void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
                           const LocalTensor<uint64_t> &scales, const FixpipeParamsV220 &p)
{
    leo_load_scales(scales, p.nSize);
    leo_fixpipe<D, S, config>(dst, src, p);
}

/** A tile of L0C to fractals in L1, converted to D; by p.deqScalar where quantPre asks for a
 * factor. */
template <typename D, typename S, const FixpipeConfig &config = CFG_NZ>
LEO_AC_INLINE void Fixpipe(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                           const FixpipeParamsV220 &p)
{
    leo_one_scale(p);
    leo_fixpipe<D, S, config>(dst, src, p);
}

/** With scale words of the columns, a tensor in L1. */
template <typename D, typename S, const FixpipeConfig &config = CFG_NZ>
LEO_AC_INLINE void Fixpipe(const LocalTensor<D> &dst, const LocalTensor<S> &src,
                           const LocalTensor<uint64_t> &scales, const FixpipeParamsV220 &p)
{
    leo_load_scales(scales, p.nSize);
    leo_fixpipe<D, S, config>(dst, src, p);
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
#endif

} // namespace AscendC
