/* SPDX-License-Identifier: Apache-2.0 */
/* Task topologies: captured from queues, run again and again. An entity is the topology once more,
 * counted: what was captured does not change. */
#include "../api_common/stream/graph_handle.h"
#include "cnrt_internal.h"

static cnrtRet_t null(const char *func)
{
    return cnrt_fail(cnrtErrorArgsInvalid, func, "an argument is NULL");
}

static const enum api_capture_mode modes[] = {
    [cnrtQueueCaptureModeGlobal] = API_CAPTURE_MODE_GLOBAL,
    [cnrtQueueCaptureModeThreadLocal] = API_CAPTURE_MODE_THREAD,
    [cnrtQueueCaptureModeRelaxed] = API_CAPTURE_MODE_RELAXED,
};

static bool is_mode(cnrtQueueCaptureMode_t mode)
{
    return (int)mode >= 0 && (size_t)mode < sizeof(modes) / sizeof(modes[0]);
}

cnrtRet_t cnrtQueueBeginCapture(cnrtQueue_t queue, cnrtQueueCaptureMode_t mode)
{
    void *stream;
    if (!is_mode(mode)) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "the mode is unknown");
    }
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__,
                       status != LEO_OK ? status : api_capture_begin(stream, modes[mode]));
}

cnrtRet_t cnrtQueueEndCapture(cnrtQueue_t queue, cnrtTaskTopo_t *pTaskTopo)
{
    void *stream, *graph;
    if (!pTaskTopo) {
        return null(__func__);
    }
    leo_status status = cnrt_stream(queue, &stream);
    if (status == LEO_OK) {
        status = api_capture_end(stream, &graph);
    }
    *pTaskTopo = status == LEO_OK ? graph : NULL;
    return cnrt_result(__func__, status);
}

static leo_status get_capture(cnrtQueue_t queue, cnrtQueueCaptureStatus_t *state, void **graph)
{
    static const cnrtQueueCaptureStatus_t states[] = {
        [API_CAPTURE_STATE_NONE] = cnrtQueueCaptureStatusNone,
        [API_CAPTURE_STATE_ACTIVE] = cnrtQueueCaptureStatusActive,
        [API_CAPTURE_STATE_INVALID] = cnrtQueueCaptureStatusInvalidated,
    };
    enum api_capture_state found;
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    if (status == LEO_OK) {
        status = api_capture_info(stream, &found, graph);
    }
    if (status == LEO_OK) {
        *state = states[found];
    }
    return status;
}

cnrtRet_t cnrtQueueIsCapturing(cnrtQueue_t queue, cnrtQueueCaptureStatus_t *pStatus)
{
    void *graph;
    return pStatus ? cnrt_result(__func__, get_capture(queue, pStatus, &graph)) : null(__func__);
}

cnrtRet_t cnrtQueueGetCaptureInfo(cnrtQueue_t queue, cnrtQueueCaptureStatus_t *pStatus,
                                  uint64_t *pId, cnrtTaskTopo_t *pTaskTopo,
                                  const cnrtTaskTopoNode_t **pDependencies,
                                  size_t *pNumDependencies)
{
    void *graph = NULL;
    uint32_t id = 0;
    if (!pStatus) {
        return null(__func__);
    }
    if (pDependencies || pNumDependencies) {
        return cnrt_fail(cnrtErrorNotSupport, __func__,
                         "nodes are not handed out: pass NULL for the dependencies");
    }
    leo_status status = get_capture(queue, pStatus, &graph);
    if (status == LEO_OK && graph) {
        status = api_graph_id(graph, &id);
    }
    if (status == LEO_OK && pId) {
        *pId = (uint64_t)id + 1; // 0 is no capture
    }
    if (status == LEO_OK && pTaskTopo) {
        *pTaskTopo = graph;
    }
    return cnrt_result(__func__, status);
}

cnrtRet_t cnrtThreadExchangeQueueCaptureMode(cnrtQueueCaptureMode_t *mode)
{
    if (!mode || !is_mode(*mode)) {
        return cnrt_fail(cnrtErrorArgsInvalid, __func__, "mode is NULL or unknown");
    }
    const enum api_capture_mode before = api_capture_exchange_mode(modes[*mode]);
    *mode = before == API_CAPTURE_MODE_GLOBAL   ? cnrtQueueCaptureModeGlobal
            : before == API_CAPTURE_MODE_THREAD ? cnrtQueueCaptureModeThreadLocal
                                                : cnrtQueueCaptureModeRelaxed;
    return cnrtSuccess;
}

cnrtRet_t cnrtTaskTopoInstantiate(cnrtTaskTopoEntity_t *pEntity, cnrtTaskTopo_t taskTopo,
                                  cnrtTaskTopoNode_t *pErrorNode, char *pLogBuffer,
                                  size_t bufferSize)
{
    if (!pEntity) {
        return null(__func__);
    }
    if (pErrorNode) {
        *pErrorNode = NULL;
    }
    if (pLogBuffer && bufferSize) {
        *pLogBuffer = '\0';
    }
    cnrtRet_t ret = cnrt_result(__func__, api_graph_use(taskTopo));
    if (ret == cnrtSuccess) {
        *pEntity = (cnrtTaskTopoEntity_t)(void *)taskTopo;
    }
    return ret;
}

cnrtRet_t cnrtTaskTopoEntityInvoke(cnrtTaskTopoEntity_t entity, cnrtQueue_t queue)
{
    void *stream;
    leo_status status = cnrt_stream(queue, &stream);
    return cnrt_result(__func__, status != LEO_OK ? status : api_graph_execute(entity, stream));
}

cnrtRet_t cnrtTaskTopoEntityDestroy(cnrtTaskTopoEntity_t entity)
{
    return cnrt_result(__func__, api_graph_destroy(entity));
}

cnrtRet_t cnrtTaskTopoDestroy(cnrtTaskTopo_t taskTopo)
{
    return cnrt_result(__func__, api_graph_destroy(taskTopo));
}

cnrtRet_t cnrtTaskTopoGetNodes(cnrtTaskTopo_t taskTopo, cnrtTaskTopoNode_t *nodes, size_t *numNodes)
{
    if (!numNodes) {
        return null(__func__);
    }
    if (nodes) {
        return cnrt_fail(cnrtErrorNotSupport, __func__,
                         "nodes are counted, not handed out: pass NULL for them");
    }
    return cnrt_result(__func__, api_graph_tasks(taskTopo, numNodes));
}

cnrtRet_t cnrtTaskTopoDebugDotPrint(cnrtTaskTopo_t taskTopo, const char *path, unsigned int flags)
{
    (void)taskTopo;
    (void)path;
    (void)flags;
    return cnrt_fail(cnrtErrorNotSupport, __func__, "topologies are not written as dot");
}
