/* SPDX-License-Identifier: Apache-2.0 */
/* Capture of streams into a model that runs again and again. */
#include "acl_internal.h"

#include <leo/alloc.h>
#include <stdio.h>

struct acl_graph {
    struct front_handle handle;
    struct leo_rt_graph *rt;
    struct acl_stream *origin; /**< of the capture, for its end */
    pthread_t thread;          /**< that began it */
    aclmdlRICaptureMode mode;
    bool counted; /**< among the captures under way */
    uint32_t id;
    struct front_family groups;
};

/** A part of a graph that may be replaced. */
struct acl_group {
    struct front_handle handle;
    struct acl_graph *graph;
    size_t first, count;
};

static _Thread_local aclmdlRICaptureMode thread_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
static _Thread_local unsigned thread_captures; // not relaxed ones that this thread has begun

aclError acl_capture_check(const char *func)
{
    // While somebody captures, calls that wait or read memory at once would not see what is only
    // kept. A thread may say that it knows what it does.
    if (thread_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED ||
        (atomic_load(&acl_process()->captures) == 0 && thread_captures == 0)) {
        return ACL_SUCCESS;
    }
    return acl_fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, func,
                    "not possible while a stream is being captured");
}

// Counts a capture that others must mind, while it lasts.
static void count_capture(struct acl_graph *graph, int by)
{
    graph->counted = by > 0;
    if (graph->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
        atomic_fetch_add(&acl_process()->captures, by);
    } else if (graph->mode == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL &&
               pthread_equal(graph->thread, pthread_self())) {
        thread_captures += (unsigned)by;
    }
}

aclError acl_capture_check_wait(const char *func, struct acl_stream *stream)
{
    struct leo_rt_graph *graph = leo_rt_stream_graph(stream->rt);
    if (!graph) {
        return ACL_SUCCESS;
    }
    leo_rt_graph_invalidate(graph);
    return acl_fail(ACL_ERROR_RT_STREAM_CAPTURED, func,
                    "the stream is being captured: there is nothing to wait for; the capture is "
                    "invalid now");
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    ACL_PINNED struct acl_stream *found = NULL;
    struct acl_process *process = acl_process();
    const char *func = "aclmdlRICaptureBegin";
    if ((int)mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "mode %d is unknown", (int)mode);
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    if (found == found->context->default_stream) {
        return acl_fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, func,
                        "the default stream cannot be captured: pass one that was created");
    }
    struct acl_graph *graph = leo_calloc(1, sizeof(*graph));
    if (!graph) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    leo_status status = leo_rt_capture_begin(found->rt, &graph->rt);
    if (status != LEO_OK) {
        leo_free(graph);
        return status == LEO_ERR_STATE
                   ? acl_fail(ACL_ERROR_RT_STREAM_CAPTURED, func, "%s", leo_rt_last_error())
                   : acl_status(func, status);
    }
    struct leo_rt_graph *rt = graph->rt;
    acl_handle_add(&graph->handle, ACL_KIND_GRAPH, &found->context->slot->graphs);
    graph->rt = rt;
    graph->origin = found;
    graph->thread = pthread_self();
    graph->mode = mode;
    graph->id = atomic_fetch_add(&process->next_graph_id, 1);
    count_capture(graph, 1);
    return ACL_SUCCESS;
}

static bool graph_is(const void *handle, const void *user)
{
    const struct acl_graph *graph = handle;
    return graph->rt == user;
}

// The handle of a capture that a stream takes part in, pinned; NULL: none.
static struct acl_graph *graph_of(struct acl_stream *stream)
{
    const struct leo_rt_graph *rt = leo_rt_stream_graph(stream->rt);
    return rt ? front_family_find(&acl_process()->handles, &stream->context->slot->graphs, graph_is,
                                  rt)
              : NULL;
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                aclmdlRI *modelRI)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureGetInfo";
    if (!status || !modelRI) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "an argument is NULL");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    ACL_PINNED struct acl_graph *graph = graph_of(found);
    *modelRI = graph;
    *status = !graph                               ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
              : leo_rt_graph_is_invalid(graph->rt) ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                                   : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureEnd";
    if (!modelRI) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "modelRI is NULL");
    }
    *modelRI = NULL;
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    ACL_PINNED struct acl_graph *graph = graph_of(found);
    if (!graph) {
        return acl_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, func, "the stream is not being captured");
    }
    if (graph->origin != found) {
        return acl_fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, func,
                        "the capture began on another stream: end it there");
    }
    if (graph->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED &&
        !pthread_equal(graph->thread, pthread_self())) {
        return acl_fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, func,
                        "another thread began the capture, and not in relaxed mode");
    }
    leo_status status = leo_rt_capture_end(found->rt);
    count_capture(graph, -1);
    if (status == LEO_OK) {
        *modelRI = graph;
        return ACL_SUCCESS;
    }
    error = status == LEO_ERR_MISMATCH
                ? acl_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, func, "%s", leo_rt_last_error())
            : status == LEO_ERR_NOT_READY
                ? acl_fail(ACL_ERROR_RT_STREAM_UNJOINED, func, "%s", leo_rt_last_error())
                : acl_status(func, status);
    struct acl_graph *ended = graph;
    graph = NULL;
    if (acl_handle_claim(&ended->handle)) {
        acl_graph_free(ended);
    }
    return error;
}

void acl_graph_free(struct acl_graph *graph)
{
    if (graph->counted) {
        count_capture(graph, -1); // its stream went away
    }
    struct acl_group *group;
    while ((group = acl_handle_take(&graph->groups)) != NULL) {
        acl_handle_remove(&group->handle);
        leo_free(group);
    }
    leo_status status = leo_rt_graph_destroy(graph->rt);
    if (status != LEO_OK) {
        acl_log(ACL_WARNING, "aclmdlRIDestroy", "%s", leo_rt_last_error());
    }
    acl_handle_remove(&graph->handle);
    leo_free(graph);
}

// Gives it pinned.
static aclError get_graph(const char *func, aclmdlRI handle, struct acl_graph **graph)
{
    *graph = handle ? acl_handle_find(handle, ACL_KIND_GRAPH) : NULL;
    return *graph ? ACL_SUCCESS
                  : acl_fail(handle ? ACL_ERROR_RT_INVALID_HANDLE : ACL_ERROR_INVALID_PARAM, func,
                             "%p is no live model", handle);
}

aclError aclmdlRIDestroy(aclmdlRI modelRI)
{
    const char *func = "aclmdlRIDestroy";
    struct acl_graph *graph;
    aclError error = get_graph(func, modelRI, &graph);
    if (error) {
        return error;
    }
    if (!acl_handle_claim(&graph->handle)) {
        return acl_fail(ACL_ERROR_RT_INVALID_HANDLE, func, "%p is no live model", modelRI);
    }
    acl_graph_free(graph);
    return ACL_SUCCESS;
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    ACL_PINNED struct acl_graph *graph = NULL;
    const char *func = "aclmdlRIExecuteAsync";
    aclError error = acl_stream_get(func, stream, &found);
    if (!error) {
        error = get_graph(func, modelRI, &graph);
    }
    if (error) {
        return error;
    }
    leo_status status = leo_rt_graph_execute(graph->rt, found->rt);
    return status == LEO_ERR_STATE
               ? acl_fail(ACL_ERROR_RT_MODEL_EXECUTE, func, "%s", leo_rt_last_error())
               : acl_status(func, status);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
    aclError error = acl_timeout_check("aclmdlRIExecute", timeout);
    if (!error) {
        error = aclmdlRIExecuteAsync(modelRI, NULL);
    }
    return error ? error : aclrtSynchronizeStreamWithTimeout(NULL, timeout);
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId)
{
    ACL_PINNED struct acl_graph *graph = NULL;
    const char *func = "aclmdlRIGetId";
    if (!modelRIId) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "modelRIId is NULL");
    }
    aclError error = get_graph(func, modelRI, &graph);
    if (!error) {
        *modelRIId = graph->id;
    }
    return error;
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI)
{
    ACL_PINNED struct acl_graph *graph = NULL;
    aclError error = get_graph("aclmdlRIDebugPrint", modelRI, &graph);
    return error ? error : acl_status("aclmdlRIDebugPrint", leo_rt_graph_write(graph->rt, NULL));
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags)
{
    ACL_PINNED struct acl_graph *graph = NULL;
    const char *func = "aclmdlRIDebugJsonPrint";
    (void)flags; // a summary is all there is
    if (!path) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "path is NULL");
    }
    aclError error = get_graph(func, modelRI, &graph);
    return error ? error : acl_status(func, leo_rt_graph_write(graph->rt, path));
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    if (!mode || (int)*mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL ||
        *mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureThreadExchangeMode",
                        "mode is NULL or unknown");
    }
    aclmdlRICaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureTaskGrpBegin";
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    ACL_PINNED struct acl_graph *graph = graph_of(found);
    if (!graph) {
        return acl_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, func, "the stream is not being captured");
    }
    if (found->group_is_open) {
        return acl_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, func,
                        "a group is open: call aclmdlRICaptureTaskGrpEnd first");
    }
    found->group_is_open = true;
    found->group_first = leo_rt_graph_size(graph->rt);
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureTaskGrpEnd";
    if (!handle) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "handle is NULL");
    }
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    ACL_PINNED struct acl_graph *graph = graph_of(found);
    if (!graph || !found->group_is_open) {
        return acl_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, func, "no group is open");
    }
    struct acl_group *group = leo_calloc(1, sizeof(*group));
    if (!group) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    acl_handle_add(&group->handle, ACL_KIND_GROUP, &graph->groups);
    group->graph = graph;
    group->first = found->group_first;
    group->count = leo_rt_graph_size(graph->rt) - group->first;
    found->group_is_open = false;
    *handle = group;
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle)
{
    ACL_PINNED struct acl_stream *found = NULL;
    ACL_PINNED struct acl_group *group = NULL;
    const char *func = "aclmdlRICaptureTaskUpdateBegin";
    aclError error = acl_stream_get(func, stream, &found);
    if (!error && !(group = acl_handle_find(handle, ACL_KIND_GROUP))) {
        error = acl_fail(ACL_ERROR_RT_INVALID_HANDLE, func, "%p is no live group of tasks", handle);
    }
    if (error) {
        return error;
    }
    leo_status status =
        leo_rt_graph_update_begin(group->graph->rt, found->rt, group->first, group->count);
    return status == LEO_ERR_NOT_READY
               ? acl_fail(ACL_ERROR_RT_MODEL_RUNNING, func, "%s", leo_rt_last_error())
           : status == LEO_ERR_STATE
               ? acl_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, func, "%s", leo_rt_last_error())
               : acl_status(func, status);
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream)
{
    ACL_PINNED struct acl_stream *found = NULL;
    const char *func = "aclmdlRICaptureTaskUpdateEnd";
    aclError error = acl_stream_get(func, stream, &found);
    if (error) {
        return error;
    }
    leo_status status = leo_rt_graph_update_end(found->rt);
    return status == LEO_OK
               ? ACL_SUCCESS
               : acl_fail(status == LEO_ERR_MISMATCH ? ACL_ERROR_RT_MODEL_UPDATE_FAILED
                                                     : ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                          func, "%s", leo_rt_last_error());
}
