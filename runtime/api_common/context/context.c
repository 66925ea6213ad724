/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current for each thread; each has its own default stream. */
#include "context.h"

#include "../launch/module_handle.h"
#include "../process/code.h"
#include "../stream/callback.h"
#include "../stream/work.h"

static _Thread_local struct api_context *current;
static _Thread_local uint64_t current_serial;

void api_context_enter(struct api_context *context)
{
    current = context;
    current_serial = context->handle.serial;
}

void api_context_forget(void)
{
    current = NULL;
}

// NULL if it has ended, in this thread or another; else pinned.
static struct api_context *find_current(void)
{
    struct api_context *found = current ? api_find(current, API_KIND_CONTEXT) : NULL;
    if (found && found->handle.serial != current_serial) {
        api_unpin(found);
        found = NULL;
    }
    return found;
}

leo_status api_context_current(struct api_context **context)
{
    struct api_context *found = find_current();
    if (!found) {
        // The face's default stands in where none was set.
        const int standing_in = api_process()->default_device;
        if (standing_in >= 0) {
            leo_status status = api_device_set(standing_in);
            if (status != LEO_OK) {
                return status;
            }
            found = find_current();
        }
    }
    *context = found;
    if (!found) {
        current = NULL;
        return leo_rt_fail(
            API_NO_CONTEXT, "this thread has no context: call %s first%s", api_face.set_device,
            api_process()->child ? ". Its process was forked: streams and memory of the parent's "
                                   "device stay the parent's (start processes with spawn)"
                                 : "");
    }
    return LEO_OK;
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
    api_publish(context, API_KIND_CONTEXT, &context->slot->contexts);
    *out = context;
    return LEO_OK;
}

void api_context_end(struct api_context *context)
{
    struct api_stream *stream;
    struct api_module *module;
    while ((stream = api_take(&context->streams)) != NULL) {
        api_work_stop(stream);
        api_report_drop(stream); // its thread may be gone: nothing must wait for it
        api_stream_end(stream);
    }
    while ((module = api_take(&context->modules)) != NULL) {
        api_module_end(module);
    }
    if (current == context) {
        current = NULL;
    }
    api_free(context);
}

leo_status api_context_create(int32_t device, struct api_context **out)
{
    struct api_process *process = api_process();
    struct api_context *made;
    // Opening the device counts as a use of it only as long as setting it does: it must have been
    // set, or is set now.
    bool open = false;
    if (device >= 0 && device < API_DEVICES) {
        pthread_mutex_lock(&process->device_lock);
        open = process->device[device].rt != NULL;
        pthread_mutex_unlock(&process->device_lock);
    }
    if (!open) {
        leo_status status = api_device_set(device);
        if (status != LEO_OK) {
            return status;
        }
    }
    // Another thread may have reset the device.
    pthread_mutex_lock(&process->device_lock);
    leo_status status = process->device[device].rt
                            ? api_context_make(device, false, &made)
                            : leo_rt_fail(API_NOT_SET, "device %d was reset meanwhile", device);
    if (status == LEO_OK) {
        api_context_enter(made);
        *out = made;
    }
    pthread_mutex_unlock(&process->device_lock);
    return status;
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

leo_status api_context_get(void **handle)
{
    API_PINNED struct api_context *found = NULL;
    leo_status status = api_context_current(&found);
    if (status == LEO_OK) {
        *handle = found;
    }
    return status;
}

leo_status api_context_default_stream(void **handle)
{
    API_PINNED struct api_context *found = NULL;
    leo_status status = api_context_current(&found);
    if (status == LEO_OK) {
        *handle = found->default_stream;
    }
    return status;
}
