/* SPDX-License-Identifier: Apache-2.0 */
/* What was done of a task before its time. */
#include "run_ahead_parts.h"

bool sim_run_ahead_is_done(const struct sim_run_ahead_task *task)
{
    return task && task->is_done;
}

bool sim_run_ahead_write(struct sim_scheduler *scheduler, const struct sim_run_ahead_task *task,
                         const struct leo_sqe_copy *body)
{
    for (uint32_t row = 0; row < body->height; row++) {
        if (!sim_dma_write(&scheduler->host->dma, body->dst + row * body->dst_pitch,
                           task->held + row * body->width, body->width)) {
            return false;
        }
    }
    return true;
}
