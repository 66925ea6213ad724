/* SPDX-License-Identifier: Apache-2.0 */
/* The callback that is told of tasks that fail. */
#include "acl_internal.h"

#include <sys/syscall.h>
#include <unistd.h>

struct aclrtExceptionInfo {
    uint32_t task, stream, thread, device, error;
};

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    atomic_store(&acl_process()->exception_callback, (uintptr_t)callback); // NULL: none any more
    return ACL_SUCCESS;
}

void acl_exception_tell(const struct front_stream *stream, leo_status status, uint64_t task)
{
    const aclrtExceptionInfoCallback callback =
        (aclrtExceptionInfoCallback)atomic_load(&acl_process()->exception_callback);
    if (!callback) {
        return;
    }
    aclrtExceptionInfo info = {
        .task = (uint32_t)task,
        .stream = (uint32_t)stream->id,
        .thread = (uint32_t)syscall(SYS_gettid),
        .device = (uint32_t)stream->context->device,
        .error = (uint32_t)acl_code(status),
    };
    callback(&info);
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info ? info->task : UINT32_MAX;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info ? info->stream : UINT32_MAX;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info ? info->thread : UINT32_MAX;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info ? info->device : UINT32_MAX;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info ? info->error : UINT32_MAX;
}
