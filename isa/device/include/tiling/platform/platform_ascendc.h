/* SPDX-License-Identifier: Apache-2.0 */
/** Headers of op_host include this; what it has on the host is not of kernels. C++ only. */
#pragma once

namespace platform_ascendc
{
class PlatformAscendC;
}
