/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own host memory, pinned: the device copies to and from it without a detour. */
#include "../acl_internal.h"

static aclError register_memory(const char *func, void *ptr, uint64_t size)
{
    return ptr && size ? acl_result(func, api_host_register(ptr, size))
                       : acl_fail(ACL_ERROR_INVALID_PARAM, func, "ptr is NULL or size is 0");
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    if (!devPtr) {
        return acl_null(__func__, "devPtr");
    }
    if (type != ACL_HOST_REGISTER_MAPPED) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__, "type %d is not supported",
                        (int)type);
    }
    aclError error = register_memory(__func__, ptr, size);
    if (!error) {
        // The copy engines know it by the same address.
        *devPtr = ptr;
    }
    return error;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    if (flag & ~(uint32_t)(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__, "flags 0x%x are not supported",
                        flag);
    }
    return register_memory(__func__, ptr, size);
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    if (!pHost || !pDevice || flag) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "an argument is NULL or flag %u is not 0", flag);
    }
    aclError error = acl_result(__func__, api_host_check(pHost));
    if (!error) {
        *pDevice = pHost;
    }
    return error;
}

aclError aclrtHostUnregister(void *ptr)
{
    return ptr ? acl_result(__func__, api_host_unregister(ptr)) : acl_null(__func__, "ptr");
}
