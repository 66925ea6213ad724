/* SPDX-License-Identifier: Apache-2.0 */
/** C++ only. Tiling structures of the language's own objects: none on this device, as the objects
 * that take them (Matmul and others) are not there; a kernel that names one does not compile. */
#pragma once

#include <register/tilingdata_base.h>
