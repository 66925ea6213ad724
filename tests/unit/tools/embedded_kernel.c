/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/device.h>

__global__ __aicore__ void embedded(__gm__ half *x, uint32_t count)
{
    x[count] = 1;
}
