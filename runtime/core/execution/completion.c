/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a task leaves behind: times, events, faults, memory to give back. */
#include "../rt.h"

#include <stdio.h>

static void count_use(struct leo_rt_device *device, const struct rt_task *task,
                      const struct leo_drv_completion *done)
{
    uint64_t ns = done->end_ns - done->start_ns;
    if (done->end_ns > device->progress.newest_end_ns) {
        device->progress.newest_end_ns = done->end_ns;
    }
    if (task->kernel) {
        device->use.cube_ns += task->kernel->kind != LEO_CORE_KIND_VECTOR ? ns : 0;
        device->use.vector_ns += task->kernel->kind != LEO_CORE_KIND_CUBE ? ns : 0;
    }
}

// Runs inside the driver's poll, under both locks: only notes what happened.
void rt_stream_complete(void *user, uint32_t cmd_id, const struct leo_drv_completion *done)
{
    struct leo_rt_stream *stream = user;
    struct rt_task *task = &stream->tasks[stream->completed++ & (stream->depth - 1)];
    (void)cmd_id;
    task->end_ns = done->end_ns;
    count_use(stream->device, task, done);
    rt_status_task(stream->device, task, done);
    if (task->outcome) {
        task->outcome->done = *done;
    } else if (done->status && !stream->has_failure && !stream->fault) {
        stream->has_failure = true;
        stream->failed_number = stream->completed;
        stream->failed_task = *task;
        stream->failure = *done;
    }
}

static void count_copy(struct leo_rt_device *device, uint64_t end_ns)
{
    device->progress.host_copies--;
    device->progress.host_copies_done++;
    device->progress.host_copy_ns = end_ns;
}

static void release_task(struct leo_rt_stream *stream, struct rt_task *task)
{
    struct leo_rt_device *device = stream->device;
    if (task->kernel) {
        task->kernel->module->tasks--;
    }
    if (task->graph_tasks) {
        --*task->graph_tasks;
    }
    if (task->to_host) {
        count_copy(device, task->end_ns);
    }
    if (task->staging) {
        rt_staging_put(device, task->staging);
    }
    if (task->mapped) {
        leo_drv_dma_unmap(device->drv, task->mapped);
    }
    if (task->args_end) {
        stream->args_tail = task->args_end;
        stream->args_tasks--;
    }
}

// The wait or record of a task is over.
static void settle_event(struct leo_rt_device *device, const struct rt_task *task)
{
    const uint32_t slot = task->wait_slot ? task->wait_slot : task->event_slot;
    if (task->wait_slot) {
        device->slots[slot - 1].waits--;
    }
    if (slot) {
        rt_event_settle(device, slot - 1);
    }
}

// Does what the callback could not.
static void settle_tasks(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    for (; stream->settled < stream->completed; stream->settled++) {
        struct rt_task *task = &stream->tasks[stream->settled & (stream->depth - 1)];
        stream->end_ns = task->end_ns;
        if (task->event_slot) {
            struct rt_event_slot *slot = &device->slots[task->event_slot - 1];
            if (task->event_sequence > slot->done) {
                slot->done = task->event_sequence;
                slot->time_ns = task->end_ns;
            }
        }
        settle_event(device, task);
        struct rt_outcome *outcome = task->outcome;
        if (outcome && outcome->done.status) {
            rt_fault_text(device, stream, task, &outcome->done, outcome->text,
                          sizeof(outcome->text));
            rt_log(device->rt, 3, "%s", outcome->text);
        }
        release_task(stream, task);
    }
    if (stream->has_failure) {
        stream->has_failure = false;
        stream->fault = (enum leo_fault)stream->failure.status;
        stream->fault_kind = stream->failed_task.kernel
                                 ? rt_core_kind(stream->failed_task.kernel, &device->caps,
                                                stream->failure.record.core)
                                 : LEO_CORE_KIND_ANY;
        rt_fault_text(device, stream, &stream->failed_task, &stream->failure, stream->fault_text,
                      sizeof(stream->fault_text));
        rt_log(device->rt, 3, "%s", stream->fault_text);
    }
}

leo_status rt_stream_poll(struct leo_rt_stream *stream)
{
    if (stream->completed == stream->submitted) {
        return LEO_OK;
    }
    leo_status status = leo_drv_queue_poll(stream->queue, NULL);
    settle_tasks(stream);
    return status ? rt_fail(status, "device %d is dead and must be reset", stream->device->index)
                  : LEO_OK;
}

leo_status rt_stream_take_fault(struct leo_rt_stream *stream)
{
    if (stream->host_status != LEO_OK) {
        leo_status status = stream->host_status;
        stream->host_status = LEO_OK;
        return rt_fail(status, "%s", stream->host_text);
    }
    if (!stream->fault && !stream->is_stopped) {
        return LEO_OK;
    }
    if (!stream->fault) {
        // Told already, but what was asked of the stream since then was not done either.
        stream->last_fault = LEO_FAULT_SKIPPED;
        return rt_fail(LEO_ERR_FAULT, "the stream stopped, for it stops on failure: %s",
                       stream->fault_text);
    }
    stream->is_stopped = stream->stop_on_failure;
    stream->last_fault = stream->fault;
    stream->last_fault_kind = stream->fault_kind;
    stream->fault = LEO_FAULT_NONE;
    return rt_fail(LEO_ERR_FAULT, "%s", stream->fault_text);
}

void rt_stream_fail_host(struct leo_rt_stream *stream, leo_status status, const char *text)
{
    // What failed first in the stream is told.
    if (stream->host_status == LEO_OK && !stream->fault) {
        stream->host_status = status;
        snprintf(stream->host_text, sizeof(stream->host_text), "%s", text);
    }
}

// The device did not finish its tasks and never will: no call may wait for them.
void rt_stream_give_up(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    for (; stream->settled < stream->submitted; stream->settled++) {
        struct rt_task *task = &stream->tasks[stream->settled & (stream->depth - 1)];
        if (task->event_slot && device->slots[task->event_slot - 1].done < task->event_sequence) {
            device->slots[task->event_slot - 1].done = task->event_sequence;
        }
        settle_event(device, task);
        release_task(stream, task);
    }
    stream->completed = stream->submitted;
}
