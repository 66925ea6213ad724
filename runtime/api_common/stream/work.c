/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "../context/context.h"
#include "../process/code.h"

#include <stdio.h>
#include <time.h>

static leo_status get_worker(struct api_stream *stream, struct leo_rt_host_worker **worker)
{
    pthread_mutex_lock(&api_process()->worker_lock);
    leo_status status =
        stream->worker ? LEO_OK : leo_rt_host_worker_create(stream->context->rt, &stream->worker);
    *worker = stream->worker;
    pthread_mutex_unlock(&api_process()->worker_lock);
    return status;
}

leo_status api_work(struct api_stream *stream, leo_rt_host_fn run, void (*release)(void *user),
                    void *user)
{
    struct leo_rt_host_worker *worker;
    leo_status status = get_worker(stream, &worker);
    return status != LEO_OK ? status : leo_rt_host_task(worker, stream->rt, run, release, user);
}

void api_work_stop(struct api_stream *stream)
{
    atomic_store(&stream->ending, true);
}

void api_work_end(struct api_stream *stream)
{
    api_work_stop(stream);
    leo_rt_host_worker_destroy(stream->worker);
    stream->worker = NULL;
}

struct timespec api_after_ms(int ms)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    if (ms > 0) {
        when.tv_sec += ms / 1000;
        when.tv_nsec += ms % 1000 * 1000000L;
    }
    if (when.tv_nsec >= 1000000000L) {
        when.tv_sec++;
        when.tv_nsec -= 1000000000L;
    }
    return when;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void api_wait_begin(struct api_wait *wait)
{
    const uint32_t seconds =
        wait->timeout_s ? wait->timeout_s : atomic_load(&api_process()->wait_limit_s);
    wait->limit_ms = seconds ? now_ms() + (uint64_t)seconds * 1000 : 0;
}

bool api_wait_goes_on(const struct api_wait *wait, const struct api_shared *shared,
                      const char *what, struct leo_rt_host_result *result)
{
    if (atomic_load(&wait->stream->ending)) {
        return false;
    }
    if (wait->limit_ms && now_ms() >= wait->limit_ms) {
        result->status = API_WAIT_TIMEOUT;
        snprintf(result->text, sizeof(result->text),
                 "a stream waited for a %s that did not come in time", what);
        return false;
    }
    if (shared && atomic_load(&shared->head->user_count) > 1 && !api_shared_has_others(shared)) {
        result->status = LEO_ERR_DEAD;
        snprintf(result->text, sizeof(result->text),
                 "a stream waits for a %s, and all other processes that shared it have ended",
                 what);
        return false;
    }
    return true;
}

void api_wait_limit_set(uint32_t seconds)
{
    atomic_store(&api_process()->wait_limit_s, seconds);
}

leo_status api_work_of_device(struct api_context *context, struct leo_rt_host_worker **worker)
{
    struct api_device *slot = context->slot;
    pthread_mutex_lock(&api_process()->worker_lock);
    leo_status status =
        slot->worker ? LEO_OK : leo_rt_host_worker_create(context->rt, &slot->worker);
    *worker = slot->worker;
    pthread_mutex_unlock(&api_process()->worker_lock);
    return status;
}

void api_work_device_end(struct api_device *slot)
{
    pthread_mutex_lock(&api_process()->worker_lock);
    struct leo_rt_host_worker *worker = slot->worker;
    slot->worker = NULL;
    pthread_mutex_unlock(&api_process()->worker_lock);
    leo_rt_host_worker_destroy(worker);
}
