/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of the event engine and the chip's time. */
#include "scheduler.h"

double sim_cores_cycle(const struct sim_scheduler *scheduler, uint64_t ps)
{
    uint64_t epoch = scheduler->epoch_ps;
    return ps > epoch ? (double)(ps - epoch) * scheduler->config->clock_khz * 1e-9 : 0;
}

uint64_t sim_cores_ps(const struct sim_scheduler *scheduler, double cycle)
{
    return scheduler->epoch_ps + (uint64_t)(cycle * 1e9 / scheduler->config->clock_khz + 0.5);
}

bool sim_cores_busy(const struct sim_scheduler *scheduler)
{
    return scheduler->running != 0;
}
