/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory. */
#include "memory_owner.h"

#include "../context/context.h"
#include "../process/code.h"
#include "ipc_list.h"

enum { ALIGN = 32 };

struct leo_rt_device *api_memory_owner(const void *ptr)
{
    // Whoever has a context pinned keeps the runtime.
    return leo_rt_memory_owner(api_process()->rt, (uintptr_t)ptr);
}

leo_status api_memory_alloc(size_t bytes, size_t extra, void **ptr)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    if (bytes > SIZE_MAX - ALIGN - extra) {
        return leo_rt_fail(LEO_ERR_NO_DEVICE_MEMORY, "%zu bytes are more than any device has",
                           bytes);
    }
    uint64_t addr;
    status = leo_rt_memory_alloc(context->rt, (bytes + ALIGN - 1) / ALIGN * ALIGN + extra, &addr);
    if (status == LEO_OK) {
        *ptr = (void *)(uintptr_t)addr;
    }
    return status;
}

leo_status api_memory_free(void *ptr)
{
    API_PINNED struct api_context *context = NULL;
    uint64_t base, bytes, addr = (uintptr_t)ptr;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_rt_device *owner = api_memory_owner(ptr);
    if (!owner || leo_rt_memory_find(owner, addr, &base, &bytes) != LEO_OK || base != addr) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "%p is no allocated device memory, or was already freed", ptr);
    }
    api_ipc_freed(ptr, bytes);
    return leo_rt_memory_free(owner, addr);
}

leo_status api_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    API_PINNED struct api_context *context = NULL;
    uint64_t left, total;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_memory_info(context->rt, &left, &total);
    }
    if (status == LEO_OK) {
        *free_bytes = left;
        *total_bytes = total;
    }
    return status;
}

leo_status api_pointer_get(const void *ptr, struct api_pointer *pointer)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    *pointer = (struct api_pointer){.device = context->device};
    struct leo_rt_device *owner = api_memory_owner(ptr);
    if (owner) {
        pointer->kind = API_PLACE_DEVICE;
        pointer->device = api_device_id(owner);
        // An address of the device that no block holds has no size.
        if (leo_rt_memory_find(owner, (uintptr_t)ptr, &pointer->base, &pointer->bytes) != LEO_OK) {
            pointer->base = pointer->bytes = 0;
        }
    } else if (api_host_block(ptr, &pointer->base, &pointer->bytes) ||
               leo_rt_host_is_pinned(context->rt, ptr)) {
        pointer->kind = API_PLACE_PINNED;
    }
    return LEO_OK;
}

leo_status api_memory_check(const void *ptr, size_t bytes)
{
    API_PINNED struct api_context *context = NULL;
    uint64_t base, size, addr = (uintptr_t)ptr;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct leo_rt_device *owner = api_memory_owner(ptr);
    return owner && leo_rt_memory_find(owner, addr, &base, &size) == LEO_OK &&
                   bytes <= size - (addr - base)
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "%zu bytes at %p are not in one block of device memory", bytes, ptr);
}
