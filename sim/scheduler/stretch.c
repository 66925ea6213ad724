/* SPDX-License-Identifier: Apache-2.0 */
/* One stretch of the values of a core's block. How long it is reaches no simulated time, nor a
 * value, but for the order of atomic sums of floats from several cores (HW-CHIP-51). */
#include "scheduler.h"

#include <math.h>

enum { STRETCH_CYCLES = 1 << 20 /* of the scalar unit: some ms of the host */ };

enum sim_scalar_stop sim_cores_stretch(const struct sim_scheduler *scheduler, struct sim_core *core,
                                       const struct sim_stretch_begin *begin)
{
    const double limit = core->limit - scheduler->config->start_cycles;
    return sim_core_run(core, fmin(begin->cycle + STRETCH_CYCLES, limit),
                        (unsigned)(begin->written + SIM_STRETCH_PLACES - core->log.written));
}

void sim_cores_settle_text(struct sim_scheduler *scheduler, struct sim_core *core)
{
    if (!core->wrote_text) {
        return;
    }
    core->wrote_text = false;
    // It may keep a writable region: its next store must be seen too.
    sim_core_forget(core);
    const struct sim_space *space = core->space;
    for (size_t i = 0; i < space->count; i++) {
        if (space->extent[i].has_text && !space->extent[i].read_only) {
            sim_image_drop(scheduler, space->extent[i].base, space->extent[i].bytes);
        }
    }
}
