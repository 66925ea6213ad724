/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of memory in the order of streams. */
#include "../../api_common/memory/memory_pool.h"

#include "../acl_internal.h"

#include <acl/acl_rt_memory_soma.h>
#include <string.h>

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
{
    int32_t device;
    if (!memPool || !poolProps) {
        return acl_null(__func__, memPool ? "poolProps" : "memPool");
    }
    aclError error = aclrtGetDevice(&device);
    if (error) {
        return error;
    }
    if (poolProps->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED ||
        poolProps->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
        poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
        poolProps->location.id != (uint32_t)device) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                        "allocType and handleType must be 0, location the current device (%d)",
                        device);
    }
    return acl_result(__func__, api_pool_create(poolProps->maxSize, memPool));
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool)
{
    return acl_result(__func__, api_pool_destroy(memPool));
}

// The pool's number behind an attribute; false for attributes that are yes or no.
static bool number_of(aclrtMemPoolAttr attr, enum api_pool_number *number)
{
    switch (attr) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
        *number = API_POOL_THRESHOLD;
        return true;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
        *number = API_POOL_RESERVED;
        return true;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
        *number = API_POOL_RESERVED_HIGH;
        return true;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
        *number = API_POOL_USED;
        return true;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
        *number = API_POOL_USED_HIGH;
        return true;
    case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
    case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        break;
    }
    return false;
}

static aclError check_attribute(const char *func, aclrtMemPoolAttr attr, const void *value,
                                enum api_pool_number *number)
{
    if (!value) {
        return acl_null(func, "value");
    }
    if (!number_of(attr, number)) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                        "attribute %d: blocks are used again by their stream, and by others once "
                        "they are free",
                        (int)attr);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    enum api_pool_number number;
    uint64_t bytes;
    aclError error = check_attribute(__func__, attr, value, &number);
    if (error) {
        return error;
    }
    memcpy(&bytes, value, sizeof(bytes));
    return acl_result(__func__, api_pool_set(memPool, number, bytes));
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    enum api_pool_number number;
    uint64_t bytes;
    aclError error = check_attribute(__func__, attr, value, &number);
    if (!error) {
        error = acl_result(__func__, api_pool_get(memPool, number, &bytes));
    }
    if (!error) {
        memcpy(value, &bytes, sizeof(bytes));
    }
    return error;
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream)
{
    return ptr && size ? acl_result(__func__, api_pool_alloc(memPool, size, stream, ptr))
                       : acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "ptr is NULL or size is 0");
}

aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream)
{
    return ptr ? acl_result(__func__, api_pool_free(ptr, stream)) : acl_null(__func__, "ptr");
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep)
{
    return acl_result(__func__, api_pool_trim(memPool, minBytesToKeep));
}
