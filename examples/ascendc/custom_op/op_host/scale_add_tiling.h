/* SPDX-License-Identifier: Apache-2.0 */
/* What the host tells the kernel of ScaleAdd.
 * C++ only. */
#pragma once
#include <register/tilingdata_base.h>

namespace optiling
{
BEGIN_TILING_DATA_DEF(ScaleAddTilingData)
TILING_DATA_FIELD_DEF(uint64_t, count); // elements
TILING_DATA_FIELD_DEF(uint32_t, part);  // of each block, a multiple of 32 bytes
TILING_DATA_FIELD_DEF(uint32_t, tile);  // of each step
TILING_DATA_FIELD_DEF(float, alpha);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ScaleAdd, ScaleAddTilingData)
} // namespace optiling
