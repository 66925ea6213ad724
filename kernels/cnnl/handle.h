/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: a device, a queue, and memory for temporaries in the order of the queue. */
#pragma once

#include "../frame/engine.h"

#include <cnnl.h>

enum { CNNL_ARENA_BLOCKS = 32 }; // sizes double, so this many are more than any device holds

struct cnnlContext {
    uint32_t magic;
    struct leo_rt_device *device;
    struct op_engine *engine;
    cnrtQueue_t queue;
    bool used; /**< work was put on the queue */
    struct leo_rt_event *event;
    cnnlQuantizeRoundMode_t round_mode;
    cnnlAtomicsMode_t atomics_mode;
    struct {
        uint64_t addr, bytes;
    } blocks[CNNL_ARENA_BLOCKS];
    unsigned block_count;
    unsigned block_at; /**< where the next temporary is looked for */
    uint64_t block_used;
};

/** Whether it is a live handle. */
bool cnnl_handle_is_live(cnnlHandle_t handle);
/** Temporaries of earlier calls end: the queue's order keeps them until then. */
void cnnl_arena_reset(cnnlHandle_t handle);
/** Memory until the next reset. */
LEO_MUST_CHECK leo_status cnnl_arena_take(cnnlHandle_t handle, uint64_t bytes, uint64_t *addr);
