/* SPDX-License-Identifier: Apache-2.0 */
/* Device and host memory. */
#include "../acl_internal.h"

#include <string.h>

enum {
    BEHIND = 32, /**< bytes that aclrtMalloc adds: kernels may read so far over the end */
    PAGE_BYTES = 4096
};

static aclError allocate(const char *func, void **ptr, size_t size, aclrtMemMallocPolicy policy,
                         size_t behind)
{
    unsigned extra = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                     ACL_MEM_ACCESS_USER_SPACE_READONLY;
    bool known = ((unsigned)policy & ~extra) <= ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
    if (!ptr || size == 0 || !known) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s",
                        !ptr        ? "devPtr is NULL"
                        : size == 0 ? "size is 0"
                                    : "the policy is unknown");
    }
    return acl_result(func, api_memory_alloc(size, behind, ptr));
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate(__func__, devPtr, size, policy, BEHIND);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate(__func__, devPtr, size, policy, BEHIND);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    return allocate(__func__, devPtr, size, policy, 0);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg)
{
    (void)cfg; // module and device ids serve statistics only
    return allocate(__func__, devPtr, size, policy, BEHIND);
}

aclError aclrtFree(void *devPtr)
{
    return devPtr ? acl_result(__func__, api_memory_free(devPtr)) : acl_null(__func__, "devPtr");
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    return hostPtr && size ? acl_result(__func__, api_host_alloc(size, hostPtr))
                           : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "%s",
                                      hostPtr ? "size is 0" : "hostPtr is NULL");
}

aclError aclrtFreeHost(void *hostPtr)
{
    return hostPtr ? acl_result(__func__, api_host_free(hostPtr)) : acl_null(__func__, "hostPtr");
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
    if (!free_out || !total_out || (int)attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "an argument is NULL or the attribute is unknown");
    }
    aclError error = acl_result(__func__, api_memory_info(free_out, total_out));
    // The chips modelled have HBM and no DDR of their own; both questions are answered, DDR with
    // nothing.
    bool ddr = attr == ACL_DDR_MEM || (attr >= ACL_DDR_MEM_HUGE && attr <= ACL_DDR_MEM_NORMAL) ||
               attr == ACL_DDR_MEM_P2P_HUGE || attr == ACL_DDR_MEM_P2P_NORMAL;
    if (!error && ddr) {
        *free_out = *total_out = 0;
    }
    return error;
}

aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes)
{
    static const aclrtMemLocationType types[] = {
        [API_PLACE_PAGEABLE] = ACL_MEM_LOCATION_TYPE_UNREGISTERED,
        [API_PLACE_PINNED] = ACL_MEM_LOCATION_TYPE_HOST,
        [API_PLACE_DEVICE] = ACL_MEM_LOCATION_TYPE_DEVICE,
    };
    struct api_pointer pointer;
    if (!ptr || !attributes) {
        return acl_null(__func__, "an argument");
    }
    aclError error = acl_result(__func__, api_pointer_get(ptr, &pointer));
    if (!error) {
        memset(attributes, 0, sizeof(*attributes));
        attributes->pageSize = PAGE_BYTES;
        attributes->location.type = types[pointer.kind];
        attributes->location.id = pointer.kind == API_PLACE_DEVICE ? (uint32_t)pointer.device : 0;
    }
    return error;
}

aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize)
{
    struct api_pointer pointer;
    if (!ptr) {
        return acl_null(__func__, "ptr");
    }
    aclError error = acl_result(__func__, api_pointer_get(ptr, &pointer));
    if (!error && (pointer.kind != API_PLACE_DEVICE || !pointer.bytes)) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "%p is in no device memory", ptr);
    }
    if (!error && pbase) {
        *pbase = (void *)(uintptr_t)pointer.base;
    }
    if (!error && psize) {
        *psize = pointer.bytes;
    }
    return error;
}

aclError aclrtMemFlush(void *devPtr, size_t size)
{
    return devPtr && size ? acl_result(__func__, api_memory_check(devPtr, size))
                          : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "devPtr is NULL or size 0");
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
    return devPtr && size ? acl_result(__func__, api_memory_check(devPtr, size))
                          : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "devPtr is NULL or size 0");
}
