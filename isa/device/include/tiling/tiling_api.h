/* SPDX-License-Identifier: Apache-2.0 */
/** C++ only. Headers of op_host include this before they define tiling data; its functions are the
 * host's. */
#pragma once

#include <register/tilingdata_base.h>
