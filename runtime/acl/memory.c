/* SPDX-License-Identifier: Apache-2.0 */
/* Device and host memory. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <string.h>

/** Pinned host memory handed out by aclrtMallocHost, found again by its address. */
struct host_memory {
    struct front_range range;
    struct front_handle handle;
    struct leo_rt_device *device;
    void *ptr;
};

struct leo_rt_device *acl_memory_owner(const struct acl_context *context, const void *ptr)
{
    (void)context; // whoever has one pinned keeps the runtime
    return leo_rt_memory_owner(acl_process()->rt, (uintptr_t)ptr);
}

static bool policy_is_known(aclrtMemMallocPolicy policy)
{
    unsigned extra = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                     ACL_MEM_ACCESS_USER_SPACE_READONLY;
    return ((unsigned)policy & ~extra) <= ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
}

static aclError allocate(const char *func, void **ptr, size_t size, aclrtMemMallocPolicy policy,
                         size_t extra)
{
    ACL_PINNED struct acl_context *context = NULL;
    if (!ptr || size == 0 || !policy_is_known(policy)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s",
                        !ptr        ? "devPtr is NULL"
                        : size == 0 ? "size is 0"
                                    : "the policy is unknown");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    if (size > SIZE_MAX - 64) {
        return acl_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, func,
                        "%zu bytes are more than any device has", size);
    }
    uint64_t addr;
    error =
        acl_status(func, leo_rt_memory_alloc(context->rt, (size + 31) / 32 * 32 + extra, &addr));
    if (!error) {
        *ptr = (void *)(uintptr_t)addr;
    }
    return error;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate("aclrtMalloc", devPtr, size, policy, 32);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate("aclrtMallocCached", devPtr, size, policy, 32);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate("aclrtMallocAlign32", devPtr, size, policy, 0);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg)
{
    (void)cfg; // module and device ids serve statistics only
    return allocate("aclrtMallocWithCfg", devPtr, size, policy, 32);
}

aclError aclrtFree(void *devPtr)
{
    ACL_PINNED struct acl_context *context = NULL;
    uint64_t base, bytes;
    if (!devPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtFree", "devPtr is NULL");
    }
    aclError error = acl_current_context("aclrtFree", &context);
    if (error) {
        return error;
    }
    uint64_t addr = (uintptr_t)devPtr;
    struct leo_rt_device *owner = acl_memory_owner(context, devPtr);
    if (!owner || leo_rt_memory_find(owner, addr, &base, &bytes) != LEO_OK || base != addr) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree",
                        "%p was not returned by aclrtMalloc, or was already freed", devPtr);
    }
    return acl_status("aclrtFree", leo_rt_memory_free(owner, addr));
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtMallocHost";
    if (!hostPtr || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s",
                        hostPtr ? "size is 0" : "hostPtr is NULL");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    struct host_memory *memory = leo_calloc(1, sizeof(*memory));
    if (!memory) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    error = acl_status(func, leo_rt_host_alloc(context->rt, size, &memory->ptr));
    if (error) {
        leo_free(memory);
        return error;
    }
    memory->device = context->rt;
    memory->range = (struct front_range){(uintptr_t)memory->ptr, size};
    if (front_ranges_put(&acl_process()->host_memory, &memory->range) != FRONT_RANGE_PUT) {
        error = acl_status(func, leo_rt_host_free(context->rt, memory->ptr));
        leo_free(memory);
        return error ? error : acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    acl_handle_add(&memory->handle, ACL_KIND_HOST_MEMORY, &context->slot->host_memory);
    *hostPtr = memory->ptr;
    return ACL_SUCCESS;
}

static struct host_memory *host_memory_of(struct front_range *range)
{
    return (struct host_memory *)(void *)range; // its first member
}

static aclError free_host(struct host_memory *memory)
{
    aclError error = acl_status("aclrtFreeHost", leo_rt_host_free(memory->device, memory->ptr));
    acl_handle_remove(&memory->handle);
    leo_free(memory);
    return error;
}

aclError aclrtFreeHost(void *hostPtr)
{
    if (!hostPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost", "hostPtr is NULL");
    }
    struct host_memory *memory =
        host_memory_of(front_ranges_take(&acl_process()->host_memory, (uintptr_t)hostPtr));
    if (!memory || !acl_handle_find(&memory->handle, ACL_KIND_HOST_MEMORY) ||
        !acl_handle_claim(&memory->handle)) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost",
                        "%p was not returned by aclrtMallocHost, or was already freed", hostPtr);
    }
    return free_host(memory);
}

void acl_host_memory_end(struct acl_device *slot)
{
    struct front_handle *handle;
    while ((handle = acl_handle_take(&slot->host_memory)) != NULL) {
        struct host_memory *memory =
            (struct host_memory *)(void *)((char *)handle - offsetof(struct host_memory, handle));
        (void)front_ranges_take(&acl_process()->host_memory, memory->range.base);
        (void)free_host(memory);
    }
}

bool acl_host_memory_holds(const void *ptr)
{
    return front_ranges_at(&acl_process()->host_memory, (uintptr_t)ptr) != NULL;
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    (void)cfg; // module and device ids serve statistics only
    return aclrtMallocHost(ptr, size);
}

aclError aclrtFreeWithDevSync(void *devPtr)
{
    aclError error = aclrtSynchronizeDevice();
    return error ? error : aclrtFree(devPtr);
}

aclError aclrtFreeHostWithDevSync(void *hostPtr)
{
    aclError error = aclrtSynchronizeDevice();
    return error ? error : aclrtFreeHost(hostPtr);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free_out, size_t *total_out)
{
    ACL_PINNED struct acl_context *context = NULL;
    uint64_t free_bytes, total_bytes;
    const char *func = "aclrtGetMemInfo";
    if (!free_out || !total_out || (int)attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "an argument is NULL or the attribute is unknown");
    }
    aclError error = acl_current_context(func, &context);
    if (!error) {
        error = acl_status(func, leo_rt_memory_info(context->rt, &free_bytes, &total_bytes));
    }
    if (error) {
        return error;
    }
    // The chips modelled have HBM and no DDR of their own; both questions are answered, DDR with
    // nothing.
    bool ddr = attr == ACL_DDR_MEM || (attr >= ACL_DDR_MEM_HUGE && attr <= ACL_DDR_MEM_NORMAL) ||
               attr == ACL_DDR_MEM_P2P_HUGE || attr == ACL_DDR_MEM_P2P_NORMAL;
    *free_out = ddr ? 0 : free_bytes;
    *total_out = ddr ? 0 : total_bytes;
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtPointerGetAttributes";
    if (!ptr || !attributes) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    memset(attributes, 0, sizeof(*attributes));
    attributes->pageSize = 4096;
    const struct leo_rt_device *owner = acl_memory_owner(context, ptr);
    if (owner) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        attributes->location.id = (uint32_t)acl_device_id(owner);
    } else if (acl_host_memory_holds(ptr) || leo_rt_host_is_pinned(context->rt, ptr)) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    } else {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    }
    return ACL_SUCCESS;
}
