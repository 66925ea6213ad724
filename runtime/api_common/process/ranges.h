/* SPDX-License-Identifier: Apache-2.0 */
/* Disjoint ranges of host memory, found by any address in them: pinned and registered memory. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First member of what stands for a range. */
struct api_range {
    uintptr_t base;
    size_t bytes;
};

struct api_ranges {
    pthread_mutex_t lock; /**< protects the tree, not what the ranges stand for */
    void *tree;           /**< of tsearch(3) */
};

#define API_RANGES_INITIALIZER {.lock = PTHREAD_MUTEX_INITIALIZER}

enum api_range_put { API_RANGE_PUT, API_RANGE_OVERLAPS, API_RANGE_NO_MEMORY };

enum api_range_put api_ranges_put(struct api_ranges *ranges, struct api_range *range);
/** The range that holds `addr`, or NULL. */
struct api_range *api_ranges_at(struct api_ranges *ranges, uintptr_t addr);
/** Takes out the range that begins at `addr`; NULL: none does. */
struct api_range *api_ranges_take(struct api_ranges *ranges, uintptr_t addr);
