/* SPDX-License-Identifier: Apache-2.0 */
/* Disjoint ranges of host memory, found by any address in them: pinned and registered memory. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First member of what stands for a range. */
struct front_range {
    uintptr_t base;
    size_t bytes;
};

struct front_ranges {
    pthread_mutex_t lock; /**< protects the tree, not what the ranges stand for */
    void *tree;           /**< of tsearch(3) */
};

#define FRONT_RANGES_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

enum front_range_put { FRONT_RANGE_PUT, FRONT_RANGE_OVERLAPS, FRONT_RANGE_NO_MEMORY };

enum front_range_put front_ranges_put(struct front_ranges *ranges, struct front_range *range);
/** The range that holds `addr`, or NULL. */
struct front_range *front_ranges_at(struct front_ranges *ranges, uintptr_t addr);
/** Takes out the range that begins at `addr`; NULL: none does. */
struct front_range *front_ranges_take(struct front_ranges *ranges, uintptr_t addr);
