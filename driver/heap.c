/* SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"

#include <leo/alloc.h>
#include <string.h>

// A gap behind each allocation turns an overrun into a fault instead of somebody else's data.
static uint64_t gap_bytes(uint64_t bytes)
{
    uint64_t gap = bytes / 8 / DRV_HEAP_ALIGN * DRV_HEAP_ALIGN;
    return gap < DRV_HEAP_ALIGN ? DRV_HEAP_ALIGN : gap > 65536 ? 65536 : gap;
}

// Bin of a size in units of DRV_HEAP_ALIGN: the power of two and the two bits below it.
static unsigned bin_of(uint64_t size)
{
    uint64_t units = size / DRV_HEAP_ALIGN;
    if (units < 4) {
        return (unsigned)units;
    }
    unsigned log = 63 - (unsigned)__builtin_clzll(units);
    return log * 4 + (unsigned)(units >> (log - 2) & 3);
}

static void bin_insert(struct drv_heap *heap, struct drv_span *span)
{
    unsigned bin = bin_of(span->size);
    span->bin_prev = NULL;
    span->bin_next = heap->bin[bin];
    if (span->bin_next) {
        span->bin_next->bin_prev = span;
    }
    heap->bin[bin] = span;
    heap->bin_map[bin / 64] |= 1ull << bin % 64;
}

static void bin_remove(struct drv_heap *heap, struct drv_span *span)
{
    unsigned bin = bin_of(span->size);
    if (span->bin_next) {
        span->bin_next->bin_prev = span->bin_prev;
    }
    if (span->bin_prev) {
        span->bin_prev->bin_next = span->bin_next;
    } else {
        heap->bin[bin] = span->bin_next;
    }
    if (!heap->bin[bin]) {
        heap->bin_map[bin / 64] &= ~(1ull << bin % 64);
    }
    span->bin_prev = span->bin_next = NULL;
}

// Bytes of a span before its first page.
static uint64_t before_page(const struct drv_span *span)
{
    return (DRV_HEAP_PAGE - span->base % DRV_HEAP_PAGE) % DRV_HEAP_PAGE;
}

// The smallest span of the first bin that has one large enough, from its first page on if `page`.
static struct drv_span *find_free(const struct drv_heap *heap, uint64_t size, bool page)
{
    unsigned bin = bin_of(size);
    uint64_t word = heap->bin_map[bin / 64] & ~0ull << bin % 64;
    for (unsigned i = bin / 64; i < DRV_HEAP_BINS / 64;) {
        for (; word; word &= word - 1) {
            struct drv_span *best = NULL;
            struct drv_span *span = heap->bin[i * 64 + (unsigned)__builtin_ctzll(word)];
            for (; span; span = span->bin_next) {
                if (span->size >= size + (page ? before_page(span) : 0) &&
                    (!best || span->size < best->size)) {
                    best = span;
                }
            }
            if (best) {
                return best;
            }
        }
        if (++i < DRV_HEAP_BINS / 64) {
            word = heap->bin_map[i];
        }
    }
    return NULL;
}

// Number of used spans whose base is not above addr.
static size_t used_upto(const struct drv_heap *heap, uint64_t addr)
{
    size_t low = 0, high = heap->used_count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (heap->used[mid]->base <= addr) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static leo_status reserve_used(struct drv_heap *heap)
{
    if (heap->used_count < heap->used_capacity) {
        return LEO_OK;
    }
    size_t capacity = heap->used_capacity ? heap->used_capacity * 2 : 64;
    struct drv_span **used = leo_realloc(heap->used, capacity * sizeof(*used));
    if (!used) {
        return LEO_ERR_NO_MEMORY;
    }
    heap->used = used;
    heap->used_capacity = capacity;
    return LEO_OK;
}

leo_status drv_heap_init(struct drv_heap *heap, uint64_t base, uint64_t bytes)
{
    *heap = (struct drv_heap){.base = base, .bytes = bytes / DRV_HEAP_ALIGN * DRV_HEAP_ALIGN};
    struct drv_span *span = leo_calloc(1, sizeof(*span));
    if (!span) {
        return LEO_ERR_NO_MEMORY;
    }
    span->base = base;
    span->size = heap->bytes;
    heap->first = span;
    bin_insert(heap, span);
    return LEO_OK;
}

void drv_heap_finish(struct drv_heap *heap)
{
    for (struct drv_span *span = heap->first, *above; span; span = above) {
        above = span->above;
        leo_free(span);
    }
    leo_free(heap->used);
    *heap = (struct drv_heap){0};
}

// Cuts the upper part off a free span; the upper part becomes a free span of its own.
static leo_status split_span(struct drv_heap *heap, struct drv_span *span, uint64_t size)
{
    struct drv_span *rest = leo_calloc(1, sizeof(*rest));
    if (!rest) {
        return LEO_ERR_NO_MEMORY;
    }
    rest->base = span->base + size;
    rest->size = span->size - size;
    rest->below = span;
    rest->above = span->above;
    if (rest->above) {
        rest->above->below = rest;
    }
    span->above = rest;
    span->size = size;
    bin_insert(heap, rest);
    return LEO_OK;
}

// Joins a span with the one above it.
static void join_above(struct drv_heap *heap, struct drv_span *span)
{
    struct drv_span *above = span->above;
    bin_remove(heap, above);
    span->size += above->size;
    span->above = above->above;
    if (span->above) {
        span->above->below = span;
    }
    leo_free(above);
}

// Puts a span that is in no bin back, joined with its free neighbours.
static void give_back(struct drv_heap *heap, struct drv_span *span)
{
    if (span->above && !span->above->bytes) {
        join_above(heap, span);
    }
    if (span->below && !span->below->bytes) {
        struct drv_span *below = span->below;
        bin_remove(heap, below);
        bin_insert(heap, span); // join_above takes its upper span out of a bin
        join_above(heap, below);
        span = below;
    }
    bin_insert(heap, span);
}

// Cuts what lies before the first page's begin off a free span that is in no bin; it becomes a free
// span of its own.
static leo_status begin_at_page(struct drv_heap *heap, struct drv_span **span)
{
    uint64_t before = before_page(*span);
    if (before == 0) {
        return LEO_OK;
    }
    leo_status status = split_span(heap, *span, before);
    if (status == LEO_OK) {
        bin_insert(heap, *span);
        *span = (*span)->above;
        bin_remove(heap, *span);
    }
    return status;
}

leo_status drv_heap_alloc(struct drv_heap *heap, uint64_t bytes, bool read_only,
                          struct drv_span **out)
{
    if (bytes == 0 || bytes > heap->bytes) {
        return bytes ? LEO_ERR_NO_DEVICE_MEMORY : LEO_ERR_INVALID_ARG;
    }
    leo_status status = reserve_used(heap);
    if (status) {
        return status;
    }
    uint64_t need = (bytes + DRV_HEAP_ALIGN - 1) / DRV_HEAP_ALIGN * DRV_HEAP_ALIGN;
    uint64_t size = need + gap_bytes(need);
    bool page = bytes >= DRV_HEAP_PAGE;
    struct drv_span *span = find_free(heap, size, page);
    if (!span) {
        // Rather no gap, and no page, than no memory.
        size = need;
        page = false;
        span = find_free(heap, size, page);
    }
    if (!span) {
        return LEO_ERR_NO_DEVICE_MEMORY;
    }
    bin_remove(heap, span);
    status = page ? begin_at_page(heap, &span) : LEO_OK;
    if (!status && span->size > size) {
        status = split_span(heap, span, size);
    }
    if (status) {
        give_back(heap, span);
        return status;
    }
    span->bytes = bytes;
    span->read_only = read_only;
    size_t at = used_upto(heap, span->base);
    memmove(&heap->used[at + 1], &heap->used[at], (heap->used_count - at) * sizeof(*heap->used));
    heap->used[at] = span;
    heap->used_count++;
    heap->used_bytes += span->size;
    *out = span;
    return LEO_OK;
}

void drv_heap_free(struct drv_heap *heap, struct drv_span *span)
{
    size_t at = used_upto(heap, span->base) - 1;
    heap->used_count--;
    memmove(&heap->used[at], &heap->used[at + 1], (heap->used_count - at) * sizeof(*heap->used));
    heap->used_bytes -= span->size;
    span->bytes = 0;
    span->read_only = false;
    give_back(heap, span);
}

struct drv_span *drv_heap_at(const struct drv_heap *heap, uint64_t addr)
{
    size_t count = used_upto(heap, addr);
    return count ? heap->used[count - 1] : NULL;
}
