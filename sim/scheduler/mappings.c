/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of a space changed: cores must look again. */
#include "run_ahead_parts.h"

static void forget_run_ahead(struct sim_scheduler *scheduler)
{
    struct sim_run_ahead *lead = scheduler->lead;
    for (unsigned i = 0; lead && i < lead->cores; i++) {
        sim_core_forget(&lead->core[i].core);
    }
}

void sim_cores_forget(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        sim_core_forget(&scheduler->cores->core[id]);
    }
    forget_run_ahead(scheduler);
}
