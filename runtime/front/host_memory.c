/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that devices reach: allocated here, or the program's own. */
#include "code.h"
#include "context.h"
#include "memory.h"

/** Found by its handle when its device ends, by its address when it is freed. */
struct front_host_memory {
    struct front_handle handle;
    struct front_range range;
    struct leo_rt_device *device;
};

static struct front_host_memory *memory_of(struct front_range *range)
{
    return range ? (struct front_host_memory *)(void *)((char *)range -
                                                        offsetof(struct front_host_memory, range))
                 : NULL;
}

leo_status front_host_alloc(size_t bytes, void **ptr)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct front_host_memory *memory = front_make(sizeof(*memory));
    if (!memory) {
        return LEO_ERR_NO_MEMORY;
    }
    void *made;
    status = leo_rt_host_alloc(context->rt, bytes, &made);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &memory->handle);
        return status;
    }
    memory->device = context->rt;
    memory->range = (struct front_range){(uintptr_t)made, bytes};
    if (front_ranges_put(&front_process()->host_memory, &memory->range) != FRONT_RANGE_PUT) {
        status = leo_rt_host_free(context->rt, made);
        front_handle_drop(&front_process()->handles, &memory->handle);
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    front_publish(memory, FRONT_KIND_HOST_MEMORY, &context->slot->host_memory);
    *ptr = made;
    return LEO_OK;
}

// Ends one that is the caller's.
static leo_status end_memory(struct front_host_memory *memory)
{
    leo_status status = leo_rt_host_free(memory->device, (void *)memory->range.base);
    front_free(memory);
    return status;
}

leo_status front_host_free(void *ptr)
{
    struct front_host_memory *memory =
        memory_of(front_ranges_take(&front_process()->host_memory, (uintptr_t)ptr));
    return memory && front_find(memory, FRONT_KIND_HOST_MEMORY) && front_claim(memory)
               ? end_memory(memory)
               : leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "%p is no allocated host memory, or was already freed", ptr);
}

void front_host_memory_end(struct front_device *slot)
{
    struct front_host_memory *memory;
    while ((memory = front_take(&slot->host_memory)) != NULL) {
        (void)front_ranges_take(&front_process()->host_memory, memory->range.base);
        (void)end_memory(memory);
    }
}

bool front_host_block(const void *ptr, uint64_t *base, uint64_t *bytes)
{
    struct front_range *range = front_ranges_at(&front_process()->host_memory, (uintptr_t)ptr);
    if (range) {
        *base = range->base;
        *bytes = range->bytes;
    }
    return range != NULL;
}

leo_status front_host_register(void *ptr, size_t bytes)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_host_register(context->rt, ptr, bytes);
    }
    return status == LEO_ERR_EXISTS ? FRONT_REGISTERED : status;
}

leo_status front_host_unregister(void *ptr)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_host_unregister(context->rt, ptr);
    }
    return status == LEO_ERR_NOT_FOUND ? FRONT_NOT_REGISTERED : status;
}

leo_status front_host_check(const void *ptr)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    return status != LEO_OK ? status
           : leo_rt_host_is_pinned(context->rt, ptr)
               ? LEO_OK
               : leo_rt_fail(FRONT_NOT_REGISTERED, "%p is not registered", ptr);
}
