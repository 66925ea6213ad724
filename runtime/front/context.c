/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current for each thread; each has its own default stream. */
#include "context.h"

#include "callback.h"
#include "code.h"
#include "module.h"
#include "work.h"

static _Thread_local struct front_context *current;
static _Thread_local uint64_t current_serial;

void front_context_enter(struct front_context *context)
{
    current = context;
    current_serial = context->handle.serial;
}

void front_context_forget(void)
{
    current = NULL;
}

// NULL if it has ended, in this thread or another; else pinned.
static struct front_context *find_current(void)
{
    struct front_context *found = current ? front_find(current, FRONT_KIND_CONTEXT) : NULL;
    if (found && found->handle.serial != current_serial) {
        front_unpin(found);
        found = NULL;
    }
    return found;
}

leo_status front_context_current(struct front_context **context)
{
    struct front_context *found = find_current();
    if (!found) {
        // The face's default stands in where none was set.
        const int standing_in = front_process()->default_device;
        if (standing_in >= 0) {
            leo_status status = front_device_set(standing_in);
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
            FRONT_NO_CONTEXT, "this thread has no context: call %s first%s", front_face.set_device,
            front_process()->child ? ". Its process was forked: streams and memory of the parent's "
                                     "device stay the parent's (start processes with spawn)"
                                   : "");
    }
    return LEO_OK;
}

leo_status front_context_make(int32_t device, bool primary, struct front_context **out)
{
    struct front_context *context = front_make(sizeof(*context));
    if (!context) {
        return LEO_ERR_NO_MEMORY;
    }
    context->device = device;
    context->primary = primary;
    context->slot = &front_process()->device[device];
    context->rt = context->slot->rt;
    leo_status status = front_stream_make(context, 0, 0, &context->default_stream);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &context->handle);
        return status;
    }
    front_publish(context, FRONT_KIND_CONTEXT, &context->slot->contexts);
    *out = context;
    return LEO_OK;
}

void front_context_end(struct front_context *context)
{
    struct front_stream *stream;
    struct front_module *module;
    while ((stream = front_take(&context->streams)) != NULL) {
        front_work_stop(stream);
        front_report_drop(stream); // its thread may be gone: nothing must wait for it
        front_stream_end(stream);
    }
    while ((module = front_take(&context->modules)) != NULL) {
        front_module_end(module);
    }
    if (current == context) {
        current = NULL;
    }
    front_free(context);
}

leo_status front_context_create(int32_t device, struct front_context **out)
{
    struct front_process *process = front_process();
    struct front_context *made;
    // Opening the device counts as a use of it only as long as setting it does: it must have been
    // set, or is set now.
    bool open = false;
    if (device >= 0 && device < FRONT_DEVICES) {
        pthread_mutex_lock(&process->device_lock);
        open = process->device[device].rt != NULL;
        pthread_mutex_unlock(&process->device_lock);
    }
    if (!open) {
        leo_status status = front_device_set(device);
        if (status != LEO_OK) {
            return status;
        }
    }
    // Another thread may have reset the device.
    pthread_mutex_lock(&process->device_lock);
    leo_status status = process->device[device].rt
                            ? front_context_make(device, false, &made)
                            : leo_rt_fail(FRONT_NOT_SET, "device %d was reset meanwhile", device);
    if (status == LEO_OK) {
        front_context_enter(made);
        *out = made;
    }
    pthread_mutex_unlock(&process->device_lock);
    return status;
}

leo_status front_context_destroy(const void *handle)
{
    struct front_context *found = front_find(handle, FRONT_KIND_CONTEXT);
    if (found && found->primary) {
        front_unpin(found);
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "the default context of a device ends with the device's reset");
    }
    if (!found || !front_claim(found)) {
        return leo_rt_fail(FRONT_NO_CONTEXT, "%p is no live context", handle);
    }
    front_context_end(found);
    return LEO_OK;
}

leo_status front_context_set(const void *handle)
{
    FRONT_PINNED struct front_context *found = front_find(handle, FRONT_KIND_CONTEXT);
    if (!found) {
        return leo_rt_fail(handle ? FRONT_NO_CONTEXT : FRONT_BAD_ARGUMENT, "%p is no live context",
                           handle);
    }
    front_context_enter(found);
    return LEO_OK;
}

leo_status front_context_device(const void *handle, int32_t *device)
{
    FRONT_PINNED struct front_context *found = front_find(handle, FRONT_KIND_CONTEXT);
    if (!found) {
        return leo_rt_fail(FRONT_NO_CONTEXT, "%p is no live context", handle);
    }
    *device = found->device;
    return LEO_OK;
}

leo_status front_context_get(void **handle)
{
    FRONT_PINNED struct front_context *found = NULL;
    leo_status status = front_context_current(&found);
    if (status == LEO_OK) {
        *handle = found;
    }
    return status;
}

leo_status front_context_default_stream(void **handle)
{
    FRONT_PINNED struct front_context *found = NULL;
    leo_status status = front_context_current(&found);
    if (status == LEO_OK) {
        *handle = found->default_stream;
    }
    return status;
}
