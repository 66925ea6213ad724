/* SPDX-License-Identifier: Apache-2.0 */
/**
 * C++ only. A custom operator's tiling data on the device: the operator's own header of op_host,
 * included by the kernel (leo cc -include op_host/NAME_tiling.h), makes plain structures here.
 * Fields lie in the order of their definitions, each at a multiple of its size, as the host writes
 * them.
 *
 * REGISTER_TILING_DATA_CLASS(operator, structure) is what GET_TILING_DATA takes under
 * -DLEO_OP=operator. C++ only. Source of names: public operator projects.
 */
#pragma once

#include <stdint.h>

/* Headers of op_host declare functions of the host with these. */
namespace gert
{
class TilingContext;
}
namespace ge
{
using graphStatus = uint32_t;
}

/* Kernels name the structures without it. */
namespace optiling
{
}
using namespace optiling;

/* Public headers end these lines with a semicolon, or not. */
// clang-format off
#define BEGIN_TILING_DATA_DEF(type)                     struct type {
#define TILING_DATA_FIELD_DEF(type, name)               type name;
#define TILING_DATA_FIELD_DEF_ARR(type, count, name)    type name[count];
#define TILING_DATA_FIELD_DEF_STRUCT(type, name)        type name;
#define END_TILING_DATA_DEF                             };
#define REGISTER_TILING_DATA_CLASS(operator_name, type) using leo_tiling_of_##operator_name = type;
// clang-format on
