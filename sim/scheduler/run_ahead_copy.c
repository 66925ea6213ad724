/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills before their time. */
#include "run_ahead_parts.h"

#include <leo/alloc.h>
#include <string.h>

static uint64_t span_of(const struct leo_sqe_copy *body, uint64_t pitch)
{
    return (body->height - 1) * pitch + body->width;
}

/* The host sees what is copied to it at its time: until then it is kept. */
static bool hold(struct sim_scheduler *scheduler, struct sim_run_ahead_task *task,
                 const struct leo_sqe_copy *body)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    const bool is_fill = task->entry.opcode == LEO_SQE_OP_FILL;
    const uint64_t bytes = is_fill ? 0 : body->width * body->height;
    task->host_bytes = span_of(body, body->dst_pitch);
    task->host = sim_dma_where(&scheduler->host->dma, body->dst, task->host_bytes);
    if (bytes > MAX_HELD_BYTES - run_ahead->held_bytes || !task->host ||
        (bytes && !(task->held = leo_alloc(bytes)))) {
        return false;
    }
    for (uint32_t row = 0; row < body->height && bytes; row++) {
        memcpy(task->held + row * body->width,
               scheduler->memory->hbm.data +
                   (body->src + row * body->src_pitch - scheduler->memory->hbm.base),
               body->width);
    }
    task->held_bytes = bytes;
    run_ahead->held_bytes += bytes;
    task->later = run_ahead->holding;
    run_ahead->holding = task;
    return true;
}

/* Whether a copy reads what one before it, perhaps in another stream, is yet to write. */
static bool meets_held(struct sim_scheduler *scheduler, const struct leo_sqe_copy *body)
{
    const uint64_t bytes = span_of(body, body->src_pitch);
    const uint64_t from = sim_dma_where(&scheduler->host->dma, body->src, bytes);
    for (const struct sim_run_ahead_task *task = scheduler->run_ahead->holding; task;
         task = task->later) {
        if (task->host < from + bytes && from < task->host + task->host_bytes) {
            return true;
        }
    }
    return false;
}

bool sim_run_ahead_copy(struct sim_scheduler *scheduler, unsigned queue,
                        struct sim_run_ahead_task *task)
{
    struct sim_stream stream = {.entry = task->entry};
    struct leo_sqe_copy body;
    if (!sim_copy_check(scheduler, &stream, scheduler->host->ring[queue].space, &body)) {
        return false;
    }
    if (body.width == 0 || body.height == 0) {
        return true;
    }
    if (body.flags & LEO_SQE_COPY_HOST_DST) {
        return hold(scheduler, task, &body);
    }
    return !(body.flags & LEO_SQE_COPY_HOST_SRC && meets_held(scheduler, &body)) &&
           sim_copy_bytes(scheduler, &stream, &body);
}

void sim_run_ahead_let_go(struct sim_run_ahead *run_ahead, const struct sim_run_ahead_task *task)
{
    for (struct sim_run_ahead_task **at = &run_ahead->holding; *at; at = &(*at)->later) {
        if (*at == task) {
            *at = task->later;
            run_ahead->held_bytes -= task->held_bytes;
            break;
        }
    }
}
