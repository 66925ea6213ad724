/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip works ahead of the program's waits, so that host and device overlap in wall time, as
 * long as simulated time cannot tell (decision 27). It cannot while all tasks that the program has
 * not waited for are in one stream: each starts when the one before has ended, whenever the chip
 * got there. A task in a second stream starts at the host's simulated time, which the chip must
 * not have passed; from then on the device moves only in waits.
 */
#include "../rt.h"

/* Of simulated time that the chip works ahead in one kernel. A kernel may wait for the host in a
 * way that cannot be told from work; nearly all others are shorter. */
enum { MAX_KERNEL_NS = 1000000 };

// What the program has given to the stream and not waited for.
static bool is_open(const struct leo_rt_device *device)
{
    return device->progress.solo_stream &&
           device->progress.solo_stream->submitted > device->progress.solo_seen;
}

// Until what the solo stream has now has ended. Another thread may destroy it meanwhile: that waits
// too.
static void wait_for_solo_stream(struct leo_rt_device *device)
{
    const struct leo_rt_stream *solo = device->progress.solo_stream;
    const uint64_t count = solo->submitted;
    leo_status status = LEO_OK;
    device->progress.waiters++;
    while (device->progress.solo_stream == solo && solo->completed < count &&
           (status == LEO_OK || status == LEO_ERR_TIMEOUT)) {
        status = rt_device_pump_within(device, RT_TURN_NS, MAX_KERNEL_NS);
    }
    device->progress.waiters--;
    if (device->progress.solo_stream == solo && solo->completed >= count) {
        rt_device_see_time(device, solo->end_ns);
    }
}

void rt_run_ahead_stop(struct leo_rt_device *device)
{
    if (device->progress.is_shared) {
        return;
    }
    device->progress.is_shared = true;
    if (is_open(device)) {
        // How far the chip has got depends on the computer: to the end, or to the most that it
        // works ahead in a kernel, it is the same everywhere.
        // What can never end, or polls memory that the program is about to write, stands still all
        // the same.
        wait_for_solo_stream(device);
    }
    device->progress.solo_stream = NULL;
    while (device->progress.is_running_ahead) {
        pthread_cond_wait(&device->progress.run_ahead_changed, &device->lock);
    }
}

// Until nothing is under way that could go on.
static void wait_for_all(struct leo_rt_device *device)
{
    leo_status status = LEO_OK;
    device->progress.waiters++;
    while (rt_device_is_busy(device) && (status == LEO_OK || status == LEO_ERR_TIMEOUT)) {
        status = rt_device_pump(device, RT_TURN_NS);
    }
    device->progress.waiters--;
    rt_device_see_time(device, device->progress.newest_end_ns);
}

void rt_run_ahead_watch(struct leo_rt_device *device)
{
    if (device->progress.is_watched) {
        return;
    }
    device->progress.is_watched = true;
    device->progress.may_run_ahead = false;
    // What was computed before has no notes; the same wait whether anything was.
    wait_for_all(device);
    leo_drv_device_watch(device->drv);
}

void rt_run_ahead_claim(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    if (device->progress.is_shared || device->progress.solo_stream == stream) {
        return;
    }
    if (is_open(device)) {
        rt_run_ahead_stop(device);
        return;
    }
    device->progress.solo_stream = stream;
    device->progress.solo_seen = stream->submitted;
}

void rt_run_ahead_seen(const struct leo_rt_stream *stream, uint64_t count)
{
    struct leo_rt_device *device = stream->device;
    if (stream == device->progress.solo_stream && count > device->progress.solo_seen) {
        device->progress.solo_seen = count;
    }
}

void rt_run_ahead_lose(const struct leo_rt_stream *stream)
{
    if (stream->device->progress.solo_stream == stream) {
        stream->device->progress.solo_stream = NULL;
    }
}

bool rt_run_ahead_has_work(const struct leo_rt_device *device)
{
    return !device->progress.is_shared && device->progress.solo_stream &&
           device->progress.solo_stream->completed < device->progress.solo_stream->submitted;
}

void rt_run_ahead_work(struct leo_rt_device *device)
{
    leo_status status = LEO_OK;
    device->progress.is_running_ahead = true;
    while ((status == LEO_OK || status == LEO_ERR_TIMEOUT) && !device->progress.run_ahead_stop &&
           device->progress.waiters == 0 && rt_run_ahead_has_work(device)) {
        status = rt_device_pump_within(device, RT_TURN_NS, MAX_KERNEL_NS);
    }
    device->progress.is_running_ahead = false;
    pthread_cond_broadcast(&device->progress.run_ahead_changed);
}
