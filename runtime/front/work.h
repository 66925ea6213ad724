/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host in a stream that may wait for other streams and processes: each stream has a
 * thread of its own for it. */
#pragma once

#include "process.h"
#include "shared.h"

/** `run` when the stream gets there (leo_rt_host_task_kept). If this fails `release` is not called.
 */
leo_status front_work(struct front_stream *stream, leo_rt_host_fn run, void (*release)(void *user),
                      void *user);
/** The stream ends: its waits give up. */
void front_work_stop(struct front_stream *stream);
/** Ends the stream's thread; the stream's tasks are done or given up. */
void front_work_end(struct front_stream *stream);

/** A wait in such work. */
struct front_wait {
    struct front_stream *stream;
    uint32_t timeout_s; /**< 0: the process's limit */
    uint64_t limit_ms;  /**< 0: none */
};
void front_wait_begin(struct front_wait *wait);
/** False: the stream ends, or, in `result`, the time is up or nobody is left who could end the
 * wait. `shared` may be NULL. */
bool front_wait_goes_on(const struct front_wait *wait, const struct front_shared *shared,
                        const char *what, struct leo_rt_host_result *result);
/** Limit of waits that have none of their own, seconds of the host; 0 = as long as it takes. */
void front_wait_limit_set(uint32_t seconds);
