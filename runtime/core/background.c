/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device goes on while a program watches memory of the host for what a copy will write there: no
 * call tells the runtime of such a wait. A thread of the device takes a program for waiting if a
 * copy to host memory is under way and the program has made no call for RT_QUIET_MS; it then does
 * what a wait for the first such copy does, to the host's clock too (decision 3).
 */
#include "rt.h"

#include <time.h>

enum {
    RT_QUIET_MS = 100, /**< long beside the pauses of a program that is about to call */
    RT_TURN_NS = 1000000
};

// Until it is worth looking again. Caller holds the device's lock, which is given up meanwhile.
static void wait_quiet(struct leo_rt_device *device)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += RT_QUIET_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&device->background_changed, &device->lock, &until);
}

static bool is_quiet(const struct leo_rt_device *device, uint64_t calls)
{
    return !device->background_stop && device->calls == calls && device->waiters == 0 &&
           device->host_copies > 0;
}

// Does what a wait for the next copy to the host would do. Caller holds the device's lock.
static void wait_in_its_place(struct leo_rt_device *device)
{
    const uint64_t calls = device->calls, done = device->host_copies_done;
    leo_status status = LEO_OK;
    while ((status == LEO_OK || status == LEO_ERR_TIMEOUT) && is_quiet(device, calls) &&
           device->host_copies_done == done) {
        status = rt_device_pump(device, RT_TURN_NS);
    }
    if (device->host_copies_done != done) {
        rt_device_see_time(device, device->host_copy_ns);
    }
}

static void *watch(void *arg)
{
    struct leo_rt_device *device = arg;
    pthread_mutex_lock(&device->lock);
    while (!device->background_stop) {
        if (device->host_copies == 0) {
            pthread_cond_wait(&device->background_changed, &device->lock);
            continue;
        }
        const uint64_t calls = device->calls, done = device->host_copies_done;
        wait_quiet(device);
        if (is_quiet(device, calls) && device->host_copies_done == done) {
            wait_in_its_place(device);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

void rt_background_copy(struct leo_rt_device *device)
{
    if (!device->has_background) {
        device->has_background = pthread_create(&device->background, NULL, watch, device) == 0;
        if (!device->has_background) {
            rt_log(device->rt, 2,
                   "device %d: the system gives no thread: programs that watch memory of the host "
                   "for a copy may wait for ever",
                   device->index);
        }
    }
    if (device->host_copies++ == 0) {
        pthread_cond_signal(&device->background_changed);
    }
}

void rt_background_copied(struct leo_rt_device *device, uint64_t end_ns)
{
    device->host_copies--;
    device->host_copies_done++;
    device->host_copy_ns = end_ns;
}

void rt_background_finish(struct leo_rt_device *device)
{
    if (!device->has_background) {
        return;
    }
    pthread_mutex_lock(&device->lock);
    device->background_stop = true;
    pthread_cond_signal(&device->background_changed);
    pthread_mutex_unlock(&device->lock);
    pthread_join(device->background, NULL);
}
