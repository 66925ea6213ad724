/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include <search.h>

// Ranges that share a byte are equal: so one byte finds its range, and an overlap is found.
static int compare(const void *left, const void *right)
{
    const struct api_range *a = left, *b = right;
    if (a->base + a->bytes <= b->base) {
        return -1;
    }
    return b->base + b->bytes <= a->base;
}

static struct api_range *find(struct api_ranges *ranges, uintptr_t addr)
{
    const struct api_range key = {addr, 1};
    void *node = tfind(&key, &ranges->tree, compare);
    return node ? *(struct api_range **)node : NULL;
}

enum api_range_put api_ranges_put(struct api_ranges *ranges, struct api_range *range)
{
    enum api_range_put result = API_RANGE_PUT;
    pthread_mutex_lock(&ranges->lock);
    void *node = tsearch(range, &ranges->tree, compare);
    if (!node) {
        result = API_RANGE_NO_MEMORY;
    } else if (*(struct api_range **)node != range) {
        result = API_RANGE_OVERLAPS;
    }
    pthread_mutex_unlock(&ranges->lock);
    return result;
}

struct api_range *api_ranges_at(struct api_ranges *ranges, uintptr_t addr)
{
    pthread_mutex_lock(&ranges->lock);
    struct api_range *range = find(ranges, addr);
    pthread_mutex_unlock(&ranges->lock);
    return range;
}

struct api_range *api_ranges_take(struct api_ranges *ranges, uintptr_t addr)
{
    pthread_mutex_lock(&ranges->lock);
    struct api_range *range = find(ranges, addr);
    if (range && range->base == addr) {
        tdelete(range, &ranges->tree, compare);
    } else {
        range = NULL;
    }
    pthread_mutex_unlock(&ranges->lock);
    return range;
}
