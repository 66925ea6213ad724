/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of cores into their traces. */
#include "scheduler.h"

static uint32_t saturated(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void sim_cores_trace(void *user, unsigned core, const struct sim_time_record *record,
                     const struct sim_time_span *span)
{
    struct sim_scheduler *scheduler = user;
    uint64_t from_ps = sim_cores_ps(scheduler, span->start),
             to_ps = sim_cores_ps(scheduler, span->end);
    struct leo_trace_record trace = {
        .start_ns = from_ps / 1000,
        .dur_ps = saturated(to_ps - from_ps),
        .insn = record->insn,
        .core = (uint8_t)core,
        .pipe = record->pipe,
        .pc = record->pc,
        .bytes = record->work,
        .wait_ps = saturated((uint64_t)(span->wait * 1e9 / scheduler->config->clock_khz)),
        .why = (uint8_t)span->why,
        .from = (uint8_t)span->from,
        .gm = (uint8_t)(record->kind != SIM_TIME_OP_GM           ? LEO_GM_NONE
                        : record->access & SIM_TIME_ACCESS_WRITE ? LEO_GM_WRITE
                                                                 : LEO_GM_READ),
        .missed = span->missed,
    };
    sim_trace_push(&scheduler->cores->trace[core], &trace);
}
