/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include "../core/core.h"
#include "../memory/hbm.h"
#include "memo.h"
#include "play.h"
#include <leo/replay.h>
#include <stdio.h>
#include <string.h>

void sim_replay_fail(struct sim_replay *replay, const char *text)
{
    if (!replay->error[0]) {
        snprintf(replay->error, sizeof(replay->error), "%s", text);
    }
}

/* ---- tasks ---- */

/* The host waited for other tasks before it submitted this one: as much later or earlier as the
 * last of them is now, so is what happened at `was_ps`. */
static uint64_t host_time(const struct sim_replay *replay, const struct sim_tape_entry *entry,
                          uint64_t was_ps)
{
    if (entry->task->seen == 0) {
        return was_ps;
    }
    const uint32_t seen = replay->file->order[entry->task->seen - 1];
    const uint64_t seen_ps = replay->file->entry[seen].done->end_ps;
    return replay->task[seen].ended_ps + (was_ps > seen_ps ? was_ps - seen_ps : 0);
}

/* What a model of the host says; 0 = nothing. */
static uint64_t model_ns(const struct sim_replay *replay, const struct sim_tape_entry *entry)
{
    const uint64_t host_ns = entry->task->entry.host_ns;
    return host_ns ? host_time(replay, entry, host_ns * 1000) / 1000 : 0;
}

/* Without a model the host came when it came: behind a queue that was empty, at a time that is on
 * the tape. `before`: the entry before it; NULL = it is the first. */
static uint64_t arrival(const struct sim_replay *replay, const struct sim_tape_entry *entry,
                        const struct sim_tape_entry *before)
{
    const uint64_t fetched_ps = entry->task->fetched_ps;
    const bool was_empty = !before || (before->done && before->done->end_ps < fetched_ps);
    return was_empty && fetched_ps > entry->task->entry.host_ns * 1000
               ? host_time(replay, entry, fetched_ps)
               : 0;
}

/* When what the host did with other cards ends: it began when the event it waited for came. */
static bool link_time(struct sim_replay *replay, const struct sim_tape_entry *entry,
                      uint64_t *host_ns)
{
    const struct leo_link_note *note = entry->link;
    const uint64_t arrival_ns = replay->task[entry->reached].ended_ps / 1000;
    const uint64_t end_ns = replay->opts->meet
                                ? replay->opts->meet(replay->opts->user, note, arrival_ns)
                                : arrival_ns + (note->end_ns - note->begin_ns);
    if (end_ns == UINT64_MAX) {
        return false;
    }
    // The host may have had other things to do before it said so.
    const bool was_late = entry->task->entry.host_ns > note->end_ns;
    const uint64_t told_ns = was_late ? model_ns(replay, entry) : 0;
    *host_ns = told_ns > end_ns ? told_ns : end_ns;
    return true;
}

bool sim_replay_fetch(struct sim_replay *replay, unsigned queue, struct sim_replayed *task_out)
{
    struct leo_sqe *entry = &task_out->entry;
    const uint64_t task = replay->next[queue];
    if (task == replay->file->entries) {
        return false;
    }
    const struct sim_tape_entry *from = &replay->file->entry[task];
    if (from->task->seen > replay->complete) {
        return false;
    }
    const uint64_t before = replay->present[queue];
    *entry = from->task->entry;
    task_out->arrival_ps = 0;
    if (!from->link) {
        entry->host_ns = model_ns(replay, from);
        task_out->arrival_ps = arrival(
            replay, from, before == replay->file->entries ? NULL : &replay->file->entry[before]);
    } else if (!link_time(replay, from, &entry->host_ns)) {
        sim_replay_fail(replay, "what it does with other cards does not end: a rank is missing");
        return false;
    }
    const bool failed = from->done && from->done->fault != LEO_FAULT_NONE;
    if (entry->opcode == LEO_SQE_OP_VALUE_WAIT || entry->opcode == LEO_SQE_OP_OVERFLOW || failed) {
        entry->opcode = LEO_SQE_OP_NOP; // there are no values; what failed did nothing
    }
    task_out->is_first = from->task->is_first;
    replay->present[queue] = task;
    replay->next[queue] = replay->after[task];
    return true;
}

static void tell(struct sim_replay *replay, const struct sim_tape_entry *entry,
                 const struct leo_task_record *record, const struct sim_replay_time *time)
{
    const char *name = record->tag < replay->file->names ? replay->file->name[record->tag] : NULL;
    const struct sim_tape_done *was = entry->done;
    const struct leo_sim_replayed told = {
        .record = record,
        .name = name ? name : "",
        .recorded_ps = was ? was->end_ps - was->start_ps : 0,
        .recorded_start_ps = was ? was->start_ps : 0,
        .start_ps = time->start_ps,
        .end_ps = time->end_ps,
        .number = (uint64_t)(entry - replay->file->entry),
    };
    bool first = replay->result->tasks++ == 0;
    replay->first_ps =
        first || time->start_ps < replay->first_ps ? time->start_ps : replay->first_ps;
    replay->last_ps = time->end_ps > replay->last_ps ? time->end_ps : replay->last_ps;
    if (was) {
        replay->recorded_first_ps = first || was->start_ps < replay->recorded_first_ps
                                        ? was->start_ps
                                        : replay->recorded_first_ps;
        replay->recorded_last_ps =
            was->end_ps > replay->recorded_last_ps ? was->end_ps : replay->recorded_last_ps;
    }
    if (replay->opts->each) {
        replay->opts->each(replay->opts->user, &told);
    }
}

void sim_replay_done(struct sim_replay *replay, unsigned queue,
                     const struct leo_task_record *record, const struct sim_replay_time *time)
{
    struct sim_replay_task *task = &replay->task[replay->present[queue]];
    task->is_complete = true;
    task->ended_ps = time->end_ps;
    while (replay->complete < replay->file->orders &&
           replay->task[replay->file->order[replay->complete]].is_complete) {
        replay->complete++;
    }
    if (record) {
        tell(replay, &replay->file->entry[replay->present[queue]], record, time);
    }
}

bool sim_replay_has(const struct sim_replay *replay, unsigned queue)
{
    return replay->next[queue] != replay->file->entries;
}

/* ---- blocks ---- */

void sim_replay_begin(struct sim_replay *replay, struct sim_core *core, unsigned queue,
                      uint32_t block, unsigned member)
{
    struct sim_replay_cursor *cursor = &replay->cursor[core->id];
    const struct sim_tape_part *part =
        sim_tape_part(replay->file, replay->present[queue], block, member);
    memset(cursor, 0, sizeof(*cursor));
    if (part) {
        cursor->item = part->item;
        cursor->end = part->item + part->bytes;
        cursor->first_store = core->stored;
        cursor->was_first = part->first_store;
        replay->begun[part - replay->file->part] =
            (struct sim_replay_begun){core->stored, (uint16_t)core->id, true};
        cursor->price = sim_price_of(replay, core, part);
        cursor->address = replay->file->address + part->first_address;
        replay->result->instructions +=
            cursor->price ? replay->file->class[part->class].operations : 0;
        sim_memo_begin_part(replay->memo, core->id, (uint64_t)(part - replay->file->part));
    } else {
        sim_replay_fail(replay,
                        "a block of a kernel is not on the tape: the task ended in a fault");
    }
}

void sim_replay_recall(struct sim_replay *replay, unsigned queue)
{
    const struct sim_tape_entry *entry = &replay->file->entry[replay->present[queue]];
    replay->result->instructions += entry->operations;
    replay->result->recalled++;
}

void sim_replay_copied(struct sim_replay *replay, unsigned queue, uint64_t end_ps)
{
    struct sim_replay_task *task = &replay->task[replay->present[queue]];
    task->is_copied = true;
    task->copied_ps = end_ps;
}

static void tell_wrong(struct sim_replay *replay, const struct sim_core *core,
                       const struct sim_replay_cursor *before)
{
    struct sim_tape_op op;
    struct sim_replay_cursor at = *before;
    if (at.item != at.end && *at.item == SIM_TIME_OP && sim_play_take(&at, &op, sizeof(op)) &&
        op.insn < LEO_INSN_COUNT) {
        char text[200];
        snprintf(text, sizeof(text), "%s at 0x%x of a kernel is not possible on %s (%s)",
                 leo_insn_name(op.insn), op.pc, core->config->name,
                 core->scalar.fault.code == LEO_FAULT_LOCAL_OUT_OF_RANGE
                     ? "it leaves a buffer"
                     : "other architecture, or a number it takes is not legal");
        sim_replay_fail(replay, text);
    } else {
        sim_replay_fail(replay, "the tape is damaged: a block does not end");
    }
}

/* The same of a part whose class has a price. */
static enum sim_scalar_stop run_priced(struct sim_replay *replay, struct sim_core *core,
                                       unsigned places)
{
    struct sim_replay_cursor *cursor = &replay->cursor[core->id];
    const struct sim_price *price = cursor->price;
    const uint64_t end = core->log.written + places;
    while (cursor->place < price->places && core->log.written < end) {
        if (!sim_time_log_reserve(&core->log)) {
            return SIM_SCALAR_TIME;
        }
        union sim_time_place *to = sim_time_log_place(&core->log);
        const union sim_time_place *from = &price->place[cursor->place];
        const bool moves = from->record.kind == SIM_TIME_OP_GM;
        to[0] = from[0];
        if (moves) {
            to[1] = from[1];
            to[1].gm.addr = sim_price_addr(
                &from[1].gm, cursor->address[price->address[cursor->move++]], core->gm_base);
        }
        sim_time_log_take(&core->log, 1u + moves);
        cursor->place += 1u + moves;
    }
    return cursor->place < price->places ? SIM_SCALAR_TIME : SIM_SCALAR_RETURNED;
}

enum sim_scalar_stop sim_replay_run(struct sim_replay *replay, struct sim_core *core,
                                    unsigned places)
{
    struct sim_replay_cursor *cursor = &replay->cursor[core->id];
    const uint64_t end = core->log.written + places;
    bool over = false;
    if (cursor->price) {
        return run_priced(replay, core, places);
    }
    while (!over && core->log.written < end) {
        if (!sim_time_log_reserve(&core->log)) {
            return SIM_SCALAR_TIME;
        }
        if (!sim_play_may_go(replay, cursor)) {
            struct sim_time_record record = {.kind = SIM_TIME_PARK};
            sim_core_log(core, &record, NULL);
            core->park = SIM_PARK_POLL;
            return SIM_SCALAR_TIME;
        }
        const struct sim_replay_cursor before = {.item = cursor->item, .end = cursor->end};
        if (cursor->item == cursor->end || !sim_replay_play(replay, core, cursor, &over)) {
            if (cursor->end) {
                tell_wrong(replay, core, &before);
            }
            const struct sim_tape_plain stop = {.kind = SIM_TIME_END};
            sim_play_plain(core, &stop);
            over = true;
        }
    }
    return over ? SIM_SCALAR_RETURNED : SIM_SCALAR_TIME;
}
