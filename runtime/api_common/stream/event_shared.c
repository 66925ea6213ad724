/* SPDX-License-Identifier: Apache-2.0 */
/* Events that processes share: records and waits are work of the host in streams. */
#include "event_handle.h"

#include "../context/context.h"
#include "../process/code.h"
#include "work.h"

#include <leo/alloc.h>
#include <time.h>

/** A record, or a wait for one, in a stream. */
struct task {
    struct api_shared *shared;
    uint64_t sequence;
    struct api_wait wait;
};

static void release_task(void *user)
{
    struct task *task = user;
    api_shared_drop(task->shared);
    leo_free(task);
}

static void record(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct task *task = user;
    struct api_shared_head *head = task->shared->head;
    struct api_mark *mark = &head->mark[task->sequence % API_SHARED_MARKS];
    uint64_t newest = atomic_load(&head->reached);
    (void)result;
    atomic_store(&mark->time_ns, start_ns);
    atomic_store(&mark->sequence, task->sequence);
    // An older record may be reached later than a newer one in another stream.
    while (newest < task->sequence &&
           !atomic_compare_exchange_weak(&head->reached, &newest, task->sequence)) {
    }
    api_shared_changed(head);
}

// That of a record that was reached; of one long ago, that of a newer one.
static uint64_t time_of(struct api_shared_head *head, uint64_t sequence)
{
    const struct api_mark *mark = &head->mark[sequence % API_SHARED_MARKS];
    uint64_t time_ns = atomic_load(&mark->time_ns);
    return atomic_load(&mark->sequence) == sequence
               ? time_ns
               : atomic_load(&head->mark[atomic_load(&head->reached) % API_SHARED_MARKS].time_ns);
}

static void wait_for(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct task *task = user;
    struct api_shared_head *head = task->shared->head;
    api_wait_begin(&task->wait);
    while (result->status == LEO_OK) {
        const uint32_t turn = atomic_load(&head->turn);
        if (atomic_load(&head->reached) >= task->sequence) {
            const uint64_t time_ns = time_of(head, task->sequence);
            result->end_ns = time_ns > start_ns ? time_ns : start_ns;
            return;
        }
        if (!api_wait_goes_on(&task->wait, task->shared, "event", result)) {
            return;
        }
        api_shared_wait(head, turn);
    }
}

static leo_status put(struct api_event *event, const void *handle, leo_rt_host_fn run,
                      uint64_t sequence)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_to_fill(handle, &stream);
    if (status == LEO_OK && leo_rt_stream_graph(stream->rt)) {
        status = leo_rt_fail(LEO_ERR_UNSUPPORTED,
                             "events between processes cannot be captured in a graph");
    }
    struct task *task = status == LEO_OK ? leo_calloc(1, sizeof(*task)) : NULL;
    if (!task) {
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    api_shared_use(event->shared);
    *task = (struct task){event->shared, sequence, {.stream = stream}};
    status = api_work(stream, run, release_task, task);
    if (status != LEO_OK) {
        release_task(task);
    }
    return status;
}

leo_status api_event_shared_record(struct api_event *event, const void *stream)
{
    // Asked for only now: who waits from here on waits for it.
    struct api_shared_head *head = event->shared->head;
    const uint64_t sequence = atomic_fetch_add(&head->recorded, 1) + 1;
    leo_status status = put(event, stream, record, sequence);
    if (status != LEO_OK) {
        // Nobody must wait for what does not come.
        const struct task none = {.shared = event->shared, .sequence = sequence};
        struct leo_rt_host_result result = {0};
        record((void *)(uintptr_t)&none, 0, &result);
    }
    return status;
}

leo_status api_event_shared_wait(struct api_event *event, const void *stream)
{
    const uint64_t sequence = atomic_load(&event->shared->head->recorded);
    return sequence ? put(event, stream, wait_for, sequence) : LEO_OK;
}

leo_status api_event_shared_query(struct api_event *event, bool if_unrecorded)
{
    const struct api_shared_head *head = event->shared->head;
    const uint64_t recorded = atomic_load(&head->recorded);
    if (recorded == 0) {
        return if_unrecorded ? LEO_OK
                             : leo_rt_fail(LEO_ERR_NOT_READY, "the event was never recorded");
    }
    return atomic_load(&head->reached) >= recorded
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_NOT_READY, "the event was not reached yet");
}

leo_status api_event_shared_synchronize(struct api_event *event, int timeout_ms)
{
    struct api_shared_head *head = event->shared->head;
    const uint64_t sequence = atomic_load(&head->recorded);
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        const uint32_t turn = atomic_load(&head->turn);
        if (atomic_load(&head->reached) >= sequence) {
            return LEO_OK;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        const int64_t spent_ms =
            (int64_t)(now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
        if (timeout_ms >= 0 && spent_ms >= timeout_ms) {
            return leo_rt_fail(API_EVENT_TIMEOUT, "the event did not complete in %d ms",
                               timeout_ms);
        }
        if (!event->shared->mine && !api_shared_has_others(event->shared)) {
            return leo_rt_fail(LEO_ERR_DEAD, "the processes that shared the event have ended");
        }
        api_shared_wait(head, turn);
    }
}

leo_status api_event_shared_time(struct api_event *event, uint64_t *ns)
{
    struct api_shared_head *head = event->shared->head;
    *ns = time_of(head, atomic_load(&head->reached));
    return LEO_OK;
}

leo_status api_event_export(struct api_event *event, char key[API_KEY_BYTES])
{
    if (!event->shared || !event->shared->mine) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s",
                           event->shared ? "the event is another process's, which alone exports it"
                                         : "the event was not made to be shared");
    }
    api_shared_key(event->shared->id, key);
    return LEO_OK;
}
