/* SPDX-License-Identifier: Apache-2.0 */
/* A small kernel file to be damaged: every kind of argument, writable data, a relocation, an
 * on-chip array. */
#include <leo/device.h>

struct pair {
    uint64_t a, b, c;
};

__ubuf_array__ float tile[64];
static int32_t counter = 1;
static int32_t zeros[8];
static int32_t *volatile pointer = &counter;

__global__ __aicore__ void first(__gm__ int32_t *out, int32_t x, float y, struct pair z)
{
    *pointer += x + (int32_t)y + (int32_t)z.c;
    zeros[1]++;
    *out = counter + zeros[1];
}

__global__ __aicore__ void second(__gm__ const float *in)
{
    copy_gm_to_ubuf(tile, in, 0, 1, 8, 0, 0);
    pipe_barrier(PIPE_ALL);
}
