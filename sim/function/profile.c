/* SPDX-License-Identifier: Apache-2.0 */
/* Task and trace records into the host's rings. They do not wrap: what does not fit is only
 * counted. */
#include "../trace/trace.h"
#include "function.h"

enum { TASKS, TRACES };

void sim_profile_task(struct sim_function *function, const struct leo_task_record *record)
{
    struct sim_profile *profile = &function->profile;
    if (!profile->rings.task_base) {
        return;
    }
    uint64_t index = profile->counts[TASKS];
    if (index < profile->rings.task_depth) {
        (void)sim_dma_write(&function->dma, profile->rings.task_base + index * sizeof(*record),
                            record, sizeof(*record));
    }
    profile->counts[TASKS]++;
    profile->changed = true;
}

void sim_profile_trace(struct sim_function *function, struct sim_trace *trace, uint32_t cmd_id)
{
    struct sim_profile *profile = &function->profile;
    if (!profile->rings.trace_base || (trace->count == 0 && trace->lost == 0)) {
        return;
    }
    for (size_t i = 0; i < trace->count; i++) {
        trace->record[i].cmd_id = cmd_id;
    }
    uint64_t index = profile->counts[TRACES];
    uint64_t room = index < profile->rings.trace_depth ? profile->rings.trace_depth - index : 0;
    uint64_t count = trace->count < room ? trace->count : room;
    if (count) {
        (void)sim_dma_write(&function->dma,
                            profile->rings.trace_base + index * sizeof(trace->record[0]),
                            trace->record, count * sizeof(trace->record[0]));
    }
    profile->counts[TRACES] += trace->count + trace->lost;
    profile->changed = true;
    trace->count = 0;
    trace->lost = 0;
}

void sim_profile_flush(struct sim_function *function)
{
    struct sim_profile *profile = &function->profile;
    if (profile->changed && profile->rings.counts) {
        (void)sim_dma_write(&function->dma, profile->rings.counts, profile->counts,
                            sizeof(profile->counts));
        profile->changed = false;
    }
}
