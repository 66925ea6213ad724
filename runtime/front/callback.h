/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of streams: run by threads that subscribed to them, or by a thread of the library. */
#pragma once

#include "process.h"

/** The thread runs the stream's callbacks from here on, or no longer. FRONT_REPORT_... */
leo_status front_report_subscribe(uint64_t thread, const void *stream);
leo_status front_report_unsubscribe(uint64_t thread, const void *stream);
/** Puts a callback into the stream for its thread. `blocks`: later tasks wait until it has run. */
leo_status front_callback_launch(const void *stream, front_callback_fn run, void *user,
                                 bool blocks);
/** Puts a function into the stream that a thread of the library runs; later tasks wait for it. */
leo_status front_host_func_launch(const void *stream, front_callback_fn run, void *user);
/** Runs the calling thread's callbacks. FRONT_REPORT_LATE: none came in time. */
leo_status front_report_process(int timeout_ms);
/** No thread runs the stream's callbacks from here on; those that stand in it are given up. */
void front_report_drop(struct front_stream *stream);
/** Ends the thread that runs a device's host functions. */
void front_callbacks_end(struct front_device *slot);
