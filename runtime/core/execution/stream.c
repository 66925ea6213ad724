/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>
#include <leo/host_model.h>
#include <stdio.h>

static void count_use(struct leo_rt_device *device, const struct rt_task *task,
                      const struct leo_drv_completion *done)
{
    uint64_t ns = done->end_ns - done->start_ns;
    if (done->end_ns > device->newest_end_ns) {
        device->newest_end_ns = done->end_ns;
    }
    if (task->kernel) {
        device->use.cube_ns += task->kernel->kind != LEO_CORE_KIND_VECTOR ? ns : 0;
        device->use.vector_ns += task->kernel->kind != LEO_CORE_KIND_CUBE ? ns : 0;
    }
}

// Runs inside the driver's poll, under both locks: only notes what happened.
static void complete_task(void *user, uint32_t cmd_id, const struct leo_drv_completion *done)
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
        rt_run_ahead_thread_copied(device, task->end_ns);
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
    const uint64_t now_ns = atomic_load(&device->host_ns);
    if (task->graph_tasks) {
        // The graph was launched as one.
        return device->last_launch_ns > now_ns ? device->last_launch_ns : now_ns;
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
    struct leo_rt_device *device = stream->device;
    if (stream->graph) {
        return rt_graph_append(stream, entry, task);
    }
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
    device->calls++;
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

void rt_stream_fail_host(struct leo_rt_stream *stream, leo_status status, const char *text)
{
    if (stream->host_status == LEO_OK) {
        stream->host_status = status;
        snprintf(stream->host_text, sizeof(stream->host_text), "%s", text);
    }
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

leo_status rt_stream_create(struct leo_rt_device *device, const struct leo_rt_stream_opts *opts,
                            struct leo_rt_stream **out)
{
    struct leo_rt_stream *stream = leo_calloc(1, sizeof(*stream));
    if (!stream) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for a stream",
                       device->index);
    }
    stream->device = device;
    stream->depth = RT_STREAM_DEPTH;
    while (stream->depth > device->caps.queue_depth) {
        stream->depth /= 2;
    }
    stream->tasks = leo_calloc(stream->depth, sizeof(*stream->tasks));
    leo_status status = LEO_ERR_NO_MEMORY;
    if (!stream->tasks) {
        goto free_stream;
    }
    void *args;
    status = leo_drv_dma_alloc(device->drv, RT_ARGS_BYTES, &args, &stream->args_addr);
    if (status) {
        goto free_tasks;
    }
    stream->args = args;
    status = leo_drv_queue_create(device->drv, stream->depth, (uint8_t)opts->priority,
                                  complete_task, stream, &stream->queue);
    if (status) {
        goto free_args;
    }
    stream->next = device->streams;
    device->streams = stream;
    *out = stream;
    return LEO_OK;

free_args:
    leo_drv_dma_free(device->drv, stream->args, stream->args_addr);
free_tasks:
    leo_free(stream->tasks);
free_stream:
    leo_free(stream);
    return rt_fail(status, "device %d: cannot create a stream: %s%s", device->index,
                   leo_status_text(status),
                   status == LEO_ERR_FULL ? "; destroy streams that are no longer used" : "");
}

// The device did not finish its tasks and never will: nobody may wait for them.
static void give_up_tasks(struct leo_rt_stream *stream)
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

static void destroy_stream(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    rt_run_ahead_lose(stream);
    if (stream->graph) {
        rt_graph_lose(stream);
    }
    for (struct leo_rt_stream **at = &device->streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    leo_drv_queue_destroy(stream->queue);
    if (stream->shared_addr) {
        (void)leo_drv_memory_free(device->drv, stream->shared_addr);
    }
    give_up_tasks(stream);
    leo_drv_dma_free(device->drv, stream->args, stream->args_addr);
    leo_free(stream->tasks);
    leo_free(stream);
}

void rt_stream_destroy(struct leo_rt_stream *stream)
{
    leo_status status = rt_stream_wait(stream, stream->submitted, -1);
    if (status) {
        rt_log(stream->device->rt, 2, "a stream is destroyed although its tasks do not end");
    }
    destroy_stream(stream);
}

void leo_rt_stream_abandon(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    destroy_stream(stream);
    pthread_mutex_unlock(&device->lock);
}

void leo_rt_stream_set_float_mode(struct leo_rt_stream *stream, enum leo_float_mode mode)
{
    pthread_mutex_lock(&stream->device->lock);
    stream->float_mode = mode;
    pthread_mutex_unlock(&stream->device->lock);
}

void leo_rt_stream_set_stop_on_failure(struct leo_rt_stream *stream)
{
    pthread_mutex_lock(&stream->device->lock);
    stream->stop_on_failure = true;
    pthread_mutex_unlock(&stream->device->lock);
}

leo_status leo_rt_stream_create(struct leo_rt_device *device, struct leo_rt_stream **out)
{
    const struct leo_rt_stream_opts opts = {0};
    return leo_rt_stream_create_with(device, &opts, out);
}

leo_status leo_rt_stream_create_with(struct leo_rt_device *device,
                                     const struct leo_rt_stream_opts *opts,
                                     struct leo_rt_stream **out)
{
    *out = NULL;
    if (opts->priority > LEO_DRV_PRIORITY_LEAST) {
        return rt_fail(LEO_ERR_INVALID_ARG, "priority %u: they go from 0 (first) to %d",
                       opts->priority, LEO_DRV_PRIORITY_LEAST);
    }
    pthread_mutex_lock(&device->lock);
    if (!opts->is_default && ++device->streams_made > 1) {
        rt_run_ahead_stop(device);
    }
    leo_status status = rt_stream_create(device, opts, out);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void leo_rt_stream_destroy(struct leo_rt_stream *stream)
{
    if (stream) {
        struct leo_rt_device *device = stream->device;
        pthread_mutex_lock(&device->lock);
        rt_stream_destroy(stream);
        pthread_mutex_unlock(&device->lock);
    }
}

leo_status leo_rt_stream_synchronize(struct leo_rt_stream *stream, int timeout_ms)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_stream_wait(stream, stream->submitted, timeout_ms);
    if (!status) {
        pthread_mutex_unlock(&device->lock);
        rt_print_drain(device);
        pthread_mutex_lock(&device->lock);
        status = rt_stream_take_fault(stream);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

leo_status leo_rt_stream_query(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_stream_poll(stream);
    device->calls++;
    device->asks++;
    if (!status && stream->completed < stream->submitted) {
        status = rt_device_pump(device, RT_QUERY_NS);
        status = status == LEO_ERR_TIMEOUT || status == LEO_ERR_NOT_READY ? LEO_OK : status;
    }
    if (!status && (stream->completed < stream->submitted ||
                    !rt_host_model_sees(device, stream->end_ns, ++stream->asks))) {
        status = rt_fail(LEO_ERR_NOT_READY, "the stream has tasks that are not done");
    } else if (!status) {
        rt_device_see_time(device, stream->end_ns);
        rt_run_ahead_seen(stream, stream->submitted);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

enum leo_fault leo_rt_stream_last_fault(const struct leo_rt_stream *stream)
{
    return stream->last_fault;
}

uint64_t leo_rt_stream_last_fault_task(const struct leo_rt_stream *stream)
{
    return stream->failed_number;
}

enum leo_core_kind leo_rt_stream_last_fault_kind(const struct leo_rt_stream *stream)
{
    return stream->last_fault_kind;
}
