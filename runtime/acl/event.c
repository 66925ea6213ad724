/* SPDX-License-Identifier: Apache-2.0 */
/* Events: marks in streams with simulated time stamps. */
#include "acl_internal.h"

#include <leo/alloc.h>

static aclError make_event(const char *func, aclrtEvent *event, uint32_t flags, bool extended)
{
    ACL_PINNED struct acl_context *context = NULL;
    struct acl_process *process = acl_process();
    if (!event) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "event is NULL");
    }
    aclError error = acl_current_context(func, &context);
    if (error) {
        return error;
    }
    struct acl_event *made = leo_calloc(1, sizeof(*made));
    if (!made) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    leo_status status = leo_rt_event_create(context->rt, &made->rt);
    if (status != LEO_OK) {
        leo_free(made);
        return status == LEO_ERR_FULL
                   ? acl_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, func, "%s", leo_rt_last_error())
                   : acl_status(func, status);
    }
    made->device = context->rt;
    made->flags = flags;
    made->extended = extended;
    pthread_mutex_lock(&process->lock);
    made->id = process->next_event_id++;
    pthread_mutex_unlock(&process->lock);
    acl_handle_add(&made->handle, ACL_KIND_EVENT, &context->slot->events);
    *event = made;
    return ACL_SUCCESS;
}

void acl_event_free(struct acl_event *event)
{
    leo_rt_event_destroy(event->rt);
    acl_handle_remove(&event->handle);
    leo_free(event);
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    return make_event("aclrtCreateEvent", event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false);
}

static aclError check_flags(const char *func, uint32_t flag)
{
    uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                     ACL_EVENT_DEVICE_USE_ONLY;
    if (flag & ~known) {
        return acl_fail(flag & (ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)
                            ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                            : ACL_ERROR_RT_PARAM_INVALID,
                        func, "event flags 0x%x are not supported", flag);
    }
    return ACL_SUCCESS;
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    aclError error = check_flags("aclrtCreateEventWithFlag", flag);
    return error ? error : make_event("aclrtCreateEventWithFlag", event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    aclError error = check_flags("aclrtCreateEventExWithFlag", flag);
    return error ? error : make_event("aclrtCreateEventExWithFlag", event, flag, true);
}

// Gives it pinned.
static aclError get_event(const char *func, aclrtEvent handle, struct acl_event **event)
{
    if (!handle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "event is NULL");
    }
    *event = acl_handle_find(handle, ACL_KIND_EVENT);
    if (!*event) {
        return acl_fail(ACL_ERROR_RT_INVALID_HANDLE, func, "%p is no live event", handle);
    }
    return ACL_SUCCESS;
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    struct acl_event *found;
    const char *func = "aclrtDestroyEvent";
    aclError error = get_event(func, event, &found);
    if (error) {
        return error;
    }
    if (!acl_handle_claim(&found->handle)) {
        return acl_fail(ACL_ERROR_RT_INVALID_HANDLE, func, "%p is no live event", event);
    }
    acl_event_free(found);
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    ACL_PINNED struct acl_event *found = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    aclError error = acl_stream_get("aclrtRecordEvent", stream, &where);
    if (!error) {
        error = get_event("aclrtRecordEvent", event, &found);
    }
    if (!error) {
        error = acl_status("aclrtRecordEvent", leo_rt_event_record(found->rt, where->rt));
    }
    return error;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    ACL_PINNED struct acl_event *found = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    aclError error = acl_stream_get("aclrtStreamWaitEvent", stream, &where);
    if (!error) {
        error = get_event("aclrtStreamWaitEvent", event, &found);
    }
    if (!error && !found->extended && !(found->flags & ACL_EVENT_SYNC)) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEvent",
                         "the event was not made with ACL_EVENT_SYNC");
    }
    return error ? error
                 : acl_status("aclrtStreamWaitEvent", leo_rt_event_wait(found->rt, where->rt));
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    ACL_PINNED struct acl_event *found = NULL;
    ACL_PINNED struct acl_stream *where = NULL;
    const char *func = "aclrtResetEvent";
    aclError error = acl_stream_get(func, stream, &where);
    if (!error) {
        error = get_event(func, event, &found);
    }
    if (!error && (found->extended || !(found->flags & ACL_EVENT_SYNC))) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                         "the event was not made with ACL_EVENT_SYNC");
    }
    if (!error) {
        leo_rt_event_reset(found->rt);
    }
    return error;
}

// 1 complete, 0 not ready, below 0 an error of the core.
static int is_complete(const struct acl_event *event)
{
    if (!leo_rt_event_is_recorded(event->rt)) {
        return event->extended;
    }
    leo_status status = leo_rt_event_query(event->rt);
    return status == LEO_OK ? 1 : status == LEO_ERR_NOT_READY ? 0 : (int)status;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    ACL_PINNED struct acl_event *found = NULL;
    if (!status) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus", "status is NULL");
    }
    aclError error = get_event("aclrtQueryEventStatus", event, &found);
    if (error) {
        return error;
    }
    int done = is_complete(found);
    if (done < 0) {
        return acl_status("aclrtQueryEventStatus", done);
    }
    *status = done ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    aclrtEventRecordedStatus recorded;
    if (!status) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent", "status is NULL");
    }
    aclError error = aclrtQueryEventStatus(event, &recorded);
    if (!error) {
        *status = recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                                 : ACL_EVENT_STATUS_NOT_READY;
    }
    return error;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    ACL_PINNED struct acl_event *found = NULL;
    if (!status) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus", "status is NULL");
    }
    aclError error = get_event("aclrtQueryEventWaitStatus", event, &found);
    if (!error) {
        *status = leo_rt_event_is_awaited(found->rt) ? ACL_EVENT_WAIT_STATUS_NOT_READY
                                                     : ACL_EVENT_WAIT_STATUS_COMPLETE;
    }
    return error;
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    ACL_PINNED struct acl_event *found = NULL;
    const char *func = "aclrtSynchronizeEvent";
    aclError error = acl_timeout_check(func, timeout);
    if (!error) {
        error = get_event(func, event, &found);
    }
    if (error || !leo_rt_event_is_recorded(found->rt)) {
        return error;
    }
    leo_status status = leo_rt_event_synchronize(found->rt, timeout);
    if (status == LEO_ERR_TIMEOUT) {
        return acl_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, func,
                        "the event did not complete in %d ms", timeout);
    }
    return acl_status(func, status);
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    return aclrtSynchronizeEventWithTimeout(event, -1);
}

static aclError get_time(const char *func, aclrtEvent handle, uint64_t *ns)
{
    ACL_PINNED struct acl_event *event = NULL;
    aclError error = get_event(func, handle, &event);
    if (error) {
        return error;
    }
    if (!(event->flags & ACL_EVENT_TIME_LINE)) {
        return acl_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, func,
                        "the event was made without ACL_EVENT_TIME_LINE: it keeps no time");
    }
    if (!leo_rt_event_is_recorded(event->rt) || is_complete(event) != 1 ||
        leo_rt_event_time_ns(event->rt, ns) != LEO_OK) {
        return acl_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, func,
                        "the event has no time yet: record it and synchronize first");
    }
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    uint64_t start, end;
    const char *func = "aclrtEventElapsedTime";
    if (!ms) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "ms is NULL");
    }
    aclError error = get_time(func, startEvent, &start);
    if (!error) {
        error = get_time(func, endEvent, &end);
    }
    if (error) {
        return error;
    }
    if (end < start) {
        return acl_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, func,
                        "the end event was reached before the start event");
    }
    *ms = (float)((double)(end - start) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    uint64_t ns;
    if (!timestamp) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp", "timestamp is NULL");
    }
    aclError error = get_time("aclrtEventGetTimestamp", event, &ns);
    if (!error) {
        *timestamp = ns / 1000;
    }
    return error;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    ACL_PINNED struct acl_event *found = NULL;
    if (!eventId) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventId", "eventId is NULL");
    }
    aclError error = get_event("aclrtGetEventId", event, &found);
    if (!error) {
        *eventId = found->id;
    }
    return error;
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return timeout == 0
               ? aclrtStreamWaitEvent(stream, event)
               : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtStreamWaitEventWithTimeout",
                          "timeout %d: streams wait as long as it takes, pass 0", timeout);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    return flag == 0 ? aclrtRecordEvent(event, stream)
                     : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtRecordEventWithFlag",
                                "flag %u is not supported", flag);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag)
{
    if (flag) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtStreamWaitEventWithFlag",
                        "flag %u is not supported", flag);
    }
    return aclrtStreamWaitEventWithTimeout(stream, event,
                                           timeout > INT32_MAX ? INT32_MAX : (int32_t)timeout);
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
    ACL_PINNED struct acl_context *context = NULL;
    if (!eventCount) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventAvailNum", "eventCount is NULL");
    }
    aclError error = acl_current_context("aclrtGetEventAvailNum", &context);
    if (!error) {
        *eventCount = leo_rt_device_free_events(context->rt);
    }
    return error;
}
