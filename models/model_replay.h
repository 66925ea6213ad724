/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a model on the same buffers again: the second one is captured, later ones put what was
 * captured into the stream, without making plans and arguments anew.
 */
#pragma once

#include <acl/acl_rt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leo_rt_device;

/** Where a run's regions lie. */
struct model_places {
    struct leo_rt_device *device;
    const uint64_t *buffers; /**< inputs, then outputs */
    size_t count, gear;
    bool profiled; /**< tasks are reported by name */
    uint64_t weights, work;
};

/** What was captured; all 0: nothing. One call at a time. */
struct model_replay {
    struct model_places last; /**< buffers owned */
    void *graph;              /**< NULL: the last run was not captured */
    bool refused;             /**< it cannot be captured */
};

/** Launches a run on a stream of AscendCL; 0 or the code to return, error text set. */
typedef aclError (*model_launch)(void *run, aclrtStream stream);

/** Launches a run at these places, by replay if the ones before were at the same. A stream that is
 * being captured itself takes the calls. */
aclError model_replay_run(struct model_replay *replay, const struct model_places *places,
                          aclrtStream stream, model_launch launch, void *run);
/** Waits for what was captured. */
void model_replay_free(struct model_replay *replay);
