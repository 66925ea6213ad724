/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include "code.h"
#include "context.h"

leo_status front_event_make(uint32_t flags, struct front_shared *shared, void **handle)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct front_event *made = front_make(sizeof(*made));
    if (!made) {
        return LEO_ERR_NO_MEMORY;
    }
    status = leo_rt_event_create(context->rt, &made->rt);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &made->handle);
        return status == LEO_ERR_FULL ? FRONT_NO_EVENTS : status;
    }
    made->device = context->rt;
    made->shared = shared;
    made->flags = flags;
    made->id = atomic_fetch_add(&front_process()->next_event_id, 1);
    front_publish(made, FRONT_KIND_EVENT, &context->slot->events);
    *handle = made;
    return LEO_OK;
}

leo_status front_event_create(uint32_t flags, void **handle)
{
    return front_event_make(flags, NULL, handle);
}

void front_event_end(struct front_event *event)
{
    leo_rt_event_destroy(event->rt);
    front_shared_drop(event->shared);
    front_free(event);
}

leo_status front_event_get(const void *handle, struct front_event **event)
{
    *event = front_find(handle, FRONT_KIND_EVENT);
    return *event   ? LEO_OK
           : handle ? leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live event", handle)
                    : leo_rt_fail(FRONT_BAD_ARGUMENT, "the event is NULL");
}

leo_status front_event_destroy(const void *handle)
{
    struct front_event *found;
    leo_status status = front_event_get(handle, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (!front_claim(found)) {
        return leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live event", handle);
    }
    front_event_end(found);
    return LEO_OK;
}

leo_status front_event_record(struct front_event *event, const void *stream)
{
    if (event->shared) {
        return front_event_shared_record(event, stream);
    }
    FRONT_PINNED struct front_stream *where = NULL;
    leo_status status = front_stream_get(stream, &where);
    return status != LEO_OK ? status : leo_rt_event_record(event->rt, where->rt);
}

leo_status front_event_wait(struct front_event *event, const void *stream)
{
    if (event->shared) {
        return front_event_shared_wait(event, stream);
    }
    FRONT_PINNED struct front_stream *where = NULL;
    leo_status status = front_stream_get(stream, &where);
    return status != LEO_OK ? status : leo_rt_event_wait(event->rt, where->rt);
}

leo_status front_event_reset(struct front_event *event, const void *stream)
{
    FRONT_PINNED struct front_stream *where = NULL;
    leo_status status = front_stream_get(stream, &where);
    if (status == LEO_OK) {
        leo_rt_event_reset(event->rt);
    }
    return status;
}

leo_status front_event_query(struct front_event *event, bool if_unrecorded)
{
    if (event->shared) {
        return front_event_shared_query(event, if_unrecorded);
    }
    if (!leo_rt_event_is_recorded(event->rt)) {
        return if_unrecorded ? LEO_OK
                             : leo_rt_fail(LEO_ERR_NOT_READY, "the event was never recorded");
    }
    return leo_rt_event_query(event->rt);
}

bool front_event_is_awaited(struct front_event *event)
{
    return leo_rt_event_is_awaited(event->rt);
}

leo_status front_event_synchronize(struct front_event *event, int timeout_ms)
{
    if (event->shared) {
        return front_event_shared_synchronize(event, timeout_ms);
    }
    if (!leo_rt_event_is_recorded(event->rt)) {
        return LEO_OK;
    }
    leo_status status = leo_rt_event_synchronize(event->rt, timeout_ms);
    return status == LEO_ERR_TIMEOUT
               ? leo_rt_fail(FRONT_EVENT_TIMEOUT, "the event did not complete in %d ms", timeout_ms)
               : status;
}

leo_status front_event_time(struct front_event *event, uint64_t *ns)
{
    return front_event_query(event, false) == LEO_OK &&
                   (event->shared ? front_event_shared_time(event, ns)
                                  : leo_rt_event_time_ns(event->rt, ns)) == LEO_OK
               ? LEO_OK
               : leo_rt_fail(FRONT_NO_TIME,
                             "the event has no time yet: record it and synchronize first");
}

leo_status front_event_elapsed(struct front_event *start, struct front_event *end, uint64_t *ns)
{
    uint64_t from, to;
    leo_status status = front_event_time(start, &from);
    if (status == LEO_OK) {
        status = front_event_time(end, &to);
    }
    if (status != LEO_OK) {
        return status;
    }
    if (to < from) {
        return leo_rt_fail(FRONT_TIME_REVERSED, "the end event was reached before the start event");
    }
    *ns = to - from;
    return LEO_OK;
}

leo_status front_event_available(uint32_t *count)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status == LEO_OK) {
        *count = leo_rt_device_free_events(context->rt);
    }
    return status;
}
