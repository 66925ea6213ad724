/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of streams into a graph that runs again and again. */
#pragma once

#include "../process/process.h"

/** Which calls are refused while a capture lasts, as a capture and as a thread asks for it. */
enum api_capture_mode {
    API_CAPTURE_MODE_GLOBAL, /**< of all threads */
    API_CAPTURE_MODE_THREAD, /**< of the thread that captures */
    API_CAPTURE_MODE_RELAXED /**< none */
};

enum api_capture_state {
    API_CAPTURE_STATE_NONE,
    API_CAPTURE_STATE_ACTIVE,
    API_CAPTURE_STATE_INVALID
};

leo_status api_capture_begin(const void *stream, enum api_capture_mode mode);
leo_status api_capture_end(const void *stream, void **graph);
/** `graph` NULL: the stream takes part in no capture. */
leo_status api_capture_info(const void *stream, enum api_capture_state *state, void **graph);
/** Sets the thread's own mode and gives the one before. */
enum api_capture_mode api_capture_exchange_mode(enum api_capture_mode mode);
/** Tasks of a capture that may be replaced later: those between begin and end. */
leo_status api_group_begin(const void *stream);
leo_status api_group_end(const void *stream, void **group);
leo_status api_group_update_begin(const void *stream, const void *group);
leo_status api_group_update_end(const void *stream);

/** One more owner: it ends when destroyed once more than that. */
leo_status api_graph_use(const void *graph);
leo_status api_graph_destroy(const void *graph);
leo_status api_graph_tasks(const void *graph, size_t *count);
leo_status api_graph_execute(const void *graph, const void *stream);
leo_status api_graph_id(const void *graph, uint32_t *id);
/** As JSON; path NULL: on standard output. */
leo_status api_graph_write(const void *graph, const char *path);

/** An error for calls that are not possible while somebody captures. */
leo_status api_capture_check(void);
/** The same for a wait for a stream: if it is being captured the capture is invalid now. */
leo_status api_capture_check_wait(struct api_stream *stream);
struct api_graph;
