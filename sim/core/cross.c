/* SPDX-License-Identifier: Apache-2.0 */
/* Flags between cores, as the core that sets or waits sees them. Who is told of a set, and when, is
 * the scheduler's (scheduler/cross.c). */
#include "../check/check.h"
#include "core.h"
#include <sim_units.h>

static bool is_sync_pipe(const struct sim_core *core, unsigned pipe)
{
    return pipe > LEO_PIPE_S && pipe < LEO_PIPE_ALL &&
           !(pipe == LEO_PIPE_FIX && core->kind == LEO_CORE_KIND_VECTOR);
}

static void log_cross(struct sim_core *core, const struct sim_op *op, enum sim_time_kind kind,
                      unsigned pipe, unsigned mode, unsigned flag)
{
    struct sim_time_record record = {
        .kind = (uint8_t)kind,
        .pipe = (uint8_t)pipe,
        .dst = (uint8_t)mode,
        .id = (uint8_t)flag,
        .pc = (uint32_t)(op->pc - LEO_MAP_IMAGE),
    };
    sim_core_log(core, &record, NULL);
}

bool sim_core_cross_set(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_cross cfg = leo_cfg_cross_unpack(op->b);
    const bool in_group = cfg.mode == LEO_CROSS_VECTORS || cfg.mode == LEO_CROSS_GROUP;
    if (op->b & LEO_CFG_CROSS_RESERVED || cfg.mode >= LEO_CROSS_COUNT ||
        !is_sync_pipe(core, op->imm) || (in_group && core->group_vectors == 0) ||
        (cfg.mode == LEO_CROSS_VECTORS && core->kind != LEO_CORE_KIND_VECTOR)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->b, 0);
    }
    core->cross.set[cfg.mode][cfg.flag]++;
    if (core->check) {
        sim_check_cross_set(core->check, (enum leo_pipe)op->imm, cfg.mode, cfg.flag,
                            op->pc - LEO_MAP_IMAGE);
    }
    log_cross(core, op, SIM_TIME_POST, op->imm, cfg.mode, cfg.flag);
    return true;
}

/* A raise of this core's flag that no wait has taken yet; LEO_CROSS_COUNT: there is none. */
static unsigned find_raise(const struct sim_core *core, unsigned flag)
{
    unsigned mode = 0;
    while (mode < LEO_CROSS_COUNT &&
           core->cross.raised[mode][flag] == core->cross.taken[mode][flag]) {
        mode++;
    }
    return mode;
}

bool sim_core_cross_wait(struct sim_core *core, const struct sim_op *op)
{
    const uint64_t flag = op->imm + op->b;
    if (flag >= SIM_CROSS_FLAGS) {
        return sim_core_fault(core, LEO_FAULT_BAD_EVENT, LEO_MEM_SPACE_PRIVATE, flag, 0);
    }
    const unsigned mode = find_raise(core, (unsigned)flag);
    if (core->park == SIM_PARK_NONE) {
        // Before it is known whether it must wait: the log is the same either way.
        log_cross(core, op, SIM_TIME_PEND, LEO_PIPE_S, 0, (unsigned)flag);
    }
    if (mode == LEO_CROSS_COUNT) {
        core->park = SIM_PARK_FLAG;
        core->park_flag = (uint8_t)flag;
        core->park_pc = op->pc - LEO_MAP_IMAGE;
        return false; // tried again when it is raised
    }
    core->cross.taken[mode][flag]++;
    if (core->check) {
        sim_check_cross_wait(core->check, mode, (unsigned)flag);
    }
    core->park = SIM_PARK_NONE;
    return true;
}
