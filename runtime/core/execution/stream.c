/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>
#include <stdio.h>

leo_status rt_stream_create(struct leo_rt_device *device, const struct leo_rt_stream_opts *opts,
                            struct leo_rt_stream **out)
{
    struct leo_rt_stream *stream = leo_calloc(1, sizeof(*stream));
    if (!stream) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for a stream",
                       device->index);
    }
    stream->device = device;
    stream->sink = &rt_device_sink;
    stream->depth = RT_STREAM_DEPTH;
    while (stream->depth > device->caps.queue_depth) {
        stream->depth /= 2;
    }
    stream->tasks = leo_calloc(stream->depth, sizeof(*stream->tasks));
    leo_status status = LEO_ERR_NO_MEMORY;
    if (!stream->tasks) {
        goto free_stream;
    }
    void *args;
    status = leo_drv_dma_alloc(device->drv, RT_ARGS_BYTES, &args, &stream->args_addr);
    if (status) {
        goto free_tasks;
    }
    stream->args = args;
    status = leo_drv_queue_create(device->drv, stream->depth, (uint8_t)opts->priority,
                                  rt_stream_complete, stream, &stream->queue);
    if (status) {
        goto free_args;
    }
    stream->next = device->streams;
    device->streams = stream;
    *out = stream;
    return LEO_OK;

free_args:
    leo_drv_dma_free(device->drv, stream->args, stream->args_addr);
free_tasks:
    leo_free(stream->tasks);
free_stream:
    leo_free(stream);
    return rt_fail(status, "device %d: cannot create a stream: %s%s", device->index,
                   leo_status_text(status),
                   status == LEO_ERR_FULL ? "; destroy streams that are no longer used" : "");
}

static void destroy_stream(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    rt_run_ahead_lose(stream);
    stream->sink->lose(stream);
    for (struct leo_rt_stream **at = &device->streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    leo_drv_queue_destroy(stream->queue);
    if (stream->shared_addr) {
        (void)leo_drv_memory_free(device->drv, stream->shared_addr);
    }
    rt_stream_give_up(stream);
    leo_drv_dma_free(device->drv, stream->args, stream->args_addr);
    leo_free(stream->tasks);
    leo_free(stream);
}

void rt_stream_destroy(struct leo_rt_stream *stream)
{
    leo_status status = rt_stream_wait(stream, stream->submitted, -1);
    if (status) {
        rt_log(stream->device->rt, 2, "a stream is destroyed although its tasks do not end");
    }
    destroy_stream(stream);
}

void leo_rt_stream_abandon(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    destroy_stream(stream);
    pthread_mutex_unlock(&device->lock);
}

void leo_rt_stream_set_float_mode(struct leo_rt_stream *stream, enum leo_float_mode mode)
{
    pthread_mutex_lock(&stream->device->lock);
    stream->float_mode = mode;
    pthread_mutex_unlock(&stream->device->lock);
}

void leo_rt_stream_set_stop_on_failure(struct leo_rt_stream *stream)
{
    pthread_mutex_lock(&stream->device->lock);
    stream->stop_on_failure = true;
    pthread_mutex_unlock(&stream->device->lock);
}

leo_status leo_rt_stream_create(struct leo_rt_device *device, struct leo_rt_stream **out)
{
    const struct leo_rt_stream_opts opts = {0};
    return leo_rt_stream_create_with(device, &opts, out);
}

leo_status leo_rt_stream_create_with(struct leo_rt_device *device,
                                     const struct leo_rt_stream_opts *opts,
                                     struct leo_rt_stream **out)
{
    *out = NULL;
    if (opts->priority > LEO_DRV_PRIORITY_LEAST) {
        return rt_fail(LEO_ERR_INVALID_ARG, "priority %u: they go from 0 (first) to %d",
                       opts->priority, LEO_DRV_PRIORITY_LEAST);
    }
    pthread_mutex_lock(&device->lock);
    if (!opts->is_default && ++device->progress.streams_made > 1) {
        rt_run_ahead_stop(device);
    }
    leo_status status = rt_stream_create(device, opts, out);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void leo_rt_stream_destroy(struct leo_rt_stream *stream)
{
    if (stream) {
        struct leo_rt_device *device = stream->device;
        pthread_mutex_lock(&device->lock);
        rt_stream_destroy(stream);
        pthread_mutex_unlock(&device->lock);
    }
}

leo_status leo_rt_stream_synchronize(struct leo_rt_stream *stream, int timeout_ms)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_stream_wait(stream, stream->submitted, timeout_ms);
    if (!status) {
        pthread_mutex_unlock(&device->lock);
        rt_print_drain(device);
        pthread_mutex_lock(&device->lock);
        status = rt_stream_take_fault(stream);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_stream_query(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_stream_poll(stream);
    device->progress.calls++;
    device->progress.asks++;
    if (!status && stream->completed < stream->submitted) {
        status = rt_device_pump(device, RT_QUERY_NS);
        status = status == LEO_ERR_TIMEOUT || status == LEO_ERR_NOT_READY ? LEO_OK : status;
    }
    if (!status && (stream->completed < stream->submitted ||
                    !rt_host_model_sees(device, stream->end_ns, ++stream->asks))) {
        status = rt_fail(LEO_ERR_NOT_READY, "the stream has tasks that are not done");
    } else if (!status) {
        rt_device_see_time(device, stream->end_ns);
        rt_run_ahead_seen(stream, stream->submitted);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

enum leo_fault leo_rt_stream_last_fault(const struct leo_rt_stream *stream)
{
    return stream->last_fault;
}

uint64_t leo_rt_stream_last_fault_task(const struct leo_rt_stream *stream)
{
    return stream->failed_number;
}

enum leo_core_kind leo_rt_stream_last_fault_kind(const struct leo_rt_stream *stream)
{
    return stream->last_fault_kind;
}
