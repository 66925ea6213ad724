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

/* The file is compiled with -fsanitize=array-bounds. */
__global__ __vector__ void overrun(int32_t count)
{
    __ubuf_array__ int32_t first[8];
    __ubuf_array__ int32_t second[8];
    second[0] = 0;
    first[count] = 1;
    leo_printf("%d\n", second[0]);
}
