/* SPDX-License-Identifier: Apache-2.0 */
/* Events: marks in streams with simulated time stamps. */
#include "acl_internal.h"

// Beside the flags of the program: made by aclrtCreateEventExWithFlag, by aclrtCreateEvent.
#define EXTENDED UINT32_C(0x80000000)
#define PLAIN    UINT32_C(0x40000000)

static bool is_extended(const struct api_event *event)
{
    return event->flags & EXTENDED;
}

// Gives it pinned. Extended ones are asked with aclrtQueryEventStatus.
static aclError get_queried(const char *func, aclrtEvent handle, struct api_event **event)
{
    aclError error = acl_result(func, api_event_get(handle, event));
    return !error && is_extended(*event)
               ? acl_fail(ACL_ERROR_RT_PARAM_INVALID, func,
                          "the event was made by aclrtCreateEventExWithFlag: ask "
                          "aclrtQueryEventStatus")
               : error;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    const uint32_t flags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | PLAIN;
    return event ? acl_result(__func__, api_event_create(flags, event))
                 : acl_null(__func__, "event");
}

static aclError make_event(const char *func, aclrtEvent *event, uint32_t flag, uint32_t extended)
{
    uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                     ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_IPC;
    if (flag & ~known) {
        return acl_fail(flag & ACL_EVENT_EXTERNAL ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                                                  : ACL_ERROR_RT_PARAM_INVALID,
                        func, "event flags 0x%x are not supported", flag);
    }
    if (!event) {
        return acl_null(func, "event");
    }
    return acl_result(func, flag & ACL_EVENT_IPC
                                ? api_event_create_shared(flag | ACL_EVENT_SYNC | extended, event)
                                : api_event_create(flag | extended, event));
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    return make_event(__func__, event, flag, 0);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    return make_event(__func__, event, flag, EXTENDED);
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    return acl_result(__func__, api_event_destroy(event));
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    API_PINNED struct api_event *found = NULL;
    leo_status status = api_event_get(event, &found);
    return acl_result(__func__, status != LEO_OK ? status : api_event_record(found, stream));
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    API_PINNED struct api_event *found = NULL;
    aclError error = acl_result(__func__, api_event_get(event, &found));
    if (!error && !is_extended(found) && !(found->flags & ACL_EVENT_SYNC)) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                         "the event was not made with ACL_EVENT_SYNC");
    }
    return error ? error : acl_result(__func__, api_event_wait(found, stream));
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    API_PINNED struct api_event *found = NULL;
    aclError error = acl_result(__func__, api_event_get(event, &found));
    if (!error && (found->flags & (EXTENDED | PLAIN) || !(found->flags & ACL_EVENT_SYNC))) {
        error = acl_fail(ACL_ERROR_RT_PARAM_INVALID, __func__,
                         "only an event of aclrtCreateEventWithFlag with ACL_EVENT_SYNC is reset");
    }
    return error ? error : acl_result(__func__, api_event_reset(found, stream));
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    API_PINNED struct api_event *found = NULL;
    if (!status) {
        return acl_null(__func__, "status");
    }
    aclError error = acl_result(__func__, api_event_get(event, &found));
    if (error) {
        return error;
    }
    leo_status answer = api_event_query(found, is_extended(found));
    if (answer != LEO_OK && answer != LEO_ERR_NOT_READY) {
        return acl_result(__func__, answer);
    }
    *status =
        answer == LEO_OK ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    aclrtEventRecordedStatus recorded;
    if (!status) {
        return acl_null(__func__, "status");
    }
    API_PINNED struct api_event *found = NULL;
    aclError error = get_queried(__func__, event, &found);
    if (!error) {
        error = aclrtQueryEventStatus(event, &recorded);
    }
    if (!error) {
        *status = recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                                 : ACL_EVENT_STATUS_NOT_READY;
    }
    return error;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    API_PINNED struct api_event *found = NULL;
    if (!status) {
        return acl_null(__func__, "status");
    }
    aclError error = get_queried(__func__, event, &found);
    if (!error) {
        *status = api_event_is_awaited(found) ? ACL_EVENT_WAIT_STATUS_NOT_READY
                                              : ACL_EVENT_WAIT_STATUS_COMPLETE;
    }
    return error;
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    API_PINNED struct api_event *found = NULL;
    const char *func = "aclrtSynchronizeEvent";
    aclError error = acl_timeout_check(func, timeout);
    if (!error) {
        error = acl_result(func, api_event_get(event, &found));
    }
    return error ? error : acl_result(func, api_event_synchronize(found, timeout));
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    return aclrtSynchronizeEventWithTimeout(event, API_FOREVER);
}

// Gives it pinned.
static aclError get_timed(const char *func, aclrtEvent handle, struct api_event **event)
{
    aclError error = acl_result(func, api_event_get(handle, event));
    return !error && !((*event)->flags & ACL_EVENT_TIME_LINE)
               ? acl_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, func,
                          "the event was made without ACL_EVENT_TIME_LINE: it keeps no time")
               : error;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    API_PINNED struct api_event *start = NULL;
    API_PINNED struct api_event *end = NULL;
    uint64_t ns;
    if (!ms) {
        return acl_null(__func__, "ms");
    }
    aclError error = get_timed(__func__, startEvent, &start);
    if (!error) {
        error = get_timed(__func__, endEvent, &end);
    }
    if (!error) {
        error = acl_result(__func__, api_event_elapsed(start, end, &ns));
    }
    if (!error) {
        // The simulated clock stands still between launches; what was recorded later has a later
        // time on a card, and programs divide by it.
        const uint64_t apart = ns == 0 && start != end ? 1 : ns;
        *ms = (float)((double)apart / 1e6);
    }
    return error;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    API_PINNED struct api_event *found = NULL;
    uint64_t ns;
    if (!timestamp) {
        return acl_null(__func__, "timestamp");
    }
    aclError error = get_timed(__func__, event, &found);
    if (!error) {
        error = acl_result(__func__, api_event_time(found, &ns));
    }
    if (!error) {
        // A card's counter has run since it has power: it is never 0.
        *timestamp = ns < 1000 ? 1 : ns / 1000;
    }
    return error;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId)
{
    API_PINNED struct api_event *found = NULL;
    if (!eventId) {
        return acl_null(__func__, "eventId");
    }
    aclError error = acl_result(__func__, api_event_get(event, &found));
    if (!error) {
        *eventId = found->id;
    }
    return error;
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    return timeout == 0 ? aclrtStreamWaitEvent(stream, event)
                        : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                                   "timeout %d: streams wait as long as it takes, pass 0", timeout);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    return flag == 0 ? aclrtRecordEvent(event, stream)
                     : acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__,
                                "flag %u is not supported", flag);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag)
{
    if (flag) {
        return acl_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, __func__, "flag %u is not supported",
                        flag);
    }
    return aclrtStreamWaitEventWithTimeout(stream, event,
                                           timeout > INT32_MAX ? INT32_MAX : (int32_t)timeout);
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
    return eventCount ? acl_result(__func__, api_event_available(eventCount))
                      : acl_null(__func__, "eventCount");
}
