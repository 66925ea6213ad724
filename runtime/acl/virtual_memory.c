/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory: addresses reserved apart from the memory behind them. */
#include "acl_internal.h"

#include <unistd.h>

static aclError refuse(const char *func)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func,
                    "virtual memory is not supported yet: allocate with aclrtMalloc");
}

aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment, void *expectPtr,
                                uint64_t flags)
{
    (void)virPtr;
    (void)size;
    (void)alignment;
    (void)expectPtr;
    (void)flags;
    return refuse("aclrtReserveMemAddress");
}

aclError aclrtReleaseMemAddress(void *virPtr)
{
    (void)virPtr;
    return refuse("aclrtReleaseMemAddress");
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *prop, uint64_t flags)
{
    (void)handle;
    (void)size;
    (void)prop;
    (void)flags;
    return refuse("aclrtMallocPhysical");
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    (void)handle;
    return refuse("aclrtFreePhysical");
}

aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags)
{
    (void)virPtr;
    (void)size;
    (void)offset;
    (void)handle;
    (void)flags;
    return refuse("aclrtMapMem");
}

aclError aclrtUnmapMem(void *virPtr)
{
    (void)virPtr;
    return refuse("aclrtUnmapMem");
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
