/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries on top of this one use of it. */
#include "cnrt_internal.h"

#include <leo/cnrt_hook.h>

leo_status leo_cnrt_stream_get(const void *queue, struct leo_rt_stream **stream)
{
    API_PINNED struct api_stream *found = NULL;
    void *handle;
    leo_status status = cnrt_stream((cnrtQueue_t)(uintptr_t)queue, &handle);
    if (status == LEO_OK) {
        status = api_stream_get(handle, &found);
    }
    if (status == LEO_OK) {
        *stream = found->rt;
    }
    return status;
}

leo_status leo_cnrt_device_get(struct leo_rt_device **device)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        *device = context->rt;
    }
    return status;
}

leo_status leo_cnrt_device_set(int32_t id)
{
    return api_device_set(id);
}
