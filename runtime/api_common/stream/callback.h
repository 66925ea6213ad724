/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams: run by threads that subscribed to them, or by a thread of the library. */
#pragma once

#include "../process/process.h"

/** The thread runs the stream's callbacks from here on, or no longer. API_REPORT_... */
leo_status api_report_subscribe(uint64_t thread, const void *stream);
leo_status api_report_unsubscribe(uint64_t thread, const void *stream);
/** Puts a callback into the stream for its thread. `blocks`: later tasks wait until it has run. */
leo_status api_callback_launch(const void *stream, api_callback_fn run, void *user, bool blocks);
/** Puts a function into the stream that a thread of the library runs; later tasks wait for it. */
leo_status api_host_func_launch(const void *stream, api_callback_fn run, void *user);
/** Runs the calling thread's callbacks. API_REPORT_LATE: none came in time. */
leo_status api_report_process(int timeout_ms);
/** No thread runs the stream's callbacks from here on; those that stand in it are given up. */
void api_report_drop(struct api_stream *stream);
