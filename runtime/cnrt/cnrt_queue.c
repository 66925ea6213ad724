/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and notifiers. */
#include "cnrt_internal.h"

#include "../api_common/stream/callback.h"

leo_status cnrt_stream(cnrtQueue_t queue, void **stream)
{
    if (!queue || queue == cnrtQueuePerThread) {
        return api_stream_of_thread(stream);
    }
    *stream = queue == cnrtQueueLegacy ? NULL : (void *)queue;
    return LEO_OK;
}

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL");
}

cnrtRet_t cnrtQueueCreate(cnrtQueue_t *pQueue)
{
    return cnrtQueueCreateWithPriority(pQueue, 0, API_PRIORITY_GREATEST);
}

cnrtRet_t cnrtQueueCreateWithPriority(cnrtQueue_t *pQueue, unsigned int flags, int priority)
{
    if (!pQueue) {
        return null(__func__);
    }
    if (flags || priority < API_PRIORITY_GREATEST || priority > API_PRIORITY_LEAST) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "flags must be 0, priority 0 to 7");
    }
    void *stream;
    cnrtRet_t ret = cnrt_result(__func__, api_stream_create((uint32_t)priority, flags, &stream));
    if (ret == cnrtSuccess) {
        *pQueue = stream;
    }
    return ret;
}

cnrtRet_t cnrtQueueGetPriority(cnrtQueue_t queue, int *priority)
{
    API_PINNED struct api_stream *found = NULL;
    void *stream;
    if (!priority) {
        return null(__func__);
    }
    leo_status status = cnrt_stream(queue, &stream);
    if (status == LEO_OK) {
        status = api_stream_get(stream, &found);
    }
    if (status == LEO_OK) {
        *priority = (int)found->priority;
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtQueueDestroy(cnrtQueue_t queue)
{
    return queue ? cnrt_result(__func__, api_stream_destroy(queue, false)) : null(__func__);
}

cnrtRet_t cnrtQueueQuery(cnrtQueue_t queue)
{
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_answer(__func__, status != LEO_OK ? status : api_stream_query(stream));
}

cnrtRet_t cnrtQueueSync(cnrtQueue_t queue)
{
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__,
                       status != LEO_OK ? status : api_stream_synchronize(stream, API_FOREVER));
}

cnrtRet_t cnrtQueueWaitNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flag)
{
    API_PINNED struct api_event *event = NULL;
    void *stream;
    if (flag) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "flag must be 0");
    }
    leo_status status = api_event_get(notifier, &event);
    if (status == LEO_OK) {
        status = cnrt_stream(queue, &stream);
    }
    return cnrt_result(__func__, status != LEO_OK ? status : api_event_wait(event, stream));
}

cnrtRet_t cnrtInvokeHostFunc(cnrtQueue_t queue, cnrtHostFn_t fn, void *args)
{
    void *stream;
    if (!fn) {
        return null(__func__);
    }
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__,
                       status != LEO_OK ? status : api_host_func_launch(stream, fn, args));
}

cnrtRet_t cnrtNotifierCreate(cnrtNotifier_t *pNotifier)
{
    return cnrtNotifierCreateWithFlags(pNotifier, CNRT_NOTIFIER_DEFAULT);
}

cnrtRet_t cnrtNotifierCreateWithFlags(cnrtNotifier_t *pNotifier, unsigned int flags)
{
    void *event;
    if (!pNotifier) {
        return null(__func__);
    }
    const unsigned known = CNRT_NOTIFIER_DISABLE_TIMING_SW | CNRT_NOTIFIER_DISABLE_TIMING_ALL |
                           CNRT_NOTIFIER_INTERPROCESS;
    flags &= ~(unsigned)CNRT_NOTIFIER_SYNC_WAIT; // every wait sleeps
    if (flags & ~known) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "the flags are unknown");
    }
    cnrtRet_t ret = cnrt_result(__func__, flags & CNRT_NOTIFIER_INTERPROCESS
                                              ? api_event_create_shared(flags, &event)
                                              : api_event_create(flags, &event));
    if (ret == cnrtSuccess) {
        *pNotifier = event;
    }
    return ret;
}

cnrtRet_t cnrtNotifierDestroy(cnrtNotifier_t notifier)
{
    return cnrt_result(__func__, api_event_destroy(notifier));
}

cnrtRet_t cnrtPlaceNotifier(cnrtNotifier_t notifier, cnrtQueue_t queue)
{
    API_PINNED struct api_event *event = NULL;
    void *stream;
    leo_status status = api_event_get(notifier, &event);
    if (status == LEO_OK) {
        status = cnrt_stream(queue, &stream);
    }
    return cnrt_result(__func__, status != LEO_OK ? status : api_event_record(event, stream));
}

cnrtRet_t cnrtPlaceNotifierWithFlags(cnrtNotifier_t notifier, cnrtQueue_t queue, unsigned int flags)
{
    return flags ? cnrt_fail(cnrtErrorNotSupport, __func__, "flags must be 0")
                 : cnrtPlaceNotifier(notifier, queue);
}

cnrtRet_t cnrtQueryNotifier(cnrtNotifier_t notifier)
{
    API_PINNED struct api_event *event = NULL;
    leo_status status = api_event_get(notifier, &event);
    return cnrt_answer(__func__, status != LEO_OK ? status : api_event_query(event, true));
}

cnrtRet_t cnrtWaitNotifier(cnrtNotifier_t notifier)
{
    API_PINNED struct api_event *event = NULL;
    leo_status status = api_event_get(notifier, &event);
    return cnrt_result(__func__,
                       status != LEO_OK ? status : api_event_synchronize(event, API_FOREVER));
}

// Nanoseconds between two notifiers that keep times.
static cnrtRet_t measure(const char *func, cnrtNotifier_t start, cnrtNotifier_t end,
                         unsigned disabling, uint64_t *ns)
{
    API_PINNED struct api_event *from = NULL;
    API_PINNED struct api_event *to = NULL;
    leo_status status = api_event_get(start, &from);
    if (status == LEO_OK) {
        status = api_event_get(end, &to);
    }
    if (status == LEO_OK && (from->flags | to->flags) & disabling) {
        return cnrt_fail(cnrtErrorArgsInvalid, func, "a notifier was made without timing");
    }
    return cnrt_result(func, status != LEO_OK ? status : api_event_elapsed(from, to, ns));
}

cnrtRet_t cnrtNotifierElapsedTime(cnrtNotifier_t start, cnrtNotifier_t end, float *ms)
{
    uint64_t ns;
    if (!ms) {
        return null(__func__);
    }
    cnrtRet_t ret =
        measure(__func__, start, end,
                CNRT_NOTIFIER_DISABLE_TIMING_SW | CNRT_NOTIFIER_DISABLE_TIMING_ALL, &ns);
    if (ret == cnrtSuccess) {
        *ms = (float)((double)ns / 1e6);
    }
    return ret;
}

cnrtRet_t cnrtNotifierDuration(cnrtNotifier_t start, cnrtNotifier_t end, float *us)
{
    uint64_t ns;
    if (!us) {
        return null(__func__);
    }
    cnrtRet_t ret = measure(__func__, start, end, CNRT_NOTIFIER_DISABLE_TIMING_ALL, &ns);
    if (ret == cnrtSuccess) {
        *us = (float)((double)ns / 1e3);
    }
    return ret;
}
