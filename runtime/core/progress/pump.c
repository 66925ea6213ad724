/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the device and takes what it has done, until something is so. */
#include "../rt.h"

#include <leo/exchange.h>
#include <time.h>

void rt_device_see_time(struct leo_rt_device *device, uint64_t ns)
{
    if (atomic_load(&device->progress.host_ns) < ns) {
        atomic_store(&device->progress.host_ns, ns);
    }
}

leo_status rt_device_poll(struct leo_rt_device *device)
{
    leo_status status = LEO_OK;
    device->progress.seen = leo_drv_device_interrupts(device->drv);
    for (struct leo_rt_stream *stream = device->streams; stream; stream = stream->next) {
        leo_status polled = rt_stream_poll(stream);
        status = polled ? polled : status;
    }
    return status;
}

/* The device stands still until a task of the host ends. Another thread may submit meanwhile, hence
 * the limit. */
static void wait_for_host(struct leo_rt_device *device)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += RT_HOST_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&device->progress.host_changed, &device->lock, &until);
}

/* Whether a thread of the host is at what kernels wait for. Time must not pass before it has said
 * what it does next: when kernels see it would depend on the host's speed. */
static bool has_promise_due(const struct leo_rt_device *device)
{
    const struct leo_rt_promise *promise = device->progress.promises;
    while (promise && promise->awaited && !rt_event_is_done(promise->awaited)) {
        promise = promise->next;
    }
    return promise != NULL;
}

leo_status rt_device_pump_within(struct leo_rt_device *device, uint64_t timeout_ns,
                                 uint64_t kernel_ns)
{
    if (has_promise_due(device)) {
        wait_for_host(device);
        leo_status polled = rt_device_poll(device);
        return polled ? polled : LEO_ERR_TIMEOUT;
    }
    uint64_t seen = device->progress.seen;
    pthread_mutex_unlock(&device->lock);
    leo_status status = leo_drv_device_wait_within(device->drv, seen, timeout_ns, kernel_ns);
    pthread_mutex_lock(&device->lock);
    leo_status polled = rt_device_poll(device);
    return polled ? polled : status;
}

leo_status rt_device_pump(struct leo_rt_device *device, uint64_t timeout_ns)
{
    return rt_device_pump_within(device, timeout_ns, UINT64_MAX);
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static leo_status wait_until(struct leo_rt_device *device, bool (*is_done)(const void *arg),
                             const void *arg, int timeout_ms, const char *what)
{
    uint64_t limit = UINT64_MAX;
    if (timeout_ms >= 0) {
        limit = wall_ns() + (uint64_t)timeout_ms * 1000000u;
    }
    leo_status status = rt_device_poll(device);
    while (!status && !is_done(arg)) {
        uint64_t now = timeout_ms >= 0 ? wall_ns() : 0;
        const uint64_t ends = device->progress.host_ends;
        leo_status pumped = rt_device_pump(device, limit == UINT64_MAX ? limit
                                                   : now < limit       ? limit - now
                                                                       : 0);
        if (is_done(arg)) {
            break;
        }
        pumped = pumped == LEO_ERR_BUSY ? LEO_ERR_TIMEOUT : pumped;
        // A task of the host that ended after the device came to rest has given it new work.
        const bool stalled = pumped == LEO_ERR_NOT_READY &&
                             (device->progress.host_jobs || device->progress.host_ends != ends);
        if ((pumped == LEO_ERR_TIMEOUT || stalled) && timeout_ms >= 0 && wall_ns() >= limit) {
            status = rt_fail(LEO_ERR_TIMEOUT, "%s: not done after %d ms", what, timeout_ms);
        } else if (stalled) {
            if (device->progress.host_ends == ends) {
                wait_for_host(device);
            }
            status = rt_device_poll(device);
        } else if (pumped == LEO_ERR_NOT_READY) {
            status = rt_fail(timeout_ms < 0 ? LEO_ERR_DEAD : LEO_ERR_TIMEOUT,
                             "%s: not done, and device %d is idle: nothing will finish it", what,
                             device->index);
        } else if (pumped && pumped != LEO_ERR_TIMEOUT) {
            status = rt_fail(pumped, "%s: waiting for device %d failed: %s", what, device->index,
                             leo_status_text(pumped));
        }
    }
    return status;
}

leo_status rt_device_wait(struct leo_rt_device *device, bool (*is_done)(const void *arg),
                          const void *arg, int timeout_ms, const char *what)
{
    device->progress.calls++;
    device->progress.waiters++;
    leo_status status = wait_until(device, is_done, arg, timeout_ms, what);
    device->progress.waiters--;
    return status;
}

static struct leo_rt_stream *find_busy(const struct leo_rt_device *device)
{
    struct leo_rt_stream *stream = device->streams;
    while (stream && stream->completed == stream->submitted) {
        stream = stream->next;
    }
    return stream;
}

bool rt_device_is_busy(const struct leo_rt_device *device)
{
    return find_busy(device) != NULL;
}

static bool is_idle(const void *arg)
{
    return find_busy(arg) == NULL;
}

leo_status rt_device_wait_tasks(struct leo_rt_device *device)
{
    return find_busy(device) ? rt_device_wait(device, is_idle, device, -1, "the device's tasks")
                             : LEO_OK;
}
