/* SPDX-License-Identifier: Apache-2.0 */
/* Results that stop at the largest number, and the status that remembers it (HW-NUM-15). */
#pragma once

#include "core.h"

#include <leo/insn.h>

/** Whether CSR ctrl asks for it. */
static inline bool sim_core_saturates(const struct sim_core *core)
{
    return leo_cfg_ctrl_unpack(core->ctrl).saturate;
}

/** The exponent of a float type, all bits set: its infinity. 0: no float type. */
uint32_t sim_infinity_of(enum leo_dtype type);

/**
 * Of `count` results side by side, whose infinity is given: infinite ones become the largest number
 * of their sign, NaN becomes +0, and CSR overflow 1. `active`: bit i of it, whether result i is
 * written at all; NULL = all are.
 */
void sim_core_saturate(struct sim_core *core, uint32_t infinity, void *results, size_t count,
                       const uint64_t *active);
