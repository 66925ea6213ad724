/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: the heap plus the device's own mappings. */
#include "device.h"

#include <string.h>

static leo_status admin_map_command(struct leo_drv_device *device, enum leo_sqe_op op,
                                    const struct drv_span *span)
{
    struct leo_sqe entry = {.opcode = (uint8_t)op};
    struct leo_sqe_map body = {
        .addr = span->base,
        .bytes = span->bytes,
        .space = DRV_SPACE,
        .read_only = span->read_only,
    };
    memcpy(entry.body, &body, sizeof(body));
    return drv_admin_run(device, &entry);
}

leo_status leo_drv_memory_alloc(struct leo_drv_device *device, uint64_t bytes, bool read_only,
                                uint64_t *addr)
{
    *addr = 0;
    struct drv_span *span;
    pthread_mutex_lock(&device->admin_lock);
    pthread_mutex_lock(&device->lock);
    // Memory taken for mappings lies elsewhere, but is memory all the same.
    uint64_t left = device->heap.bytes - device->heap.used_bytes;
    leo_status status = device->virtual.physical_bytes && left >= device->virtual.physical_bytes &&
                                bytes > left - device->virtual.physical_bytes
                            ? LEO_ERR_NO_DEVICE_MEMORY
                            : drv_heap_alloc(&device->heap, bytes, read_only, &span);
    pthread_mutex_unlock(&device->lock);
    if (!status) {
        status = admin_map_command(device, LEO_SQE_OP_MAP, span);
        if (status) {
            pthread_mutex_lock(&device->lock);
            drv_heap_free(&device->heap, span);
            pthread_mutex_unlock(&device->lock);
        } else {
            *addr = span->base;
        }
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

leo_status leo_drv_memory_free(struct leo_drv_device *device, uint64_t addr)
{
    pthread_mutex_lock(&device->admin_lock);
    pthread_mutex_lock(&device->lock);
    struct drv_span *span = drv_heap_at(&device->heap, addr);
    pthread_mutex_unlock(&device->lock);
    leo_status status = LEO_ERR_BAD_POINTER;
    // Only holders of admin_lock free, so the span stays while we do without lock.
    if (span && span->base == addr) {
        status = admin_map_command(device, LEO_SQE_OP_UNMAP, span);
        if (!status) {
            pthread_mutex_lock(&device->lock);
            drv_heap_free(&device->heap, span);
            pthread_mutex_unlock(&device->lock);
        }
    }
    pthread_mutex_unlock(&device->admin_lock);
    return status;
}

void leo_drv_memory_info(struct leo_drv_device *device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    pthread_mutex_lock(&device->lock);
    *free_bytes = device->heap.bytes - device->heap.used_bytes;
    *free_bytes -=
        *free_bytes < device->virtual.physical_bytes ? *free_bytes : device->virtual.physical_bytes;
    *total_bytes = device->heap.bytes;
    pthread_mutex_unlock(&device->lock);
}

leo_status leo_drv_memory_find(struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                               uint64_t *bytes)
{
    pthread_mutex_lock(&device->lock);
    const struct drv_span *span = drv_heap_at(&device->heap, addr);
    bool inside = span && addr - span->base < span->bytes;
    if (inside) {
        *base = span->base;
        *bytes = span->bytes;
    } else {
        inside = drv_virtual_find(device, addr, base, bytes);
    }
    pthread_mutex_unlock(&device->lock);
    return inside ? LEO_OK : LEO_ERR_BAD_POINTER;
}

leo_status leo_drv_memory_nearest(struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                                  uint64_t *bytes)
{
    pthread_mutex_lock(&device->lock);
    const struct drv_heap *heap = &device->heap;
    const struct drv_span *span = drv_heap_at(heap, addr);
    const struct drv_span *above = heap->used_count ? heap->used[0] : NULL;
    if (span) {
        for (above = span->above; above && !above->bytes;) {
            above = above->above;
        }
    }
    uint64_t end = span ? span->base + span->bytes : 0;
    if (!span || (above && addr >= end && above->base - addr < addr - end)) {
        span = above;
    }
    if (span) {
        *base = span->base;
        *bytes = span->bytes;
    }
    pthread_mutex_unlock(&device->lock);
    return span ? LEO_OK : LEO_ERR_NOT_FOUND;
}

/* Runs an admin command whose answer goes to a host address: the first word of its body. */
static leo_status ask(struct leo_drv_device *device, struct leo_sqe *entry, void *out, size_t bytes)
{
    void *memory;
    uint64_t addr;
    leo_status status = leo_drv_dma_alloc(device, bytes, &memory, &addr);
    if (status) {
        return status;
    }
    memcpy(entry->body, &addr, sizeof(addr));
    pthread_mutex_lock(&device->admin_lock);
    status = drv_admin_run(device, entry);
    pthread_mutex_unlock(&device->admin_lock);
    if (!status) {
        memcpy(out, memory, bytes);
    }
    leo_drv_dma_free(device, memory, addr);
    return status;
}

leo_status leo_drv_local_read(struct leo_drv_device *device, unsigned core,
                              enum leo_mem_space space, uint64_t offset, void *out, size_t bytes)
{
    _Static_assert(offsetof(struct leo_sqe_local, dst) == 0, "as ask fills it in");
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_READ_LOCAL};
    const struct leo_sqe_local body = {
        .offset = offset, .bytes = bytes, .core = core, .space = (uint32_t)space};
    memcpy(entry.body, &body, sizeof(body));
    return bytes ? ask(device, &entry, out, bytes) : LEO_OK;
}

leo_status leo_drv_memory_unwritten(struct leo_drv_device *device, uint64_t addr, uint64_t bytes,
                                    struct leo_unwritten *found)
{
    _Static_assert(offsetof(struct leo_sqe_unwritten, dst) == 0, "as ask fills it in");
    struct leo_sqe entry = {.opcode = LEO_SQE_OP_READ_UNWRITTEN};
    const struct leo_sqe_unwritten body = {.addr = addr, .bytes = bytes};
    memcpy(entry.body, &body, sizeof(body));
    return ask(device, &entry, found, sizeof(*found));
}
