/* SPDX-License-Identifier: Apache-2.0 */
/* Items of a block: what each puts into the log of its core. */
#include "play.h"

#include "../core/core.h"
#include "../memory/hbm.h"
#include "replay.h"
#include <leo/replay.h>
#include <string.h>

/* The next item as a copy of its kind; false: the tape ends inside it. */
bool sim_play_take(struct sim_replay_cursor *cursor, void *item, size_t bytes)
{
    if ((size_t)(cursor->end - cursor->item) < bytes) {
        return false;
    }
    memcpy(item, cursor->item, bytes);
    cursor->item += bytes;
    return true;
}

/* Prices an instruction for this chip. */
static bool play_op(struct sim_core *core, const struct sim_tape_op *item)
{
    if (item->insn >= LEO_INSN_COUNT || !sim_core_has(core, (enum leo_insn)item->insn)) {
        return false;
    }
    struct sim_op op = {
        .insn = (enum leo_insn)item->insn,
        .sub = item->sub,
        .imm = item->imm,
        .a = item->a,
        .b = item->b,
        .c = item->c,
        .d = item->d,
        .pc = LEO_MAP_IMAGE + item->pc,
        .row = &core->insns[item->insn],
        .foot = &core->foot,
    };
    if (!op.row->cost || !sim_core_outline(core, &op, &core->foot) ||
        !sim_footprint_map(core, &core->foot)) {
        return false;
    }
    core->scalar.cycle += item->scalar;
    sim_core_log_unit(core, &op);
    return true;
}

void sim_play_plain(struct sim_core *core, const struct sim_tape_plain *item)
{
    struct sim_time_record record = {
        .kind = item->kind, .pipe = item->pipe, .dst = item->dst, .id = item->id, .pc = item->pc};
    record.busy = item->kind == SIM_TIME_BARRIER ? core->config->barrier : 0;
    core->scalar.cycle += item->scalar;
    sim_core_log(core, &record, NULL);
}

/* What an item that polls saw: the copy, or where the block began that stored it. False: it is not
 * on the tape. */
static bool find_polled(const struct sim_replay *replay, const struct sim_tape_store *item,
                        const struct sim_replay_task **copy, const struct sim_replay_begun **begun,
                        uint64_t *was_first)
{
    *copy = NULL;
    *begun = NULL;
    if (item->dst) {
        *copy = item->number < replay->file->entries ? &replay->task[item->number] : NULL;
        return *copy != NULL;
    }
    const struct sim_tape_part *part = sim_tape_owner(replay->file, item->id, item->number);
    if (part) {
        *begun = &replay->begun[part - replay->file->part];
        *was_first = part->first_store;
    }
    return part != NULL;
}

/* Whether the next item can be played: one that polls has to know who stores. */
bool sim_play_may_go(const struct sim_replay *replay, const struct sim_replay_cursor *cursor)
{
    struct sim_replay_cursor at = {.item = cursor->item, .end = cursor->end};
    struct sim_tape_store item;
    const struct sim_replay_task *copy;
    const struct sim_replay_begun *begun;
    uint64_t was_first;
    if (at.item == at.end || *at.item != SIM_TIME_POLL ||
        !sim_play_take(&at, &item, sizeof(item)) ||
        !find_polled(replay, &item, &copy, &begun, &was_first)) {
        return true;
    }
    return copy ? copy->is_copied || copy->is_complete : begun->has;
}

bool sim_replay_may_go(const struct sim_replay *replay, unsigned core)
{
    return sim_play_may_go(replay, &replay->cursor[core]);
}

static bool play_store(struct sim_core *core, const struct sim_replay_cursor *cursor,
                       const struct sim_tape_store *item)
{
    if (item->pipe >= LEO_PIPE_COUNT || item->number < cursor->was_first) {
        return false;
    }
    const uint64_t number = cursor->first_store + (item->number - cursor->was_first);
    struct sim_time_record record = {
        .kind = SIM_TIME_STORE, .pipe = item->pipe, .work = number, .pc = item->pc};
    core->stored = number + 1;
    core->scalar.cycle += item->scalar;
    sim_core_log(core, &record, NULL);
    return true;
}

static bool play_poll(const struct sim_replay *replay, struct sim_core *core,
                      const struct sim_tape_store *item)
{
    const struct sim_replay_task *copy;
    const struct sim_replay_begun *begun;
    uint64_t was_first;
    if (!find_polled(replay, item, &copy, &begun, &was_first)) {
        return false;
    }
    struct sim_time_record record = {.kind = SIM_TIME_POLL, .dst = item->dst, .pc = item->pc};
    if (copy) {
        const uint64_t since_ps =
            copy->copied_ps > replay->epoch_ps ? copy->copied_ps - replay->epoch_ps : 0;
        record.busy = (double)since_ps * core->config->clock_khz * 1e-9;
    } else {
        record.id = (uint8_t)begun->core;
        record.work = begun->first_store + (item->number - was_first);
    }
    core->scalar.cycle += item->scalar;
    sim_core_log(core, &record, NULL);
    return true;
}

static bool is_legal(const struct sim_tape_plain *item)
{
    return item->kind > SIM_TIME_OP_GM && item->kind <= SIM_TIME_END &&
           item->pipe <= LEO_PIPE_ALL &&
           (item->pipe < LEO_PIPE_ALL || item->kind == SIM_TIME_BARRIER) &&
           item->id < SIM_CROSS_FLAGS &&
           item->dst < (item->kind == SIM_TIME_POST    ? (unsigned)LEO_CROSS_COUNT
                        : item->kind == SIM_TIME_FETCH ? (unsigned)SIM_TIME_FETCHES
                                                       : (unsigned)LEO_PIPE_COUNT);
}

bool sim_replay_play(struct sim_replay *replay, struct sim_core *core,
                     struct sim_replay_cursor *cursor, bool *over)
{
    struct sim_tape_op op;
    struct sim_tape_plain plain;
    struct sim_tape_change change;
    struct sim_tape_store store;
    switch (*cursor->item) {
    case SIM_TIME_STORE:
        return sim_play_take(cursor, &store, sizeof(store)) && play_store(core, cursor, &store);
    case SIM_TIME_POLL:
        return sim_play_take(cursor, &store, sizeof(store)) && play_poll(replay, core, &store);
    case SIM_TIME_OP:
        replay->result->instructions++;
        return sim_play_take(cursor, &op, sizeof(op)) && play_op(core, &op);
    case SIM_TAPE_STATE:
        if (!sim_play_take(cursor, &change, sizeof(change)) || change.index >= SIM_TAPE_WORDS) {
            return false;
        }
        cursor->state.word[change.index] = change.value;
        sim_tape_state_give(&cursor->state, core);
        return true;
    default:
        if (!sim_play_take(cursor, &plain, sizeof(plain)) || !is_legal(&plain)) {
            return false;
        }
        sim_play_plain(core, &plain);
        *over = plain.kind == SIM_TIME_END;
        return true;
    }
}
