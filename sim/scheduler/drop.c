/* SPDX-License-Identifier: Apache-2.0 */
/* The task of a queue goes, with the cores that run it. */
#include "run_ahead.h"
#include "scheduler.h"

void sim_scheduler_drop(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    if (stream->state == SIM_TASK_KERNEL) {
        sim_kernel_abandon(scheduler, queue);
    }
    sim_run_ahead_drop(scheduler, queue);
    stream->state = SIM_TASK_NONE;
    stream->had_task = false;
    stream->failed = false;
    stream->free_ps = 0;
    sim_scheduler_set_active(scheduler, queue, false);
}
