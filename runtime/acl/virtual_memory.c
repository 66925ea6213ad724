/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: addresses reserved apart from the memory behind them. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <unistd.h>

enum { GRANULE = 2 << 20 }; // of the driver's mappings

/** Memory of a device that may be mapped to an address, one at a time. */
struct acl_physical {
    struct front_range range; /**< where it is mapped; bytes 0 = nowhere */
    struct front_handle handle;
    struct leo_rt_device *device;
    size_t bytes;
    bool parked; /**< the program has unmapped it; it stays there until it is freed or moved */
    void *saved; /**< its contents while it is nowhere; NULL: none, it reads as zeros */
};

static struct acl_physical *physical_of(void *handle)
{
    return handle ? (struct acl_physical *)(void *)((char *)handle -
                                                    offsetof(struct acl_physical, handle))
                  : NULL;
}

static struct acl_physical *mapped_at(const void *addr)
{
    struct front_range *range = front_ranges_at(&acl_process()->mapped, (uintptr_t)addr);
    return (struct acl_physical *)(void *)range; // its first member
}

static aclError check_reserved(const char *func, size_t offset, uint64_t flags)
{
    return offset || flags ? acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                                      "offset %zu and flags %llu: both must be 0", offset,
                                      (unsigned long long)flags)
                           : ACL_SUCCESS;
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtReserveMemAddress";
    uint64_t addr;
    if (!virPtr || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "virPtr is NULL or size is 0");
    }
    if (alignment || expectPtr || flags > 1 || size > SIZE_MAX - GRANULE) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "alignment must be 0, expectPtr NULL, flags 0 or 1 (huge pages), and size "
                        "%zu possible",
                        size);
    }
    // Adapters ask for a few bytes to learn whether it works at all.
    size = (size + GRANULE - 1) / GRANULE * GRANULE;
    aclError error = acl_current_context(func, &context);
    if (!error) {
        error = acl_status(func, leo_rt_addresses_reserve(context->rt, size, &addr));
    }
    if (!error) {
        *virPtr = (void *)(uintptr_t)addr;
    }
    return error;
}

// Takes it off its address for good; its contents are kept aside if they are still wanted.
static aclError take_off(const char *func, struct acl_physical *physical, bool keep)
{
    void *where = (void *)physical->range.base;
    if (keep) {
        physical->saved = leo_alloc(physical->bytes);
        if (!physical->saved) {
            return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
        }
        aclError error = acl_status(
            func, leo_rt_memcpy(physical->device, physical->saved, where, physical->bytes));
        if (error) {
            leo_free(physical->saved);
            physical->saved = NULL;
            return error;
        }
    }
    (void)front_ranges_take(&acl_process()->mapped, physical->range.base);
    aclError error = acl_status(
        func, leo_rt_addresses_unmap(physical->device, physical->range.base, physical->bytes));
    physical->range.bytes = 0;
    physical->parked = false;
    return error;
}

// Takes away what the program has unmapped in a range.
static aclError clear_parked(const char *func, uintptr_t base, size_t bytes)
{
    aclError error = ACL_SUCCESS;
    for (size_t at = 0; !error && at < bytes; at += GRANULE) {
        struct acl_physical *there = mapped_at((void *)(base + at));
        if (there && there->parked) {
            error = take_off(func, there, true);
        }
    }
    return error;
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    ACL_PINNED struct acl_context *context = NULL;
    struct acl_process *process = acl_process();
    const char *func = "aclrtReleaseMemAddress";
    uint64_t bytes;
    if (!virPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "virPtr is NULL");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    struct leo_rt_device *owner = acl_memory_owner(context, virPtr);
    if (!owner || leo_rt_addresses_size(owner, (uintptr_t)virPtr, &bytes) != LEO_OK) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "%p was not returned by aclrtReserveMemAddress", virPtr);
    }
    pthread_mutex_lock(&process->map_lock);
    error = clear_parked(func, (uintptr_t)virPtr, bytes);
    if (!error) {
        error = acl_status(func, leo_rt_addresses_release(owner, (uintptr_t)virPtr));
    }
    pthread_mutex_unlock(&process->map_lock);
    return error;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtMallocPhysical";
    if (!handle || !prop || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or size is 0");
    }
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED || flags || size % GRANULE ||
        prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "handleType and allocationType must be 0, flags 0, location a device, and "
                        "size %zu a multiple of %d",
                        size, GRANULE);
    }
    aclError error = acl_current_context(func, &context);
    if (!error && prop->location.id != (uint32_t)context->device) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "device %u is not the current one (%d)",
                         prop->location.id, context->device);
    }
    if (error) {
        return error;
    }
    struct acl_physical *physical = leo_calloc(1, sizeof(*physical));
    if (!physical) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    error = acl_status(func, leo_rt_physical_take(context->rt, size));
    if (error) {
        leo_free(physical);
        return error;
    }
    physical->device = context->rt;
    physical->bytes = size;
    acl_handle_add(&physical->handle, ACL_KIND_PHYSICAL, &context->slot->physical);
    *handle = &physical->handle;
    return ACL_SUCCESS;
}

static aclError free_physical(const char *func, struct acl_physical *physical)
{
    aclError error = ACL_SUCCESS;
    if (physical->range.bytes) {
        error = take_off(func, physical, false);
    }
    leo_rt_physical_give(physical->device, physical->bytes);
    acl_handle_remove(&physical->handle);
    leo_free(physical->saved);
    leo_free(physical);
    return error;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    struct acl_process *process = acl_process();
    const char *func = "aclrtFreePhysical";
    struct acl_physical *physical = physical_of(acl_handle_find(handle, ACL_KIND_PHYSICAL));
    if (!physical) {
        return acl_fail(handle ? ACL_ERROR_RT_PARAM_INVALID : ACL_ERROR_INVALID_PARAM, func,
                        "%p is no live memory handle", handle);
    }
    pthread_mutex_lock(&process->map_lock);
    aclError error = ACL_SUCCESS;
    if (physical->range.bytes && !physical->parked) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                         "the memory is mapped at 0x%llx: call aclrtUnmapMem first",
                         (unsigned long long)physical->range.base);
        acl_handle_unpin(&physical->handle);
    } else if (acl_handle_claim(&physical->handle)) {
        error = free_physical(func, physical);
    }
    pthread_mutex_unlock(&process->map_lock);
    return error;
}

void acl_physical_end(struct acl_device *slot)
{
    struct acl_physical *physical;
    pthread_mutex_lock(&acl_process()->map_lock);
    while ((physical = physical_of(acl_handle_take(&slot->physical))) != NULL) {
        (void)free_physical("aclrtResetDevice", physical);
    }
    pthread_mutex_unlock(&acl_process()->map_lock);
}

// Moves the contents from the old address, or from aside, to the new one.
static aclError fill(const char *func, struct acl_physical *physical, void *where)
{
    aclError error = ACL_SUCCESS;
    if (physical->range.bytes) {
        error = acl_status(func, leo_rt_memcpy(physical->device, where,
                                               (void *)physical->range.base, physical->bytes));
        if (!error) {
            error = take_off(func, physical, false);
        }
    } else if (physical->saved) {
        error = acl_status(
            func, leo_rt_memcpy(physical->device, where, physical->saved, physical->bytes));
        leo_free(physical->saved);
        physical->saved = NULL;
    }
    return error;
}

static aclError map(const char *func, struct acl_physical *physical, void *where)
{
    if (physical->range.bytes && !physical->parked) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                        "the memory is mapped at 0x%llx already: a second address for it is not "
                        "supported",
                        (unsigned long long)physical->range.base);
    }
    if (physical->parked && physical->range.base == (uintptr_t)where) {
        physical->parked = false; // where it was
        return ACL_SUCCESS;
    }
    aclError error = clear_parked(func, (uintptr_t)where, physical->bytes);
    if (!error) {
        error = acl_status(
            func, leo_rt_addresses_map(physical->device, (uintptr_t)where, physical->bytes));
    }
    if (error) {
        return error;
    }
    error = fill(func, physical, where);
    physical->range = (struct front_range){(uintptr_t)where, physical->bytes};
    if (!error && front_ranges_put(&acl_process()->mapped, &physical->range) != FRONT_RANGE_PUT) {
        error = acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    return error;
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags)
{
    struct acl_process *process = acl_process();
    const char *func = "aclrtMapMem";
    aclError error = check_reserved(func, offset, flags);
    if (error) {
        return error;
    }
    ACL_PINNED struct front_handle *pinned = acl_handle_find(handle, ACL_KIND_PHYSICAL);
    struct acl_physical *physical = physical_of(pinned);
    if (!virPtr || !physical || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func,
                        "virPtr is NULL, size is 0, or handle is no live memory handle");
    }
    if (size != physical->bytes) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                        "size %zu is not that of the memory, %zu: it is mapped whole", size,
                        physical->bytes);
    }
    pthread_mutex_lock(&process->map_lock);
    error = map(func, physical, virPtr);
    pthread_mutex_unlock(&process->map_lock);
    return error;
}

aclError aclrtUnmapMem(void *virPtr)
{
    struct acl_process *process = acl_process();
    const char *func = "aclrtUnmapMem";
    if (!virPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "virPtr is NULL");
    }
    pthread_mutex_lock(&process->map_lock);
    struct acl_physical *physical = mapped_at(virPtr);
    bool good = physical && physical->range.base == (uintptr_t)virPtr && !physical->parked;
    if (good) {
        // Mostly it is freed next: only then, or when the address or the memory is wanted again, is
        // it taken off.
        physical->parked = true;
    }
    pthread_mutex_unlock(&process->map_lock);
    return good ? ACL_SUCCESS
                : acl_fail(ACL_ERROR_RT_PARAM_INVALID, func, "nothing is mapped at %p", virPtr);
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                          aclrtMemGranularityOptions option, size_t *granularity)
{
    if (!prop || !granularity ||
        (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAllocationGranularity",
                        "an argument is NULL or option %d is unknown", (int)option);
    }
    *granularity = GRANULE;
    return ACL_SUCCESS;
}

static aclError refuse_sharing(const char *func)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                    "device memory is not shared between processes: each has its own chip");
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t *shareableHandle)
{
    (void)handle;
    (void)handleType;
    (void)flags;
    (void)shareableHandle;
    return refuse_sharing("aclrtMemExportToShareableHandle");
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle *handle)
{
    (void)shareableHandle;
    (void)deviceId;
    (void)handle;
    return refuse_sharing("aclrtMemImportFromShareableHandle");
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    (void)shareableHandle;
    (void)pid;
    (void)pidNum;
    return refuse_sharing("aclrtMemSetPidToShareableHandle");
}

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    if (!pid) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetBareTgid", "pid is NULL");
    }
    *pid = (int32_t)getpid();
    return ACL_SUCCESS;
}
