/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>
#include <string.h>

// A record may be reached before an older one in another stream: who waits for that must not take
// it for the older one. Who waits for the next record whenever it comes keeps its slot.
static leo_status choose_slot(struct leo_rt_event *event, const struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = event->device;
    const struct rt_event_slot *slot = &device->slots[event->slot];
    if (slot->done >= slot->recorded || event->recorded == stream ||
        slot->awaited > slot->recorded) {
        return LEO_OK;
    }
    uint32_t number;
    leo_status status = rt_event_slot_take(device, &number);
    if (status == LEO_OK) {
        event->old_slot = event->slot + 1;
        event->old_record = device->slots[event->slot].recorded;
        rt_event_slot_retire(device, event->slot);
        event->slot = number;
    }
    return status;
}

// Waits for the record before the last one, of which the slot went its own way.
static bool is_old_awaited(const struct leo_rt_event *event)
{
    if (event->old_slot == 0) {
        return false;
    }
    const struct rt_event_slot *slot = &event->device->slots[event->old_slot - 1];
    return slot->retired && slot->recorded == event->old_record && slot->waits > 0;
}

uint32_t leo_rt_device_free_events(struct leo_rt_device *device)
{
    pthread_mutex_lock(&device->lock);
    uint32_t count = LEO_MAX_EVENTS - device->event_count;
    pthread_mutex_unlock(&device->lock);
    return count;
}

leo_status leo_rt_event_create(struct leo_rt_device *device, struct leo_rt_event **out)
{
    *out = NULL;
    struct leo_rt_event *event = leo_calloc(1, sizeof(*event));
    if (!event) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for an event",
                       device->index);
    }
    event->device = device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_event_slot_take(device, &event->slot);
    if (!status) {
        event->next = device->events;
        if (event->next) {
            event->next->previous = event;
        }
        device->events = event;
        device->event_count++;
    }
    pthread_mutex_unlock(&device->lock);
    if (status) {
        leo_free(event);
        return status;
    }
    *out = event;
    return LEO_OK;
}

void leo_rt_event_destroy(struct leo_rt_event *event)
{
    if (!event) {
        return;
    }
    struct leo_rt_device *device = event->device;
    pthread_mutex_lock(&device->lock);
    device->event_count--;
    *(event->previous ? &event->previous->next : &device->events) = event->next;
    if (event->next) {
        event->next->previous = event->previous;
    }
    rt_event_slot_retire(device, event->slot);
    pthread_mutex_unlock(&device->lock);
    leo_free(event);
}

static leo_status submit_event(struct leo_rt_event *event, struct leo_rt_stream *stream,
                               enum leo_sqe_op op, uint64_t sequence, uint64_t host_ns,
                               bool by_worker)
{
    struct leo_sqe entry = {.opcode = (uint8_t)op};
    const struct leo_sqe_event body = {.event = event->slot, .sequence = sequence};
    memcpy(entry.body, &body, sizeof(body));
    struct rt_task task = {.what = "event", .by_worker = by_worker};
    if (op == LEO_SQE_OP_EVENT_RECORD) {
        task.event_slot = event->slot + 1;
        task.event_sequence = sequence;
    } else {
        task.wait_slot = event->slot + 1;
    }
    if (task.wait_slot) {
        rt_run_ahead_stop(stream->device); // it may have a limit, and time must not pass by itself
    }
    leo_status status = rt_stream_submit_at(stream, &entry, &task, host_ns);
    struct rt_event_slot *slot = &event->device->slots[event->slot];
    if (!status && task.wait_slot) {
        slot->waits++;
        slot->awaited = slot->awaited > sequence ? slot->awaited : sequence;
    }
    if (!status && task.event_slot) {
        slot->recorded = slot->recorded > sequence ? slot->recorded : sequence;
        event->asks = 0;
        event->recorded = stream;
        event->recorded_after = stream->submitted;
    }
    return status;
}

static leo_status record(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = event->device;
    event->graph = NULL;
    // Taken before the submission, which may wait for room and let other threads in. A number
    // nobody uses is no harm.
    leo_status status = choose_slot(event, stream);
    uint64_t sequence = 0;
    if (!status) {
        sequence = ++device->slots[event->slot].sequence;
        status = submit_event(event, stream, LEO_SQE_OP_EVENT_RECORD, sequence, 0, false);
    }
    if (!status) {
        event->sequence = sequence;
        event->is_reset = false;
    }
    return status;
}

leo_status leo_rt_event_record(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    if (event->device != stream->device) {
        return rt_fail(LEO_ERR_INVALID_ARG, "the event is of device %d, the stream of device %d",
                       event->device->index, stream->device->index);
    }
    pthread_mutex_lock(&event->device->lock);
    leo_status status = stream->sink->record(event, stream);
    pthread_mutex_unlock(&event->device->lock);
    return status;
}

void leo_rt_event_reset(struct leo_rt_event *event)
{
    pthread_mutex_lock(&event->device->lock);
    event->is_reset = true;
    event->sequence = 0;
    pthread_mutex_unlock(&event->device->lock);
}

bool leo_rt_event_is_recorded(struct leo_rt_event *event)
{
    pthread_mutex_lock(&event->device->lock);
    bool recorded = event->sequence != 0;
    pthread_mutex_unlock(&event->device->lock);
    return recorded;
}

bool leo_rt_event_is_awaited(struct leo_rt_event *event)
{
    struct leo_rt_device *device = event->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_device_poll(device);
    bool awaited = status || device->slots[event->slot].waits > 0 || is_old_awaited(event);
    pthread_mutex_unlock(&device->lock);
    return awaited;
}

// An event of another device: its chip goes on until the event is reached, then its time is the
// earliest for what follows in the stream.
static leo_status wait_for_peer(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    if (!leo_rt_event_is_recorded(event)) {
        return LEO_OK;
    }
    uint64_t ns;
    leo_status status = leo_rt_event_synchronize(event, -1);
    if (!status) {
        status = leo_rt_event_time_ns(event, &ns);
    }
    if (!status) {
        struct leo_sqe entry = {.opcode = LEO_SQE_OP_NOP};
        const struct rt_task task = {.what = "event"};
        pthread_mutex_lock(&stream->device->lock);
        status = rt_stream_submit_at(stream, &entry, &task, ns);
        pthread_mutex_unlock(&stream->device->lock);
    }
    return status;
}

static leo_status wait(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    if (event->sequence) {
        return submit_event(event, stream, LEO_SQE_OP_EVENT_WAIT, event->sequence, 0, false);
    }
    // For the next record, whenever it comes.
    return event->is_reset ? rt_event_wait_next(event, stream) : LEO_OK;
}

leo_status leo_rt_event_wait(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    if (event->device != stream->device) {
        return wait_for_peer(event, stream);
    }
    pthread_mutex_lock(&event->device->lock);
    // An event of a capture takes the stream into it.
    const struct rt_sink *sink = event->graph ? event->sink : stream->sink;
    leo_status status = sink->wait(event, stream);
    pthread_mutex_unlock(&event->device->lock);
    return status;
}

leo_status rt_event_record_at(struct leo_rt_event *event, struct leo_rt_stream *stream,
                              uint64_t host_ns)
{
    uint64_t sequence = ++event->device->slots[event->slot].sequence;
    event->sequence = sequence;
    return submit_event(event, stream, LEO_SQE_OP_EVENT_RECORD, sequence, host_ns, true);
}

leo_status rt_event_wait_next(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    return submit_event(event, stream, LEO_SQE_OP_EVENT_WAIT,
                        event->device->slots[event->slot].sequence + 1, 0, false);
}

static bool is_done(const void *arg)
{
    return rt_event_is_done(arg);
}

static void see_event(const struct leo_rt_event *event)
{
    if (event->sequence) {
        rt_device_see_time(event->device, event->device->slots[event->slot].time_ns);
        if (event->recorded && event->recorded == event->device->progress.solo_stream) {
            rt_run_ahead_seen(event->recorded, event->recorded_after);
        }
    }
}

static bool sees(struct leo_rt_event *event)
{
    return !event->sequence ||
           rt_host_model_sees(event->device, event->device->slots[event->slot].time_ns,
                              ++event->asks);
}

// Lets the device take a step if the event has not been reached. Caller holds the lock.
static leo_status ask(struct leo_rt_event *event, bool is_query)
{
    struct leo_rt_device *device = event->device;
    device->progress.calls++;
    device->progress.asks++;
    leo_status status = is_done(event) ? LEO_OK : rt_device_poll(device);
    if (!status && !is_done(event)) {
        status = rt_device_pump(device, RT_QUERY_NS);
        status = status == LEO_ERR_TIMEOUT || status == LEO_ERR_NOT_READY ? LEO_OK : status;
    }
    if (!status && (!is_done(event) || (is_query && !sees(event)))) {
        return rt_fail(LEO_ERR_NOT_READY, "the event has not been reached yet");
    }
    if (!status) {
        see_event(event);
    }
    return status;
}

leo_status leo_rt_event_query(struct leo_rt_event *event)
{
    pthread_mutex_lock(&event->device->lock);
    leo_status status = ask(event, true);
    pthread_mutex_unlock(&event->device->lock);
    return status;
}

leo_status rt_event_await(struct leo_rt_event *event, uint64_t *ns)
{
    struct leo_rt_device *device = event->device;
    leo_status status = rt_device_wait(device, is_done, event, -1, "the event");
    *ns = device->slots[event->slot].time_ns;
    return status;
}

leo_status leo_rt_event_synchronize(struct leo_rt_event *event, int timeout_ms)
{
    struct leo_rt_device *device = event->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_device_wait(device, is_done, event, timeout_ms, "the event");
    if (!status) {
        see_event(event);
    }
    pthread_mutex_unlock(&device->lock);
    if (!status) {
        rt_print_drain(device);
    }
    return status;
}

leo_status leo_rt_event_time_ns(struct leo_rt_event *event, uint64_t *ns)
{
    *ns = 0;
    if (!leo_rt_event_is_recorded(event)) {
        return rt_fail(LEO_ERR_STATE, "the event was never recorded: it has no time");
    }
    pthread_mutex_lock(&event->device->lock);
    leo_status status = ask(event, false);
    if (!status) {
        *ns = event->device->slots[event->slot].time_ns;
    }
    pthread_mutex_unlock(&event->device->lock);
    return status;
}

static void lose(struct leo_rt_stream *stream)
{
    (void)stream;
}

const struct rt_sink rt_device_sink = {
    .submit = rt_device_submit,
    .place = rt_args_place,
    .record = record,
    .wait = wait,
    .lose = lose,
};
