/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include <search.h>

// Ranges that share a byte are equal: so one byte finds its range, and an overlap is found.
static int compare(const void *left, const void *right)
{
    const struct front_range *a = left, *b = right;
    if (a->base + a->bytes <= b->base) {
        return -1;
    }
    return b->base + b->bytes <= a->base;
}

static struct front_range *find(struct front_ranges *ranges, uintptr_t addr)
{
    const struct front_range key = {addr, 1};
    void *node = tfind(&key, &ranges->tree, compare);
    return node ? *(struct front_range **)node : NULL;
}

enum front_range_put front_ranges_put(struct front_ranges *ranges, struct front_range *range)
{
    enum front_range_put result = FRONT_RANGE_PUT;
    pthread_mutex_lock(&ranges->lock);
    void *node = tsearch(range, &ranges->tree, compare);
    if (!node) {
        result = FRONT_RANGE_NO_MEMORY;
    } else if (*(struct front_range **)node != range) {
        result = FRONT_RANGE_OVERLAPS;
    }
    pthread_mutex_unlock(&ranges->lock);
    return result;
}

struct front_range *front_ranges_at(struct front_ranges *ranges, uintptr_t addr)
{
    pthread_mutex_lock(&ranges->lock);
    struct front_range *range = find(ranges, addr);
    pthread_mutex_unlock(&ranges->lock);
    return range;
}

struct front_range *front_ranges_take(struct front_ranges *ranges, uintptr_t addr)
{
    pthread_mutex_lock(&ranges->lock);
    struct front_range *range = find(ranges, addr);
    if (range && range->base == addr) {
        tdelete(range, &ranges->tree, compare);
    } else {
        range = NULL;
    }
    pthread_mutex_unlock(&ranges->lock);
    return range;
}
