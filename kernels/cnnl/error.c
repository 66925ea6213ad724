/* SPDX-License-Identifier: Apache-2.0 */
/* Codes and their texts. */
#include "cnnl_call.h"

#include <leo/cnrt_hook.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const names[] = {
    [CNNL_STATUS_SUCCESS] = "CNNL_STATUS_SUCCESS",
    [CNNL_STATUS_NOT_INITIALIZED] = "CNNL_STATUS_NOT_INITIALIZED",
    [CNNL_STATUS_ALLOC_FAILED] = "CNNL_STATUS_ALLOC_FAILED",
    [CNNL_STATUS_BAD_PARAM] = "CNNL_STATUS_BAD_PARAM",
    [CNNL_STATUS_INTERNAL_ERROR] = "CNNL_STATUS_INTERNAL_ERROR",
    [CNNL_STATUS_ARCH_MISMATCH] = "CNNL_STATUS_ARCH_MISMATCH",
    [CNNL_STATUS_EXECUTION_FAILED] = "CNNL_STATUS_EXECUTION_FAILED",
    [CNNL_STATUS_NOT_SUPPORTED] = "CNNL_STATUS_NOT_SUPPORTED",
    [CNNL_STATUS_NUMERICAL_OVERFLOW] = "CNNL_STATUS_NUMERICAL_OVERFLOW",
};

static bool is_known(cnnlStatus_t status)
{
    return (unsigned)status < sizeof(names) / sizeof(names[0]);
}

const char *cnnlGetErrorString(cnnlStatus_t status)
{
    return is_known(status) ? names[status] : "CNNL_STATUS_UNKNOWN";
}

cnnlStatus_t cnnl_fail(cnnlStatus_t status, const char *func, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s", func, text);
    leo_cnrt_tell("CNNL", func, cnnlGetErrorString(status), (int)status, text);
    return status;
}
