/* SPDX-License-Identifier: Apache-2.0 */
#include "poll.h"

#include "../check/check.h"
#include "../memory/hbm.h"
#include "../tape/record.h"
#include "core.h"
#include "stores.h"

#include <math.h>
#include <string.h>

enum {
    MAX_STEPS = 1 << 16, /* instructions of one turn that is followed */
    TURN_PLACES = 1024,  /* of the log */
    MAX_WORDS = 128,     /* that a turn stores to */
    WORD = 8,
    SP = 2
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
        .work = copy ? store->task : store->number,
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

/** All that a turn of the loop could leave behind on the core, but for memory. */
struct before {
    uint64_t x[SIM_X_NOWHERE], f[32];
    uint32_t fcsr;
    double cycle, anchor, logged;
    int64_t anchor_ticks;
    uint64_t instructions, stored;
    double spent[LEO_PIPE_COUNT];
    uint8_t flag_set[LEO_PIPE_COUNT][LEO_PIPE_COUNT];
    struct sim_time_place_mark log;
};

static struct before remember(const struct sim_core *core)
{
    const struct sim_scalar *scalar = &core->scalar;
    struct before before = {
        .fcsr = scalar->fcsr,
        .cycle = scalar->cycle,
        .anchor = scalar->anchor,
        .logged = core->logged,
        .anchor_ticks = scalar->anchor_ticks,
        .instructions = scalar->instructions,
        .stored = core->stored,
        .log = sim_time_log_mark(&core->log),
    };
    memcpy(before.x, scalar->x, sizeof(before.x));
    memcpy(before.f, scalar->f, sizeof(before.f));
    memcpy(before.spent, core->spent, sizeof(before.spent));
    memcpy(before.flag_set, core->flag_set, sizeof(before.flag_set));
    return before;
}

static bool is_same(const struct sim_core *core, const struct before *before)
{
    const struct sim_scalar *scalar = &core->scalar;
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
    // An atomic access that changed nothing: whoever looks next sees the store before.
    struct sim_store_list *own = core->stores ? &core->stores->list[core->id] : NULL;
    while (own && own->count && own->item[own->count - 1].number >= before->stored) {
        own->count--;
    }
    core->stored = before->stored;
    if (core->track) {
        sim_tape_rewind(core->track);
    }
}

enum turn_end { TURN_BACK, TURN_LEFT, TURN_STOPPED };

/** A word of the core's own memory that the turn stored to. */
struct old_word {
    uint64_t addr;
    uint8_t value[WORD];
};

/** A turn that is followed. */
struct turn {
    const struct sim_poll_loop *loops; /**< loops it may be one of */
    size_t count;
    const struct sim_poll_loop *loop; /**< the one it is; NULL: not known yet */
    int level;                        /**< calls open since the load; below 0: returns */
    unsigned returns;                 /**< from functions that were open at the load */
    uint64_t back[SIM_SPIN_DEPTH];
    uint64_t stack; /**< what is below is dead once the turn is over */
    unsigned words;
    bool stores; /**< elsewhere, or to more words than there is room for */
    struct old_word word[MAX_WORDS];
};

/* It may be a turn of this loop, as far as returns tell. */
static bool is_possible(const struct turn *turn, const struct sim_poll_loop *loop_of)
{
    return turn->returns <= loop_of->depth &&
           memcmp(turn->back, loop_of->back, turn->returns * sizeof(turn->back[0])) == 0;
}

/* Whether the instruction, which is the next, belongs to the loop or to what it calls. */
static bool is_inside(struct turn *turn, uint64_t pc)
{
    bool calls = false;
    for (size_t i = 0; i < turn->count && !turn->loop; i++) {
        const struct sim_poll_loop *loop_of = &turn->loops[i];
        const int level = turn->level + (int)loop_of->depth;
        const bool possible = is_possible(turn, loop_of);
        calls = calls || (possible && level > 0);
        turn->loop =
            possible && level == 0 && pc >= loop_of->first && pc <= loop_of->last ? loop_of : NULL;
    }
    if (!turn->loop) {
        return calls;
    }
    const int level = turn->level + (int)turn->loop->depth;
    return level > 0 || (level == 0 && pc >= turn->loop->first && pc <= turn->loop->last);
}

/* Behind an instruction that calls or returns. False: it cannot be one of the loops. */
static bool change_level(struct turn *turn, int by, uint64_t pc)
{
    turn->level += by;
    if (turn->level >= -(int)turn->returns) {
        return true;
    }
    if (turn->returns == SIM_SPIN_DEPTH) {
        return false;
    }
    turn->back[turn->returns++] = pc;
    return true;
}

static void keep_word(struct sim_core *core, struct turn *turn, uint64_t addr)
{
    unsigned i = 0;
    while (i < turn->words && turn->word[i].addr != addr) {
        i++;
    }
    if (i < turn->words) {
        return;
    }
    const uint8_t *host = i < MAX_WORDS ? sim_core_gm(core, addr, WORD, true) : NULL;
    if (!host) {
        core->scalar.fault = (struct sim_fault){0}; // the store itself will tell
        turn->stores = true;
        return;
    }
    turn->word[i].addr = addr;
    memcpy(turn->word[i].value, host, WORD);
    turn->words++;
}

/* Before an instruction that stores. */
static void keep_words(struct sim_core *core, struct turn *turn, const struct sim_scalar_next *next)
{
    const uint64_t end = next->store + next->bytes;
    if (end < next->store || end > LEO_MAP_GM) {
        turn->stores = true;
        return;
    }
    for (uint64_t addr = next->store & ~(uint64_t)(WORD - 1); addr < end; addr += WORD) {
        keep_word(core, turn, addr);
    }
}

/* What it stored to holds what it held. */
static bool is_stored_same(struct sim_core *core, const struct turn *turn)
{
    bool same = !turn->stores;
    for (unsigned i = 0; i < turn->words && same; i++) {
        const uint64_t addr = turn->word[i].addr;
        const bool is_dead = addr >= core->stack_end && addr + WORD <= turn->stack;
        same =
            is_dead || memcmp(turn->word[i].value, sim_core_gm(core, addr, WORD, false), WORD) == 0;
    }
    return same;
}

/* Instruction by instruction until the load is met the next time round, or the loop is left. */
static enum turn_end go_round(struct sim_core *core, struct turn *turn)
{
    struct sim_scalar *scalar = &core->scalar;
    const double least = core->config->scalar_alu / 4;
    const uint64_t at = scalar->pc;
    bool again = false;
    (void)is_inside(turn, at);
    for (unsigned step = 0; step < MAX_STEPS; step++) {
        const struct sim_scalar_next next = sim_scalar_next(scalar);
        if (next.bytes) {
            keep_words(core, turn, &next);
        }
        if (sim_scalar_run(scalar, scalar->cycle + least) != SIM_SCALAR_TIME) {
            return TURN_STOPPED;
        }
        if (!change_level(turn, next.level, scalar->pc) || !is_inside(turn, scalar->pc)) {
            return TURN_LEFT;
        }
        again = again || (turn->loop && turn->level + (int)turn->loop->depth == 0 &&
                          scalar->pc == turn->loop->first);
        if (again && scalar->pc == at && turn->level == 0) {
            return TURN_BACK;
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
    struct turn turn = {.stack = core->scalar.x[SP]};
    turn.loops = sim_decoded_polls_at(core->scalar.text, core->scalar.pc, &turn.count);
    if ((poll->waits && !has_changed(core)) || !turn.loops || !sim_time_log_reserve(&core->log)) {
        return false;
    }
    const struct before before = remember(core);
    if (core->track) {
        sim_tape_mark(core->track);
    }
    *poll = (struct sim_poll){.passing = true, .pc = core->park_pc};
    core->park = SIM_PARK_NONE;
    core->log_end = core->log.written + TURN_PLACES;
    core->first_turn = core->turn; // no other core runs
    const enum turn_end end = go_round(core, &turn);
    poll->passing = false;
    if (end == TURN_BACK && is_same(core, &before) && is_stored_same(core, &turn) && !poll->many &&
        poll->ranges && !has_changed(core)) {
        take_back(core, &before);
        poll->caller = turn.loop->depth ? (uint32_t)(turn.loop->back[0] - LEO_MAP_IMAGE) : 0;
        poll->waits = true;
        core->park = SIM_PARK_POLL;
        return false;
    }
    if (end == TURN_STOPPED) {
        // At an instruction without effect so far, which is carried out in the next round.
        poll->once = core->scalar.fault.code != LEO_FAULT_NONE;
        core->scalar.fault = (struct sim_fault){0};
    }
    if (end == TURN_BACK) {
        core->park = SIM_PARK_POLL;
    }
    log_pause(core, core->clock == SIM_CLOCK_ASKED ? SIM_TIME_MARK
                    : end == TURN_BACK             ? SIM_TIME_PARK
                                                   : SIM_TIME_SCALAR);
    return true;
}
