/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel to stop in: y = 2 x, and what the checker or the core refuses if asked for. */
#include <leo/device.h>

#define COUNT 64

__ubuf_array__ float in[COUNT];
__ubuf_array__ float out[COUNT];

__attribute__((noinline)) static uint64_t twice(uint64_t n)
{
    return n + n; // in twice
}

enum { RIGHT, HAZARD, FAULT };

__global__ __vector__ void stops(__gm__ float *x, __gm__ float *y, uint32_t what)
{
    const uint64_t block = get_block_idx();
    const uint64_t at = twice(block) * COUNT / 2;
    copy_gm_to_ubuf(in, x + at, 0, 1, COUNT / 8, 0, 0);
    if (what != HAZARD) {
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    }
    vmuls(out, in, 2.0f, 1, 1, 1, 8, 8); // the product
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(y + at, out, 0, 1, COUNT / 8, 0, 0);
    if (what == FAULT) {
        copy_ubuf_to_gm(y + (1 << 30), out, 0, 1, COUNT / 8, 0, 0); // beyond
    }
}
