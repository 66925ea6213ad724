/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of a space changed: cores must look again. */
#include "run_ahead_parts.h"

static void forget_run_ahead(struct sim_scheduler *scheduler)
{
    struct sim_run_ahead *run_ahead = scheduler->run_ahead;
    for (unsigned i = 0; run_ahead && i < run_ahead->cores; i++) {
        sim_core_forget(&run_ahead->core[i].core);
    }
}

void sim_cores_forget(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        sim_core_forget(&scheduler->cores->core[id]);
    }
    forget_run_ahead(scheduler);
}
