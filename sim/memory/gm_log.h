/* SPDX-License-Identifier: Apache-2.0 */
/* What one core moved to and from global memory since the last boundary. */
#pragma once

#include "../footprint.h"
#include "l2.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_gm_log {
    struct sim_span *span;
    size_t count, capacity;
};

/** Notes what the instruction touches of global memory. Out of memory it is forgotten: only time
 * depends on it. */
void sim_gm_log_push(struct sim_gm_log *log, const struct sim_footprint *foot);
/** Tells the L2 all of it, oldest first, and forgets it. */
void sim_gm_log_tell(struct sim_gm_log *log, struct sim_l2 *l2);
void sim_gm_log_finish(struct sim_gm_log *log);
