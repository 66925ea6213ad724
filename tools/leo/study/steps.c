/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

uint64_t study_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3); // FNV-1a
    }
    return hash;
}

/* The longest part that repeats with this period, as whole periods. */
static struct study_steps longest(const uint64_t *kernel, size_t kernels, size_t period)
{
    struct study_steps best = {.period = period};
    size_t same = 0;
    for (size_t i = 0; i + period < kernels; i++) {
        same = kernel[i] == kernel[i + period] ? same + 1 : 0;
        if (same >= period && same / period + 1 > best.count) {
            best.count = same / period + 1;
            best.first = i + 1 - same;
        }
    }
    return best;
}

struct study_steps study_steps_find(const uint64_t *kernel, size_t kernels)
{
    struct study_steps best = {0};
    for (size_t period = 1; 2 * period <= kernels; period++) {
        const struct study_steps here = longest(kernel, kernels, period);
        if (here.count * period > best.count * best.period) {
            best = here;
        }
    }
    return best;
}

bool study_steps_are_few(const struct study_steps *steps, size_t kernels)
{
    return 2 * steps->count * steps->period < kernels;
}
