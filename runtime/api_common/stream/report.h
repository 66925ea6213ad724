/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams that threads of the program run: each stream has one such thread, which asks
 * for what there is to do. */
#pragma once

#include <leo/runtime.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void (*api_callback_fn)(void *user);

/** The reports of one thread; made by the first stream bound to it. */
struct api_report;

struct api_reports {
    pthread_mutex_t lock; /**< protects everything behind `first` */
    pthread_cond_t changed;
    struct api_report *first;
};

#define API_REPORTS_INITIALIZER                                                                    \
    {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}

/** Binds a stream, which keeps the report, to a thread. NULL: out of memory. */
struct api_report *api_report_bind(struct api_reports *reports, uint64_t thread);
/** Undoes one binding. The report is gone with the last; callbacks not run are given up. */
void api_report_unbind(struct api_reports *reports, struct api_report *report);
/** Whether it is the report of this thread. */
bool api_report_is_of(const struct api_report *report, uint64_t thread);
/** Puts a callback into the stream. `blocks`: the stream's later tasks wait until it has run. */
leo_status api_report_launch(struct api_reports *reports, struct api_report *report,
                             struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                             api_callback_fn run, void *user, bool blocks);

enum api_reported { API_REPORTED, API_REPORT_TIMEOUT, API_REPORT_NONE };
/** Runs the callbacks that are due for this thread, waiting for one at most `timeout_ms` (< 0: for
 * ever). NONE: no stream is bound to it. */
enum api_reported api_report_run(struct api_reports *reports, uint64_t thread, int timeout_ms);
/** Puts a function into the stream: the report's thread runs it, the worker's if there is none or
 * no more; later tasks wait until it has run. */
leo_status api_host_launch(struct api_reports *reports, struct api_report *report,
                           struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                           api_callback_fn run, void *user);
