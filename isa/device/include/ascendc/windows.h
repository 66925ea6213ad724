/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: windows of a feature map in L1 as a matrix (img2col):
 * LoadData with LoadData3DParamsV2 (2201) and V1 (1001). */
#pragma once

namespace AscendC
{

/** Size and padding (left, right, top, bottom) of the feature map that LoadData 3D reads: the first
 * one, or the second (fMatrixCtrl). */
LEO_AC_INLINE void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4],
                              FmatrixMode mode = FmatrixMode::FMATRIX_LEFT)
{
    const uint64_t word = (uint64_t)l1W | (uint64_t)l1H << 16 | (uint64_t)padList[0] << 32 |
                          (uint64_t)padList[1] << 40 | (uint64_t)padList[2] << 48 |
                          (uint64_t)padList[3] << 56;
    if (mode == FmatrixMode::FMATRIX_LEFT) {
        set_fmatrix(word);
    } else {
        set_fmatrix_b(word);
    }
}

/** What elements outside of the map are. */
LEO_AC void SetLoadDataPaddingValue(const T padValue)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &padValue, sizeof(padValue));
    set_padding(bits);
}

/** Bytes of the ring in L1 that holds the map; 0: it is no ring. */
LEO_AC_INLINE void SetLoadDataBoundary(uint32_t bytes)
{
    set_l1_3d_size(bytes);
}

#if LEO_HAS_2201
/** Further copies of each LoadData 3D: along the pixels (repeatMode 0) or the columns. */
LEO_AC_INLINE void SetLoadDataRepeat(const LoadDataRepeatParam &p)
{
    set_l3d_rpt((uint64_t)p.repeatStride | (uint64_t)p.repeatTime << 16 |
                (uint64_t)p.repeatMode << 24);
}

/** Rows mStartPt .. and columns kStartPt .. of the matrix of windows to A2 or B2. */
template <typename T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename U>
LEO_AC_INLINE void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                            const LoadData3DParamsV2<U> &p)
{
    if constexpr (config.isSetFMatrix) {
        SetFmatrix(p.l1H, p.l1W, p.padList,
                   p.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT);
    }
    if constexpr (config.isSetPadding) {
        SetLoadDataPaddingValue(p.padValue);
    }
#define LEO_WINDOWS(to, space)                                                                     \
    img2colv2_cbuf_to_##to((space T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),      \
                           p.kExtension, p.mExtension, p.kStartPt, p.mStartPt, p.strideW,          \
                           p.strideH, p.filterW, p.filterH, p.dilationFilterW, p.dilationFilterH,  \
                           p.filterSizeW, p.filterSizeH, p.enTranspose, p.fMatrixCtrl,             \
                           p.channelSize)
    if (dst.GetPosition() == TPosition::B2) {
        LEO_WINDOWS(cb, __cb__);
    } else {
        LEO_WINDOWS(ca, __ca__);
    }
#undef LEO_WINDOWS
}
#else
/** Fractals of 16 windows and C0 columns to A2, B2 or UB. */
template <typename T, const IsResetLoad3dConfig &config = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename U>
LEO_AC_INLINE void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                            const LoadData3DParamsV1<U> &p)
{
    if constexpr (config.isSetFMatrix) {
        SetFmatrix(p.l1H, p.l1W, p.padList);
    }
    if constexpr (config.isSetPadding) {
        SetLoadDataPaddingValue(p.padValue);
    }
    const csize_t csize = (csize_t)p.cSize;
#define LEO_WINDOWS(to, space)                                                                     \
    img2col_cbuf_to_##to((space T *)dst.GetPhyAddr(), (__cbuf__ const T *)src.GetPhyAddr(),        \
                         p.fetchFilterW, p.fetchFilterH, p.leftTopW, p.leftTopH, p.c1Index,        \
                         p.strideW, p.strideH, p.filterW, p.filterH, p.dilationFilterW,            \
                         p.dilationFilterH, p.jumpStride, p.repeatMode, p.repeatTime, csize)
    if (dst.GetPosition() == TPosition::A2) {
        LEO_WINDOWS(ca, __ca__);
    } else if (dst.GetPosition() == TPosition::B2) {
        LEO_WINDOWS(cb, __cb__);
    } else {
        LEO_WINDOWS(ub, __ubuf__);
    }
#undef LEO_WINDOWS
}
#endif

} // namespace AscendC
