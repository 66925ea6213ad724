/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling of UnPad on the host. C++ only. */
#pragma once

#include <exe_graph/runtime/shape.h>
#include <kernel_tiling/kernel_tiling.h>
#include <tiling/platform/platform_ascendc.h>

namespace AscendC
{

/** Bytes of room that UnPad takes: a bit for each element of a row, in whole blocks. */
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const ge::Shape &shape,
                                  const uint32_t, uint32_t &maxValue, uint32_t &minValue)
{
    const uint32_t width = static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
    maxValue = minValue = (width + 255) / 256 * 32;
}

/** All dimensions but the last are rows. */
inline void UnPadTilingFunc(const ge::Shape &shape, const uint32_t, const uint32_t,
                            optiling::UnPadTiling &tiling)
{
    const int64_t width = shape.GetDim(shape.GetDimNum() - 1);
    tiling.set_srcWidth(static_cast<uint32_t>(width));
    tiling.set_srcHeight(static_cast<uint32_t>(width ? shape.GetShapeSize() / width : 0));
}

} // namespace AscendC
