/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling data of the language's own objects, on the host: classes of namespace optiling, and the
 * plain structures that kernels have. C++ only. */
#pragma once

#include <kernel_tiling/objects.h>

#pragma push_macro("BEGIN_TILING_DATA_DEF")
#pragma push_macro("TILING_DATA_FIELD_DEF")
#pragma push_macro("TILING_DATA_FIELD_DEF_ARR")
#pragma push_macro("END_TILING_DATA_DEF")
#undef BEGIN_TILING_DATA_DEF
#undef TILING_DATA_FIELD_DEF
#undef TILING_DATA_FIELD_DEF_ARR
#undef END_TILING_DATA_DEF
#undef LEO_OBJECT_TILINGS
#define BEGIN_TILING_DATA_DEF(type)                  struct type {
#define TILING_DATA_FIELD_DEF(type, name)            type name;
#define TILING_DATA_FIELD_DEF_ARR(type, count, name) type name[count];
#define END_TILING_DATA_DEF                          }
#define LEO_OBJECT_TILINGS                           AscendC::tiling
#include <kernel_tiling/objects.h>
#pragma pop_macro("BEGIN_TILING_DATA_DEF")
#pragma pop_macro("TILING_DATA_FIELD_DEF")
#pragma pop_macro("TILING_DATA_FIELD_DEF_ARR")
#pragma pop_macro("END_TILING_DATA_DEF")

using AscendC::tiling::Mc2CcTiling;
using AscendC::tiling::Mc2InitTiling;
using AscendC::tiling::TCubeTiling;
using AscendC::tiling::UnPadTiling;
