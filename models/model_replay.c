/* SPDX-License-Identifier: Apache-2.0 */
#include "model_replay.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>

#include <acl/acl_mdl.h>
#include <string.h>

static bool is_same(const struct model_places *a, const struct model_places *b)
{
    return a->buffers && a->device == b->device && a->weights == b->weights && a->work == b->work &&
           a->count == b->count && a->gear == b->gear && a->profiled == b->profiled &&
           memcmp(a->buffers, b->buffers, a->count * sizeof(*a->buffers)) == 0;
}

void model_replay_free(struct model_replay *replay)
{
    if (replay->graph) {
        // The device may be gone before its models; then there is nothing to wait for.
        (void)aclmdlRIDestroy(replay->graph);
    }
    leo_free((void *)(uintptr_t)replay->last.buffers);
    *replay = (struct model_replay){0};
}

static void remember(struct model_replay *replay, const struct model_places *places)
{
    model_replay_free(replay);
    uint64_t *buffers = leo_calloc(places->count + 1, sizeof(*buffers));
    if (buffers) { // else the next run is not a replay
        memcpy(buffers, places->buffers, places->count * sizeof(*buffers));
        replay->last = *places;
        replay->last.buffers = buffers;
    }
}

// On a stream of its own: what other threads put into the program's must not get in.
static void capture(struct model_replay *replay, model_launch launch, void *run)
{
    aclrtStream stream;
    replay->refused = true;
    if (aclrtCreateStream(&stream) != ACL_SUCCESS) {
        return;
    }
    if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == ACL_SUCCESS) {
        const aclError error = launch(run, stream);
        aclmdlRI graph = NULL;
        if (aclmdlRICaptureEnd(stream, &graph) == ACL_SUCCESS) {
            if (error == ACL_SUCCESS) {
                replay->graph = graph;
                replay->refused = false;
            } else {
                (void)aclmdlRIDestroy(graph);
            }
        }
    }
    (void)aclrtDestroyStream(stream);
}

aclError model_replay_run(struct model_replay *replay, const struct model_places *places,
                          aclrtStream stream, model_launch launch, void *run)
{
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    const aclError error = leo_acl_stream_get(stream, &rt, &device);
    if (error != ACL_SUCCESS) {
        return error;
    }
    if (leo_rt_stream_graph(rt)) {
        return launch(run, stream);
    }
    if (!is_same(&replay->last, places)) {
        remember(replay, places);
        return launch(run, stream);
    }
    if (!replay->graph && !replay->refused) {
        capture(replay, launch, run);
    }
    return replay->graph ? aclmdlRIExecuteAsync(replay->graph, stream) : launch(run, stream);
}
