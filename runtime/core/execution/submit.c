/* SPDX-License-Identifier: Apache-2.0 */
/* Entries into a stream's queue, and waits for their ends. */
#include "../rt.h"

#include <leo/host_model.h>

struct stream_goal {
    const struct leo_rt_stream *stream;
    uint64_t count;
};

static bool is_goal_reached(const void *arg)
{
    const struct stream_goal *goal = arg;
    return goal->stream->completed >= goal->count;
}

leo_status rt_stream_wait(struct leo_rt_stream *stream, uint64_t count, int timeout_ms)
{
    const struct stream_goal goal = {stream, count};
    leo_status status =
        rt_device_wait(stream->device, is_goal_reached, &goal, timeout_ms, "the stream's tasks");
    if (!status) {
        rt_device_see_time(stream->device, stream->end_ns);
        rt_run_ahead_seen(stream, count);
    }
    return status;
}

leo_status rt_stream_wait_outcome(struct leo_rt_stream *stream, const struct rt_outcome *outcome)
{
    uint64_t count = stream->submitted;
    leo_status status = rt_stream_wait(stream, count, -1);
    if (stream->completed < count) {
        // Given up, but still under way.
        stream->tasks[(count - 1) & (stream->depth - 1)].outcome = NULL;
    } else if (!status && outcome->done.status) {
        status = rt_fail(LEO_ERR_FAULT, "%s", outcome->text);
    }
    return status;
}

leo_status rt_stream_wait_room(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    leo_status status = LEO_OK;
    rt_run_ahead_claim(stream);
    while (!status && stream->submitted - stream->completed >= stream->depth - 1) {
        const struct stream_goal goal = {stream, stream->completed + 1};
        status = rt_device_wait(device, is_goal_reached, &goal, -1, "room in the stream");
    }
    if (!status && stream->submitted >= stream->depth - 1) {
        // When the task ended whose place it takes: whether it was still under way depends on the
        // computer.
        rt_device_see_time(device,
                           stream->tasks[(stream->submitted + 1) & (stream->depth - 1)].end_ns);
    }
    return status;
}

// What the script gives as an operator of its own; other entries cost the launching thread alone.
static bool is_script_work(const struct leo_sqe *entry)
{
    return entry->opcode == LEO_SQE_OP_KERNEL || entry->opcode == LEO_SQE_OP_COPY ||
           entry->opcode == LEO_SQE_OP_FILL;
}

// The simulated time at which the device sees an entry.
static uint64_t host_time_of(struct leo_rt_stream *stream, const struct leo_sqe *entry,
                             const struct rt_task *task)
{
    struct leo_rt_device *device = stream->device;
    const uint64_t now_ns = atomic_load(&device->progress.host_ns);
    if (task->graph_tasks) {
        // The graph was launched as one.
        return device->progress.last_launch_ns > now_ns ? device->progress.last_launch_ns : now_ns;
    }
    // The copy stream carries what the script waits for.
    if (!device->rt->host_model.is_on || stream == device->copy_stream) {
        return now_ns;
    }
    if (task->by_worker) {
        return 0;
    }
    // An operator is charged once, however many kernels it has here.
    const bool is_operator = is_script_work(entry) && !stream->operator_paid;
    stream->operator_paid = stream->operators > 0 && (is_operator || stream->operator_paid);
    return rt_host_model_launch(device, is_operator);
}

void leo_rt_operator_begin(struct leo_rt_stream *stream)
{
    pthread_mutex_lock(&stream->device->lock);
    if (stream->operators++ == 0) {
        stream->operator_paid = false;
    }
    pthread_mutex_unlock(&stream->device->lock);
}

void leo_rt_operator_end(struct leo_rt_stream *stream)
{
    pthread_mutex_lock(&stream->device->lock);
    if (--stream->operators == 0) {
        stream->operator_paid = false;
    }
    pthread_mutex_unlock(&stream->device->lock);
}

leo_status rt_stream_submit(struct leo_rt_stream *stream, struct leo_sqe *entry,
                            const struct rt_task *task)
{
    return rt_stream_submit_at(stream, entry, task, 0);
}

leo_status rt_stream_submit_at(struct leo_rt_stream *stream, struct leo_sqe *entry,
                               const struct rt_task *task, uint64_t host_ns)
{
    return stream->sink->submit(stream, entry, task, host_ns);
}

leo_status rt_device_submit(struct leo_rt_stream *stream, struct leo_sqe *entry,
                            const struct rt_task *task, uint64_t host_ns)
{
    struct leo_rt_device *device = stream->device;
    leo_status status = rt_stream_wait_room(stream);
    if (status) {
        return status;
    }
    const uint64_t now_ns = host_time_of(stream, entry, task);
    entry->host_ns = now_ns > host_ns ? now_ns : host_ns;
    entry->flags |= stream->stop_on_failure ? LEO_SQE_SKIP_AFTER_FAULT : 0;
    stream->tasks[stream->submitted & (stream->depth - 1)] = *task;
    uint32_t cmd_id;
    status = leo_drv_queue_submit(stream->queue, entry, &cmd_id);
    if (status) {
        return rt_fail(status, "device %d does not take the %s: %s", device->index, task->what,
                       leo_status_text(status));
    }
    stream->submitted++;
    stream->asks = 0;
    device->progress.calls++;
    if (task->to_host) {
        rt_run_ahead_thread_copy(device);
    }
    if (task->kernel) {
        task->kernel->module->tasks++;
    }
    rt_profile_submitted(device, cmd_id, task->kernel);
    rt_run_ahead_thread_submitted(device);
    return LEO_OK;
}
