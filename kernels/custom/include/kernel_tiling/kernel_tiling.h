/* SPDX-License-Identifier: Apache-2.0 */
/* Tiling data of the language's own objects, on the host: classes of namespace optiling. C++ only.
 */
#pragma once

#include <kernel_tiling/objects.h>
