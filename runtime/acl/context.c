/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one current for each thread; each has its own default stream. */
#include "acl_internal.h"

#include <leo/alloc.h>

static _Thread_local struct acl_context *current;
static _Thread_local uint64_t current_serial;

void acl_set_current_context(struct acl_context *context)
{
    current = context;
    current_serial = context->handle.serial;
}

void acl_forget_context(void)
{
    current = NULL;
}

// NULL if it has ended, in this thread or another; else pinned.
static struct acl_context *find_current(void)
{
    struct acl_context *found = current ? acl_handle_find(current, ACL_KIND_CONTEXT) : NULL;
    if (found && found->handle.serial != current_serial) {
        acl_handle_unpin(&found->handle);
        found = NULL;
    }
    return found;
}

aclError acl_current_context(const char *func, struct acl_context **context)
{
    struct acl_process *process = acl_process();
    // The JSON file's default device stands in where none was set.
    struct acl_context *found = find_current();
    if (!found && process->default_device >= 0) {
        aclError error = aclrtSetDevice(process->default_device);
        if (error) {
            return error;
        }
        found = find_current();
    }
    if (!found) {
        current = NULL;
        return acl_fail(
            ACL_ERROR_RT_CONTEXT_NULL, func,
            "this thread has no context: call aclrtSetDevice or aclrtSetCurrentContext first");
    }
    *context = found;
    return ACL_SUCCESS;
}

aclError acl_context_make(const char *func, int32_t device, bool primary, struct acl_context **out)
{
    struct acl_process *process = acl_process();
    struct acl_context *context = leo_calloc(1, sizeof(*context));
    if (!context) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    context->device = device;
    context->primary = primary;
    context->slot = &process->device[device];
    context->rt = context->slot->rt;
    aclError error = acl_stream_make(func, context, 0, 0, &context->default_stream);
    if (error) {
        leo_free(context);
        return error;
    }
    acl_handle_add(&context->handle, ACL_KIND_CONTEXT, &context->slot->contexts);
    *out = context;
    return ACL_SUCCESS;
}

void acl_context_free(struct acl_context *context)
{
    struct acl_stream *stream;
    struct acl_module *module;
    while ((stream = acl_handle_take(&context->streams)) != NULL) {
        acl_stream_drop_report(stream); // its thread may be gone: nothing must wait for it
        acl_stream_free(stream);
    }
    while ((module = acl_handle_take(&context->modules)) != NULL) {
        acl_module_free(module);
    }
    acl_handle_remove(&context->handle);
    if (current == context) {
        current = NULL;
    }
    leo_free(context);
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    struct acl_process *process = acl_process();
    struct acl_context *made;
    if (!context) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext", "context is NULL");
    }
    // Opening the device counts as a use of it only as long as SetDevice does: it must have been
    // set, or is set now.
    bool open = false;
    if (deviceId >= 0 && deviceId < ACL_MAX_DEVICES) {
        pthread_mutex_lock(&process->device_lock);
        open = process->device[deviceId].rt != NULL;
        pthread_mutex_unlock(&process->device_lock);
    }
    if (!open) {
        aclError error = aclrtSetDevice(deviceId);
        if (error) {
            return error;
        }
    }
    // Another thread may have reset the device.
    pthread_mutex_lock(&process->device_lock);
    aclError error = process->device[deviceId].rt
                         ? acl_context_make("aclrtCreateContext", deviceId, false, &made)
                         : acl_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "aclrtCreateContext",
                                    "device %d was reset meanwhile", deviceId);
    if (!error) {
        acl_set_current_context(made);
        *context = made;
    }
    pthread_mutex_unlock(&process->device_lock);
    return error;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    if (!context) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext", "context is NULL");
    }
    struct acl_context *found = acl_handle_find(context, ACL_KIND_CONTEXT);
    if (found && found->primary) {
        acl_handle_unpin(&found->handle);
        return acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyContext",
                        "the default context ends with aclrtResetDevice");
    }
    if (!found || !acl_handle_claim(&found->handle)) {
        return acl_fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext", "%p is no live context",
                        context);
    }
    acl_context_free(found);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    ACL_PINNED struct acl_context *found = acl_handle_find(context, ACL_KIND_CONTEXT);
    if (!found) {
        return acl_fail(context ? ACL_ERROR_RT_CONTEXT_NULL : ACL_ERROR_INVALID_PARAM,
                        "aclrtSetCurrentContext", "%p is no live context", context);
    }
    acl_set_current_context(found);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    ACL_PINNED struct acl_context *found = NULL;
    if (!context) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext", "context is NULL");
    }
    aclError error = acl_current_context("aclrtGetCurrentContext", &found);
    if (!error) {
        *context = found;
    }
    return error;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    ACL_PINNED struct acl_context *context = NULL;
    if (!stream) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetCurrentDefaultStream",
                        "stream is NULL");
    }
    aclError error = acl_current_context("aclrtCtxGetCurrentDefaultStream", &context);
    if (!error) {
        *stream = context->default_stream;
    }
    return error;
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active)
{
    struct acl_process *process = acl_process();
    if (!active) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetPrimaryCtxState", "active is NULL");
    }
    if (deviceId < 0 || deviceId >= ACL_MAX_DEVICES) {
        return acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetPrimaryCtxState", "no device %d",
                        deviceId);
    }
    if (flags) {
        *flags = 0;
    }
    pthread_mutex_lock(&process->device_lock);
    *active = process->device[deviceId].primary != NULL;
    pthread_mutex_unlock(&process->device_lock);
    return ACL_SUCCESS;
}
