/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of streams into a graph that runs again and again. */
#pragma once

#include "process.h"

/** Which calls are refused while a capture lasts, as a capture and as a thread asks for it. */
enum front_capture_mode {
    FRONT_CAPTURE_MODE_GLOBAL, /**< of all threads */
    FRONT_CAPTURE_MODE_THREAD, /**< of the thread that captures */
    FRONT_CAPTURE_MODE_RELAXED /**< none */
};

enum front_capture_state {
    FRONT_CAPTURE_STATE_NONE,
    FRONT_CAPTURE_STATE_ACTIVE,
    FRONT_CAPTURE_STATE_INVALID
};

leo_status front_capture_begin(const void *stream, enum front_capture_mode mode);
leo_status front_capture_end(const void *stream, void **graph);
/** `graph` NULL: the stream takes part in no capture. */
leo_status front_capture_info(const void *stream, enum front_capture_state *state, void **graph);
/** Sets the thread's own mode and gives the one before. */
enum front_capture_mode front_capture_exchange_mode(enum front_capture_mode mode);
/** Tasks of a capture that may be replaced later: those between begin and end. */
leo_status front_group_begin(const void *stream);
leo_status front_group_end(const void *stream, void **group);
leo_status front_group_update_begin(const void *stream, const void *group);
leo_status front_group_update_end(const void *stream);

/** One more owner: it ends when destroyed once more than that. */
leo_status front_graph_use(const void *graph);
leo_status front_graph_destroy(const void *graph);
leo_status front_graph_tasks(const void *graph, size_t *count);
leo_status front_graph_execute(const void *graph, const void *stream);
leo_status front_graph_id(const void *graph, uint32_t *id);
/** As JSON; path NULL: on standard output. */
leo_status front_graph_write(const void *graph, const char *path);

/** An error for calls that are not possible while somebody captures. */
leo_status front_capture_check(void);
/** The same for a wait for a stream: if it is being captured the capture is invalid now. */
leo_status front_capture_check_wait(struct front_stream *stream);
struct front_graph;
/** Ends one that is the caller's. */
void front_graph_end(struct front_graph *graph);
