/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include "code.h"
#include "context.h"

struct front_graph {
    struct front_handle handle;
    struct leo_rt_graph *rt;
    struct front_stream *origin; /**< of the capture, for its end */
    pthread_t thread;            /**< that began it */
    enum front_capture_mode mode;
    bool counted; /**< among the captures under way */
    uint32_t id;
    atomic_uint more_owners;
    struct front_family groups;
};

/** A part of a graph that may be replaced. */
struct front_group {
    struct front_handle handle;
    struct front_graph *graph;
    size_t first, count;
};

static _Thread_local enum front_capture_mode thread_mode;
static _Thread_local unsigned thread_captures; // not relaxed ones that this thread has begun

leo_status front_capture_check(void)
{
    // While somebody captures, calls that wait or read memory at once would not see what is only
    // kept. A thread may say that it knows what it does.
    if (thread_mode == FRONT_CAPTURE_MODE_RELAXED ||
        (atomic_load(&front_process()->captures) == 0 && thread_captures == 0)) {
        return LEO_OK;
    }
    return leo_rt_fail(FRONT_CAPTURING, "not possible while a stream is being captured");
}

// Counts a capture that others must mind, while it lasts.
static void count_capture(struct front_graph *graph, int by)
{
    graph->counted = by > 0;
    if (graph->mode == FRONT_CAPTURE_MODE_GLOBAL) {
        atomic_fetch_add(&front_process()->captures, by);
    } else if (graph->mode == FRONT_CAPTURE_MODE_THREAD &&
               pthread_equal(graph->thread, pthread_self())) {
        thread_captures += (unsigned)by;
    }
}

leo_status front_capture_check_wait(struct front_stream *stream)
{
    struct leo_rt_graph *graph = leo_rt_stream_graph(stream->rt);
    if (!graph) {
        return LEO_OK;
    }
    leo_rt_graph_invalidate(graph);
    return leo_rt_fail(FRONT_CAPTURED,
                       "the stream is being captured: there is nothing to wait for; the capture is "
                       "invalid now");
}

leo_status front_capture_begin(const void *stream, enum front_capture_mode mode)
{
    FRONT_PINNED struct front_stream *found = NULL;
    struct front_process *process = front_process();
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (found == found->context->default_stream) {
        return leo_rt_fail(FRONT_CAPTURE_DEFAULT,
                           "the default stream cannot be captured: pass one that was created");
    }
    struct front_graph *graph = front_make(sizeof(*graph));
    if (!graph) {
        return LEO_ERR_NO_MEMORY;
    }
    status = leo_rt_capture_begin(found->rt, &graph->rt);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &graph->handle);
        return status == LEO_ERR_STATE ? FRONT_CAPTURED : status;
    }
    graph->origin = found;
    graph->thread = pthread_self();
    graph->mode = mode;
    graph->id = atomic_fetch_add(&process->next_graph_id, 1);
    count_capture(graph, 1);
    front_publish(graph, FRONT_KIND_GRAPH, &found->context->slot->graphs);
    return LEO_OK;
}

static bool graph_is(const void *handle, const void *user)
{
    const struct front_graph *graph = handle;
    return graph->rt == user;
}

// The handle of a capture that a stream takes part in, pinned; NULL: none.
static struct front_graph *graph_of(struct front_stream *stream)
{
    const struct leo_rt_graph *rt = leo_rt_stream_graph(stream->rt);
    return rt ? front_family_find(&front_process()->handles, &stream->context->slot->graphs,
                                  graph_is, rt)
              : NULL;
}

leo_status front_capture_info(const void *stream, enum front_capture_state *state, void **out)
{
    FRONT_PINNED struct front_stream *found = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    FRONT_PINNED struct front_graph *graph = graph_of(found);
    *out = graph;
    *state = !graph                               ? FRONT_CAPTURE_STATE_NONE
             : leo_rt_graph_is_invalid(graph->rt) ? FRONT_CAPTURE_STATE_INVALID
                                                  : FRONT_CAPTURE_STATE_ACTIVE;
    return LEO_OK;
}

leo_status front_capture_end(const void *stream, void **out)
{
    FRONT_PINNED struct front_stream *found = NULL;
    *out = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    FRONT_PINNED struct front_graph *graph = graph_of(found);
    if (!graph) {
        return leo_rt_fail(FRONT_CAPTURE_NONE, "the stream is not being captured");
    }
    if (graph->origin != found) {
        return leo_rt_fail(FRONT_CAPTURE_ELSEWHERE,
                           "the capture began on another stream: end it there");
    }
    if (graph->mode != FRONT_CAPTURE_MODE_RELAXED &&
        !pthread_equal(graph->thread, pthread_self())) {
        return leo_rt_fail(FRONT_CAPTURE_THREAD,
                           "another thread began the capture, and not in relaxed mode");
    }
    status = leo_rt_capture_end(found->rt);
    count_capture(graph, -1);
    if (status == LEO_OK) {
        *out = graph;
        return LEO_OK;
    }
    status = status == LEO_ERR_MISMATCH    ? FRONT_CAPTURE_INVALID
             : status == LEO_ERR_NOT_READY ? FRONT_CAPTURE_UNJOINED
                                           : status;
    struct front_graph *ended = graph;
    graph = NULL;
    if (front_claim(ended)) {
        front_graph_end(ended);
    }
    return status;
}

void front_graph_end(struct front_graph *graph)
{
    if (graph->counted) {
        count_capture(graph, -1); // its stream went away
    }
    struct front_group *group;
    while ((group = front_take(&graph->groups)) != NULL) {
        front_free(group);
    }
    leo_status status = leo_rt_graph_destroy(graph->rt);
    if (status != LEO_OK) {
        front_face.log(NULL, 2, leo_rt_last_error());
    }
    front_free(graph);
}

// Gives it pinned.
static leo_status get_graph(const void *handle, struct front_graph **graph)
{
    *graph = handle ? front_find(handle, FRONT_KIND_GRAPH) : NULL;
    return *graph ? LEO_OK
                  : leo_rt_fail(handle ? FRONT_BAD_HANDLE : FRONT_BAD_ARGUMENT,
                                "%p is no live model", handle);
}

leo_status front_graph_use(const void *handle)
{
    FRONT_PINNED struct front_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        atomic_fetch_add(&graph->more_owners, 1);
    }
    return status;
}

leo_status front_graph_tasks(const void *handle, size_t *count)
{
    FRONT_PINNED struct front_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        *count = leo_rt_graph_size(graph->rt);
    }
    return status;
}

// Takes one owner off; false: the last one is left.
static bool drop_owner(struct front_graph *graph)
{
    unsigned owners = atomic_load(&graph->more_owners);
    while (owners && !atomic_compare_exchange_weak(&graph->more_owners, &owners, owners - 1)) {
    }
    return owners != 0;
}

leo_status front_graph_destroy(const void *handle)
{
    struct front_graph *graph;
    leo_status status = get_graph(handle, &graph);
    if (status != LEO_OK) {
        return status;
    }
    if (drop_owner(graph)) {
        front_unpin(graph);
        return LEO_OK;
    }
    if (!front_claim(graph)) {
        return leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live model", handle);
    }
    front_graph_end(graph);
    return LEO_OK;
}

leo_status front_graph_execute(const void *handle, const void *stream)
{
    FRONT_PINNED struct front_stream *found = NULL;
    FRONT_PINNED struct front_graph *graph = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status == LEO_OK) {
        status = get_graph(handle, &graph);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_execute(graph->rt, found->rt);
    return status == LEO_ERR_STATE ? FRONT_GRAPH_STATE : status;
}

leo_status front_graph_id(const void *handle, uint32_t *id)
{
    FRONT_PINNED struct front_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        *id = graph->id;
    }
    return status;
}

leo_status front_graph_write(const void *handle, const char *path)
{
    FRONT_PINNED struct front_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    return status != LEO_OK ? status : leo_rt_graph_write(graph->rt, path);
}

enum front_capture_mode front_capture_exchange_mode(enum front_capture_mode mode)
{
    enum front_capture_mode before = thread_mode;
    thread_mode = mode;
    return before;
}

leo_status front_group_begin(const void *stream)
{
    FRONT_PINNED struct front_stream *found = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    FRONT_PINNED struct front_graph *graph = graph_of(found);
    if (!graph) {
        return leo_rt_fail(FRONT_CAPTURE_NONE, "the stream is not being captured");
    }
    if (found->group_is_open) {
        return leo_rt_fail(FRONT_GROUP_STATE, "a group is open: end it first");
    }
    found->group_is_open = true;
    found->group_first = leo_rt_graph_size(graph->rt);
    return LEO_OK;
}

leo_status front_group_end(const void *stream, void **handle)
{
    FRONT_PINNED struct front_stream *found = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    FRONT_PINNED struct front_graph *graph = graph_of(found);
    if (!graph || !found->group_is_open) {
        return leo_rt_fail(FRONT_GROUP_STATE, "no group is open");
    }
    struct front_group *group = front_make(sizeof(*group));
    if (!group) {
        return LEO_ERR_NO_MEMORY;
    }
    group->graph = graph;
    group->first = found->group_first;
    group->count = leo_rt_graph_size(graph->rt) - group->first;
    found->group_is_open = false;
    front_publish(group, FRONT_KIND_GROUP, &graph->groups);
    *handle = group;
    return LEO_OK;
}

leo_status front_group_update_begin(const void *stream, const void *handle)
{
    FRONT_PINNED struct front_stream *found = NULL;
    FRONT_PINNED struct front_group *group = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status == LEO_OK && !(group = front_find(handle, FRONT_KIND_GROUP))) {
        status = leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live group of tasks", handle);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_update_begin(group->graph->rt, found->rt, group->first, group->count);
    return status == LEO_ERR_NOT_READY ? FRONT_GRAPH_RUNNING
           : status == LEO_ERR_STATE   ? FRONT_GROUP_STATE
                                       : status;
}

leo_status front_group_update_end(const void *stream)
{
    FRONT_PINNED struct front_stream *found = NULL;
    leo_status status = front_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_update_end(found->rt);
    return status == LEO_OK             ? LEO_OK
           : status == LEO_ERR_MISMATCH ? FRONT_GRAPH_UPDATE
                                        : FRONT_GROUP_STATE;
}
