/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose cores meet through words of global memory. */
#include <leo/device.h>

#if LEO_HAS_2201
#define CORE __vector__
#else
#define CORE
#endif

__ubuf_array__ float mine[8];
__ubuf_array__ float parts[64 * 8];
__ubuf_array__ uint32_t words[64 * 8];

static inline void store_mine(__gm__ float *to, float value)
{
    for (int i = 0; i < 8; i++) {
        mine[i] = value;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(to, mine, 0, 1, 1, 0, 0);
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
}

static inline float sum_of(__gm__ const float *part, int count)
{
    float total = 0;
    copy_gm_to_ubuf(parts, part, 0, 1, count, 0, 0);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    for (int i = 0; i < count; i++) {
        total += parts[i * 8];
    }
    return total;
}

/* sum[i] = 1 + 2 + .. + blocks, by every block, `rounds` times; the library's barrier. */
__global__ CORE void meet(__gm__ uint32_t *lines, __gm__ float *part, __gm__ float *sum, int rounds)
{
    int block = get_block_idx(), blocks = get_block_num();
    for (int round = 1; round <= rounds; round++) {
        store_mine(part + block * 8, (block + 1) * round);
        leo_poll_sync(lines, round * 2 - 1);
        float total = sum_of(part, blocks);
        leo_poll_sync(lines, round * 2);
        store_mine(sum + block * 8, total);
    }
}

/* Each block leaves a number, meets the others and adds theirs up: no order is asked for twice. */
__global__ CORE void meet_once(__gm__ uint32_t *lines, __gm__ float *part, __gm__ float *sum)
{
    int block = get_block_idx(), blocks = get_block_num();
    for (int i = 0; i < 8; i++) {
        mine[i] = block + 1;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(part + block * 8, mine, 0, 1, 1, 0, 0);
    leo_poll_sync(lines, 1);
    sum[block * 16] = sum_of(part, blocks);
}

/* The raw loops: block 0 works for `work` turns and raises a word; the others wait for it. */
__global__ CORE void raw(__gm__ volatile uint32_t *flag, __gm__ float *value, __gm__ float *out,
                         int work)
{
    int block = get_block_idx();
    if (block == 0) {
        volatile int sink = 0;
        for (int i = 0; i < work; i++) {
            sink += i;
        }
        store_mine(value, 42);
        *flag = 7;
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return;
    }
    while (*flag != 7) {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    }
    store_mine(out + block * 8, sum_of(value, 1));
}

/* Counts how often it looked, and gives up after `most`. */
__global__ CORE void bounded(__gm__ volatile uint32_t *flag, __gm__ uint32_t *out, int most)
{
    int turns = 0;
    while (*flag == 0 && turns < most) {
        turns++;
    }
    out[get_block_idx() * 16] = turns;
}

/* Flags that go through UB, as programs for the card have them: block i waits for block i - 1. */
__global__ CORE void chain(__gm__ uint32_t *flag, __gm__ float *value, int skip)
{
    int block = get_block_idx();
    if (block) {
        uint32_t seen;
        do {
            copy_gm_to_ubuf(words, flag + (block - 1) * 8, 0, 1, 1, 0, 0);
            set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
            seen = *(volatile __ubuf__ uint32_t *)words;
        } while (seen == 0);
    }
    float before = block ? sum_of(value + (block - 1) * 8, 1) : 0;
    store_mine(value + block * 8, before + 1);
    if (block == skip) {
        return;
    }
    for (int i = 0; i < 8; i++) {
        words[i] = 1;
    }
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(flag + block * 8, words, 0, 1, 1, 0, 0);
}

/* A counter, then all words of all cores in one loop. */
__global__ CORE void counted(__gm__ uint32_t *count, __gm__ uint32_t *seen, __gm__ float *part,
                             __gm__ float *sum)
{
    uint32_t block = get_block_idx(), blocks = get_block_num();
    store_mine(part + block * 8, 1);
    __atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < blocks) {
    }
    float total = sum_of(part, blocks);
    leo_poll_set(seen + block * 16, 1);
    uint32_t all;
    do {
        dcci(seen, ENTIRE_DATA_CACHE);
        all = 1;
        for (uint32_t i = 0; i < blocks; i++) {
            all &= ((volatile __gm__ uint32_t *)seen)[i * 16];
        }
    } while (!all);
    store_mine(sum + block * 8, total + sum_of(part, blocks));
}

/* Two blocks take turns; the compiler moves the first look at a word in front of its loop. */
__global__ CORE void turns(volatile __gm__ uint32_t *flag, __gm__ uint32_t *out, int rounds)
{
    int me = get_block_idx();
    for (int round = 1; round <= rounds; round++) {
        volatile __gm__ uint32_t *own = flag + me * 16, *other = flag + (1 - me) * 16;
        if (me == 1) {
            while (*other != (uint32_t)round) {
                dcci((__gm__ void *)other, SINGLE_CACHE_LINE);
            }
        }
        *own = round;
        dcci((__gm__ void *)own, SINGLE_CACHE_LINE);
        if (me == 0) {
            while (flag[16] != (uint32_t)round) {
                dcci((__gm__ void *)(flag + 16), SINGLE_CACHE_LINE);
            }
        }
    }
    out[me * 16] = rounds;
}

/* Block 0 raises one of two words that block 1 watches, later the word behind it; both tell when.
 */
__global__ CORE void seen_at(volatile __gm__ uint32_t *flag, __gm__ uint32_t *out, int work)
{
    volatile __gm__ uint32_t *second = flag + 16;
    volatile int sink = 0;
    if (get_block_idx() == 0) {
        for (int i = 0; i < work; i++) {
            sink += i;
        }
        second[0] = 7;
        dcci((__gm__ void *)second, SINGLE_CACHE_LINE);
        for (int i = 0; i < work; i++) {
            sink += i;
        }
        second[1] = 1;
        dcci((__gm__ void *)second, SINGLE_CACHE_LINE);
        out[0] = (uint32_t)get_sys_cnt();
        return;
    }
    uint32_t one, other;
    do {
        dcci((__gm__ void *)second, SINGLE_CACHE_LINE);
        one = flag[0];
        other = second[0];
    } while ((one & other) != 7);
    out[16] = (uint32_t)get_sys_cnt();
}

/* Each block raises its word when the next one has; block 0 watches two words, and is parked long
 * before the second one is raised. */
__global__ CORE void relay(volatile __gm__ uint32_t *flag, __gm__ uint32_t *out)
{
    const int block = get_block_idx();
    if (block) {
        if (block + 1 < (int)get_block_num()) {
            leo_poll_wait((__gm__ uint32_t *)flag + (block + 1) * 16, 7);
        }
        leo_poll_set((__gm__ uint32_t *)flag + block * 16, 7);
        return;
    }
    uint32_t one, other;
    do {
        dcci((__gm__ void *)flag, ENTIRE_DATA_CACHE);
        one = flag[0];
        other = flag[16];
    } while ((one & other) != 7);
    out[0] = one;
}

/* Block 0 raises a word, later it stores blocks in front of it and behind it with one copy; both
 * tell when. */
__global__ CORE void beside(__gm__ uint32_t *flag, __gm__ uint32_t *out, int work)
{
    if (get_block_idx() == 0) {
        volatile int sink = 0;
        leo_poll_set(flag + 8, 7);
        for (int i = 0; i < work; i++) {
            sink += i;
        }
        copy_ubuf_to_gm(flag, words, 0, 2, 1, 0, 1);
        pipe_barrier(PIPE_ALL);
        out[0] = (uint32_t)get_sys_cnt();
        return;
    }
    while (*(volatile __gm__ uint32_t *)(flag + 8) != 7) {
        dcci((__gm__ void *)(flag + 8), SINGLE_CACHE_LINE);
    }
    out[16] = (uint32_t)get_sys_cnt();
}

/* A lock around a plain sum. */
__global__ CORE void locked(__gm__ uint32_t *lock, __gm__ uint32_t *sum)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
    }
    dcci(sum, SINGLE_CACHE_LINE);
    *(volatile __gm__ uint32_t *)sum += get_block_idx() + 1;
    dcci(sum, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Every block waits for what only the host writes. */
__global__ CORE void raw_late(__gm__ volatile uint32_t *flag, __gm__ float *value,
                              __gm__ float *out, int work)
{
    (void)value;
    (void)work;
    while (*flag == 0) {
    }
    store_mine(out + get_block_idx() * 8, get_block_idx());
}

/* As raw; what the others store is `value`, which only units see. */
__global__ CORE void pass_on(__gm__ volatile uint32_t *flag, __gm__ float *value, __gm__ float *out)
{
    if (get_block_idx() == 0) {
        *flag = 7;
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return;
    }
    while (*flag != 7) {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    }
    copy_gm_to_ubuf(mine, value, 0, 1, 1, 0, 0);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(out + get_block_idx() * 8, mine, 0, 1, 1, 0, 0);
}

/* As raw, with mistakes: the word is raised before the data is there; */
__global__ CORE void early(__gm__ volatile uint32_t *flag, __gm__ float *value, __gm__ float *out,
                           int work)
{
    (void)work;
    if (get_block_idx() == 0) {
        for (int i = 0; i < 8; i++) {
            mine[i] = 42;
        }
        set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(value, mine, 0, 1, 1, 0, 0);
        *flag = 7;
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return;
    }
    while (*flag != 7) {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    }
    store_mine(out + get_block_idx() * 8, sum_of(value, 1));
}

/* nobody waits; */
__global__ CORE void unpolled(__gm__ volatile uint32_t *flag, __gm__ float *value,
                              __gm__ float *out, int work)
{
    (void)work;
    if (get_block_idx() == 0) {
        store_mine(value, 42);
        *flag = 7;
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
        return;
    }
    store_mine(out + get_block_idx() * 8, sum_of(value, 1));
}

/* the word stays in the data cache. */
__global__ CORE void unclean(__gm__ volatile uint32_t *flag, __gm__ float *value, __gm__ float *out,
                             int work)
{
    if (get_block_idx() == 0) {
        store_mine(value, 42);
        *flag = 7;
        volatile int sink = 0;
        for (int i = 0; i < work; i++) {
            sink += i;
        }
        while (flag[16] != 7) {
            dcci((__gm__ void *)(flag + 16), SINGLE_CACHE_LINE);
        }
        return;
    }
    while (*flag != 7) {
        dcci((__gm__ void *)flag, SINGLE_CACHE_LINE);
    }
    store_mine(out + get_block_idx() * 8, sum_of(value, 1));
    flag[16] = 7;
    dcci((__gm__ void *)(flag + 16), SINGLE_CACHE_LINE);
}
