/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that devices reach: allocated here, or the program's own. */
#include "../context/context.h"
#include "../process/code.h"
#include "memory_owner.h"

/** Found by its handle when its device ends, by its address when it is freed. */
struct api_host_memory {
    struct api_handle handle;
    struct api_range range;
    struct leo_rt_device *device;
};

static struct api_host_memory *memory_of(struct api_range *range)
{
    return range ? (struct api_host_memory *)(void *)((char *)range -
                                                      offsetof(struct api_host_memory, range))
                 : NULL;
}

// Ends one that is the caller's.
static leo_status end_memory(struct api_host_memory *memory)
{
    leo_status status = leo_rt_host_free(memory->device, (void *)memory->range.base);
    api_free(memory);
    return status;
}

static void end_with_device(void *object)
{
    struct api_host_memory *memory = object;
    (void)api_ranges_take(&api_process()->host_memory, memory->range.base);
    (void)end_memory(memory);
}

leo_status api_host_alloc(size_t bytes, void **ptr)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct api_host_memory *memory = api_make(sizeof(*memory));
    if (!memory) {
        return LEO_ERR_NO_MEMORY;
    }
    void *made;
    status = leo_rt_host_alloc(context->rt, bytes, &made);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &memory->handle);
        return status;
    }
    memory->device = context->rt;
    memory->range = (struct api_range){(uintptr_t)made, bytes};
    if (api_ranges_put(&api_process()->host_memory, &memory->range) != API_RANGE_PUT) {
        status = leo_rt_host_free(context->rt, made);
        api_handle_drop(&api_process()->handles, &memory->handle);
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    api_publish(memory, API_KIND_HOST_MEMORY, &context->slot->host_memory, end_with_device);
    *ptr = made;
    return LEO_OK;
}

leo_status api_host_free(void *ptr)
{
    struct api_host_memory *memory =
        memory_of(api_ranges_take(&api_process()->host_memory, (uintptr_t)ptr));
    return memory && api_find(memory, API_KIND_HOST_MEMORY) && api_claim(memory)
               ? end_memory(memory)
               : leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "%p is no allocated host memory, or was already freed", ptr);
}

bool api_host_block(const void *ptr, uint64_t *base, uint64_t *bytes)
{
    struct api_range *range = api_ranges_at(&api_process()->host_memory, (uintptr_t)ptr);
    if (range) {
        *base = range->base;
        *bytes = range->bytes;
    }
    return range != NULL;
}

leo_status api_host_register(void *ptr, size_t bytes)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_host_register(context->rt, ptr, bytes);
    }
    return status == LEO_ERR_EXISTS ? API_REGISTERED : status;
}

leo_status api_host_unregister(void *ptr)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = leo_rt_host_unregister(context->rt, ptr);
    }
    return status == LEO_ERR_NOT_FOUND ? API_NOT_REGISTERED : status;
}

leo_status api_host_check(const void *ptr)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    return status != LEO_OK ? status
           : leo_rt_host_is_pinned(context->rt, ptr)
               ? LEO_OK
               : leo_rt_fail(API_NOT_REGISTERED, "%p is not registered", ptr);
}
