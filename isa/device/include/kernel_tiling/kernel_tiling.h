/* SPDX-License-Identifier: Apache-2.0 */
/** Tiling structures of the language's own objects, as plain structures. C++ only. */
#pragma once

#define LEO_OBJECT_TILINGS AscendC::tiling
#include <kernel_tiling/objects.h>

using AscendC::tiling::Mc2CcTiling;
using AscendC::tiling::Mc2InitTiling;
using AscendC::tiling::TCubeTiling;
using AscendC::tiling::UnPadTiling;
