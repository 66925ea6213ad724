/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of a device that moves it while the program does something else: ahead of the program's
 * waits where that cannot be told (run_ahead.c), and else while a program watches memory of the
 * host for what a copy will write there: no call tells the runtime of such a wait. The thread takes
 * a program for waiting if a copy to host memory is under way and the program has made no call for
 * RT_QUIET_MS; it then does what a wait for the first such copy does, to the host's clock too
 * (decision 3).
 */
#include "../rt.h"

#include <time.h>

enum {
    RT_QUIET_MS = 100, /**< long beside the pauses of a program that is about to call */
    RT_TICK_MS = 1,    /**< a program that waits soon is faster by itself */
    RT_IDLE_TICKS = 50 /**< then it sleeps until something is submitted */
};

// Until it is worth looking again. Caller holds the device's lock, which is given up meanwhile.
static void nap(struct leo_rt_device *device, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&device->progress.run_ahead_changed, &device->lock, &until);
}

static bool is_quiet(const struct leo_rt_device *device, uint64_t calls)
{
    return !device->progress.run_ahead_stop && device->progress.calls == calls &&
           device->progress.waiters == 0 && device->progress.host_copies > 0;
}

// Does what a wait for the next copy to the host would do. Caller holds the device's lock.
static void wait_in_its_place(struct leo_rt_device *device)
{
    const uint64_t calls = device->progress.calls, done = device->progress.host_copies_done;
    leo_status status = LEO_OK;
    while ((status == LEO_OK || status == LEO_ERR_TIMEOUT) && is_quiet(device, calls) &&
           device->progress.host_copies_done == done) {
        status = rt_device_pump(device, RT_TURN_NS);
    }
    if (device->progress.host_copies_done != done) {
        rt_device_see_time(device, device->progress.host_copy_ns);
    }
}

static void watch_copies(struct leo_rt_device *device)
{
    const uint64_t calls = device->progress.calls, done = device->progress.host_copies_done;
    nap(device, RT_QUIET_MS);
    if (is_quiet(device, calls) && device->progress.host_copies_done == done) {
        wait_in_its_place(device);
    }
}

// Looks after a tick whether the same work is still there, and no thread that waits or asks does
// it.
static bool look_for_work(struct leo_rt_device *device)
{
    const struct leo_rt_stream *solo = device->progress.solo_stream;
    const uint64_t completed = solo ? solo->completed : 0, asks = device->progress.asks;
    nap(device, RT_TICK_MS);
    if (!rt_run_ahead_has_work(device) ||
        device->progress.calls == device->progress.stalled_calls) {
        return false;
    }
    if (device->progress.solo_stream == solo && solo->completed == completed &&
        device->progress.waiters == 0 && device->progress.asks == asks) {
        rt_run_ahead_work(device);
        const bool stalled = device->progress.waiters == 0 && rt_run_ahead_has_work(device);
        device->progress.stalled_calls = stalled ? device->progress.calls : UINT64_MAX;
    }
    return true;
}

static bool has_values_to_compute(const struct leo_rt_device *device)
{
    return device->progress.is_shared && device->progress.may_run_ahead &&
           device->progress.run_ahead_calls != device->progress.calls && rt_device_is_busy(device);
}

// Time stands still, values do not: after a tick without calls, until a thread waits.
static void lead(struct leo_rt_device *device)
{
    uint64_t calls = device->progress.calls;
    const uint64_t asks = device->progress.asks; // who asks moves the device itself
    nap(device, RT_TICK_MS);
    if (device->progress.calls != calls || device->progress.waiters > 0 ||
        !has_values_to_compute(device)) {
        return;
    }
    leo_status status = LEO_ERR_TIMEOUT;
    while (status == LEO_ERR_TIMEOUT && device->progress.waiters == 0 &&
           device->progress.asks == asks && !device->progress.run_ahead_stop) {
        calls = device->progress.calls;
        pthread_mutex_unlock(&device->lock);
        status = leo_drv_device_run_ahead(device->drv, RT_TURN_NS);
        pthread_mutex_lock(&device->lock);
    }
    // Of a device that another thread moves it is worth asking again after a tick.
    if (status != LEO_ERR_TIMEOUT && status != LEO_ERR_BUSY) {
        device->progress.run_ahead_calls = calls;
    }
}

static void *watch(void *arg)
{
    struct leo_rt_device *device = arg;
    unsigned idle = 0;
    pthread_mutex_lock(&device->lock);
    while (!device->progress.run_ahead_stop) {
        if (has_values_to_compute(device)) {
            lead(device);
        } else if (device->progress.is_shared && device->progress.host_copies > 0) {
            watch_copies(device);
        } else if (!device->progress.is_shared && idle < RT_IDLE_TICKS) {
            idle = look_for_work(device) ? 0 : idle + 1;
        } else {
            device->progress.run_ahead_asleep = true;
            pthread_cond_wait(&device->progress.run_ahead_changed, &device->lock);
            device->progress.run_ahead_asleep = false;
            idle = 0;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

static void wake(struct leo_rt_device *device)
{
    if (device->progress.has_run_ahead_thread) {
        if (device->progress.run_ahead_asleep) {
            pthread_cond_broadcast(&device->progress.run_ahead_changed);
        }
        return;
    }
    device->progress.has_run_ahead_thread =
        pthread_create(&device->progress.run_ahead_thread, NULL, watch, device) == 0;
    if (!device->progress.has_run_ahead_thread) {
        device->progress.is_shared = true;
        device->progress.may_run_ahead = false;
        rt_log(device->rt, 2,
               "device %d: the system gives no thread: programs that watch memory of the host for "
               "a copy may wait for ever",
               device->index);
    }
}

void rt_run_ahead_thread_submitted(struct leo_rt_device *device)
{
    if (!device->progress.is_shared || device->progress.may_run_ahead) {
        wake(device);
    }
}

void rt_run_ahead_thread_copy(struct leo_rt_device *device)
{
    if (device->progress.host_copies++ == 0) {
        wake(device);
    }
}

void rt_run_ahead_thread_finish(struct leo_rt_device *device)
{
    if (!device->progress.has_run_ahead_thread) {
        return;
    }
    pthread_mutex_lock(&device->lock);
    device->progress.run_ahead_stop = true;
    pthread_cond_broadcast(&device->progress.run_ahead_changed);
    pthread_mutex_unlock(&device->lock);
    pthread_join(device->progress.run_ahead_thread, NULL);
}
