/* SPDX-License-Identifier: Apache-2.0 */
#include "dma.h"

#include "../host/host_pool.h"
#include <leo/alloc.h>
#include <string.h>

leo_status sim_dma_init(struct sim_dma *dma)
{
    memset(dma, 0, sizeof(*dma));
    return sim_host_lock_create(&dma->lock);
}

void sim_dma_finish(struct sim_dma *dma)
{
    sim_host_lock_destroy(dma->lock);
    leo_free(dma->range);
    memset(dma, 0, sizeof(*dma));
}

/* Index of the first range that ends after `addr`. */
static size_t first_after(const struct sim_dma *dma, uint64_t addr)
{
    size_t low = 0;
    size_t high = dma->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dma->range[middle].base + dma->range[middle].bytes > addr) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Takes out what was unmapped: seldom enough that a call costs the same however many there are. */
static void compact(struct sim_dma *dma)
{
    size_t kept = 0;
    for (size_t i = 0; i < dma->count; i++) {
        if (dma->range[i].host) {
            dma->range[kept++] = dma->range[i];
        }
    }
    dma->count = kept;
    dma->dead = 0;
}

static leo_status insert(struct sim_dma *dma, uint64_t base, void *host, size_t bytes)
{
    size_t index = first_after(dma, base);
    if (index < dma->count && dma->dead) {
        compact(dma); // it may lie where another was
        index = first_after(dma, base);
    }
    if (index < dma->count && dma->range[index].base < base + bytes) {
        return LEO_ERR_EXISTS;
    }
    if (dma->count == dma->capacity) {
        size_t capacity = dma->capacity ? dma->capacity * 2 : 16;
        struct sim_dma_range *range = leo_realloc(dma->range, capacity * sizeof(*range));
        if (!range) {
            return LEO_ERR_NO_MEMORY;
        }
        dma->range = range;
        dma->capacity = capacity;
    }
    memmove(&dma->range[index + 1], &dma->range[index],
            (dma->count - index) * sizeof(dma->range[0]));
    dma->range[index] = (struct sim_dma_range){base, bytes, host};
    dma->count++;
    return LEO_OK;
}

leo_status sim_dma_map(struct sim_dma *dma, uint64_t base, void *host, size_t bytes)
{
    if (!host || bytes == 0 || base + bytes < base) {
        return LEO_ERR_INVALID_ARG;
    }
    sim_host_lock_take(dma->lock);
    leo_status status = insert(dma, base, host, bytes);
    sim_host_lock_give(dma->lock);
    return status;
}

void sim_dma_unmap(struct sim_dma *dma, uint64_t base)
{
    sim_host_lock_take(dma->lock);
    size_t index = first_after(dma, base);
    if (index < dma->count && dma->range[index].base == base && dma->range[index].host) {
        dma->range[index].host = NULL;
        dma->dead++;
    }
    while (dma->count && !dma->range[dma->count - 1].host) {
        dma->count--;
        dma->dead--;
    }
    if (dma->dead > dma->count / 2) {
        compact(dma);
    }
    sim_host_lock_give(dma->lock);
}

/* Host pointer to the range, or NULL. Caller holds the lock. */
static uint8_t *reach(const struct sim_dma *dma, uint64_t addr, uint64_t bytes)
{
    size_t index = first_after(dma, addr);
    if (index == dma->count) {
        return NULL;
    }
    const struct sim_dma_range *range = &dma->range[index];
    if (addr < range->base || bytes > range->bytes - (addr - range->base)) {
        return NULL;
    }
    return range->host ? range->host + (addr - range->base) : NULL;
}

bool sim_dma_read(struct sim_dma *dma, uint64_t addr, void *data, uint64_t bytes)
{
    sim_host_lock_take(dma->lock);
    const uint8_t *host = reach(dma, addr, bytes);
    if (host) {
        memcpy(data, host, bytes);
    }
    sim_host_lock_give(dma->lock);
    return host != NULL;
}

bool sim_dma_write(struct sim_dma *dma, uint64_t addr, const void *data, uint64_t bytes)
{
    sim_host_lock_take(dma->lock);
    uint8_t *host = reach(dma, addr, bytes);
    if (host) {
        memcpy(host, data, bytes);
    }
    sim_host_lock_give(dma->lock);
    return host != NULL;
}

bool sim_dma_fill(struct sim_dma *dma, uint64_t addr, uint32_t pattern, uint64_t bytes)
{
    sim_host_lock_take(dma->lock);
    uint8_t *host = reach(dma, addr, bytes);
    for (uint64_t i = 0; host && i < bytes; i++) {
        host[i] = (uint8_t)(pattern >> i % 4 * 8);
    }
    sim_host_lock_give(dma->lock);
    return host != NULL;
}

bool sim_dma_publish(struct sim_dma *dma, uint64_t addr, const void *data, uint64_t bytes,
                     size_t phase_offset)
{
    sim_host_lock_take(dma->lock);
    uint8_t *host = reach(dma, addr, bytes);
    if (host) {
        const uint8_t *source = data;
        uint32_t phase;
        memcpy(&phase, source + phase_offset, sizeof(phase));
        memcpy(host, source, phase_offset);
        memcpy(host + phase_offset + 4, source + phase_offset + 4, bytes - phase_offset - 4);
        __atomic_store_n((uint32_t *)(void *)(host + phase_offset), phase, __ATOMIC_RELEASE);
    }
    sim_host_lock_give(dma->lock);
    return host != NULL;
}

uint64_t sim_dma_where(struct sim_dma *dma, uint64_t addr, uint64_t bytes)
{
    sim_host_lock_take(dma->lock);
    const uint64_t where = (uintptr_t)reach(dma, addr, bytes);
    sim_host_lock_give(dma->lock);
    return where;
}

bool sim_dma_is_mapped(struct sim_dma *dma, uint64_t addr, uint64_t bytes)
{
    return sim_dma_where(dma, addr, bytes) != 0;
}
