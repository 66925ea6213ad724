/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries on top of this one use of it. */
#include "acl_internal.h"

#include <leo/acl_hook.h>
#include <stdio.h>

aclError leo_acl_stream_get(aclrtStream stream, struct leo_rt_stream **rt,
                            struct leo_rt_device **device)
{
    API_PINNED struct api_stream *found = NULL;
    aclError error = acl_result("aclrtStream", api_stream_to_fill(stream, &found));
    if (!error) {
        *rt = found->rt;
        *device = found->context->rt;
    }
    return error;
}

aclError leo_acl_device_get(struct leo_rt_device **device)
{
    API_PINNED struct api_context *context = NULL;
    aclError error = acl_result("aclrtContext", api_context_current(&context));
    if (!error) {
        *device = context->rt;
    }
    return error;
}

aclError leo_acl_fail(aclError code, const char *func, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return acl_fail(code, func, "%s", text);
}

aclError leo_acl_status(const char *func, leo_status status)
{
    return acl_result(func, status);
}

void leo_acl_lost(const char *text)
{
    api_lost_work(text);
}
