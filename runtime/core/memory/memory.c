/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>
#include <search.h>
#include <string.h>

typedef unsigned long long ull; // for printf

leo_status leo_rt_memory_alloc(struct leo_rt_device *device, uint64_t bytes, uint64_t *addr)
{
    *addr = 0;
    if (bytes == 0) {
        return rt_fail(LEO_ERR_INVALID_ARG, "cannot allocate 0 bytes of device memory");
    }
    leo_status status = leo_drv_memory_alloc(device->drv, bytes, false, addr);
    if (status) {
        uint64_t left, total;
        leo_drv_memory_info(device->drv, &left, &total);
        return rt_fail(status,
                       "cannot allocate %llu bytes on device %d: %s; %llu of %llu bytes are free",
                       (ull)bytes, device->index, leo_status_text(status), (ull)left, (ull)total);
    }
    rt_profile_memory(device);
    rt_status_memory(device);
    return LEO_OK;
}

static leo_status tell(struct leo_rt_device *device, leo_status status, const char *what,
                       uint64_t addr, uint64_t bytes)
{
    uint64_t left, total;
    leo_drv_memory_info(device->drv, &left, &total);
    return status ? rt_fail(status,
                            "cannot %s %llu bytes at 0x%llx on device %d: %s; %llu of %llu bytes "
                            "are free",
                            what, (ull)bytes, (ull)addr, device->index, leo_status_text(status),
                            (ull)left, (ull)total)
                  : LEO_OK;
}

leo_status leo_rt_addresses_reserve(struct leo_rt_device *device, uint64_t bytes, uint64_t *addr)
{
    return tell(device, leo_drv_addresses_reserve(device->drv, bytes, addr), "reserve addresses of",
                0, bytes);
}

leo_status leo_rt_addresses_release(struct leo_rt_device *device, uint64_t addr)
{
    return tell(device, leo_drv_addresses_release(device->drv, addr), "release the reserved", addr,
                0);
}

leo_status leo_rt_addresses_size(struct leo_rt_device *device, uint64_t addr, uint64_t *bytes)
{
    return leo_drv_addresses_size(device->drv, addr, bytes);
}

leo_status leo_rt_physical_take(struct leo_rt_device *device, uint64_t bytes)
{
    return tell(device, leo_drv_physical_take(device->drv, bytes), "take", 0, bytes);
}

void leo_rt_physical_give(struct leo_rt_device *device, uint64_t bytes)
{
    leo_drv_physical_give(device->drv, bytes);
}

leo_status leo_rt_addresses_map(struct leo_rt_device *device, uint64_t addr, uint64_t bytes)
{
    return tell(device, leo_drv_addresses_map(device->drv, addr, bytes), "map", addr, bytes);
}

leo_status leo_rt_addresses_unmap(struct leo_rt_device *device, uint64_t addr, uint64_t bytes)
{
    return tell(device, leo_drv_addresses_unmap(device->drv, addr, bytes), "unmap", addr, bytes);
}

static const struct leo_rt_module *find_module(const struct leo_rt_device *device, uint64_t addr)
{
    const struct leo_rt_module *module = device->modules;
    while (module && module->image_addr != addr) {
        module = module->next;
    }
    return module;
}

leo_status leo_rt_memory_free(struct leo_rt_device *device, uint64_t addr)
{
    pthread_mutex_lock(&device->lock);
    const struct leo_rt_module *module = find_module(device, addr);
    pthread_mutex_unlock(&device->lock);
    if (module) {
        return rt_fail(LEO_ERR_BAD_POINTER,
                       "0x%llx is the code of a module: unload the module instead", (ull)addr);
    }
    leo_status status = leo_drv_memory_free(device->drv, addr);
    if (status == LEO_ERR_BAD_POINTER) {
        uint64_t base, bytes;
        if (leo_drv_memory_find(device->drv, addr, &base, &bytes)) {
            return rt_fail(
                status,
                "cannot free 0x%llx: device %d has no allocation there (freed already, or not from "
                "this device)",
                (ull)addr, device->index);
        }
        return rt_fail(
            status,
            "cannot free 0x%llx: it is %llu bytes inside the allocation at 0x%llx; free its first "
            "address",
            (ull)addr, (ull)(addr - base), (ull)base);
    }
    if (status) {
        return rt_fail(status, "cannot free 0x%llx: %s", (ull)addr, leo_status_text(status));
    }
    rt_profile_memory(device);
    rt_status_memory(device);
    return LEO_OK;
}

leo_status leo_rt_memory_info(struct leo_rt_device *device, uint64_t *free_bytes,
                              uint64_t *total_bytes)
{
    leo_drv_memory_info(device->drv, free_bytes, total_bytes);
    return LEO_OK;
}

leo_status leo_rt_memory_find(struct leo_rt_device *device, uint64_t addr, uint64_t *base,
                              uint64_t *bytes)
{
    return leo_drv_memory_find(device->drv, addr, base, bytes);
}

// Ranges that share a byte are equal: so one byte finds its range.
static int compare_pinned(const void *left, const void *right)
{
    const struct rt_pinned *a = left, *b = right;
    if (a->base + a->bytes <= b->base) {
        return -1;
    }
    return b->base + b->bytes <= a->base;
}

static struct rt_pinned *find_pinned(const struct leo_rt_device *device, const void *ptr)
{
    const struct rt_pinned key = {.base = (uintptr_t)ptr, .bytes = 1};
    void *node = tfind(&key, &device->pinned, compare_pinned);
    return node ? *(struct rt_pinned **)node : NULL;
}

// Puts it into the tree. LEO_ERR_EXISTS: it shares a byte with another.
static leo_status put_pinned(struct leo_rt_device *device, struct rt_pinned *pinned)
{
    void *node = tsearch(pinned, &device->pinned, compare_pinned);
    return !node                                  ? LEO_ERR_NO_MEMORY
           : *(struct rt_pinned **)node == pinned ? LEO_OK
                                                  : LEO_ERR_EXISTS;
}

static void drop_pinned(struct leo_rt_device *device, struct rt_pinned *pinned)
{
    tdelete(pinned, &device->pinned, compare_pinned);
    if (pinned->registered) {
        leo_drv_dma_unmap(device->drv, pinned->dma_addr);
    } else {
        leo_drv_dma_free(device->drv, (void *)pinned->base, pinned->dma_addr);
    }
    leo_free(pinned);
}

void rt_pinned_finish(struct leo_rt_device *device)
{
    while (device->pinned) {
        drop_pinned(device, *(struct rt_pinned **)device->pinned);
    }
}

leo_status leo_rt_host_alloc(struct leo_rt_device *device, size_t bytes, void **out)
{
    *out = NULL;
    if (bytes == 0) {
        return rt_fail(LEO_ERR_INVALID_ARG, "cannot allocate 0 bytes of pinned memory");
    }
    struct rt_pinned *pinned = leo_calloc(1, sizeof(*pinned));
    void *memory = NULL;
    leo_status status = LEO_ERR_NO_MEMORY;
    if (pinned) {
        pinned->bytes = bytes;
        status = leo_drv_dma_alloc(device->drv, bytes, &memory, &pinned->dma_addr);
    }
    if (!status) {
        pinned->base = (uintptr_t)memory;
        pthread_mutex_lock(&device->lock);
        status = put_pinned(device, pinned);
        pthread_mutex_unlock(&device->lock);
        if (status) {
            leo_drv_dma_free(device->drv, memory, pinned->dma_addr);
        }
    }
    if (status) {
        leo_free(pinned);
        return rt_fail(status, "cannot allocate %zu bytes of pinned memory: %s", bytes,
                       leo_status_text(status));
    }
    *out = memory;
    return LEO_OK;
}

leo_status leo_rt_host_free(struct leo_rt_device *device, void *ptr)
{
    pthread_mutex_lock(&device->lock);
    struct rt_pinned *pinned = find_pinned(device, ptr);
    leo_status status = LEO_OK;
    if (!pinned || pinned->base != (uintptr_t)ptr || pinned->registered) {
        status = rt_fail(LEO_ERR_BAD_POINTER,
                         "cannot free %p: it is no pinned memory of device %d (freed already?)",
                         ptr, device->index);
    } else {
        drop_pinned(device, pinned);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_host_register(struct leo_rt_device *device, void *ptr, size_t bytes)
{
    if (!ptr || bytes == 0) {
        return rt_fail(LEO_ERR_INVALID_ARG, "cannot register %zu bytes of host memory at %p", bytes,
                       ptr);
    }
    struct rt_pinned *pinned = leo_calloc(1, sizeof(*pinned));
    if (!pinned) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    *pinned = (struct rt_pinned){.base = (uintptr_t)ptr, .bytes = bytes, .registered = true};
    pthread_mutex_lock(&device->lock);
    leo_status status = put_pinned(device, pinned);
    if (!status) {
        status = leo_drv_dma_map(device->drv, ptr, bytes, &pinned->dma_addr);
        if (status) {
            tdelete(pinned, &device->pinned, compare_pinned);
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (status) {
        leo_free(pinned);
        return rt_fail(status, "cannot register %zu bytes of host memory at %p: %s", bytes, ptr,
                       status == LEO_ERR_EXISTS ? "part of it is pinned or registered already"
                                                : leo_status_text(status));
    }
    return LEO_OK;
}

leo_status leo_rt_host_unregister(struct leo_rt_device *device, void *ptr)
{
    pthread_mutex_lock(&device->lock);
    struct rt_pinned *pinned = find_pinned(device, ptr);
    leo_status status = LEO_OK;
    if (!pinned || pinned->base != (uintptr_t)ptr || !pinned->registered) {
        status = rt_fail(LEO_ERR_NOT_FOUND, "%p is no registered memory of device %d", ptr,
                         device->index);
    } else {
        drop_pinned(device, pinned);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

bool leo_rt_host_is_pinned(struct leo_rt_device *device, const void *ptr)
{
    pthread_mutex_lock(&device->lock);
    bool pinned = find_pinned(device, ptr) != NULL;
    pthread_mutex_unlock(&device->lock);
    return pinned;
}

uint64_t rt_memory_pinned(const struct leo_rt_device *device, const void *ptr, size_t bytes)
{
    const struct rt_pinned *pinned = find_pinned(device, ptr);
    uintptr_t offset = pinned ? (uintptr_t)ptr - pinned->base : 0;
    return pinned && bytes <= pinned->bytes - offset ? pinned->dma_addr + offset : 0;
}

struct leo_rt_device *leo_rt_memory_owner(struct leo_rt *rt, uint64_t addr)
{
    struct leo_rt_device *owner = NULL;
    pthread_mutex_lock(&rt->range_lock);
    for (int i = 0; i < RT_DEVICES_MAX && !owner; i++) {
        owner = addr - rt->range[i].base < rt->range[i].bytes ? rt->range[i].device : NULL;
    }
    pthread_mutex_unlock(&rt->range_lock);
    return owner;
}

leo_status rt_memory_side(struct leo_rt_device *device, uint64_t addr, uint64_t bytes,
                          const char *what, struct leo_rt_device **out)
{
    uint64_t base, size;
    struct leo_rt_device *owner = addr - device->caps.hbm_base < device->caps.gm_bytes
                                      ? device
                                      : leo_rt_memory_owner(device->rt, addr);
    *out = owner;
    if (owner && !leo_drv_memory_find(owner->drv, addr, &base, &size)) {
        uint64_t left = size - (addr - base);
        if (bytes > left) {
            return rt_fail(
                LEO_ERR_RANGE,
                "%s: %llu bytes at 0x%llx go %llu bytes past the end of the %llu-byte allocation "
                "at 0x%llx",
                what, (ull)bytes, (ull)addr, (ull)(bytes - left), (ull)size, (ull)base);
        }
        return LEO_OK;
    }
    if (owner) {
        return rt_fail(LEO_ERR_BAD_POINTER,
                       "%s: the device address 0x%llx is in no allocation of device %d (freed "
                       "already?)",
                       what, (ull)addr, owner->index);
    }
    if (addr == 0) {
        return rt_fail(LEO_ERR_INVALID_ARG, "%s: the address is NULL", what);
    }
    return LEO_OK;
}

leo_status leo_rt_memory_window(struct leo_rt_device *device, uint64_t addr, uint64_t bytes,
                                void **ptr)
{
    uint64_t base, size;
    *ptr = NULL;
    pthread_mutex_lock(&device->lock);
    leo_status status = leo_drv_memory_find(device->drv, addr, &base, &size);
    if (status == LEO_OK && bytes > base + size - addr) {
        status = LEO_ERR_RANGE;
    }
    if (status == LEO_OK) {
        *ptr = leo_drv_memory_window(device->drv, addr, bytes);
        status = *ptr ? LEO_OK : LEO_ERR_UNSUPPORTED;
    }
    pthread_mutex_unlock(&device->lock);
    return status == LEO_OK ? LEO_OK
                            : rt_fail(status,
                                      "device %d: [0x%llx, +%llu) cannot be reached from the host: "
                                      "%s",
                                      device->index, (unsigned long long)addr,
                                      (unsigned long long)bytes, leo_status_text(status));
}
