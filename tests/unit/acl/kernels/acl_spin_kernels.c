/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that wait for the host in loops that never turn the same way twice. */
#include <leo/device.h>

/* Counts how often it looked until somebody has stored in the word. */
__global__ __vector__ void count_looks(__gm__ int32_t *word)
{
    volatile __gm__ int32_t *from = word;
    int32_t looks = 0;
    while (*from == 0) {
        dcci(word, SINGLE_CACHE_LINE);
        looks++;
    }
    word[16] = looks;
    dcci(word + 16, SINGLE_CACHE_LINE);
}

/* Leaves each count in another place. */
__global__ __vector__ void store_looks(__gm__ int32_t *word)
{
    volatile __gm__ int32_t *from = word;
    int32_t looks = 0;
    while (*from == 0) {
        dcci(word, SINGLE_CACHE_LINE);
        looks++;
        word[16 + looks % 16] = looks;
        dcci(word + 16, SINGLE_CACHE_LINE);
    }
}
