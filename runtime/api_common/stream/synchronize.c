/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for streams, and questions whether they are done. */
#include "../context/context.h"
#include "../process/lost.h"
#include "graph_handle.h"

#include <leo/alloc.h>
#include <time.h>

leo_status api_stream_synchronize(const void *handle, int timeout_ms)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_get(handle, &stream);
    if (status == LEO_OK) {
        status = api_capture_check_wait(stream);
    }
    if (status == LEO_OK) {
        status = api_stream_status(stream, leo_rt_stream_synchronize(stream->rt, timeout_ms));
    }
    return status != LEO_OK ? status : api_lost_check();
}

/* All streams of a device, pinned, since their own threads may destroy them meanwhile. NULL: no
 * memory. To be freed. */
static void **pin_streams(struct api_device *slot, size_t *out_count)
{
    struct api_table *table = &api_process()->handles;
    size_t count = 0, capacity = api_family_count(table, &slot->contexts);
    void **contexts = leo_calloc(capacity + 1, sizeof(*contexts));
    size_t context_count =
        contexts ? api_family_pin(table, &slot->contexts, contexts, capacity) : 0;
    capacity = 0;
    for (size_t i = 0; i < context_count; i++) {
        struct api_context *context = contexts[i];
        capacity += api_family_count(table, &context->streams);
    }
    void **streams = contexts ? leo_calloc(capacity + 1, sizeof(*streams)) : NULL;
    for (size_t i = 0; i < context_count; i++) {
        struct api_context *context = contexts[i];
        if (streams) {
            count += api_family_pin(table, &context->streams, streams + count, capacity - count);
        }
        api_unpin(context);
    }
    leo_free(contexts);
    *out_count = count;
    return streams;
}

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

leo_status api_device_synchronize(int timeout_ms)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    size_t count;
    void **streams = pin_streams(context->slot, &count);
    if (!streams) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    // Stream by stream, so that a fault is reported with the code of its core kind; the first one
    // is the answer.
    uint64_t start = timeout_ms > 0 ? wall_ms() : 0;
    for (size_t i = 0; i < count; i++) {
        struct api_stream *stream = streams[i];
        uint64_t spent = timeout_ms > 0 ? wall_ms() - start : 0;
        int left = timeout_ms < 0                 ? API_FOREVER
                   : spent < (uint64_t)timeout_ms ? timeout_ms - (int)spent
                                                  : 0;
        leo_status next = api_stream_status(stream, leo_rt_stream_synchronize(stream->rt, left));
        status = leo_status_first(status, next);
        api_unpin(stream);
    }
    leo_free(streams);
    return status != LEO_OK ? status : api_lost_check();
}

leo_status api_stream_query(const void *handle)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_get(handle, &stream);
    if (status == LEO_OK) {
        status = api_capture_check_wait(stream);
    }
    return status != LEO_OK ? status : api_stream_status(stream, leo_rt_stream_query(stream->rt));
}
