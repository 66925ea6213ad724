/* SPDX-License-Identifier: Apache-2.0 */
#include "callback.h"

#include "../context/context.h"
#include "../process/code.h"
#include "work.h"

leo_status api_report_subscribe(uint64_t thread, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_get(handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    struct api_report *report = api_report_bind(&api_process()->reports, thread);
    if (!report) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    struct api_report *none = NULL;
    if (!atomic_compare_exchange_strong(&stream->report, &none, report)) {
        api_report_unbind(&api_process()->reports, report);
        return leo_rt_fail(API_REPORT_BOUND, "the stream's callbacks go to a thread already");
    }
    return LEO_OK;
}

leo_status api_report_unsubscribe(uint64_t thread, const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_get(handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    struct api_report *report = atomic_load(&stream->report);
    if (!report || !api_report_is_of(report, thread) ||
        !atomic_compare_exchange_strong(&stream->report, &report, NULL)) {
        return leo_rt_fail(API_REPORT_NOT_BOUND, "the stream's callbacks do not go to thread %llu",
                           (unsigned long long)thread);
    }
    api_report_unbind(&api_process()->reports, report);
    return LEO_OK;
}

/** Where a stream's callbacks run. */
struct target {
    struct api_stream *stream;
    struct leo_rt_host_worker *worker;
    struct api_report *report; /**< NULL: no thread was named for them */
};

// The stream is pinned.
static leo_status find_target(const void *handle, struct target *target)
{
    *target = (struct target){0};
    leo_status status = api_stream_to_fill(handle, &target->stream);
    if (status == LEO_OK) {
        target->report = atomic_load(&target->stream->report);
        status = api_work_of_device(target->stream->context, &target->worker);
    }
    return status;
}

leo_status api_callback_launch(const void *handle, api_callback_fn run, void *user, bool blocks)
{
    struct target target;
    leo_status status = find_target(handle, &target);
    API_PINNED struct api_stream *stream = target.stream;
    if (status != LEO_OK) {
        return status;
    }
    return target.report ? api_report_launch(&api_process()->reports, target.report, target.worker,
                                             stream->rt, run, user, blocks)
                         : leo_rt_fail(API_REPORT_NO_THREAD, "no thread runs the stream's "
                                                             "callbacks: subscribe one first");
}

leo_status api_host_func_launch(const void *handle, api_callback_fn run, void *user)
{
    struct target target;
    leo_status status = find_target(handle, &target);
    API_PINNED struct api_stream *stream = target.stream;
    if (status != LEO_OK) {
        return status;
    }
    return api_host_launch(&api_process()->reports, target.report, target.worker, stream->rt, run,
                           user);
}

leo_status api_report_process(int timeout_ms)
{
    switch (api_report_run(&api_process()->reports, (uint64_t)pthread_self(), timeout_ms)) {
    case API_REPORTED:
        return LEO_OK;
    case API_REPORT_TIMEOUT:
        return leo_rt_fail(API_REPORT_LATE, "no callback came within %d ms", timeout_ms);
    case API_REPORT_NONE:
        break;
    }
    return leo_rt_fail(API_REPORT_NOT_BOUND, "no stream's callbacks go to this thread");
}
