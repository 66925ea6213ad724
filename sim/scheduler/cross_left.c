/* SPDX-License-Identifier: Apache-2.0 */
/* Flags between cores when blocks end: what was set stays set, and what was raised and not waited
 * for is reported by the checker. On a card the next launch would find it. */
#include "../check/check.h"
#include "scheduler.h"

void sim_cross_keep(const struct sim_scheduler *scheduler, struct sim_kernel *kernel, unsigned id)
{
    const struct sim_core *core = &scheduler->cores->core[id];
    const bool side = core->kind == LEO_CORE_KIND_VECTOR;
    for (unsigned flag = 0; flag < SIM_CROSS_FLAGS; flag++) {
        const uint32_t set = core->cross.set[LEO_CROSS_ALL][flag];
        const uint32_t taken = core->cross.taken[LEO_CROSS_ALL][flag];
        struct sim_cross_ended *all = &kernel->all[side][flag];
        const bool is_first = kernel->ended[side] == 0;
        all->set = is_first || set < all->set ? set : all->set;
        if (is_first || taken < all->taken) {
            all->taken = taken;
            all->block = scheduler->slot[id].block;
            all->core = (uint16_t)id;
            all->pc = core->check ? core->check->cross.pc[LEO_CROSS_ALL][flag] : 0;
        }
    }
    kernel->ended[side]++;
}

static void find(struct sim_scheduler *scheduler, unsigned queue, enum leo_cross mode,
                 unsigned flag, const struct sim_cross_ended *all)
{
    const struct sim_finding finding = {
        .code = LEO_FAULT_FLAG_LEFT,
        .kind = LEO_CHECK_KIND_RAISED,
        .unit = LEO_PIPE_S,
        .other_unit = (uint8_t)mode,
        .space = LEO_MEM_SPACE_PRIVATE,
        .event = (uint8_t)flag,
        .core = all->core,
        .pc = all->pc,
        .block = all->block,
        .bytes = all->set - all->taken,
    };
    struct sim_check_global *check = scheduler->stream[queue].check;
    if (check && check->which & SIM_CHECK_HAZARD && all->set > all->taken) {
        sim_findings_add(&check->findings, &finding);
    }
}

/* What the members of a group raised for number `i` of them, the first of which is the cube core.
 */
static void look_at_member(struct sim_scheduler *scheduler, unsigned queue, const unsigned *member,
                           unsigned count, unsigned i, enum leo_cross mode, unsigned flag)
{
    const struct sim_core *core = scheduler->cores->core;
    const bool from_cube = mode == LEO_CROSS_GROUP && i > 0;
    struct sim_cross_ended all = {
        .set = UINT32_MAX,
        .taken = core[member[i]].cross.taken[mode][flag],
        .block = scheduler->slot[member[i]].block,
        .core = (uint16_t)member[i],
    };
    for (unsigned from = from_cube ? 0 : 1; from < (from_cube ? 1 : count); from++) {
        const uint32_t set = core[member[from]].cross.set[mode][flag];
        all.set = set < all.set ? set : all.set;
        all.pc = core[member[from]].check->cross.pc[mode][flag];
    }
    find(scheduler, queue, mode, flag, &all);
}

void sim_cross_end_group(struct sim_scheduler *scheduler, unsigned queue, const unsigned *member,
                         unsigned count)
{
    for (unsigned i = 0; scheduler->cores->check && i < count; i++) {
        for (unsigned flag = 0; flag < SIM_CROSS_FLAGS; flag++) {
            look_at_member(scheduler, queue, member, count, i, LEO_CROSS_GROUP, flag);
            if (i > 0) {
                look_at_member(scheduler, queue, member, count, i, LEO_CROSS_VECTORS, flag);
            }
        }
    }
}

void sim_cross_end(struct sim_scheduler *scheduler, unsigned queue)
{
    const struct sim_kernel *kernel = &scheduler->stream[queue].kernel;
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned flag = 0; flag < SIM_CROSS_FLAGS; flag++) {
            find(scheduler, queue, LEO_CROSS_ALL, flag, &kernel->all[side][flag]);
        }
    }
}
