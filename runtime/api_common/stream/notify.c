/* SPDX-License-Identifier: Apache-2.0 */
/* A notify is a word of the host that work of the host in streams sets and waits for, so that it is
 * the same within a process and between processes. */
#include "notify.h"

#include "../context/context.h"
#include "../process/code.h"
#include "work.h"

#include <leo/alloc.h>

/** A wait for, or a record of, a notify in a stream. */
struct task {
    struct api_notify_state *state;
    struct api_wait wait;
};

static void drop_state(struct api_notify_state *state)
{
    if (atomic_fetch_sub(&state->uses, 1) != 1) {
        return;
    }
    api_shared_drop(state->shared);
    pthread_mutex_destroy(&state->lock);
    leo_free(state->own);
    leo_free(state);
}

static void end_notify(void *object)
{
    struct api_notify *notify = object;
    drop_state(notify->state);
    api_free(notify);
}

/* With a head of the process's own, or with what it shares (whose use it takes over). */
static leo_status make(struct api_shared *shared, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct api_notify *made = api_make(sizeof(*made));
    struct api_notify_state *state = made ? leo_calloc(1, sizeof(*state)) : NULL;
    struct api_shared_head *own = state && !shared ? leo_calloc(1, sizeof(*own)) : NULL;
    if (!made || !state || (!shared && !own)) {
        leo_free(state);
        api_handle_drop(&api_process()->handles, made ? &made->handle : NULL);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    pthread_mutex_init(&state->lock, NULL);
    atomic_init(&state->uses, 1);
    state->own = own;
    state->shared = shared;
    state->head = shared ? shared->head : own;
    made->state = state;
    made->id = atomic_fetch_add(&api_process()->next_notify_id, 1);
    api_publish(made, API_KIND_NOTIFY, &context->slot->notifies, end_notify);
    *handle = made;
    return LEO_OK;
}

leo_status api_notify_create(void **handle)
{
    return make(NULL, handle);
}

leo_status api_notify_get(const void *handle, struct api_notify **notify)
{
    *notify = api_find(handle, API_KIND_NOTIFY);
    return *notify  ? LEO_OK
           : handle ? leo_rt_fail(API_BAD_HANDLE, "%p is no live notify", handle)
                    : leo_rt_fail(API_BAD_ARGUMENT, "the notify is NULL");
}

leo_status api_notify_destroy(const void *handle)
{
    struct api_notify *found;
    leo_status status = api_notify_get(handle, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (!api_claim(found)) {
        return leo_rt_fail(API_BAD_HANDLE, "%p is no live notify", handle);
    }
    end_notify(found);
    return LEO_OK;
}

static void release_task(void *user)
{
    struct task *task = user;
    drop_state(task->state);
    leo_free(task);
}

static void record(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct task *task = user;
    (void)result;
    pthread_mutex_lock(&task->state->lock);
    struct api_shared_head *head = task->state->head;
    atomic_store(&head->time_ns, start_ns);
    atomic_store(&head->value, 1);
    pthread_mutex_unlock(&task->state->lock);
    api_shared_changed(head);
}

// Takes the mark if it is there; else what to wait on, which lasts as long as the state.
static bool take(struct api_notify_state *state, uint64_t *time_ns, struct api_shared_head **head,
                 uint32_t *turn)
{
    uint64_t set = 1;
    pthread_mutex_lock(&state->lock);
    *head = state->head;
    *turn = atomic_load(&state->head->turn);
    bool taken = atomic_compare_exchange_strong(&state->head->value, &set, 0);
    *time_ns = taken ? atomic_load(&state->head->time_ns) : 0;
    pthread_mutex_unlock(&state->lock);
    return taken;
}

static void wait_and_take(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct task *task = user;
    struct api_shared_head *head;
    uint64_t time_ns;
    uint32_t turn;
    api_wait_begin(&task->wait);
    while (result->status == LEO_OK && !take(task->state, &time_ns, &head, &turn)) {
        if (!api_wait_goes_on(&task->wait, task->state->shared, "notify", result)) {
            return;
        }
        api_shared_wait(head, turn);
    }
    if (result->status == LEO_OK && time_ns > start_ns) {
        result->end_ns = time_ns;
    }
}

static leo_status put(const struct api_notify *notify, const void *handle, leo_rt_host_fn run,
                      uint32_t timeout_s)
{
    API_PINNED struct api_stream *stream = NULL;
    leo_status status = api_stream_to_fill(handle, &stream);
    struct task *task = status == LEO_OK ? leo_calloc(1, sizeof(*task)) : NULL;
    if (!task) {
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    atomic_fetch_add(&notify->state->uses, 1);
    *task = (struct task){.state = notify->state, .wait = {stream, timeout_s, 0}};
    status = api_work(stream, run, release_task, task);
    if (status != LEO_OK) {
        release_task(task);
    }
    return status;
}

leo_status api_notify_record(const struct api_notify *notify, const void *stream)
{
    return put(notify, stream, record, 0);
}

leo_status api_notify_wait(const struct api_notify *notify, const void *stream, uint32_t timeout_s)
{
    return put(notify, stream, wait_and_take, timeout_s);
}

leo_status api_notify_reset(const struct api_notify *notify)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status == LEO_OK) {
        pthread_mutex_lock(&notify->state->lock);
        atomic_store(&notify->state->head->value, 0);
        pthread_mutex_unlock(&notify->state->lock);
    }
    return status;
}

// Caller holds the state's lock.
static leo_status share(struct api_notify_state *state, bool any_process)
{
    if (state->shared && !state->shared->mine) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG,
                           "the notify is another process's, which alone exports it");
    }
    if (state->shared) {
        atomic_store(&state->shared->head->any_process, any_process);
        return LEO_OK;
    }
    leo_status status = api_shared_create(API_SHARED_NOTIFY, 0, any_process, &state->shared);
    if (status == LEO_OK) {
        state->head = state->shared->head;
        atomic_store(&state->head->value, atomic_load(&state->own->value));
        atomic_store(&state->head->time_ns, atomic_load(&state->own->time_ns));
        api_shared_changed(state->own); // who waits looks at the new one
    }
    return status;
}

leo_status api_notify_export(const struct api_notify *notify, bool any_process,
                             char key[API_KEY_BYTES])
{
    struct api_notify_state *state = notify->state;
    pthread_mutex_lock(&state->lock);
    leo_status status = share(state, any_process);
    if (status == LEO_OK) {
        api_shared_key(state->shared->id, key);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}

leo_status api_notify_allow(const struct api_notify *notify, const int32_t *pids, size_t count)
{
    struct api_notify_state *state = notify->state;
    pthread_mutex_lock(&state->lock);
    leo_status status =
        state->shared && state->shared->mine
            ? api_shared_allow(state->shared, pids, count)
            : leo_rt_fail(LEO_ERR_INVALID_ARG, "this process has not exported the notify");
    pthread_mutex_unlock(&state->lock);
    return status;
}

leo_status api_notify_import(const char *key, void **handle)
{
    struct api_shared *shared;
    api_shared_id id;
    leo_status status = api_shared_id_of(key, &id);
    if (status == LEO_OK) {
        status = api_shared_open(id, API_SHARED_NOTIFY, &shared);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = make(shared, handle);
    if (status != LEO_OK) {
        api_shared_drop(shared);
    }
    return status;
}
