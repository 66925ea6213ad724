/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags between cores, between rounds: who was told of which sets, and who waits for ever. A raise
 * needs one more set by each core that takes part, so the order of cores and of host threads does
 * not matter.
 */
#include "../check/check.h"
#include "scheduler.h"

#include <leo/alloc.h>

/** Sets of a flag by those that take part in one mode. */
struct sets {
    uint32_t least;         /**< by each of them */
    bool more;              /**< by some more */
    unsigned missing;       /**< how many have `least` */
    unsigned core;          /**< one of these; LEO_NO_CORE = its block has not begun */
    bool found;             /**< anybody takes part at all */
    uint32_t block;         /**< its block */
    enum leo_check_kind is; /**< what it does */
};

static void add(struct sets *sets, uint32_t set, unsigned core, uint32_t block,
                enum leo_check_kind is, unsigned count)
{
    if (!sets->found || set < sets->least) {
        sets->more = sets->more || sets->found;
        *sets = (struct sets){set, sets->more, count, core, true, block, is};
    } else if (set > sets->least) {
        sets->more = true;
    } else {
        sets->missing += count;
    }
}

static enum leo_check_kind state_of(const struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    return slot->state == SIM_CORE_HELD || slot->is_over ? LEO_CHECK_KIND_RETURNED
           : scheduler->cores->core[id].park == SIM_PARK_FLAG ||
                   scheduler->cores->core[id].park == SIM_PARK_POLL
               ? LEO_CHECK_KIND_WAITS
               : LEO_CHECK_KIND_NOT_THERE;
}

static void add_core(const struct sim_scheduler *scheduler, unsigned id, enum leo_cross mode,
                     unsigned flag, struct sets *sets)
{
    add(sets, scheduler->cores->core[id].cross.set[mode][flag], id, scheduler->slot[id].block,
        state_of(scheduler, id), 1);
}

/* All of one side of the launch. */
static void look_at_team(const struct sim_scheduler *scheduler, const struct sim_kernel *kernel,
                         unsigned queue, bool side, unsigned flag, struct sets *sets)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_slot *slot = &scheduler->slot[id];
        bool is_vector = scheduler->cores->core[id].kind == LEO_CORE_KIND_VECTOR;
        if (slot->state == SIM_CORE_RUNNING && slot->queue == queue && is_vector == side) {
            add_core(scheduler, id, LEO_CROSS_ALL, flag, sets);
        }
    }
    if (kernel->ended[side]) {
        add(sets, kernel->all[side][flag].set, LEO_NO_CORE, LEO_NO_BLOCK, LEO_CHECK_KIND_RETURNED,
            1);
    }
    if (kernel->next_block < kernel->body.block_num) {
        add(sets, 0, LEO_NO_CORE, kernel->next_block, LEO_CHECK_KIND_NOT_STARTED,
            kernel->body.block_num - kernel->next_block);
    }
}

/* Those whose sets raise the flag for core `id`. */
static struct sets look(const struct sim_scheduler *scheduler, unsigned id, enum leo_cross mode,
                        unsigned flag)
{
    struct sets sets = {0};
    const struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_kernel *kernel = &scheduler->stream[slot->queue].kernel;
    bool is_vector = scheduler->cores->core[id].kind == LEO_CORE_KIND_VECTOR;
    if (mode == LEO_CROSS_ALL) {
        look_at_team(scheduler, kernel, slot->queue, is_vector, flag, &sets);
        return sets;
    }
    if (kernel->group_vectors == 0 || (mode == LEO_CROSS_VECTORS && !is_vector)) {
        return sets;
    }
    unsigned member[SIM_GROUP_MAX];
    unsigned count = sim_kernel_group(scheduler, kernel, sim_core_group(scheduler, id), member);
    bool from_cube = mode == LEO_CROSS_GROUP && is_vector;
    for (unsigned i = from_cube ? 0 : 1; i < (from_cube ? 1 : count); i++) {
        add_core(scheduler, member[i], mode, flag, &sets);
    }
    return sets;
}

/* Whether core `other` takes part in what raises flags of core `id` in a mode; its block may have
 * ended. */
static bool takes_part(const struct sim_scheduler *scheduler, unsigned id, unsigned other,
                       enum leo_cross mode)
{
    const struct sim_slot *slot = scheduler->slot;
    if (slot[other].queue != slot[id].queue) {
        return false;
    }
    bool same = scheduler->cores->core[other].kind == scheduler->cores->core[id].kind;
    if (mode == LEO_CROSS_ALL) {
        return same;
    }
    return same == (mode == LEO_CROSS_VECTORS) && slot[other].block == slot[id].block &&
           sim_core_group(scheduler, other) == sim_core_group(scheduler, id);
}

/* The checker learns what comes before a raise. */
static void tell_check(struct sim_scheduler *scheduler, unsigned id, enum leo_cross mode,
                       unsigned flag, uint32_t number)
{
    struct sim_check *check = &scheduler->cores->check[id];
    sim_check_cross_raise(check, mode, flag);
    for (unsigned other = 0; other < scheduler->cores->count; other++) {
        if (takes_part(scheduler, id, other, mode)) {
            bool ended = scheduler->slot[other].state != SIM_CORE_RUNNING;
            sim_check_cross_join(check, &scheduler->cores->check[other], mode, flag, number, ended);
        }
    }
}

/* Pictures that everybody has. */
static void forget_sets(struct sim_scheduler *scheduler, unsigned id, enum leo_cross mode,
                        unsigned flag)
{
    for (unsigned from = 0; from < scheduler->cores->count; from++) {
        uint32_t least = UINT32_MAX;
        if (!takes_part(scheduler, id, from, mode)) {
            continue;
        }
        for (unsigned to = 0; to < scheduler->cores->count; to++) {
            if (scheduler->slot[to].state == SIM_CORE_RUNNING &&
                takes_part(scheduler, to, from, mode)) {
                uint32_t raised = scheduler->cores->core[to].cross.raised[mode][flag];
                least = raised < least ? raised : least;
            }
        }
        sim_check_cross_drop(&scheduler->cores->check[from], mode, flag, least);
    }
}

/* Core `id` goes on if its flag was raised. */
static void wake(struct sim_scheduler *scheduler, unsigned id)
{
    struct sim_core *core = &scheduler->cores->core[id];
    unsigned flag = core->park_flag;
    for (unsigned mode = 0; mode < LEO_CROSS_COUNT; mode++) {
        uint32_t raised = look(scheduler, id, (enum leo_cross)mode, flag).least;
        for (uint32_t number = core->cross.raised[mode][flag];
             scheduler->cores->check && number < raised; number++) {
            tell_check(scheduler, id, (enum leo_cross)mode, flag, number);
        }
        core->cross.raised[mode][flag] = raised;
        if (scheduler->cores->check && raised) {
            forget_sets(scheduler, id, (enum leo_cross)mode, flag);
        }
        if (core->cross.raised[mode][flag] > core->cross.taken[mode][flag]) {
            core->park = SIM_PARK_RAISED;
        }
    }
}

/* ---- deadlocks ---- */

static bool is_parked(const struct sim_scheduler *scheduler, unsigned id, enum sim_park park)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    return slot->state == SIM_CORE_RUNNING && !slot->is_over &&
           scheduler->cores->core[id].park == park;
}

/* At a flag, or at memory that has not changed since it looked. */
static bool is_waiting(const struct sim_scheduler *scheduler, unsigned id)
{
    return is_parked(scheduler, id, SIM_PARK_FLAG) ||
           (is_parked(scheduler, id, SIM_PARK_POLL) && scheduler->cores->core[id].poll.waits);
}

/* Whether the task ends in another fault, which is why no other block comes. */
static bool has_other_fault(const struct sim_scheduler *scheduler, unsigned queue)
{
    if (scheduler->stream[queue].fault.code != LEO_FAULT_NONE) {
        return true;
    }
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_slot *slot = &scheduler->slot[id];
        if (slot->state != SIM_CORE_FREE && slot->queue == queue && slot->is_over &&
            slot->stop == SIM_SCALAR_FAULT) {
            return true;
        }
    }
    return false;
}

/* Whether no core of the kernel will ever set a flag again. Memory that is polled may be written by
 * whatever else goes on, and by what the host still submits. */
static bool is_stuck(const struct sim_scheduler *scheduler, unsigned queue, bool idle)
{
    const struct sim_stream *stream = &scheduler->stream[queue];
    bool starts = stream->fault.code == LEO_FAULT_NONE &&
                  stream->kernel.next_block < stream->kernel.body.block_num;
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_slot *slot = &scheduler->slot[id];
        bool own = slot->state == SIM_CORE_RUNNING && slot->queue == queue;
        if (own && !slot->is_over && !is_waiting(scheduler, id)) {
            return false;
        }
        if (own && is_parked(scheduler, id, SIM_PARK_POLL) &&
            !(idle && (scheduler->for_ever || has_other_fault(scheduler, queue)))) {
            return false;
        }
        // A core that others have, or that ends, may take a block that has not begun.
        bool fits =
            stream->kernel.group_vectors || scheduler->cores->core[id].kind == stream->kernel.kind;
        if (starts && !idle && fits && !(own && !slot->is_over)) {
            return false;
        }
    }
    return true;
}

/* The mode in which a flag is most likely meant: one that some have set and others not. */
static struct sets likely(const struct sim_scheduler *scheduler, unsigned id, enum leo_cross *mode)
{
    const struct sim_kernel *kernel = &scheduler->stream[scheduler->slot[id].queue].kernel;
    unsigned flag = scheduler->cores->core[id].park_flag;
    for (unsigned i = 0; i < LEO_CROSS_COUNT; i++) {
        struct sets sets = look(scheduler, id, (enum leo_cross)i, flag);
        if (sets.more) {
            *mode = (enum leo_cross)i;
            return sets;
        }
    }
    *mode = kernel->group_vectors ? LEO_CROSS_GROUP : LEO_CROSS_ALL;
    return look(scheduler, id, *mode, flag);
}

static void keep(struct sim_findings *findings, const struct sim_finding *finding)
{
    if (findings->count < SIM_FINDINGS) {
        findings->list[findings->count++] = *finding;
    } else {
        findings->more++;
    }
}

/* What the loop reads first, and how much else. */
static void tell_poll(struct sim_scheduler *scheduler, struct sim_findings *findings, unsigned id)
{
    const struct sim_core *core = &scheduler->cores->core[id];
    const struct sim_poll *poll = &core->poll;
    const struct sim_finding finding = {
        .code = LEO_FAULT_CORE_DEADLOCK,
        .kind = LEO_CHECK_KIND_POLLS,
        .unit = LEO_PIPE_S,
        .space = LEO_MEM_SPACE_GM,
        .core = (uint16_t)id,
        .pc = (uint32_t)poll->pc,
        .caller = poll->caller ? poll->caller : sim_core_caller(core, poll->pc),
        .block = scheduler->slot[id].block,
        .other_block = poll->ranges - 1,
        .addr = poll->range[0].addr,
        .bytes = poll->range[0].bytes,
    };
    keep(findings, &finding);
}

static void tell(struct sim_scheduler *scheduler, struct sim_findings *findings, unsigned id)
{
    if (scheduler->cores->core[id].park == SIM_PARK_POLL) {
        tell_poll(scheduler, findings, id);
        return;
    }
    enum leo_cross mode;
    const struct sets sets = likely(scheduler, id, &mode);
    const struct sim_core *core = &scheduler->cores->core[id];
    const bool waits = sets.is == LEO_CHECK_KIND_WAITS && sets.core != LEO_NO_CORE;
    const struct sim_finding finding = {
        .code = LEO_FAULT_CORE_DEADLOCK,
        .kind = sets.is,
        .unit = LEO_PIPE_S,
        .space = LEO_MEM_SPACE_PRIVATE,
        .other_unit = (uint8_t)mode,
        .event = core->park_flag,
        .core = (uint16_t)id,
        .pc = (uint32_t)core->park_pc,
        .caller = sim_core_caller(core, core->park_pc),
        .other_pc = waits ? (uint32_t)scheduler->cores->core[sets.core].park_pc : 0,
        .block = scheduler->slot[id].block,
        .other_block = sets.block,
        .addr = sets.core,
        .bytes = sets.missing,
    };
    keep(findings, &finding);
}

/* Ends the waiting cores of a kernel, as a fault unless there is another one. */
static void end_stuck(struct sim_scheduler *scheduler, unsigned queue)
{
    struct sim_stream *stream = &scheduler->stream[queue];
    bool silent = has_other_fault(scheduler, queue);
    if (!silent && !stream->stuck) {
        stream->stuck = leo_calloc(1, sizeof(*stream->stuck));
    }
    if (!silent && stream->stuck) {
        *stream->stuck = (struct sim_findings){0};
    }
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        if (!silent && stream->stuck && is_waiting(scheduler, id) &&
            scheduler->slot[id].queue == queue) {
            tell(scheduler, stream->stuck, id);
        }
    }
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        struct sim_slot *slot = &scheduler->slot[id];
        struct sim_core *core = &scheduler->cores->core[id];
        if (!is_waiting(scheduler, id) || slot->queue != queue) {
            continue;
        }
        slot->is_over = true;
        slot->stop = silent ? SIM_SCALAR_RETURNED : SIM_SCALAR_FAULT;
        core->scalar.fault = (struct sim_fault){
            .code = LEO_FAULT_CORE_DEADLOCK, .pc = core->park_pc, .addr = core->park_flag};
        sim_time_engine_give_up(scheduler->cores->engine, id, core->park == SIM_PARK_POLL);
    }
}

/* A block that was stopped (watchdog, overflow) may have been ahead with its values: what it set
 * after that counts for those that waited for it, but has no time. */
static void end_orphans(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_slot *slot = &scheduler->slot[id];
        if (slot->state == SIM_CORE_RUNNING && slot->is_over) {
            sim_time_engine_give_up(scheduler->cores->engine, id, true);
        }
    }
}

void sim_cross_settle(struct sim_scheduler *scheduler, bool idle)
{
    if (idle) {
        end_orphans(scheduler);
    }
    bool any = false;
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        if (is_parked(scheduler, id, SIM_PARK_FLAG)) {
            wake(scheduler, id);
        }
        any = any || is_waiting(scheduler, id);
    }
    for (unsigned id = 0; any && id < scheduler->cores->count; id++) {
        unsigned queue = scheduler->slot[id].queue;
        if (is_waiting(scheduler, id) && is_stuck(scheduler, queue, idle)) {
            end_stuck(scheduler, queue);
        }
    }
}
