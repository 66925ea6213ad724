/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that poll memory for what a thread of the host does meanwhile: the device stands still
 * while it does (pump.c), so that cores that wait are not stuck, however long it takes. */
#include "../rt.h"

#include <leo/exchange.h>

leo_status leo_rt_promise_begin(struct leo_rt_promise *promise, struct leo_rt_event *start,
                                struct leo_rt_stream *stream)
{
    struct rt_progress *progress = &stream->device->progress;
    promise->device = stream->device;
    promise->awaited = start;
    pthread_mutex_lock(&stream->device->lock);
    leo_status status = stream->sink->record(start, stream);
    if (status == LEO_OK) {
        promise->next = progress->promises;
        progress->promises = promise;
        progress->host_jobs++;
    }
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

void leo_rt_promise_end(struct leo_rt_promise *promise)
{
    struct leo_rt_device *device = promise->device;
    pthread_mutex_lock(&device->lock);
    struct leo_rt_promise **at = &device->progress.promises;
    while (*at != promise) {
        at = &(*at)->next;
    }
    *at = promise->next;
    device->progress.host_jobs--;
    device->progress.host_ends++;
    pthread_cond_broadcast(&device->progress.host_changed);
    pthread_mutex_unlock(&device->lock);
}

leo_status leo_rt_promise_await(struct leo_rt_promise *promise, struct leo_rt_event *event,
                                uint64_t *ns)
{
    struct leo_rt_device *device = promise->device;
    pthread_mutex_lock(&device->lock);
    promise->awaited = event;
    pthread_cond_broadcast(&device->progress.host_changed);
    leo_status status = rt_event_await(event, ns);
    promise->awaited = NULL;
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_promise_write(struct leo_rt_promise *promise, struct leo_rt_event *event,
                                struct leo_rt_stream *stream, uint64_t ns,
                                const struct leo_rt_word *word)
{
    struct leo_rt_device *device = promise->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_event_record_at(event, stream, ns);
    pthread_mutex_unlock(&device->lock);
    return status ? status : leo_rt_value_write(stream, word->addr, word->value);
}
