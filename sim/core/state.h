/* SPDX-License-Identifier: Apache-2.0 */
/* What a core's state is (section.h). */
#pragma once

#include "../section.h"

struct sim_core;

extern const struct sim_sections sim_core_sections;

/** Calls `fn` for each member of a core and for its memories. False: `fn` did. */
bool sim_core_walk(struct sim_core *core, sim_stretch_fn fn, void *user);
