/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams that threads of the program run: each stream has one such thread, which asks
 * for what there is to do. */
#pragma once

#include <leo/runtime.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*front_callback_fn)(void *user);

/** The reports of one thread; made by the first stream bound to it. */
struct front_report;

struct front_reports {
    pthread_mutex_t lock; /**< protects everything behind `first` */
    pthread_cond_t changed;
    struct front_report *first;
};

#define FRONT_REPORTS_INITIALIZER                                                                  \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

/** Binds a stream, which keeps the report, to a thread. NULL: out of memory. */
struct front_report *front_report_bind(struct front_reports *reports, uint64_t thread);
/** Undoes one binding. The report is gone with the last; callbacks not run are given up. */
void front_report_unbind(struct front_reports *reports, struct front_report *report);
/** Whether it is the report of this thread. */
bool front_report_is_of(const struct front_report *report, uint64_t thread);
/** Puts a callback into the stream. `blocks`: the stream's later tasks wait until it has run. */
leo_status front_report_launch(struct front_reports *reports, struct front_report *report,
                               struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                               front_callback_fn run, void *user, bool blocks);

enum front_reported { FRONT_REPORTED, FRONT_REPORT_TIMEOUT, FRONT_REPORT_NONE };
/** Runs the callbacks that are due for this thread, waiting for one at most `timeout_ms` (< 0: for
 * ever). NONE: no stream is bound to it. */
enum front_reported front_report_run(struct front_reports *reports, uint64_t thread,
                                     int timeout_ms);
/** Runs a function in the stream on the worker's thread; later tasks wait until it has run. */
leo_status front_host_launch(struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                             front_callback_fn run, void *user);
