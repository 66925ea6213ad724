/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: constants, enumerations and parameter structures.
 * Sources: the public API pages, by name and value. */
#pragma once

#include <kernel_tiling/names.h>

/* Functions of the language: the user's line is what faults, profiles and debuggers name. */
#define LEO_AC        template <typename T> LEO_AC_INLINE
#define LEO_AC_INLINE static inline __attribute__((always_inline, nodebug, unused))
#define LEO_AC_METHOD inline __attribute__((always_inline, nodebug))

/* What runs once: code is fetched in lines of 2 KB, which costs more than to run it. */
#define LEO_AC_SMALL __attribute__((noinline, minsize))

/* What the language keeps from call to call. The compiler drops what a kernel of one file does not
 * need; the files of an image share it (leo cc defines LEO_SEVERAL_FILES). */
#ifdef LEO_SEVERAL_FILES
#define LEO_AC_STATE inline LEO_DEVICE
#else
#define LEO_AC_STATE static LEO_DEVICE __attribute__((unused))
#endif

#define GM_ADDR         __gm__ uint8_t *
#define K_MAX_SHAPE_DIM 8

/* The other name of half. */
#define __fp16 _Float16

struct int4b_t {
    uint8_t pair; /**< two numbers */
};

typedef float float_t;

namespace AscendC
{

constexpr uint32_t ONE_BLK_SIZE = 32, ONE_BLK_FLOAT_NUM = 8, ONE_BLK_HALF_NUM = 16;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256, ONE_REPEAT_FLOAT_SIZE = 64,
                   ONE_REPEAT_HALF_SIZE = 128;
constexpr uint32_t DEFAULT_BLK_NUM = 8, DEFAULT_BLK_STRIDE = 1, DEFAULT_REPEAT_STRIDE = 8;
constexpr uint32_t DEFAULT_C0_SIZE = 32, CACHE_LINE_SIZE = 64, MAX_REPEAT_TIMES = 255,
                   DEFAULT_BLOCK_SIZE = 256;
constexpr uint32_t B16_BYTE_SIZE = 2, B32_BYTE_SIZE = 4, B16_DATA_NUM_PER_BLOCK = 16,
                   B32_DATA_NUM_PER_BLOCK = 8, BLOCK_CUBE = 16, CUBE_MAX_SIZE = 256,
                   BYTE_PER_FRACTAL = 512;
constexpr uint64_t FULL_MASK = ~0ull, MASK_PLACEHOLDER = 0;
constexpr int32_t HALF_FACTOR = 2;
constexpr float PI = 3.14159274f;

enum class TPosition : uint8_t { LEO_TPOSITIONS };
using QuePosition = TPosition;

enum class RoundMode : uint8_t {
    CAST_NONE,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
};
enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR,
    VSEL_TENSOR_SCALAR_MODE,
    VSEL_TENSOR_TENSOR_MODE,
};
enum class MaskMode : uint8_t { NORMAL, COUNTER };
enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX,
};
enum class BlockMode : uint8_t {
    BLOCK_MODE_NORMAL,
    BLOCK_MODE_MATRIX,
    BLOCK_MODE_VECTOR,
    BLOCK_MODE_SMALL_CHANNEL,
    BLOCK_MODE_DEPTHWISE,
};
enum class DeqScale : uint8_t { DEQ_NONE, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
enum class CacheMode : uint8_t { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL };
enum class CacheLine : uint8_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint8_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

/** 32-byte blocks; gaps from the end of one to the start of the next. */
struct DataCopyParams {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    union {
        uint16_t srcStride = 0;
        uint16_t srcGap;
    };
    union {
        uint16_t dstStride = 0;
        uint16_t dstGap;
    };
    DataCopyParams() = default;
    LEO_AC_METHOD DataCopyParams(uint16_t count, uint16_t len, uint16_t src, uint16_t dst)
        : blockCount(count), blockLen(len), srcStride(src), dstStride(dst)
    {
    }
};

/** Bytes; gaps in bytes in global memory, in blocks in a buffer. */
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
    DataCopyExtParams() = default;
    LEO_AC_METHOD DataCopyExtParams(uint16_t count, uint32_t len, uint32_t src, uint32_t dst,
                                    uint32_t reserved)
        : blockCount(count), blockLen(len), srcStride(src), dstStride(dst), rsv(reserved)
    {
    }
};

/** Elements before and behind each row, at most 32 bytes each. */
template <typename T> struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    T paddingValue = 0;
    DataCopyPadExtParams() = default;
    template <typename V>
    LEO_AC_METHOD DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, V value)
        : isPad(pad), leftPadding(left), rightPadding(right), paddingValue((T)value)
    {
    }
};

template <typename V> DataCopyPadExtParams(bool, int, int, V) -> DataCopyPadExtParams<V>;

struct DataCopyPadParams {
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    uint64_t paddingValue = 0;
};

struct DataCopyEnhancedParams {
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
    DeqScale deqScale = DeqScale::DEQ_NONE;
    uint64_t deqValue = 0;
    uint8_t sidStoreMode = 0;
    bool isRelu = false;
};

/** Matrices of rows in global memory that become fractals: elements. */
struct Nd2NzParams {
    uint16_t ndNum = 0, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0,
             dstNzC0Stride = 0, dstNzNStride = 0, dstNzMatrixStride = 0;
    Nd2NzParams() = default;
    LEO_AC_METHOD Nd2NzParams(uint16_t matrices, uint16_t rows, uint16_t columns,
                              uint16_t srcMatrixStride, uint16_t srcRowStride, uint16_t c0Stride,
                              uint16_t rowStride, uint16_t matrixStride)
        : ndNum(matrices), nValue(rows), dValue(columns), srcNdMatrixStride(srcMatrixStride),
          srcDValue(srcRowStride), dstNzC0Stride(c0Stride), dstNzNStride(rowStride),
          dstNzMatrixStride(matrixStride)
    {
    }
};

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
    uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
    BinaryRepeatParams() = default;
    LEO_AC_METHOD BinaryRepeatParams(uint8_t db, uint8_t s0b, uint8_t s1b, uint8_t dr, uint8_t s0r,
                                     uint8_t s1r)
        : dstBlkStride(db), src0BlkStride(s0b), src1BlkStride(s1b), dstRepStride(dr),
          src0RepStride(s0r), src1RepStride(s1r)
    {
    }
};

struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1, srcBlkStride = 1;
    uint8_t dstRepStride = 8, srcRepStride = 8;
    UnaryRepeatParams() = default;
    LEO_AC_METHOD UnaryRepeatParams(uint16_t db, uint16_t sb, uint8_t dr, uint8_t sr)
        : dstBlkStride(db), srcBlkStride(sb), dstRepStride(dr), srcRepStride(sr)
    {
    }
};

struct CopyRepeatParams {
    uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
};

constexpr uint32_t BRCB_BROADCAST_NUMBER = 8; /**< elements that a repeat of Brcb takes */

struct BrcbRepeatParams {
    uint16_t dstBlkStride = 1, dstRepStride = 8;
    BrcbRepeatParams() = default;
    LEO_AC_METHOD BrcbRepeatParams(uint16_t blk, uint16_t rep)
        : dstBlkStride(blk), dstRepStride(rep)
    {
    }
};

struct GatherMaskParams {
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 1, src0RepeatStride = 8;
    uint8_t src1RepeatStride = 8;
    GatherMaskParams() = default;
    LEO_AC_METHOD GatherMaskParams(uint8_t block, uint16_t times, uint16_t rep0, uint8_t rep1)
        : src0BlockStride(block), repeatTimes(times), src0RepeatStride(rep0), src1RepeatStride(rep1)
    {
    }
};

/** Elements at both ends of a row. */
struct UnPadParams {
    uint16_t leftPad = 0, rightPad = 0;
};

struct SumParams {
    uint32_t outter = 1, inner = 0, n = 0;
};

struct TransDataTo5HDParams {
    bool dstHighHalf = false, srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0, srcRepStride = 0;
};

struct LoadData2dParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint8_t sid = 0;
    uint16_t dstGap = 0;
    bool ifTranspose = false;
    uint8_t addrMode = 0;
};
using LoadData2DParams = LoadData2dParams;

/** Which of LoadData 3D's registers a call writes. */
struct IsResetLoad3dConfig {
    bool isSetFMatrix, isSetPadding;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};
enum class FmatrixMode : uint8_t { FMATRIX_LEFT, FMATRIX_RIGHT };

struct LoadDataRepeatParam {
    uint16_t repeatStride = 0;
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0;
};

/** padList: left, right, top, bottom. */
template <typename T> struct LoadData3DParamsV2 {
    uint8_t padList[4] = {0, 0, 0, 0};
    uint16_t l1H = 0, l1W = 0, channelSize = 0;
    uint16_t kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
    uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1;
    uint8_t dilationFilterW = 1, dilationFilterH = 1;
    bool enTranspose = false, enSmallK = false;
    T padValue = 0;
    bool filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
    LoadData3DParamsV2() = default;
    LEO_AC_METHOD
    LoadData3DParamsV2(const uint8_t pads[4], uint16_t height, uint16_t width, uint16_t channels,
                       uint16_t kExt, uint16_t mExt, uint16_t kStart, uint16_t mStart,
                       uint8_t strideX, uint8_t strideY, uint8_t filterX, uint8_t filterY,
                       uint8_t dilationX, uint8_t dilationY, bool transpose, bool smallK, T pad,
                       bool filterXHigh = false, bool filterYHigh = false, bool second = false)
        : padList{pads[0], pads[1], pads[2], pads[3]}, l1H(height), l1W(width),
          channelSize(channels), kExtension(kExt), mExtension(mExt), kStartPt(kStart),
          mStartPt(mStart), strideW(strideX), strideH(strideY), filterW(filterX), filterH(filterY),
          dilationFilterW(dilationX), dilationFilterH(dilationY), enTranspose(transpose),
          enSmallK(smallK), padValue(pad), filterSizeW(filterXHigh), filterSizeH(filterYHigh),
          fMatrixCtrl(second)
    {
    }
};

template <typename T> struct LoadData3DParamsV1 {
    uint8_t padList[4] = {0, 0, 0, 0};
    uint16_t l1H = 0, l1W = 0, c1Index = 0;
    uint8_t fetchFilterW = 0, fetchFilterH = 0;
    int16_t leftTopW = 0, leftTopH = 0;
    uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1;
    uint8_t dilationFilterW = 1, dilationFilterH = 1, jumpStride = 1, repeatMode = 0;
    uint8_t repeatTime = 1, cSize = 0;
    T padValue = 0;
};

struct MmadParams {
    uint16_t m = 0, n = 0, k = 0;
    bool isBias = false;
    int32_t fmOffset = 0;
    bool enSsparse = false, enWinogradA = false, enWinogradB = false;
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false, cmatrixSource = false, cmatrixInitVal = true;
};

struct FixpipeParamsV220 {
    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

/** Of the older Fixpipe. */
struct Nz2NdParams {
    bool nz2ndEn = false;
    uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0, originalNSize = 0;
};

template <typename T> struct FixpipeParams {
    uint16_t cburstNum = 0, burstLen = 0;
    uint32_t srcStride = 0, dstStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    Nz2NdParams nz2ndParams;
};

/** Pieces of blocks, dstGap blocks between them. */
template <typename T> struct InitConstValueParams {
    uint16_t repeatTimes = 0, blockNum = 0, dstGap = 0;
    T initValue = 0;
};

enum class CO2Layout : uint8_t { NZ, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ}, CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

template <typename T, typename U> struct IsSameType {
    static constexpr bool value = false;
};
template <typename T> struct IsSameType<T, T> {
    static constexpr bool value = true;
};

/** Bits of `count` elements. */
template <typename T> constexpr uint64_t leo_bytes_of(uint64_t count)
{
    return IsSameType<T, int4b_t>::value ? count / 2 : count * sizeof(T);
}

constexpr uint32_t AlignUp(uint32_t size, uint32_t unit)
{
    return unit ? (size + unit - 1) / unit * unit : 0;
}

constexpr uint32_t DivCeil(uint32_t a, uint32_t b)
{
    return b ? (a + b - 1) / b : 0;
}

constexpr uint32_t Ceil(uint32_t a, uint32_t b)
{
    return DivCeil(a, b);
}

} // namespace AscendC
