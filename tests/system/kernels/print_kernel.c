/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/device.h>

__global__ __vector__ void say(uint32_t launch)
{
    leo_printf("%u/%d\n", launch, (int)get_block_idx());
}

__global__ __vector__ void refuse(uint32_t launch)
{
    leo_assert(launch == 0, "launch %u", launch);
}
