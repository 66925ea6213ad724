/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that poll, apart: values of a file that polls are not computed early (decision 27). */
#include <leo/device.h>

/* The first block works for a while and stores a word; the others poll it, then add up. */
__global__ __vector__ void handed_on(__gm__ int32_t *word, uint32_t turns)
{
    volatile __gm__ int32_t *from = word;
    __gm__ int32_t *own = word + 16 * get_block_idx();
    if (get_block_idx() == 0) {
        for (volatile uint32_t i = 0; i < turns; i++) {
        }
        *own = *own + 1;
        dcci(own, SINGLE_CACHE_LINE);
        dsb(DSB_DDR);
        return;
    }
    const int32_t before = *own;
    while (*from == before) {
        dcci(word, SINGLE_CACHE_LINE);
    }
    *own = before + 1;
    dcci(own, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
}

/* Returns when somebody has stored in the word. */
__global__ __vector__ void wait_for(__gm__ int32_t *word)
{
    volatile __gm__ int32_t *from = word;
    while (*from == 0) {
        dcci(word, SINGLE_CACHE_LINE);
    }
}
