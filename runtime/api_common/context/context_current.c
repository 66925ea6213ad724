/* SPDX-License-Identifier: Apache-2.0 */
/* The context of the calling thread, which sets the face's default device if it has none. */
#include "../process/code.h"
#include "context.h"

leo_status api_context_current(struct api_context **context)
{
    struct api_context *found = api_context_of_thread();
    if (!found) {
        // The face's default stands in where none was set.
        const int standing_in = api_process()->default_device;
        if (standing_in >= 0) {
            leo_status status = api_device_set(standing_in);
            if (status != LEO_OK) {
                return status;
            }
            found = api_context_of_thread();
        }
    }
    *context = found;
    if (!found) {
        return leo_rt_fail(
            API_NO_CONTEXT, "this thread has no context: call %s first%s", api_face.set_device,
            api_process()->child ? ". Its process was forked: streams and memory of the parent's "
                                   "device stay the parent's (start processes with spawn)"
                                 : "");
    }
    return LEO_OK;
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

leo_status api_device_current(int32_t *id)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        *id = context->device;
    }
    return status;
}
