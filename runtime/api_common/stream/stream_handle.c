/* SPDX-License-Identifier: Apache-2.0 */
/* Streams. */
#include "../context/context.h"
#include "../process/code.h"
#include "callback.h"
#include "work.h"

#include <leo/alloc.h>
#include <leo/driver.h>

leo_status api_stream_get(const void *handle, struct api_stream **out)
{
    API_PINNED struct api_context *context = NULL;
    if (handle && api_face.streams_of_any_context) {
        *out = api_find(handle, API_KIND_STREAM);
        return *out ? LEO_OK : leo_rt_fail(API_BAD_STREAM, "%p is no live stream", handle);
    }
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    // A pinned stream keeps its context, which is freed after its streams.
    API_PINNED struct api_stream *stream =
        api_find(handle ? handle : context->default_stream, API_KIND_STREAM);
    if (!stream || stream->context->rt != context->rt) {
        return leo_rt_fail(API_BAD_STREAM, "%p is no live stream of this thread's context", handle);
    }
    if (stream->context != context) {
        return leo_rt_fail(API_BAD_STREAM,
                           "the stream belongs to another context: make that one current first");
    }
    *out = stream;
    stream = NULL;
    return LEO_OK;
}

leo_status api_context_check(const struct api_context *context)
{
    return atomic_load_explicit(&context->failed, memory_order_relaxed)
               ? leo_rt_fail(API_STOPPED, "a task of this context failed and its streams stop on "
                                          "failure: they take no new work")
               : LEO_OK;
}

leo_status api_stream_to_fill(const void *handle, struct api_stream **out)
{
    leo_status status = api_stream_get(handle, out);
    return status != LEO_OK ? status : api_context_check((*out)->context);
}

/** A thread's own stream on each device. */
static _Thread_local struct {
    struct api_stream *stream;
    uint64_t serial;
} thread_stream[API_DEVICES];

static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

// Ends the streams of a thread that ends.
static void end_thread_streams(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < API_DEVICES; i++) {
        struct api_stream *own = api_find(thread_stream[i].stream, API_KIND_STREAM);
        if (own && own->handle.serial != thread_stream[i].serial) {
            api_unpin(own);
        } else if (own && api_claim(own)) {
            api_stream_end(own);
        }
    }
}

static void make_thread_key(void)
{
    // Without one, streams of threads that end stay until their context ends.
    (void)pthread_key_create(&thread_key, end_thread_streams);
}

leo_status api_stream_of_thread(void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct api_stream *made = NULL;
    API_PINNED struct api_stream *own =
        api_find(thread_stream[context->device].stream, API_KIND_STREAM);
    if (own && own->handle.serial == thread_stream[context->device].serial &&
        own->context == context) {
        *handle = own;
        return LEO_OK;
    }
    status = api_stream_make(context, 0, 0, &made);
    if (status == LEO_OK) {
        thread_stream[context->device].stream = made;
        thread_stream[context->device].serial = made->handle.serial;
        pthread_once(&thread_once, make_thread_key);
        pthread_setspecific(thread_key, thread_stream);
        *handle = made;
    }
    return status;
}

leo_status api_stream_create(uint32_t priority, uint32_t flags, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    struct api_stream *made;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        status = api_stream_make(context, priority, flags, &made);
    }
    if (status == LEO_OK) {
        *handle = made;
    }
    return status;
}

leo_status api_stream_destroy(const void *handle, bool force)
{
    struct api_stream *stream = api_find(handle, API_KIND_STREAM);
    bool made_for_context = stream && stream == stream->context->default_stream;
    if (made_for_context) {
        api_unpin(stream);
    }
    if (!stream || made_for_context || !api_claim(stream)) {
        return leo_rt_fail(API_BAD_STREAM, "%p is no live stream that was created", handle);
    }
    if (force) {
        api_work_stop(stream);
        leo_rt_stream_abandon(stream->rt);
        stream->rt = NULL;
    } else if (stream->worker) {
        // Its waits may take long, but are waited for: only what ends with the device gives them
        // up.
        (void)leo_rt_stream_synchronize(stream->rt, API_FOREVER);
    }
    api_stream_end(stream);
    return LEO_OK;
}

static leo_status fault_code(const struct api_stream *stream)
{
    bool vector = leo_rt_stream_last_fault_kind(stream->rt) == LEO_CORE_KIND_VECTOR;
    switch (leo_rt_stream_last_fault(stream->rt)) {
    case LEO_FAULT_WATCHDOG:
        return vector ? API_FAULT_VECTOR_TIME : API_FAULT_CUBE_TIME;
    case LEO_FAULT_KERNEL_TRAP:
        return vector ? API_FAULT_VECTOR_TRAP : API_FAULT_CUBE_TRAP;
    case LEO_FAULT_SKIPPED:
        return API_STOPPED;
    case LEO_FAULT_DMA_OUT_OF_RANGE:
    case LEO_FAULT_BAD_ENTRY:
        return API_FAULT_DMA;
    default:
        return vector ? API_FAULT_VECTOR : API_FAULT_CUBE;
    }
}

leo_status api_stream_status(struct api_stream *stream, leo_status status)
{
    if (status == LEO_ERR_IO) {
        return API_PEER_LOST; // streams have no files: a collective lost one of its ranks
    }
    if (status != LEO_ERR_FAULT) {
        return status;
    }
    if (stream->context->stop_on_failure) {
        stream->context->failed = true;
    }
    leo_status code = fault_code(stream);
    if (api_face.faulted) {
        api_face.faulted(stream, code, leo_rt_stream_last_fault_task(stream->rt));
    }
    return code;
}

// The mode spreads to all streams of the context, those made later too.
static leo_status stop_streams(struct api_context *context)
{
    struct api_table *table = &api_process()->handles;
    atomic_store(&context->stop_on_failure, true);
    size_t capacity = api_family_count(table, &context->streams);
    void **streams = leo_calloc(capacity + 1, sizeof(*streams));
    if (!streams) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    size_t count = api_family_pin(table, &context->streams, streams, capacity);
    for (size_t i = 0; i < count; i++) {
        struct api_stream *stream = streams[i];
        leo_rt_stream_set_stop_on_failure(stream->rt);
        api_unpin(stream);
    }
    leo_free(streams);
    return LEO_OK;
}

leo_status api_stream_set_failure_mode(const void *handle, bool stop)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_get(handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    if (stream->failure_mode_set) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "the mode of a stream may be set once");
    }
    stream->failure_mode_set = true;
    return stop ? stop_streams(stream->context) : LEO_OK;
}

leo_status api_stream_available(uint32_t *count)
{
    API_PINNED struct api_context *context = NULL;
    struct leo_caps caps;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        leo_rt_device_get_caps(context->rt, &caps);
        *count = caps.queues - leo_drv_device_queues(leo_rt_device_driver(context->rt));
    }
    return status;
}
