/* SPDX-License-Identifier: Apache-2.0 */
/** Tiling structures of the language's own objects: none on this device, as the objects that take
 * them (Matmul and others) are not there; a kernel that names one does not compile. C++ only. */
#pragma once

#include <register/tilingdata_base.h>
