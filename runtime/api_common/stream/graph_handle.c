/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_handle.h"

#include "../context/context.h"
#include "../process/code.h"

struct api_graph {
    struct api_handle handle;
    struct leo_rt_graph *rt;
    struct api_stream *origin; /**< of the capture, for its end */
    pthread_t thread;          /**< that began it */
    enum api_capture_mode mode;
    bool counted; /**< among the captures under way */
    uint32_t id;
    atomic_uint more_owners;
    struct api_family groups;
};

/** A part of a graph that may be replaced. */
struct api_group {
    struct api_handle handle;
    struct api_graph *graph;
    size_t first, count;
};

static _Thread_local enum api_capture_mode thread_mode;
static _Thread_local unsigned thread_captures; // not relaxed ones that this thread has begun

leo_status api_capture_check(void)
{
    // While somebody captures, calls that wait or read memory at once would not see what is only
    // kept. A thread may say that it knows what it does.
    if (thread_mode == API_CAPTURE_MODE_RELAXED ||
        (atomic_load(&api_process()->captures) == 0 && thread_captures == 0)) {
        return LEO_OK;
    }
    return leo_rt_fail(API_CAPTURING, "not possible while a stream is being captured");
}

// Counts a capture that others must mind, while it lasts.
static void count_capture(struct api_graph *graph, int by)
{
    graph->counted = by > 0;
    if (graph->mode == API_CAPTURE_MODE_GLOBAL) {
        atomic_fetch_add(&api_process()->captures, by);
    } else if (graph->mode == API_CAPTURE_MODE_THREAD &&
               pthread_equal(graph->thread, pthread_self())) {
        thread_captures += (unsigned)by;
    }
}

leo_status api_capture_check_wait(struct api_stream *stream)
{
    return leo_rt_stream_graph(stream->rt)
               ? leo_rt_fail(API_CAPTURED,
                             "the stream is being captured: there is nothing to wait for")
               : LEO_OK;
}

static void end_graph(void *object)
{
    struct api_graph *graph = object;
    if (graph->counted) {
        count_capture(graph, -1); // its stream went away
    }
    api_family_end(&graph->groups);
    leo_status status = leo_rt_graph_destroy(graph->rt);
    if (status != LEO_OK) {
        api_face.log(NULL, 2, leo_rt_last_error());
    }
    api_free(graph);
}

leo_status api_capture_begin(const void *stream, enum api_capture_mode mode)
{
    API_PINNED struct api_stream *found = NULL;
    struct api_process *process = api_process();
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (found == found->context->default_stream) {
        return leo_rt_fail(API_CAPTURE_DEFAULT,
                           "the default stream cannot be captured: pass one that was created");
    }
    struct api_graph *graph = api_make(sizeof(*graph));
    if (!graph) {
        return LEO_ERR_NO_MEMORY;
    }
    status = leo_rt_capture_begin(found->rt, &graph->rt);
    if (status != LEO_OK) {
        api_handle_drop(&api_process()->handles, &graph->handle);
        return status == LEO_ERR_STATE ? API_CAPTURED : status;
    }
    graph->origin = found;
    graph->thread = pthread_self();
    graph->mode = mode;
    graph->id = atomic_fetch_add(&process->next_graph_id, 1);
    count_capture(graph, 1);
    api_publish(graph, API_KIND_GRAPH, &found->context->slot->graphs, end_graph);
    return LEO_OK;
}

static bool graph_is(const void *handle, const void *user)
{
    const struct api_graph *graph = handle;
    return graph->rt == user;
}

// The handle of a capture that a stream takes part in, pinned; NULL: none.
static struct api_graph *graph_of(struct api_stream *stream)
{
    const struct leo_rt_graph *rt = leo_rt_stream_graph(stream->rt);
    return rt ? api_family_find(&api_process()->handles, &stream->context->slot->graphs, graph_is,
                                rt)
              : NULL;
}

leo_status api_capture_info(const void *stream, enum api_capture_state *state, void **out)
{
    API_PINNED struct api_stream *found = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    API_PINNED struct api_graph *graph = graph_of(found);
    *out = graph;
    *state = !graph                               ? API_CAPTURE_STATE_NONE
             : leo_rt_graph_is_invalid(graph->rt) ? API_CAPTURE_STATE_INVALID
                                                  : API_CAPTURE_STATE_ACTIVE;
    return LEO_OK;
}

leo_status api_capture_end(const void *stream, void **out)
{
    API_PINNED struct api_stream *found = NULL;
    *out = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    API_PINNED struct api_graph *graph = graph_of(found);
    if (!graph) {
        return leo_rt_fail(API_CAPTURE_NONE, "the stream is not being captured");
    }
    if (graph->origin != found) {
        return leo_rt_fail(API_CAPTURE_ELSEWHERE,
                           "the capture began on another stream: end it there");
    }
    if (graph->mode != API_CAPTURE_MODE_RELAXED && !pthread_equal(graph->thread, pthread_self())) {
        return leo_rt_fail(API_CAPTURE_THREAD,
                           "another thread began the capture, and not in relaxed mode");
    }
    status = leo_rt_capture_end(found->rt);
    count_capture(graph, -1);
    if (status == LEO_OK) {
        *out = graph;
        return LEO_OK;
    }
    status = status == LEO_ERR_MISMATCH    ? API_CAPTURE_INVALID
             : status == LEO_ERR_NOT_READY ? API_CAPTURE_UNJOINED
                                           : status;
    struct api_graph *ended = graph;
    graph = NULL;
    if (api_claim(ended)) {
        end_graph(ended);
    }
    return status;
}

// Gives it pinned.
static leo_status get_graph(const void *handle, struct api_graph **graph)
{
    *graph = handle ? api_find(handle, API_KIND_GRAPH) : NULL;
    return *graph ? LEO_OK
                  : leo_rt_fail(handle ? API_BAD_HANDLE : API_BAD_ARGUMENT, "%p is no live model",
                                handle);
}

leo_status api_graph_use(const void *handle)
{
    API_PINNED struct api_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        atomic_fetch_add(&graph->more_owners, 1);
    }
    return status;
}

leo_status api_graph_tasks(const void *handle, size_t *count)
{
    API_PINNED struct api_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        *count = leo_rt_graph_size(graph->rt);
    }
    return status;
}

// Takes one owner off; false: the last one is left.
static bool drop_owner(struct api_graph *graph)
{
    unsigned owners = atomic_load(&graph->more_owners);
    while (owners && !atomic_compare_exchange_weak(&graph->more_owners, &owners, owners - 1)) {
    }
    return owners != 0;
}

leo_status api_graph_destroy(const void *handle)
{
    struct api_graph *graph;
    leo_status status = get_graph(handle, &graph);
    if (status != LEO_OK) {
        return status;
    }
    if (drop_owner(graph)) {
        api_unpin(graph);
        return LEO_OK;
    }
    if (!api_claim(graph)) {
        return leo_rt_fail(API_BAD_HANDLE, "%p is no live model", handle);
    }
    end_graph(graph);
    return LEO_OK;
}

leo_status api_graph_execute(const void *handle, const void *stream)
{
    API_PINNED struct api_stream *found = NULL;
    API_PINNED struct api_graph *graph = NULL;
    leo_status status = api_stream_to_fill(stream, &found);
    if (status == LEO_OK) {
        status = get_graph(handle, &graph);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_execute(graph->rt, found->rt);
    return status == LEO_ERR_STATE ? API_GRAPH_STATE : status;
}

leo_status api_graph_id(const void *handle, uint32_t *id)
{
    API_PINNED struct api_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    if (status == LEO_OK) {
        *id = graph->id;
    }
    return status;
}

leo_status api_graph_write(const void *handle, const char *path)
{
    API_PINNED struct api_graph *graph = NULL;
    leo_status status = get_graph(handle, &graph);
    return status != LEO_OK ? status : leo_rt_graph_write(graph->rt, path);
}

enum api_capture_mode api_capture_exchange_mode(enum api_capture_mode mode)
{
    enum api_capture_mode before = thread_mode;
    thread_mode = mode;
    return before;
}

leo_status api_group_begin(const void *stream)
{
    API_PINNED struct api_stream *found = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    API_PINNED struct api_graph *graph = graph_of(found);
    if (!graph) {
        return leo_rt_fail(API_CAPTURE_NONE, "the stream is not being captured");
    }
    if (found->group_is_open) {
        return leo_rt_fail(API_GROUP_STATE, "a group is open: end it first");
    }
    found->group_is_open = true;
    found->group_first = leo_rt_graph_size(graph->rt);
    return LEO_OK;
}

leo_status api_group_end(const void *stream, void **handle)
{
    API_PINNED struct api_stream *found = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    API_PINNED struct api_graph *graph = graph_of(found);
    if (!graph || !found->group_is_open) {
        return leo_rt_fail(API_GROUP_STATE, "no group is open");
    }
    struct api_group *group = api_make(sizeof(*group));
    if (!group) {
        return LEO_ERR_NO_MEMORY;
    }
    group->graph = graph;
    group->first = found->group_first;
    group->count = leo_rt_graph_size(graph->rt) - group->first;
    found->group_is_open = false;
    api_publish(group, API_KIND_GROUP, &graph->groups, api_free);
    *handle = group;
    return LEO_OK;
}

leo_status api_group_update_begin(const void *stream, const void *handle)
{
    API_PINNED struct api_stream *found = NULL;
    API_PINNED struct api_group *group = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status == LEO_OK && !(group = api_find(handle, API_KIND_GROUP))) {
        status = leo_rt_fail(API_BAD_HANDLE, "%p is no live group of tasks", handle);
    }
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_update_begin(group->graph->rt, found->rt, group->first, group->count);
    return status == LEO_ERR_NOT_READY ? API_GRAPH_RUNNING
           : status == LEO_ERR_STATE   ? API_GROUP_STATE
                                       : status;
}

leo_status api_group_update_end(const void *stream)
{
    API_PINNED struct api_stream *found = NULL;
    leo_status status = api_stream_get(stream, &found);
    if (status != LEO_OK) {
        return status;
    }
    status = leo_rt_graph_update_end(found->rt);
    return status == LEO_OK             ? LEO_OK
           : status == LEO_ERR_MISMATCH ? API_GRAPH_UPDATE
                                        : API_GROUP_STATE;
}
