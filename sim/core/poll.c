/* SPDX-License-Identifier: Apache-2.0 */
#include "poll.h"

#include "../check/check.h"
#include "../memory/hbm.h"
#include "core.h"
#include "stores.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 1 << 16, /* instructions of one turn that is followed */
    TURN_PLACES = 1024    /* of the log */
};

bool sim_core_poll(struct sim_scalar *scalar, uint64_t addr, unsigned bytes)
{
    struct sim_core *core = scalar->owner;
    if (bytes && addr < LEO_MAP_GM) {
        return true;
    }
    if (core->poll.passing || core->poll.once) {
        core->poll.once = false;
        if (bytes && addr % bytes == 0) {
            sim_core_poll_read(core, addr, bytes);
        }
        return true;
    }
    core->park = SIM_PARK_POLL;
    core->park_pc = scalar->pc - LEO_MAP_IMAGE;
    return false;
}

/* Of bytes in global memory; FNV-1a over words. */
static uint64_t hash_of(const struct sim_core *core, uint64_t addr, uint64_t bytes)
{
    const uint8_t *from = core->gm + (addr - core->gm_base);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint64_t at = 0; at < bytes;) {
        const size_t step = bytes - at < 8 ? (size_t)(bytes - at) : 8;
        uint64_t word = 0;
        memcpy(&word, from + at, step);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
        at += step;
    }
    return hash;
}

static void log_poll(struct sim_core *core, unsigned id, const struct sim_store *store, bool copy)
{
    struct sim_time_record record = {
        .kind = SIM_TIME_POLL,
        .busy = store->at,
        .work = store->number,
        .dst = copy,
        .id = (uint8_t)id,
        .pc = (uint32_t)(core->scalar.pc - LEO_MAP_IMAGE),
    };
    if (sim_time_log_reserve(&core->log)) {
        sim_core_log(core, &record, NULL);
    }
}

void sim_core_poll_read(struct sim_core *core, uint64_t addr, uint64_t bytes)
{
    struct sim_poll *poll = &core->poll;
    const struct sim_fault fault = core->scalar.fault;
    if (addr < LEO_MAP_GM || !sim_core_gm(core, addr, bytes, false)) {
        core->scalar.fault = fault; // the access itself will tell
        return;
    }
    if (poll->ranges < SIM_POLL_RANGES) {
        poll->range[poll->ranges++] =
            (struct sim_poll_range){addr, bytes, hash_of(core, addr, bytes)};
    } else {
        poll->many = true;
    }
    const struct sim_stores *stores = core->stores;
    for (unsigned id = 0; stores && id <= stores->cores; id++) {
        const struct sim_store *store =
            id == core->id ? NULL : sim_stores_find(&stores->list[id], addr, bytes);
        if (store) {
            log_poll(core, id, store, id == stores->cores);
        }
    }
    if (core->check) {
        sim_check_acquire(core->check, addr, bytes, core->scalar.pc - LEO_MAP_IMAGE);
    }
}

void sim_core_stored(struct sim_core *core, const struct sim_span *span, enum leo_pipe pipe)
{
    const struct sim_store store = {.span = *span, .number = core->stored++};
    struct sim_time_record record = {
        .kind = SIM_TIME_STORE, .pipe = (uint8_t)pipe, .work = store.number};
    sim_stores_add(&core->stores->list[core->id], &store);
    if (sim_time_log_reserve(&core->log)) {
        sim_core_log(core, &record, NULL);
    }
}

static bool has_changed(const struct sim_core *core)
{
    for (unsigned i = 0; i < core->poll.ranges; i++) {
        const struct sim_poll_range *range = &core->poll.range[i];
        if (hash_of(core, range->addr, range->bytes) != range->hash) {
            return true;
        }
    }
    return false;
}

/** All that a turn of the loop could leave behind on the core. */
struct before {
    uint64_t x[SIM_X_NOWHERE], f[32];
    uint8_t stack[SIM_SPIN_STACK]; /**< variables that the loop writes */
    uint32_t fcsr;
    double cycle, anchor, logged;
    int64_t anchor_ticks;
    uint64_t instructions;
    double spent[LEO_PIPE_COUNT];
    uint8_t flag_set[LEO_PIPE_COUNT][LEO_PIPE_COUNT];
    struct sim_time_place_mark log;
};

/* Variables on the stack that the loop writes; NULL: there are none, or that is no stack. */
static const uint8_t *variables(const struct sim_core *core, const struct sim_spin *spin)
{
    const uint64_t low = core->scalar.x[2] + (uint64_t)spin->stack_low;
    const uint64_t bytes = (uint64_t)(spin->stack_high - spin->stack_low);
    const bool inside = bytes && low >= core->stack_end && low < core->private_end &&
                        bytes <= core->private_end - low;
    return inside ? core->private_window + (low - LEO_MAP_PRIVATE) : NULL;
}

static struct before remember(const struct sim_core *core, const struct sim_spin *spin)
{
    const struct sim_scalar *scalar = &core->scalar;
    struct before before = {
        .fcsr = scalar->fcsr,
        .cycle = scalar->cycle,
        .anchor = scalar->anchor,
        .logged = core->logged,
        .anchor_ticks = scalar->anchor_ticks,
        .instructions = scalar->instructions,
        .log = sim_time_log_mark(&core->log),
    };
    memcpy(before.x, scalar->x, sizeof(before.x));
    memcpy(before.f, scalar->f, sizeof(before.f));
    const uint8_t *stack = variables(core, spin);
    if (stack) {
        memcpy(before.stack, stack, (size_t)(spin->stack_high - spin->stack_low));
    }
    memcpy(before.spent, core->spent, sizeof(before.spent));
    memcpy(before.flag_set, core->flag_set, sizeof(before.flag_set));
    return before;
}

static bool is_same(const struct sim_core *core, const struct sim_spin *spin,
                    const struct before *before)
{
    const struct sim_scalar *scalar = &core->scalar;
    const size_t bytes = (size_t)(spin->stack_high - spin->stack_low);
    const uint8_t *stack = variables(core, spin);
    if (bytes && (!stack || memcmp(before->stack, stack, bytes) != 0)) {
        return false;
    }
    return !memcmp(before->x, scalar->x, sizeof(before->x)) &&
           !memcmp(before->f, scalar->f, sizeof(before->f)) && before->fcsr == scalar->fcsr &&
           !memcmp(before->flag_set, core->flag_set, sizeof(before->flag_set));
}

/* The turn took no time. */
static void take_back(struct sim_core *core, const struct before *before)
{
    struct sim_scalar *scalar = &core->scalar;
    scalar->cycle = before->cycle;
    scalar->anchor = before->anchor;
    scalar->anchor_ticks = before->anchor_ticks;
    scalar->instructions = before->instructions;
    core->logged = before->logged;
    memcpy(core->spent, before->spent, sizeof(before->spent));
    sim_time_log_rewind(&core->log, &before->log);
}

enum turn { TURN_BACK, TURN_LEFT, TURN_STOPPED };

/* Instruction by instruction until the load is met the next time round, or the loop is left. */
static enum turn go_round(struct sim_core *core, const struct sim_spin *spin)
{
    struct sim_scalar *scalar = &core->scalar;
    const double least = core->config->scalar_alu / 4;
    bool again = false;
    for (unsigned step = 0; step < MOST_STEPS; step++) {
        if (sim_scalar_run(scalar, scalar->cycle + least) != SIM_SCALAR_TIME) {
            return TURN_STOPPED;
        }
        again = again || scalar->pc == spin->first;
        if (again && scalar->pc == spin->at) {
            return TURN_BACK;
        }
        if (scalar->pc < spin->first || scalar->pc > spin->last) {
            return TURN_LEFT;
        }
    }
    return TURN_LEFT;
}

/* The log says why nothing follows yet. */
static void log_pause(struct sim_core *core, enum sim_time_kind kind)
{
    struct sim_time_record record = {.kind = (uint8_t)kind};
    if (sim_time_log_reserve(&core->log)) {
        sim_core_log(core, &record, NULL);
    }
}

bool sim_core_poll_try(struct sim_core *core)
{
    struct sim_poll *poll = &core->poll;
    const struct sim_spin *spin = sim_decoded_spin(core->scalar.text, core->scalar.pc);
    if ((poll->waits && !has_changed(core)) || !spin || !sim_time_log_reserve(&core->log)) {
        return false;
    }
    const struct before before = remember(core, spin);
    *poll = (struct sim_poll){.passing = true, .pc = core->park_pc};
    core->park = SIM_PARK_NONE;
    core->log_end = core->log.written + TURN_PLACES;
    core->first_turn = core->turn; // no other core runs
    const enum turn turn = go_round(core, spin);
    poll->passing = false;
    if (turn == TURN_BACK && is_same(core, spin, &before) && !poll->many && poll->ranges &&
        !has_changed(core)) {
        take_back(core, &before);
        poll->waits = true;
        core->park = SIM_PARK_POLL;
        return false;
    }
    if (turn == TURN_STOPPED) {
        // At an instruction without effect so far, which is carried out in the next round.
        poll->once = core->scalar.fault.code != LEO_FAULT_NONE;
        core->scalar.fault = (struct sim_fault){0};
    }
    if (turn == TURN_BACK) {
        core->park = SIM_PARK_POLL;
    }
    log_pause(core, core->clock == SIM_CLOCK_ASKED ? SIM_TIME_MARK
                    : turn == TURN_BACK            ? SIM_TIME_PARK
                                                   : SIM_TIME_SCALAR);
    return true;
}
