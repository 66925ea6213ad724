/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: addresses reserved apart from the memory behind them. */
#include "../acl_internal.h"

#include <unistd.h>

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags)
{
    if (!virPtr || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "virPtr is NULL or size is 0");
    }
    if (alignment || expectPtr || flags > 1) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "alignment must be 0, expectPtr NULL, and flags 0 or 1 (huge pages)");
    }
    return acl_result(__func__, api_addresses_reserve(size, virPtr));
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    return virPtr ? acl_result(__func__, api_addresses_release(virPtr))
                  : acl_null(__func__, "virPtr");
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    if (!handle || !prop || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL or size is 0");
    }
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED || flags ||
        prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "handleType and allocationType must be 0, flags 0, location a device");
    }
    return acl_result(__func__, api_physical_alloc(prop->location.id, size, handle));
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    return handle ? acl_result(__func__, api_physical_free(handle)) : acl_null(__func__, "handle");
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags)
{
    if (offset || flags) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "offset %zu and flags %llu: both must be 0", offset,
                        (unsigned long long)flags);
    }
    return virPtr && size
               ? acl_result(__func__, api_physical_map(virPtr, size, handle))
               : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "virPtr is NULL or size is 0");
}

aclError aclrtUnmapMem(void *virPtr)
{
    return virPtr ? acl_result(__func__, api_physical_unmap(virPtr)) : acl_null(__func__, "virPtr");
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
    *granularity = API_GRANULE;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    if (!pid) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtDeviceGetBareTgid", "pid is NULL");
    }
    *pid = (int32_t)getpid();
    return ACL_SUCCESS;
}
