/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same on every host. */
#pragma once

#include <stdint.h>

struct train_random {
    uint64_t state;
};

static inline uint32_t train_random_next(struct train_random *random)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 32);
}

/** In [-1, 1). */
static inline float train_random_uniform(struct train_random *random)
{
    return (float)((int32_t)train_random_next(random) >> 8) * 0x1p-23f;
}

/** Shuffles the numbers order[0..count). */
static inline void train_random_shuffle(struct train_random *random, uint32_t *order,
                                        uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = (uint32_t)((uint64_t)train_random_next(random) * i >> 32);
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}
