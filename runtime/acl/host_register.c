/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own host memory, pinned: the device copies to and from it without a detour. */
#include "acl_internal.h"

#include <leo/alloc.h>

static aclError register_memory(const char *func, void *ptr, uint64_t size)
{
    ACL_PINNED struct acl_context *context = NULL;
    if (!ptr || size == 0) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "ptr is NULL or size is 0");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    leo_status status = leo_rt_host_register(context->rt, ptr, size);
    return status == LEO_ERR_EXISTS
               ? acl_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, func, "%s", leo_rt_last_error())
               : acl_status(func, status);
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    const char *func = "aclrtHostRegister";
    if (!devPtr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "devPtr is NULL");
    }
    if (type != ACL_HOST_REGISTER_MAPPED) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "type %d is not supported",
                        (int)type);
    }
    aclError error = register_memory(func, ptr, size);
    if (!error) {
        // The copy engines know it by the same address.
        *devPtr = ptr;
    }
    return error;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    if (flag & ~(uint32_t)(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtHostRegisterV2",
                        "flags 0x%x are not supported", flag);
    }
    return register_memory("aclrtHostRegisterV2", ptr, size);
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtHostGetDevicePointer";
    if (!pHost || !pDevice || flag) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL or flag %u is not 0",
                        flag);
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    if (!leo_rt_host_is_pinned(context->rt, pHost)) {
        return acl_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, func, "%p is not registered", pHost);
    }
    *pDevice = pHost;
    return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void *ptr)
{
    ACL_PINNED struct acl_context *context = NULL;
    const char *func = "aclrtHostUnregister";
    if (!ptr) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "ptr is NULL");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    leo_status status = leo_rt_host_unregister(context->rt, ptr);
    return status == LEO_ERR_NOT_FOUND
               ? acl_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, func, "%s", leo_rt_last_error())
               : acl_status(func, status);
}
