/* SPDX-License-Identifier: Apache-2.0 */
/* The core that arrives last reads what all have written: no core waits in a loop. */
#include <leo/device.h>

#if LEO_HAS_2201
#define CORE __vector__
#else
#define CORE
#endif

__ubuf_array__ float mine[8];
__ubuf_array__ float parts[64 * 8];

/* Leaves block + 1 in its part. */
static inline void write_part(__gm__ float *part)
{
    for (int i = 0; i < 8; i++) {
        mine[i] = get_block_idx() + 1;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(part + get_block_idx() * 8, mine, 0, 1, 1, 0, 0);
}

static inline void add_up(const __gm__ float *part, __gm__ float *sum)
{
    float total = 0;
    copy_gm_to_ubuf(parts, part, 0, 1, get_block_num(), 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    for (uint32_t i = 0; i < get_block_num(); i++) {
        total += parts[i * 8];
    }
    *sum = total;
    dcci(sum, SINGLE_CACHE_LINE);
}

__global__ CORE void add_last(__gm__ uint32_t *count, __gm__ float *part, __gm__ float *sum)
{
    write_part(part);
    pipe_barrier(PIPE_ALL);
    dsb(DSB_DDR);
    if (__atomic_fetch_add(count, 1, __ATOMIC_RELAXED) == get_block_num() - 1) {
        add_up(part, sum);
    }
}

/* The count goes up while the part may still be on its way. */
__global__ CORE void count_early(__gm__ uint32_t *count, __gm__ float *part, __gm__ float *sum)
{
    write_part(part);
    if (__atomic_fetch_add(count, 1, __ATOMIC_RELAXED) == get_block_num() - 1) {
        add_up(part, sum);
    }
}

/* Adds 1 to each of eight floats, as kernels of the first generation write it. */
__global__ CORE void add_ones(__gm__ float *sum)
{
    for (int i = 0; i < 8; i++) {
        mine[i] = 1;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    set_atomic_f32();
    copy_ubuf_to_gm(sum, mine, 0, 1, 1, 0, 0);
    set_atomic_none();
    pipe_barrier(PIPE_ALL);
}
