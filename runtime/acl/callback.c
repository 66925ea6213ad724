/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams: run by threads that subscribed to them, or by a thread of the library. */
#include "acl_internal.h"

// The thread of the device that work of the host in its streams is done by.
static aclError get_worker(const char *func, struct acl_context *context,
                           struct leo_rt_host_worker **worker)
{
    struct acl_device *slot = context->slot;
    pthread_mutex_lock(&acl_process()->worker_lock);
    leo_status status =
        slot->worker ? LEO_OK : leo_rt_host_worker_create(context->rt, &slot->worker);
    *worker = slot->worker;
    pthread_mutex_unlock(&acl_process()->worker_lock);
    return acl_status(func, status);
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtSubscribeReport";
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    struct front_report *report = front_report_bind(&acl_process()->reports, threadId);
    if (!report) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    struct front_report *none = NULL;
    if (!atomic_compare_exchange_strong(&found->report, &none, report)) {
        front_report_unbind(&acl_process()->reports, report);
        return acl_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, func,
                        "the stream's callbacks go to a thread already");
    }
    return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtUnSubscribeReport";
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    struct front_report *report = atomic_load(&found->report);
    if (!report || !front_report_is_of(report, threadId) ||
        !atomic_compare_exchange_strong(&found->report, &report, NULL)) {
        return acl_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, func,
                        "the stream's callbacks do not go to thread %llu",
                        (unsigned long long)threadId);
    }
    front_report_unbind(&acl_process()->reports, report);
    return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtLaunchCallback";
    struct leo_rt_host_worker *worker;
    if (!fn || (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "fn is NULL or blockType is not 0 or 1");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        error = get_worker(func, found->context, &worker);
    }
    if (error) {
        return error;
    }
    struct front_report *report = atomic_load(&found->report);
    if (!report) {
        return acl_fail(ACL_ERROR_RT_STREAM_NO_CB_REG, func,
                        "no thread runs the stream's callbacks: call aclrtSubscribeReport first");
    }
    return acl_status(func, front_report_launch(&acl_process()->reports, report, worker, found->rt,
                                                fn, userData, blockType == ACL_CALLBACK_BLOCK));
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclrtLaunchHostFunc";
    struct leo_rt_host_worker *worker;
    if (!fn) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "fn is NULL");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        error = get_worker(func, found->context, &worker);
    }
    return error ? error : acl_status(func, front_host_launch(worker, found->rt, fn, args));
}

aclError aclrtProcessReport(int32_t timeout)
{
    const char *func = "aclrtProcessReport";
    aclError error = acl_timeout_check(func, timeout);
    if (error) {
        return error;
    }
    switch (front_report_run(&acl_process()->reports, (uint64_t)pthread_self(), timeout)) {
    case FRONT_REPORTED:
        return ACL_SUCCESS;
    case FRONT_REPORT_TIMEOUT:
        return acl_fail(ACL_ERROR_RT_REPORT_TIMEOUT, func, "no callback came within %d ms",
                        timeout);
    case FRONT_REPORT_NONE:
        break;
    }
    return acl_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, func, "no stream's callbacks go to this thread");
}

void acl_stream_drop_report(struct acl_stream *stream)
{
    struct front_report *report = atomic_exchange(&stream->report, NULL);
    if (report) {
        front_report_unbind(&acl_process()->reports, report);
    }
}

void acl_callbacks_end(struct acl_device *slot)
{
    pthread_mutex_lock(&acl_process()->worker_lock);
    struct leo_rt_host_worker *worker = slot->worker;
    slot->worker = NULL;
    pthread_mutex_unlock(&acl_process()->worker_lock);
    leo_rt_host_worker_destroy(worker);
}
