/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host in a stream that may wait for other streams and processes: each stream has a
 * thread of its own for it. */
#pragma once

#include "../memory/shared.h"
#include "../process/process.h"

/** `run` when the stream gets there (leo_rt_host_task). If this fails `release` is not called.
 */
leo_status api_work(struct api_stream *stream, leo_rt_host_fn run, void (*release)(void *user),
                    void *user);
/** The stream ends: its waits give up. */
void api_work_stop(struct api_stream *stream);
/** Ends the stream's thread; the stream's tasks are done or given up. */
void api_work_end(struct api_stream *stream);

/** A wait in such work. */
struct api_wait {
    struct api_stream *stream;
    uint32_t timeout_s; /**< 0: the process's limit */
    uint64_t limit_ms;  /**< 0: none */
};
void api_wait_begin(struct api_wait *wait);
/** False: the stream ends, or, in `result`, the time is up or no thread is left who could end the
 * wait. `shared` may be NULL. */
bool api_wait_goes_on(const struct api_wait *wait, const struct api_shared *shared,
                      const char *what, struct leo_rt_host_result *result);
/** Limit of waits that have none of their own, seconds of the host; 0 = as long as it takes. */
void api_wait_limit_set(uint32_t seconds);
/** The thread that runs host functions in a device's streams, made when first asked for. */
leo_status api_work_of_device(struct api_context *context, struct leo_rt_host_worker **worker);
/** Ends that thread. */
void api_work_device_end(struct api_device *slot);
/** The time of day in so many milliseconds, as pthread_cond_timedwait takes it; `ms` < 0: now. */
struct timespec api_after_ms(int ms);
