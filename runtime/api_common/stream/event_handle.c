/* SPDX-License-Identifier: Apache-2.0 */
#include "event_handle.h"

#include "../context/context.h"
#include "../process/code.h"
#include "../process/lost.h"

static void end_event(void *object)
{
    struct api_event *event = object;
    leo_rt_event_destroy(event->rt);
    api_shared_drop(event->shared);
    api_free(event);
}

static leo_status make_event(uint32_t flags, struct api_shared *shared, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct api_event *made = api_make(sizeof(*made));
    if (!made) {
        return LEO_ERR_NO_MEMORY;
    }
    status = leo_rt_event_create(context->rt, &made->rt);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &made->handle);
        return status == LEO_ERR_FULL ? API_NO_EVENTS : status;
    }
    made->device = context->rt;
    made->shared = shared;
    made->flags = flags;
    made->id = atomic_fetch_add(&api_process()->next_event_id, 1);
    api_publish(made, API_KIND_EVENT, &context->slot->events, end_event);
    *handle = made;
    return LEO_OK;
}

leo_status api_event_create(uint32_t flags, void **handle)
{
    return make_event(flags, NULL, handle);
}

leo_status api_event_get(const void *handle, struct api_event **event)
{
    *event = api_find(handle, API_KIND_EVENT);
    return *event   ? LEO_OK
           : handle ? leo_rt_fail(API_BAD_HANDLE, "%p is no live event", handle)
                    : leo_rt_fail(API_BAD_ARGUMENT, "the event is NULL");
}

leo_status api_event_destroy(const void *handle)
{
    struct api_event *found;
    leo_status status = api_event_get(handle, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (!api_claim(found)) {
        return leo_rt_fail(API_BAD_HANDLE, "%p is no live event", handle);
    }
    end_event(found);
    return LEO_OK;
}

leo_status api_event_record(struct api_event *event, const void *stream)
{
    if (event->shared) {
        return api_event_shared_record(event, stream);
    }
    API_PINNED struct api_stream *where = NULL;
    leo_status status = api_stream_to_fill(stream, &where);
    return status != LEO_OK ? status : leo_rt_event_record(event->rt, where->rt);
}

leo_status api_event_wait(struct api_event *event, const void *stream)
{
    if (event->shared) {
        return api_event_shared_wait(event, stream);
    }
    API_PINNED struct api_stream *where = NULL;
    leo_status status = api_stream_to_fill(stream, &where);
    return status != LEO_OK ? status : leo_rt_event_wait(event->rt, where->rt);
}

leo_status api_event_reset(struct api_event *event, const void *stream)
{
    API_PINNED struct api_stream *where = NULL;
    leo_status status = api_stream_get(stream, &where);
    if (status == LEO_OK) {
        leo_rt_event_reset(event->rt);
    }
    return status;
}

leo_status api_event_query(struct api_event *event, bool if_unrecorded)
{
    if (event->shared) {
        return api_event_shared_query(event, if_unrecorded);
    }
    if (!leo_rt_event_is_recorded(event->rt)) {
        return if_unrecorded ? LEO_OK
                             : leo_rt_fail(LEO_ERR_NOT_READY, "the event was never recorded");
    }
    return leo_rt_event_query(event->rt);
}

bool api_event_is_awaited(struct api_event *event)
{
    return leo_rt_event_is_awaited(event->rt);
}

leo_status api_event_synchronize(struct api_event *event, int timeout_ms)
{
    if (event->shared) {
        return api_event_shared_synchronize(event, timeout_ms);
    }
    if (!leo_rt_event_is_recorded(event->rt)) {
        return LEO_OK;
    }
    leo_status status = leo_rt_event_synchronize(event->rt, timeout_ms);
    return status == LEO_ERR_TIMEOUT
               ? leo_rt_fail(API_EVENT_TIMEOUT, "the event did not complete in %d ms", timeout_ms)
           : status != LEO_OK ? status
                              : api_lost_check();
}

leo_status api_event_time(struct api_event *event, uint64_t *ns)
{
    return api_event_query(event, false) == LEO_OK &&
                   (event->shared ? api_event_shared_time(event, ns)
                                  : leo_rt_event_time_ns(event->rt, ns)) == LEO_OK
               ? LEO_OK
               : leo_rt_fail(API_NO_TIME,
                             "the event has no time yet: record it and synchronize first");
}

leo_status api_event_elapsed(struct api_event *start, struct api_event *end, uint64_t *ns)
{
    uint64_t from, to;
    leo_status status = api_event_time(start, &from);
    if (status == LEO_OK) {
        status = api_event_time(end, &to);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (to < from) {
        return leo_rt_fail(API_TIME_REVERSED, "the end event was reached before the start event");
    }
    *ns = to - from;
    return LEO_OK;
}

leo_status api_event_available(uint32_t *count)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        *count = leo_rt_device_free_events(context->rt);
    }
    return status;
}

leo_status api_event_import(const char *key, void **handle)
{
    struct api_shared *shared;
    api_shared_id id;
    leo_status status = api_shared_id_of(key, &id);
    if (status == LEO_OK) {
        status = api_shared_open(id, API_SHARED_EVENT, &shared);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = make_event(shared->head->flags, shared, handle);
    if (status != LEO_OK) {
        api_shared_drop(shared);
    }
    return status;
}

leo_status api_event_create_shared(uint32_t flags, void **handle)
{
    struct api_shared *shared;
    leo_status status = api_shared_create(API_SHARED_EVENT, 0, true, &shared);
    if (status != LEO_OK) {
        return status;
    }
    shared->head->flags = flags;
    status = make_event(flags, shared, handle);
    if (status != LEO_OK) {
        api_shared_drop(shared);
    }
    return status;
}
