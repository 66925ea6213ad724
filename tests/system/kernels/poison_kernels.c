/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that uses what nobody wrote. */
#include <leo/device.h>

#if LEO_HAS_2201
#define CORE __vector__
#else
#define CORE
#endif

__ubuf_array__ float unwritten[64];
__ubuf_array__ float written[64];

/* out = 1, twice UB that nobody wrote, `fresh`; the rest stays. */
__global__ CORE void uses(__gm__ float *fresh, __gm__ float *out)
{
    set_vector_mask(0, ~0ull);
    vector_dup(written, 1.0f, 1, 1, 1, 8, 8);
    vadd(unwritten, unwritten, unwritten, 1, 1, 1, 1, 8, 8, 8);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(out, written, 0, 1, 8, 0, 0);
    copy_ubuf_to_gm(out + 64, unwritten, 0, 1, 8, 0, 0);
    out[128] = fresh[0];
}
