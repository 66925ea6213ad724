/* SPDX-License-Identifier: Apache-2.0 */
/* Programs' own allocators, offered to the operators of a stream. */
#include "../../api_common/memory/allocator.h"

#include "../acl_internal.h"

#include <stddef.h>

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void)
{
    void *desc = NULL;
    return acl_result(__func__, api_allocator_create(&desc)) == ACL_SUCCESS ? desc : NULL;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc)
{
    return acl_result(__func__, api_allocator_destroy(allocatorDesc));
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator)
{
    return acl_result(
        __func__,
        api_allocator_set(allocatorDesc, offsetof(struct api_allocator, object), &allocator));
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func)
{
    return acl_result(
        __func__, api_allocator_set(allocatorDesc, offsetof(struct api_allocator, alloc), &func));
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func)
{
    return acl_result(
        __func__,
        api_allocator_set(allocatorDesc, offsetof(struct api_allocator, give_back), &func));
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func)
{
    return acl_result(
        __func__,
        api_allocator_set(allocatorDesc, offsetof(struct api_allocator, alloc_near), &func));
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func)
{
    return acl_result(
        __func__, api_allocator_set(allocatorDesc, offsetof(struct api_allocator, addr_of), &func));
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc)
{
    return acl_result(__func__, api_allocator_offer(stream, allocatorDesc));
}

aclError aclrtAllocatorUnregister(aclrtStream stream)
{
    return acl_result(__func__, api_allocator_withdraw(stream));
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc,
                                   aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc,
                                   aclrtAllocatorFreeFunc *freeFunc,
                                   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc)
{
    struct api_allocator found;
    if (!allocatorDesc || !allocator || !allocFunc || !freeFunc || !allocAdviseFunc ||
        !getAddrFromBlockFunc) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "an argument is NULL");
    }
    aclError error = acl_result(__func__, api_allocator_of(stream, allocatorDesc, &found));
    if (!error) {
        *allocator = found.object;
        *allocFunc = found.alloc;
        *freeFunc = found.give_back;
        *allocAdviseFunc = found.alloc_near;
        *getAddrFromBlockFunc = found.addr_of;
    }
    return error;
}
