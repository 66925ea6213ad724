/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's last error code and text, and the translation of the core's status codes. */
#include "acl_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct thread_error {
    aclError code;
    bool unread;
    char text[1024];
    char taken[1024]; /**< what aclGetRecentErrMsg handed out last */
};

static _Thread_local struct thread_error thread_error;

// Adapters sort errors by this code: memory, the caller's, resources, the device's.
static const char *class_of(aclError code)
{
    if (code == ACL_ERROR_RT_MEMORY_ALLOCATION || code == ACL_ERROR_BAD_ALLOC) {
        return "EL0004";
    }
    return code < 200000 ? "EZ1001" : code < 500000 ? "EZ2001" : "EZ5001";
}

// The form that adapters look for: class, process, time to the microsecond, text.
static int write_head(char *text, size_t bytes, aclError code, const char *func)
{
    struct timespec now;
    struct tm when;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &when);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d-%H:%M:%S", &when);
    return snprintf(text, bytes, "%s: [PID: %d] %s.%03ld.%03ld %s%s: error %d: ", class_of(code),
                    (int)getpid(), stamp, now.tv_nsec / 1000000, now.tv_nsec / 1000 % 1000,
                    code == ACL_ERROR_RT_MEMORY_ALLOCATION ? "Failed to allocate memory. " : "",
                    func, code);
}

aclError acl_fail(aclError code, const char *func, const char *fmt, ...)
{
    struct thread_error *error = &thread_error;
    va_list args;
    int used = write_head(error->text, sizeof(error->text), code, func);
    va_start(args, fmt);
    int length = vsnprintf(error->text + used, sizeof(error->text) - (size_t)used, fmt, args);
    va_end(args);
    used += length > 0 ? length : 0;
    if ((size_t)used < sizeof(error->text)) {
        snprintf(error->text + used, sizeof(error->text) - (size_t)used,
                 "\n        TraceBack (most recent call last):\n        %s", func);
    }
    // What was refused as not there is the caller's to cope with: it must not stand in for a later
    // error (programs ask for the last error when a call of another library fails).
    if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
        error->code = code;
    }
    error->unread = true;
    acl_log(ACL_ERROR, func, "%s", error->text);
    return code;
}

aclError acl_absent(const char *func, const char *why)
{
    return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, func, "%s", why);
}

aclError acl_null(const char *func, const char *what)
{
    return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s is NULL", what);
}

static const aclError api_codes[] = {
    [API_BAD_ARGUMENT - API_LAST] = ACL_ERROR_INVALID_PARAM,
    [API_REPEATED - API_LAST] = ACL_ERROR_REPEAT_INITIALIZE,
    [API_FINALIZED - API_LAST] = ACL_ERROR_REPEAT_FINALIZE,
    [API_NONE_VISIBLE - API_LAST] = ACL_ERROR_RT_NO_DEVICE,
    [API_NO_CONTEXT - API_LAST] = ACL_ERROR_RT_CONTEXT_NULL,
    [API_NOT_SET - API_LAST] = ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
    [API_BAD_STREAM - API_LAST] = ACL_ERROR_RT_STREAM_CONTEXT,
    [API_BAD_HANDLE - API_LAST] = ACL_ERROR_RT_INVALID_HANDLE,
    [API_NO_STREAMS - API_LAST] = ACL_ERROR_RT_NO_STREAM_RESOURCE,
    [API_NO_EVENTS - API_LAST] = ACL_ERROR_RT_NO_EVENT_RESOURCE,
    [API_EVENT_TIMEOUT - API_LAST] = ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
    [API_WAIT_TIMEOUT - API_LAST] = ACL_ERROR_RT_WAIT_TIMEOUT,
    [API_NO_TIME - API_LAST] = ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
    [API_TIME_REVERSED - API_LAST] = ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
    [API_REPORT_BOUND - API_LAST] = ACL_ERROR_RT_STREAM_SUBSCRIBE,
    [API_REPORT_NOT_BOUND - API_LAST] = ACL_ERROR_RT_THREAD_SUBSCRIBE,
    [API_REPORT_NO_THREAD - API_LAST] = ACL_ERROR_RT_STREAM_NO_CB_REG,
    [API_REPORT_LATE - API_LAST] = ACL_ERROR_RT_REPORT_TIMEOUT,
    [API_REGISTERED - API_LAST] = ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    [API_NOT_REGISTERED - API_LAST] = ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
    [API_STOPPED - API_LAST] = ACL_ERROR_RT_TASK_ABORT_STOP,
    [API_FAULT_CUBE - API_LAST] = ACL_ERROR_RT_AICORE_EXCEPTION,
    [API_FAULT_CUBE_TRAP - API_LAST] = ACL_ERROR_RT_AICORE_TRAP_EXCEPTION,
    [API_FAULT_CUBE_TIME - API_LAST] = ACL_ERROR_RT_AICORE_TIMEOUT,
    [API_FAULT_VECTOR - API_LAST] = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
    [API_FAULT_VECTOR_TRAP - API_LAST] = ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION,
    [API_FAULT_VECTOR_TIME - API_LAST] = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT,
    [API_FAULT_DMA - API_LAST] = ACL_ERROR_RT_SYS_DMA,
    [API_WORK_LOST - API_LAST] = ACL_ERROR_OP_NOT_FOUND,
    [API_PEER_LOST - API_LAST] = ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
    [API_CAPTURED - API_LAST] = ACL_ERROR_RT_STREAM_CAPTURED,
    [API_CAPTURING - API_LAST] = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
    [API_CAPTURE_DEFAULT - API_LAST] = ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
    [API_CAPTURE_NONE - API_LAST] = ACL_ERROR_RT_STREAM_NOT_CAPTURED,
    [API_CAPTURE_ELSEWHERE - API_LAST] = ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
    [API_CAPTURE_THREAD - API_LAST] = ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
    [API_CAPTURE_INVALID - API_LAST] = ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
    [API_CAPTURE_UNJOINED - API_LAST] = ACL_ERROR_RT_STREAM_UNJOINED,
    [API_GROUP_STATE - API_LAST] = ACL_ERROR_STREAM_TASK_GROUP_STATUS,
    [API_GRAPH_STATE - API_LAST] = ACL_ERROR_RT_MODEL_EXECUTE,
    [API_GRAPH_RUNNING - API_LAST] = ACL_ERROR_RT_MODEL_RUNNING,
    [API_GRAPH_UPDATE - API_LAST] = ACL_ERROR_RT_MODEL_UPDATE_FAILED,
};
_Static_assert(sizeof(api_codes) / sizeof(api_codes[0]) == API_CODES_END - API_LAST,
               "a code for each");

aclError acl_code(leo_status status)
{
    if (status > API_LAST && status < API_CODES_END) {
        return api_codes[status - API_LAST];
    }
    switch (status) {
    case LEO_OK:
        return ACL_SUCCESS;
    case LEO_ERR_NO_MEMORY:
        return ACL_ERROR_BAD_ALLOC;
    case LEO_ERR_NO_DEVICE_MEMORY:
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    case LEO_ERR_NO_DEVICE:
        return ACL_ERROR_RT_INVALID_DEVICEID;
    case LEO_ERR_TIMEOUT:
        return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
    case LEO_ERR_NOT_FOUND:
        return ACL_ERROR_RT_KERNEL_LOOKUP;
    case LEO_ERR_IO:
        return ACL_ERROR_RT_FILE_OPEN;
    case LEO_ERR_WRONG_ARCH:
        return ACL_ERROR_RT_SOC_VERSION;
    case LEO_ERR_UNSUPPORTED:
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    case LEO_ERR_DEAD:
        return ACL_ERROR_RT_LOST_HEARTBEAT;
    case LEO_ERR_FAULT:
        return ACL_ERROR_RT_AICORE_EXCEPTION;
    case LEO_ERR_FULL:
        return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
    case LEO_ERR_NOT_READY:
        return ACL_ERROR_RT_STREAM_NOT_COMPLETE;
    default:
        return status < 0 && status >= LEO_ERR_MISMATCH ? ACL_ERROR_RT_PARAM_INVALID
                                                        : ACL_ERROR_RT_INTERNAL_ERROR;
    }
}

aclError acl_result(const char *func, leo_status status)
{
    if (status == LEO_OK) {
        return ACL_SUCCESS;
    }
    const char *text = leo_rt_last_error();
    return acl_fail(acl_code(status), func, "%s", *text ? text : leo_status_text(status));
}

aclError acl_timeout_check(const char *func, int32_t timeout)
{
    if (timeout == -1 || timeout > 0) {
        return ACL_SUCCESS;
    }
    return acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                    "timeout %d: pass -1 (for ever) or milliseconds above 0", timeout);
}

const char *aclGetRecentErrMsg(void)
{
    struct thread_error *error = &thread_error;
    if (!error->unread) {
        return NULL;
    }
    memcpy(error->taken, error->text, sizeof(error->taken));
    error->unread = false;
    return error->taken;
}

const char *leo_acl_error_text(void)
{
    return thread_error.unread ? thread_error.text : "";
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    if (level != ACL_RT_THREAD_LEVEL) {
        return ACL_ERROR_INVALID_PARAM;
    }
    return thread_error.code;
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    aclError code = aclrtPeekAtLastError(level);
    if (level == ACL_RT_THREAD_LEVEL) {
        thread_error.code = ACL_SUCCESS;
    }
    return code;
}
