/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_tiling/kernel_tiling.h>, by the host's (kernels/custom) and by the device's:
 * tiling structures of the language's own objects. The macros make classes with set_ and get_ on
 * the host, plain structures on the device; the host reads it twice and has both. Source of names:
 * public operator projects. C++ only. */
#include <register/tilingdata_base.h>

#ifndef LEO_OBJECT_TILINGS
#define LEO_OBJECT_TILINGS optiling
#endif

// clang-format off
namespace LEO_OBJECT_TILINGS
{

/** Of a Matmul object. Sizes in elements; steps and depths count blocks of base sizes. */
BEGIN_TILING_DATA_DEF(TCubeTiling)
    TILING_DATA_FIELD_DEF(int32_t, usedCoreNum)
    /* Whole matrices. */
    TILING_DATA_FIELD_DEF(int32_t, M)
    TILING_DATA_FIELD_DEF(int32_t, N)
    TILING_DATA_FIELD_DEF(int32_t, Ka)
    TILING_DATA_FIELD_DEF(int32_t, Kb)
    /* What one core computes. */
    TILING_DATA_FIELD_DEF(int32_t, singleCoreM)
    TILING_DATA_FIELD_DEF(int32_t, singleCoreN)
    TILING_DATA_FIELD_DEF(int32_t, singleCoreK)
    /* Blocks in L0. */
    TILING_DATA_FIELD_DEF(int32_t, baseM)
    TILING_DATA_FIELD_DEF(int32_t, baseN)
    TILING_DATA_FIELD_DEF(int32_t, baseK)
    TILING_DATA_FIELD_DEF(int32_t, depthA1)
    TILING_DATA_FIELD_DEF(int32_t, depthB1)
    TILING_DATA_FIELD_DEF(int32_t, stepM)
    TILING_DATA_FIELD_DEF(int32_t, stepN)
    TILING_DATA_FIELD_DEF(int32_t, isBias)
    TILING_DATA_FIELD_DEF(int32_t, transLength)
    TILING_DATA_FIELD_DEF(int32_t, iterateOrder)
    TILING_DATA_FIELD_DEF(int32_t, shareMode)
    TILING_DATA_FIELD_DEF(int32_t, shareL1Size)
    TILING_DATA_FIELD_DEF(int32_t, shareL0CSize)
    TILING_DATA_FIELD_DEF(int32_t, shareUbSize)
    TILING_DATA_FIELD_DEF(int32_t, batchM)
    TILING_DATA_FIELD_DEF(int32_t, batchN)
    TILING_DATA_FIELD_DEF(int32_t, singleBatchM)
    TILING_DATA_FIELD_DEF(int32_t, singleBatchN)
    /* Blocks along k in L1. */
    TILING_DATA_FIELD_DEF(int32_t, stepKa)
    TILING_DATA_FIELD_DEF(int32_t, stepKb)
    TILING_DATA_FIELD_DEF(int32_t, depthAL1CacheUB)
    TILING_DATA_FIELD_DEF(int32_t, depthBL1CacheUB)
    TILING_DATA_FIELD_DEF(int32_t, dbL0A)
    TILING_DATA_FIELD_DEF(int32_t, dbL0B)
    TILING_DATA_FIELD_DEF(int32_t, dbL0C)
    TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoB)
    TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoS)
    TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoN)
    TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoG)
    TILING_DATA_FIELD_DEF(int32_t, ALayoutInfoD)
    TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoB)
    TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoS)
    TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoN)
    TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoG)
    TILING_DATA_FIELD_DEF(int32_t, BLayoutInfoD)
    TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoB)
    TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoS1)
    TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoN)
    TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoG)
    TILING_DATA_FIELD_DEF(int32_t, CLayoutInfoS2)
    TILING_DATA_FIELD_DEF(int32_t, BatchNum)
END_TILING_DATA_DEF;

/** Of UnPad: rows of srcWidth elements. */
BEGIN_TILING_DATA_DEF(UnPadTiling)
    TILING_DATA_FIELD_DEF(uint32_t, srcHeight)
    TILING_DATA_FIELD_DEF(uint32_t, srcWidth)
END_TILING_DATA_DEF;

/** Of communication in kernels: which group and collective. Kernels read nothing of them here. */
BEGIN_TILING_DATA_DEF(Mc2InitTiling)
    TILING_DATA_FIELD_DEF_ARR(uint8_t, 64, reserved)
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(Mc2CcTiling)
    TILING_DATA_FIELD_DEF_ARR(uint8_t, 280, reserved)
END_TILING_DATA_DEF;

} // namespace LEO_OBJECT_TILINGS
// clang-format on
