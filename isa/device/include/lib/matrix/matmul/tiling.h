/* SPDX-License-Identifier: Apache-2.0 */
/** The older place of the Matmul object's tiling. C++ only. */
#pragma once

#include <kernel_tiling/kernel_tiling.h>
