/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns which part of device memory: addresses only, the memory itself is never touched. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Spans of a page of the host or more begin at one, so that they can be shared with another
 * process.
 */
enum { DRV_HEAP_ALIGN = 512, DRV_HEAP_PAGE = 4096, DRV_HEAP_BINS = 256 };

/** A span of device memory, free or used. Spans cover the heap without holes, in a list by address.
 */
struct drv_span {
    uint64_t base, size;
    uint64_t bytes; /**< what was asked for; 0 = free */
    bool read_only;
    struct drv_span *below, *above;       /**< neighbours by address */
    struct drv_span *bin_prev, *bin_next; /**< free spans of about the same size */
};

/** Free spans stand in bins of four per power of two; used ones in an array sorted by address. */
struct drv_heap {
    uint64_t base, bytes, used_bytes;
    struct drv_span *first;
    struct drv_span *bin[DRV_HEAP_BINS];
    uint64_t bin_map[DRV_HEAP_BINS / 64]; /**< bit set: the bin has a span */
    struct drv_span **used;
    size_t used_count, used_capacity;
};

LEO_MUST_CHECK leo_status drv_heap_init(struct drv_heap *heap, uint64_t base, uint64_t bytes);
void drv_heap_finish(struct drv_heap *heap);
/** Takes a span of at least `bytes` with a gap behind it. The span stays where it is until freed.
 */
LEO_MUST_CHECK leo_status drv_heap_alloc(struct drv_heap *heap, uint64_t bytes, bool read_only,
                                         struct drv_span **span);
/** Gives a span back and joins it with free neighbours. */
void drv_heap_free(struct drv_heap *heap, struct drv_span *span);
/** The used span with the highest base that is not above `addr`; NULL if there is none. */
struct drv_span *drv_heap_at(const struct drv_heap *heap, uint64_t addr);
