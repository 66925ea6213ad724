/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current for each thread; each has its own default stream. */
#include "context.h"

#include "../process/code.h"

static _Thread_local struct api_context *current;
static _Thread_local uint64_t current_serial;

void api_context_enter(struct api_context *context)
{
    current = context;
    current_serial = context->handle.serial;
}

// NULL if it has ended, in this thread or another; else pinned.
struct api_context *api_context_of_thread(void)
{
    struct api_context *found = current ? api_find(current, API_KIND_CONTEXT) : NULL;
    if (found && found->handle.serial != current_serial) {
        api_unpin(found);
        found = NULL;
    }
    return found;
}

static void end_context(void *context)
{
    api_context_end(context);
}

leo_status api_context_make(int32_t device, bool primary, struct api_context **out)
{
    struct api_context *context = api_make(sizeof(*context));
    if (!context) {
        return LEO_ERR_NO_MEMORY;
    }
    context->device = device;
    context->primary = primary;
    context->slot = &api_process()->device[device];
    context->rt = context->slot->rt;
    leo_status status = api_stream_make(context, 0, 0, &context->default_stream);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &context->handle);
        return status;
    }
    api_publish(context, API_KIND_CONTEXT, &context->slot->contexts, end_context);
    *out = context;
    return LEO_OK;
}

void api_context_end(struct api_context *context)
{
    api_family_end(&context->streams);
    api_family_end(&context->modules);
    if (current == context) {
        current = NULL;
    }
    api_free(context);
}

leo_status api_context_destroy(const void *handle)
{
    struct api_context *found = api_find(handle, API_KIND_CONTEXT);
    if (found && found->primary) {
        api_unpin(found);
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "the default context of a device ends with the device's reset");
    }
    if (!found || !api_claim(found)) {
        return leo_rt_fail(API_NO_CONTEXT, "%p is no live context", handle);
    }
    api_context_end(found);
    return LEO_OK;
}

leo_status api_context_set(const void *handle)
{
    API_PINNED struct api_context *found = api_find(handle, API_KIND_CONTEXT);
    if (!found) {
        return leo_rt_fail(handle ? API_NO_CONTEXT : API_BAD_ARGUMENT, "%p is no live context",
                           handle);
    }
    api_context_enter(found);
    return LEO_OK;
}

leo_status api_context_device(const void *handle, int32_t *device)
{
    API_PINNED struct api_context *found = api_find(handle, API_KIND_CONTEXT);
    if (!found) {
        return leo_rt_fail(API_NO_CONTEXT, "%p is no live context", handle);
    }
    *device = found->device;
    return LEO_OK;
}
