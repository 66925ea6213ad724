/* SPDX-License-Identifier: Apache-2.0 */
/* How streams begin and end: with their context, or by themselves. */
#include "../context/context.h"
#include "../process/code.h"
#include "callback.h"
#include "work.h"

void api_report_drop(struct api_stream *stream)
{
    struct api_report *report = atomic_exchange(&stream->report, NULL);
    if (report) {
        api_report_unbind(&api_process()->reports, report);
    }
}

void api_stream_end(struct api_stream *stream)
{
    api_work_stop(stream);
    leo_rt_stream_destroy(stream->rt);
    api_work_end(stream);
    api_report_drop(stream);
    api_free(stream);
}

// With its context: the thread of its callbacks may be gone, so nothing must wait for it.
static void end_stream(void *stream)
{
    api_work_stop(stream);
    api_report_drop(stream);
    api_stream_end(stream);
}

leo_status api_stream_make(struct api_context *context, uint32_t priority, uint32_t flags,
                           struct api_stream **out)
{
    struct api_stream *stream = api_make(sizeof(*stream));
    if (!stream) {
        return LEO_ERR_NO_MEMORY;
    }
    const struct leo_rt_stream_opts opts = {.priority = priority,
                                            .is_default = !context->default_stream};
    leo_status status = leo_rt_stream_create_with(context->rt, &opts, &stream->rt);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &stream->handle);
        return status == LEO_ERR_FULL ? API_NO_STREAMS : status;
    }
    if (atomic_load(&context->stop_on_failure)) {
        leo_rt_stream_set_stop_on_failure(stream->rt);
    }
    leo_rt_stream_set_float_mode(stream->rt,
                                 (enum leo_float_mode)atomic_load(
                                     &api_process()->float_mode[leo_rt_device_index(context->rt)]));
    stream->context = context;
    stream->priority = priority;
    stream->flags = flags;
    stream->id = atomic_fetch_add(&api_process()->next_stream_id, 1);
    api_publish(stream, API_KIND_STREAM, &context->streams, end_stream);
    *out = stream;
    return LEO_OK;
}
