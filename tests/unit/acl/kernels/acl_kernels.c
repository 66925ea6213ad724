/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the AscendCL tests: one that works, and one for each way to go wrong. */
#include <leo/device.h>

__ubuf_array__ int32_t ub[256];

/* out[i] = base + i * step.x + offsets[i % 8], by the scalar unit through UB; one block writes 64
 * values. */
struct step {
    int32_t x, y;
};

__global__ __vector__ void fill_ramp(__gm__ int32_t *out, int8_t base, struct step step,
                                     __gm__ const int32_t *offsets)
{
    for (int i = 0; i < 64; i++) {
        ub[i] = base + i * step.x + step.y + offsets[i % 8];
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(out + get_block_idx() * 64, ub, 0, 1, 8, 0, 0);
}

__global__ __vector__ void read_outside(__gm__ int32_t *out, uint32_t blocks)
{
    copy_gm_to_ubuf(ub, out, 0, 1, blocks, 0, 0);
}

__global__ __vector__ void misaligned(__gm__ int32_t *out)
{
    copy_gm_to_ubuf((__ubuf__ void *)((uint64_t)ub + 4), out, 0, 1, 1, 0, 0);
}

__global__ __vector__ void endless(void)
{
    for (volatile int i = 0;; i++) {
    }
}

struct large {
    int32_t value[8];
};

__global__ __vector__ void take_struct(__gm__ int32_t *out, struct large large)
{
    *out = large.value[7];
}

__global__ __vector__ void give_up(void)
{
    trap();
}

__global__ __vector__ void count_up(uint32_t turns)
{
    for (volatile uint32_t i = 0; i < turns; i++) {
    }
}

__global__ __vector__ void nothing(void)
{
}

/* Each block adds 1 to its line. What else it does is in `tells`: 1, where and when it ran stand
 * behind that; 2, all blocks add to the line behind the last, the later ones before the first,
 * which do so much before that they are simulated in several parts. */
__global__ __vector__ void step_lines(__gm__ int32_t *lines, uint32_t turns, uint32_t tells)
{
    __gm__ int32_t *line = lines + get_block_idx() * 8;
    __ubuf__ float *share = (__ubuf__ float *)(ub + 8);
    copy_gm_to_ubuf(ub, line, 0, 1, 1, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    for (volatile uint32_t i = 0; i < turns; i++) {
    }
    ub[0]++;
    if (tells & 1) {
        ub[1] = (int32_t)get_coreid();
        ub[2] = (int32_t)get_sys_cnt();
    }
    for (int i = 0; i < 8; i++) {
        // The order of the sum shows in its bits.
        share[i] = 0.1f * (float)((ub[0] + (int32_t)get_block_idx()) << get_block_idx() % 16);
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(line, ub, 0, 1, 1, 0, 0);
    if (tells & 2) {
        for (uint32_t i = 0; i < 100 * (uint32_t)(get_block_num() - get_block_idx()); i++) {
            pipe_barrier(PIPE_V);
        }
        set_atomic_f32();
        set_atomic_add();
        copy_ubuf_to_gm(lines + get_block_num() * 8, share, 0, 1, 1, 0, 0);
        set_atomic_none();
    }
}

__global__ __vector__ void tell_mode(__gm__ uint32_t *out)
{
    *out = leo_get_saturate();
    leo_raise_overflow();
}

#if LEO_HAS_2201
/* Each core of a block of three writes a line; then one vector core adds up what its block wrote.
 */
__global__ __mix__(1, 2) void paired(__gm__ int32_t *lines, __gm__ int32_t *sum)
{
    __gm__ int32_t *block = lines + get_block_idx() * 3 * 16;
    __gm__ int32_t *own = block + (leo_is_cube() ? 0 : 1 + get_subblockid()) * 16;
    *own = leo_is_cube() ? 100 : 1 + (int32_t)get_subblockid();
    dcci(own, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
    leo_sync_group();
    if (leo_is_vector() && get_subblockid() == 0) {
        volatile __gm__ int32_t *all = block;
        sum[get_block_idx() * 16] = all[0] + all[16] + all[32] + (int32_t)get_block_idx();
    }
}
#endif
