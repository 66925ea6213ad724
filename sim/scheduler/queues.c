/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues may have something to do. */
#include "scheduler.h"

void sim_scheduler_set_active(struct sim_scheduler *scheduler, unsigned queue, bool active)
{
    uint64_t bit = UINT64_C(1) << queue % 64;
    if (active) {
        scheduler->active[queue / 64] |= bit;
    } else {
        scheduler->active[queue / 64] &= ~bit;
    }
}

bool sim_scheduler_is_active(const struct sim_scheduler *scheduler, unsigned queue)
{
    return scheduler->active[queue / 64] >> queue % 64 & 1;
}

void sim_scheduler_wake(struct sim_scheduler *scheduler, unsigned queue)
{
    sim_scheduler_set_active(scheduler, queue, true);
}

void sim_scheduler_take_doorbells(struct sim_scheduler *scheduler)
{
    struct sim_function *function = scheduler->host;
    if (!atomic_load(&function->any_rung)) {
        return;
    }
    atomic_store(&function->any_rung, false);
    for (unsigned word = 0; word < (scheduler->config->queues + 63) / 64; word++) {
        scheduler->active[word] |= atomic_exchange(&function->rung[word], 0);
    }
}

/* The first active queue at or after `queue`; config.queues if there is none. */
unsigned sim_scheduler_next_active(const struct sim_scheduler *scheduler, unsigned queue)
{
    const uint64_t *active = scheduler->active;
    unsigned words = (scheduler->config->queues + 63) / 64;
    for (unsigned word = queue / 64; word < words; word++) {
        uint64_t bits = active[word];
        if (word == queue / 64) {
            bits &= UINT64_MAX << queue % 64;
        }
        if (bits) {
            return word * 64 + (unsigned)__builtin_ctzll(bits);
        }
    }
    return scheduler->config->queues;
}

uint64_t sim_scheduler_next_time(const struct sim_scheduler *scheduler)
{
    uint64_t next = UINT64_MAX;
    for (unsigned queue = sim_scheduler_next_active(scheduler, 0);
         queue < scheduler->config->queues;
         queue = sim_scheduler_next_active(scheduler, queue + 1)) {
        const struct sim_stream *stream = &scheduler->stream[queue];
        const bool waits = stream->state == SIM_TASK_EARLY || stream->state == SIM_TASK_VALUE;
        uint64_t at = waits                            ? stream->ready_ps
                      : stream->state == SIM_TASK_DONE ? stream->end_ps
                                                       : UINT64_MAX;
        // What is due and still here waits for something else than time.
        if (at > scheduler->now_ps && at < next) {
            next = at;
        }
    }
    return next;
}
