/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts. */
#include "acl_internal.h"

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    struct api_context *made;
    if (!context) {
        return acl_null(__func__, "context");
    }
    aclError error = acl_result(__func__, api_context_create(deviceId, &made));
    if (!error) {
        *context = made;
    }
    return error;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    if (!context) {
        return acl_null(__func__, "context");
    }
    return acl_result(__func__, api_context_destroy(context));
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    return acl_result(__func__, api_context_set(context));
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    if (!context) {
        return acl_null(__func__, "context");
    }
    return acl_result(__func__, api_context_get(context));
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    if (!stream) {
        return acl_null(__func__, "stream");
    }
    return acl_result(__func__, api_context_default_stream(stream));
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    bool is_set = false;
    if (!active) {
        return acl_null(__func__, "active");
    }
    aclError error = acl_result(__func__, api_device_is_set(deviceId, &is_set));
    if (!error) {
        *active = is_set;
        if (flags) {
            *flags = 0;
        }
    }
    return error;
}
