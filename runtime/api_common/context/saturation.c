/* SPDX-License-Identifier: Apache-2.0 */
/* What float results beyond their type become, and the status that remembers them. */
#include "../process/code.h"
#include "context.h"

// Without a context: of the first device, as all have the same mode then.
static _Atomic uint32_t *mode_of(const struct api_context *context)
{
    return &api_process()->float_mode[context ? leo_rt_device_index(context->rt) : 0];
}

leo_status api_saturate_get(bool *by_itself, bool *later)
{
    API_PINNED struct api_context *context = NULL;
    struct leo_caps caps;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        leo_rt_device_get_caps(context->rt, &caps);
    } else if (status == API_NO_CONTEXT) { // asked before a device is set
        status = api_device_caps(0, &caps);
    }
    if (status != LEO_OK) {
        return status;
    }
    const uint32_t mode = atomic_load(mode_of(context));
    *by_itself = caps.arch == API_ARCH_SATURATES;
    *later = mode == LEO_FLOAT_MODE_OWN ? *by_itself : mode == LEO_FLOAT_MODE_SATURATE;
    return LEO_OK;
}

leo_status api_saturate_set(bool later)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    const uint32_t mode = later ? LEO_FLOAT_MODE_SATURATE : LEO_FLOAT_MODE_INFINITE;
    if (status == LEO_OK) {
        atomic_store(mode_of(context), mode);
    }
    for (int i = 0; status == API_NO_CONTEXT && i < API_DEVICES; i++) {
        atomic_store(&api_process()->float_mode[i], mode);
    }
    return status == API_NO_CONTEXT ? LEO_OK : status;
}

leo_status api_overflow(const void *stream, uint64_t addr, uint32_t bytes, uint32_t value,
                        bool clear)
{
    API_PINNED struct api_stream *found = NULL;
    leo_status status = api_stream_to_fill(stream, &found);
    return status != LEO_OK ? status : leo_rt_overflow_async(found->rt, addr, bytes, value, clear);
}
