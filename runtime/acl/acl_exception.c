/* SPDX-License-Identifier: Apache-2.0 */
/* The callback that is told of tasks that fail. */
#include "acl_internal.h"

#include <string.h>
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

static uintptr_t *find_call(uintptr_t function)
{
    uintptr_t *calls = acl_process()->exception_calls;
    for (int i = 0; i < ACL_EXCEPTION_CALLS; i++) {
        if (calls[i] == function) {
            return &calls[i];
        }
    }
    return NULL;
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    if (!callback) {
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "callback is NULL");
    }
    pthread_mutex_lock(&acl_process()->lock);
    const bool again = find_call((uintptr_t)callback) != NULL;
    uintptr_t *place = again ? NULL : find_call(0);
    if (place) {
        *place = (uintptr_t)callback;
    }
    pthread_mutex_unlock(&acl_process()->lock);
    return place ? ACL_SUCCESS
                 : acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                            again ? "callback is registered already"
                                  : "no more callbacks can be registered");
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    pthread_mutex_lock(&acl_process()->lock);
    uintptr_t *place = callback ? find_call((uintptr_t)callback) : NULL;
    if (place) {
        *place = 0;
    }
    pthread_mutex_unlock(&acl_process()->lock);
    return place ? ACL_SUCCESS
                 : acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__, "callback is not registered");
}

void acl_exception_tell(const struct api_stream *stream, leo_status status, uint64_t task)
{
    uintptr_t calls[ACL_EXCEPTION_CALLS + 1];
    pthread_mutex_lock(&acl_process()->lock);
    memcpy(calls, acl_process()->exception_calls, sizeof(acl_process()->exception_calls));
    pthread_mutex_unlock(&acl_process()->lock);
    calls[ACL_EXCEPTION_CALLS] = atomic_load(&acl_process()->exception_callback);
    aclrtExceptionInfo info = {
        .task = (uint32_t)task,
        .stream = (uint32_t)stream->id,
        .thread = (uint32_t)syscall(SYS_gettid),
        .device = (uint32_t)stream->context->device,
        .error = (uint32_t)acl_code(status),
    };
    for (int i = 0; i <= ACL_EXCEPTION_CALLS; i++) {
        if (calls[i]) {
            ((aclrtExceptionInfoCallback)calls[i])(&info);
        }
    }
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
