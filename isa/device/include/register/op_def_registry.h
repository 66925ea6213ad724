/* SPDX-License-Identifier: Apache-2.0 */
/** Headers of op_host that define tiling data may include this; what it declares for the host (the
 * operator's description) is not there: a kernel that names it does not compile. C++ only. */
#pragma once

#include <register/tilingdata_base.h>
