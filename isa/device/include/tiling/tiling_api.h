/* SPDX-License-Identifier: Apache-2.0 */
/** Headers of op_host include this before they define tiling data; its functions are the host's.
 * C++ only. */
#pragma once

#include <kernel_tiling/kernel_tiling.h>
