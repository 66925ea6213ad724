/* SPDX-License-Identifier: Apache-2.0 */
/** Tiling structures of the language's own objects, as host and device share them. Source of names:
 * public operator projects. C++ only. */
#pragma once

#include <stdint.h>

namespace AscendC
{
namespace tiling
{

/** Of a Matmul object. Sizes in elements; steps and depths count blocks of base sizes. */
struct TCubeTiling {
    int32_t usedCoreNum, M, N, Ka, Kb;             /**< whole matrices */
    int32_t singleCoreM, singleCoreN, singleCoreK; /**< what one core computes */
    int32_t baseM, baseN, baseK;                   /**< blocks in L0 */
    int32_t depthA1, depthB1, stepM, stepN, isBias, transLength, iterateOrder;
    int32_t shareMode, shareL1Size, shareL0CSize, shareUbSize;
    int32_t batchM, batchN, singleBatchM, singleBatchN;
    int32_t stepKa, stepKb; /**< blocks along k in L1 */
    int32_t depthAL1CacheUB, depthBL1CacheUB, dbL0A, dbL0B, dbL0C;
    int32_t ALayoutInfoB, ALayoutInfoS, ALayoutInfoN, ALayoutInfoG, ALayoutInfoD;
    int32_t BLayoutInfoB, BLayoutInfoS, BLayoutInfoN, BLayoutInfoG, BLayoutInfoD;
    int32_t CLayoutInfoB, CLayoutInfoS1, CLayoutInfoN, CLayoutInfoG, CLayoutInfoS2, BatchNum;
};

} // namespace tiling
} // namespace AscendC

using AscendC::tiling::TCubeTiling;

#include <register/tilingdata_base.h>
