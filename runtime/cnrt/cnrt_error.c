/* SPDX-License-Identifier: Apache-2.0 */
/* Codes, their texts, and each thread's last error. */
#include "cnrt_internal.h"

#include <leo/cnrt_hook.h>
#include <unistd.h>

struct code {
    int value;
    const char *name, *text;
};

static const struct code codes[] = {
    {cnrtSuccess, "cnrtSuccess", "no error"},
    {cnrtErrorNotReady, "cnrtErrorNotReady", "work is still under way"},
    {cnrtErrorInit, "cnrtErrorInit", "the library could not be initialized"},
    {cnrtErrorNoDevice, "cnrtErrorNoDevice", "there is no device"},
    {cnrtErrorDeviceInvalid, "cnrtErrorDeviceInvalid", "there is no device of this number"},
    {cnrtErrorArgsInvalid, "cnrtErrorArgsInvalid", "an argument is invalid"},
    {cnrtErrorSys, "cnrtErrorSys", "the operating system failed"},
    {cnrtErrorSysNoMem, "cnrtErrorSysNoMem", "out of host memory"},
    {cnrtErrorInvalidResourceHandle, "cnrtErrorInvalidResourceHandle", "a handle is invalid"},
    {cnrtErrorIllegalState, "cnrtErrorIllegalState", "not possible in this state"},
    {cnrtErrorNotSupport, "cnrtErrorNotSupport", "not supported"},
    {cnrtErrorOpsNotPermitted, "cnrtErrorOpsNotPermitted", "not permitted"},
    {cnrtErrorQueue, "cnrtErrorQueue", "the queue failed"},
    {cnrtErrorNoMem, "cnrtErrorNoMem", "out of device memory"},
    {cnrtErrorAssert, "cnrtErrorAssert", "an assertion of a kernel failed"},
    {cnrtErrorKernelTrap, "cnrtErrorKernelTrap", "a kernel was stopped by a fault"},
    {cnrtErrorKernelUserTrap, "cnrtErrorKernelUserTrap", "a kernel ended itself"},
    {cnrtErrorNotFound, "cnrtErrorNotFound", "not found"},
    {cnrtErrorInvalidKernel, "cnrtErrorInvalidKernel", "no valid kernel file"},
    {cnrtErrorUnsupportedKernelVersion, "cnrtErrorUnsupportedKernelVersion",
     "a kernel file for another chip"},
    {cnrtErrorNoKernel, "cnrtErrorNoKernel", "no kernel of this name or address"},
    {cnrtErrorNoModule, "cnrtErrorNoModule", "no kernel file is loaded"},
    {cnrtErrorDevice, "cnrtErrorDevice", "the device failed and must be reset"},
    {cnrtErrorNoAttribute, "cnrtErrorNoAttribute", "the device has no such attribute"},
    {cnrtErrorMemcpyDirectionInvalid, "cnrtErrorMemcpyDirectionInvalid",
     "the direction of a copy does not fit its pointers"},
    {cnrtErrorNoCnrtContext, "cnrtErrorNoCnrtContext", "the thread has no context"},
    {cnrtErrorUnknown, "cnrtErrorUnknown", "unknown error"},
};

static const struct code *find(int value)
{
    size_t i = 0;
    while (i + 1 < sizeof(codes) / sizeof(codes[0]) && codes[i].value != value) {
        i++;
    }
    return &codes[i]; // the last is for all others
}

static const int api_codes[] = {
    [API_BAD_ARGUMENT - API_LAST] = cnrtErrorArgsInvalid,
    [API_REPEATED - API_LAST] = cnrtSuccess,
    [API_FINALIZED - API_LAST] = cnrtErrorInit,
    [API_NONE_VISIBLE - API_LAST] = cnrtErrorNoDevice,
    [API_NO_CONTEXT - API_LAST] = cnrtErrorNoCnrtContext,
    [API_NOT_SET - API_LAST] = cnrtErrorNoCnrtContext,
    [API_BAD_STREAM - API_LAST] = cnrtErrorInvalidResourceHandle,
    [API_BAD_HANDLE - API_LAST] = cnrtErrorInvalidResourceHandle,
    [API_NO_STREAMS - API_LAST] = cnrtErrorQueue,
    [API_NO_EVENTS - API_LAST] = cnrtErrorNoMem,
    [API_EVENT_TIMEOUT - API_LAST] = cnrtErrorNotReady,
    [API_WAIT_TIMEOUT - API_LAST] = cnrtErrorQueue,
    [API_NO_TIME - API_LAST] = cnrtErrorNotReady,
    [API_TIME_REVERSED - API_LAST] = cnrtErrorArgsInvalid,
    [API_REPORT_BOUND - API_LAST] = cnrtErrorIllegalState,
    [API_REPORT_NOT_BOUND - API_LAST] = cnrtErrorIllegalState,
    [API_REPORT_NO_THREAD - API_LAST] = cnrtErrorIllegalState,
    [API_WORK_LOST - API_LAST] = cnrtErrorUnknown,
    [API_REPORT_LATE - API_LAST] = cnrtErrorNotReady,
    [API_REGISTERED - API_LAST] = cnrtErrorArgsInvalid,
    [API_NOT_REGISTERED - API_LAST] = cnrtErrorArgsInvalid,
    [API_STOPPED - API_LAST] = cnrtErrorQueue,
    [API_FAULT_CUBE - API_LAST] = cnrtErrorKernelTrap,
    [API_FAULT_CUBE_TRAP - API_LAST] = cnrtErrorKernelUserTrap,
    [API_FAULT_CUBE_TIME - API_LAST] = cnrtErrorKernelTrap,
    [API_FAULT_VECTOR - API_LAST] = cnrtErrorKernelTrap,
    [API_FAULT_VECTOR_TRAP - API_LAST] = cnrtErrorKernelUserTrap,
    [API_FAULT_VECTOR_TIME - API_LAST] = cnrtErrorKernelTrap,
    [API_FAULT_DMA - API_LAST] = cnrtErrorQueue,
    [API_PEER_LOST - API_LAST] = cnrtErrorQueue,
    [API_CAPTURED - API_LAST] = cnrtErrorOpsNotPermitted,
    [API_CAPTURING - API_LAST] = cnrtErrorOpsNotPermitted,
    [API_CAPTURE_DEFAULT - API_LAST] = cnrtErrorOpsNotPermitted,
    [API_CAPTURE_NONE - API_LAST] = cnrtErrorIllegalState,
    [API_CAPTURE_ELSEWHERE - API_LAST] = cnrtErrorIllegalState,
    [API_CAPTURE_THREAD - API_LAST] = cnrtErrorIllegalState,
    [API_CAPTURE_INVALID - API_LAST] = cnrtErrorIllegalState,
    [API_CAPTURE_UNJOINED - API_LAST] = cnrtErrorIllegalState,
    [API_GROUP_STATE - API_LAST] = cnrtErrorIllegalState,
    [API_GRAPH_STATE - API_LAST] = cnrtErrorIllegalState,
    [API_GRAPH_RUNNING - API_LAST] = cnrtErrorNotReady,
    [API_GRAPH_UPDATE - API_LAST] = cnrtErrorArgsInvalid,
};
_Static_assert(sizeof(api_codes) / sizeof(api_codes[0]) == API_CODES_END - API_LAST,
               "a code for each");

static int code_of(leo_status status)
{
    if (status > API_LAST && status < API_CODES_END) {
        return api_codes[status - API_LAST];
    }
    switch (status) {
    case LEO_OK:
        return cnrtSuccess;
    case LEO_ERR_NO_MEMORY:
        return cnrtErrorSysNoMem;
    case LEO_ERR_NO_DEVICE_MEMORY:
        return cnrtErrorNoMem;
    case LEO_ERR_NO_DEVICE:
        return cnrtErrorDeviceInvalid;
    case LEO_ERR_NOT_READY:
    case LEO_ERR_TIMEOUT:
        return cnrtErrorNotReady;
    case LEO_ERR_NOT_FOUND:
        return cnrtErrorNotFound;
    case LEO_ERR_BAD_ELF:
    case LEO_ERR_PARSE:
        return cnrtErrorInvalidKernel;
    case LEO_ERR_WRONG_ARCH:
        return cnrtErrorUnsupportedKernelVersion;
    case LEO_ERR_UNSUPPORTED:
        return cnrtErrorNotSupport;
    case LEO_ERR_IO:
        return cnrtErrorSys;
    case LEO_ERR_DEAD:
        return cnrtErrorDevice;
    case LEO_ERR_FAULT:
        return cnrtErrorKernelTrap;
    case LEO_ERR_STATE:
        return cnrtErrorIllegalState;
    case LEO_ERR_FULL:
        return cnrtErrorQueue;
    default:
        return status < 0 && status >= LEO_ERR_MISMATCH ? cnrtErrorArgsInvalid : cnrtErrorUnknown;
    }
}

static _Thread_local cnrtRet_t last_error;

void leo_cnrt_tell(const char *library, const char *func, const char *name, int code,
                   const char *text)
{
    fprintf(stderr, "[%s] [error] [%d] %s: %s (%d): %s\n", library, (int)getpid(), func, name, code,
            text);
}

cnrtRet_t cnrt_fail(cnrtRet_t code, const char *func, const char *text)
{
    last_error = code;
    // As the vendor's library: what failed, and why, where a person sees it.
    leo_cnrt_tell("cnrt", func, cnrtGetErrorName(code), (int)code, text);
    return code;
}

cnrtRet_t cnrt_answer(const char *func, leo_status status)
{
    int code = code_of(status);
    return code == cnrtSuccess || code == cnrtErrorNotReady ? (cnrtRet_t)code
                                                            : cnrt_result(func, status);
}

cnrtRet_t cnrt_result(const char *func, leo_status status)
{
    int code = code_of(status);
    const char *text = leo_rt_last_error();
    return code == cnrtSuccess
               ? cnrtSuccess
               : cnrt_fail((cnrtRet_t)code, func, *text ? text : leo_status_text(status));
}

void cnrt_log(void *user, int level, const char *text)
{
    // Errors are reported with the call they come from.
    (void)user;
    (void)level;
    (void)text;
}

const char *cnrtGetErrorStr(cnrtRet_t ret)
{
    return find((int)ret)->text;
}

const char *cnrtGetErrorName(cnrtRet_t ret)
{
    return find((int)ret)->name;
}

cnrtRet_t cnrtPeekAtLastError(void)
{
    return last_error;
}

cnrtRet_t cnrtGetLastError(void)
{
    cnrtRet_t code = last_error;
    last_error = cnrtSuccess;
    return code;
}

void cnrtCheck(cnrtRet_t ret, const char *expression, const char *file, int line)
{
    if (ret != cnrtSuccess) {
        fprintf(stderr, "%s:%d: %s: %s (%d): %s\n", file, line, expression, cnrtGetErrorName(ret),
                (int)ret, cnrtGetErrorStr(ret));
        exit(EXIT_FAILURE);
    }
}

CNresult cnGetErrorString(CNresult result, const char **text)
{
    if (!text) {
        return CN_ERROR_INVALID_VALUE;
    }
    *text = find((int)result)->text;
    return CN_SUCCESS;
}

CNresult cnGetErrorName(CNresult result, const char **name)
{
    if (!name) {
        return CN_ERROR_INVALID_VALUE;
    }
    *name = find((int)result)->name;
    return CN_SUCCESS;
}
