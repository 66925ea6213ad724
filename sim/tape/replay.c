/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include "../chip/chip.h"
#include "tape.h"
#include <fenv.h>
#include <leo/alloc.h>
#include <leo/replay.h>
#include <stdio.h>

/* Where a core is in its part of a block. */
struct cursor {
    const uint8_t *item, *end;
    struct sim_tape_state state;
};

struct sim_replay {
    struct sim_tape_file file;
    uint64_t *next;    /**< by queue: the task fetched next, or `entries` */
    uint64_t *present; /**< by queue: the task fetched last */
    uint64_t *after;   /**< by task: the next one of its queue */
    uint64_t complete; /**< tasks at the front of the recorded order that are complete */
    struct cursor *cursor;
    const struct leo_sim_replay_opts *opts;
    struct leo_sim_replay_result *result;
    uint64_t first_ps, last_ps, recorded_first_ps, recorded_last_ps;
    char error[256];
};

static void fail(struct sim_replay *replay, const char *text)
{
    if (!replay->error[0]) {
        snprintf(replay->error, sizeof(replay->error), "%s", text);
    }
}

/* ---- tasks ---- */

/* The host waited for other tasks before it submitted this one: as much later or earlier as the
 * last of them is now, so is what a model of the host says. */
static uint64_t host_time(const struct leo_sim_chip *chip, const struct sim_tape_entry *entry)
{
    const struct sim_replay *replay = chip->replay;
    const uint64_t host_ns = entry->task->entry.host_ns;
    if (host_ns == 0 || entry->task->seen == 0) {
        return host_ns;
    }
    const uint64_t was_ns =
        replay->file.entry[replay->file.order[entry->task->seen - 1]].done->end_ps / 1000;
    const uint64_t since_ns = host_ns > was_ns ? host_ns - was_ns : 0;
    return chip->scheduler.now_ps / 1000 + since_ns;
}

bool sim_replay_fetch(struct leo_sim_chip *chip, unsigned queue, struct leo_sqe *entry)
{
    struct sim_replay *replay = chip->replay;
    const uint64_t task = replay->next[queue];
    if (task == replay->file.entries) {
        return false;
    }
    const struct sim_tape_entry *from = &replay->file.entry[task];
    if (from->task->seen > replay->complete) {
        return false;
    }
    *entry = from->task->entry;
    entry->host_ns = host_time(chip, from);
    const bool failed = from->done && from->done->fault != LEO_FAULT_NONE;
    if (entry->opcode == LEO_SQE_OP_VALUE_WAIT || entry->opcode == LEO_SQE_OP_OVERFLOW || failed) {
        entry->opcode = LEO_SQE_OP_NOP; // there are no values; what failed did nothing
    }
    struct sim_stream *stream = &chip->scheduler.stream[queue];
    if (from->task->is_first) {
        stream->had_task = false;
        stream->free_ps = 0;
    }
    replay->present[queue] = task;
    replay->next[queue] = replay->after[task];
    return true;
}

static void tell(struct leo_sim_chip *chip, const struct sim_tape_entry *entry,
                 const struct leo_task_record *record)
{
    struct sim_replay *replay = chip->replay;
    const struct sim_stream *stream = &chip->scheduler.stream[entry->task->queue];
    const char *name = record->tag < replay->file.names ? replay->file.name[record->tag] : NULL;
    const struct sim_tape_done *was = entry->done;
    const struct leo_sim_replayed told = {
        .record = record,
        .name = name ? name : "",
        .recorded_ps = was ? was->end_ps - was->start_ps : 0,
        .start_ps = stream->start_ps,
        .end_ps = stream->end_ps,
    };
    bool first = replay->result->tasks++ == 0;
    replay->first_ps =
        first || stream->start_ps < replay->first_ps ? stream->start_ps : replay->first_ps;
    replay->last_ps = stream->end_ps > replay->last_ps ? stream->end_ps : replay->last_ps;
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

void sim_replay_done(struct leo_sim_chip *chip, unsigned queue,
                     const struct leo_task_record *record)
{
    struct sim_replay *replay = chip->replay;
    struct sim_tape_entry *entry = &replay->file.entry[replay->present[queue]];
    entry->is_complete = true;
    while (replay->complete < replay->file.orders &&
           replay->file.entry[replay->file.order[replay->complete]].is_complete) {
        replay->complete++;
    }
    for (unsigned i = 1; i < chip->config.queues; i++) {
        if (replay->next[i] != replay->file.entries) {
            sim_scheduler_wake(chip, i);
        }
    }
    if (record) {
        tell(chip, entry, record);
    }
}

/* ---- blocks ---- */

void sim_replay_begin(struct leo_sim_chip *chip, unsigned id, unsigned queue, uint32_t block,
                      unsigned member)
{
    struct sim_replay *replay = chip->replay;
    struct cursor *cursor = &replay->cursor[id];
    const struct sim_tape_part *part =
        sim_tape_part(&replay->file, replay->present[queue], block, member);
    memset(cursor, 0, sizeof(*cursor));
    chip->core[id].gm_base = chip->hbm.base;
    if (part) {
        cursor->item = part->item;
        cursor->end = part->item + part->bytes;
    } else {
        fail(replay, "a block of a kernel is not on the tape: the task ended in a fault");
    }
}

/* The next item as a copy of its kind; false: the tape ends inside it. */
static bool take_item(struct cursor *cursor, void *item, size_t bytes)
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
        .pc = SIM_IMAGE_BASE + item->pc,
        .row = &sim_insns[item->insn],
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

static void play_plain(struct sim_core *core, const struct sim_tape_plain *item)
{
    struct sim_time_record record = {
        .kind = item->kind, .pipe = item->pipe, .dst = item->dst, .id = item->id, .pc = item->pc};
    record.busy = item->kind == SIM_TIME_BARRIER ? core->config->barrier : 0;
    core->scalar.cycle += item->scalar;
    sim_core_log(core, &record, NULL);
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

/* One item; `over`: it was the block's last. False: the tape is damaged or not for this chip. */
static bool play(struct sim_replay *replay, struct sim_core *core, struct cursor *cursor,
                 bool *over)
{
    struct sim_tape_op op;
    struct sim_tape_plain plain;
    struct sim_tape_change change;
    switch (*cursor->item) {
    case SIM_TIME_OP:
        replay->result->instructions++;
        return take_item(cursor, &op, sizeof(op)) && play_op(core, &op);
    case SIM_TAPE_STATE:
        if (!take_item(cursor, &change, sizeof(change)) || change.index >= SIM_TAPE_WORDS) {
            return false;
        }
        cursor->state.word[change.index] = change.value;
        sim_tape_state_give(&cursor->state, core);
        return true;
    default:
        if (!take_item(cursor, &plain, sizeof(plain)) || !is_legal(&plain)) {
            return false;
        }
        play_plain(core, &plain);
        *over = plain.kind == SIM_TIME_END;
        return true;
    }
}

static void tell_wrong(struct sim_replay *replay, const struct sim_core *core,
                       const struct cursor *before)
{
    struct sim_tape_op op;
    struct cursor at = *before;
    if (at.item != at.end && (*at.item == SIM_TIME_POLL || *at.item == SIM_TIME_PARK)) {
        fail(replay,
             "a kernel waits for other cores by reading global memory: how often depends on "
             "the chip, so it must be run");
        return;
    }
    if (at.item != at.end && *at.item == SIM_TIME_OP && take_item(&at, &op, sizeof(op)) &&
        op.insn < LEO_INSN_COUNT) {
        char text[200];
        snprintf(text, sizeof(text), "%s at 0x%x of a kernel is not possible on %s (%s)",
                 leo_insn_name(op.insn), op.pc, core->config->name,
                 core->scalar.fault.code == LEO_FAULT_LOCAL_OUT_OF_RANGE
                     ? "it leaves a buffer"
                     : "other architecture, or a number it takes is not legal");
        fail(replay, text);
    } else {
        fail(replay, "the tape is damaged: a block does not end");
    }
}

enum sim_scalar_stop sim_replay_run(struct leo_sim_chip *chip, unsigned id, unsigned places)
{
    struct sim_replay *replay = chip->replay;
    struct sim_core *core = &chip->core[id];
    struct cursor *cursor = &replay->cursor[id];
    const uint64_t end = core->log.written + places;
    bool over = false;
    while (!over && core->log.written < end) {
        if (!sim_time_log_reserve(&core->log)) {
            return SIM_SCALAR_TIME;
        }
        const struct cursor before = {.item = cursor->item, .end = cursor->end};
        if (cursor->item == cursor->end || !play(replay, core, cursor, &over)) {
            if (cursor->end) {
                tell_wrong(replay, core, &before);
            }
            const struct sim_tape_plain stop = {.kind = SIM_TIME_END};
            play_plain(core, &stop);
            over = true;
        }
    }
    return over ? SIM_SCALAR_RETURNED : SIM_SCALAR_TIME;
}

/* ---- the whole ---- */

static bool link_tasks(struct leo_sim_chip *chip, struct sim_replay *replay)
{
    const uint32_t queues = chip->config.queues;
    const uint64_t none = replay->file.entries;
    replay->next = leo_calloc(queues, sizeof(*replay->next));
    replay->present = leo_calloc(queues, sizeof(*replay->present));
    replay->after = leo_calloc(none + 1, sizeof(*replay->after));
    replay->cursor = leo_calloc(chip->core_count, sizeof(*replay->cursor));
    if (!replay->next || !replay->present || !replay->after || !replay->cursor) {
        return false;
    }
    for (uint32_t queue = 0; queue < queues; queue++) {
        replay->next[queue] = none;
    }
    for (uint64_t task = none; task-- > 0;) {
        const uint32_t queue = replay->file.entry[task].task->queue;
        replay->after[task] = replay->next[queue];
        replay->next[queue] = task;
        sim_scheduler_wake(chip, queue);
    }
    return true;
}

static leo_status run(struct leo_sim_chip *chip, struct sim_replay *replay)
{
    do {
        sim_scheduler_advance(chip);
    } while (!replay->error[0] && sim_scheduler_step(chip, false));
    // A task that waited for ever, in the recorded run too, is not on the list of those that ended.
    if (!replay->error[0] && replay->complete < replay->file.orders) {
        fail(replay, "a task that ended when it was recorded does not end here");
    }
    replay->result->ps = replay->last_ps - replay->first_ps;
    replay->result->recorded_ps = replay->recorded_last_ps - replay->recorded_first_ps;
    return replay->error[0] ? LEO_ERR_INVALID_ARG : LEO_OK;
}

static leo_status replay_on(struct leo_sim_chip *chip, struct sim_replay *replay, char *error,
                            size_t error_bytes)
{
    leo_status status = sim_tape_read(replay->opts->tape, replay->opts->tape_bytes,
                                      chip->config.queues, &replay->file, error, error_bytes);
    if (status != LEO_OK) {
        return status;
    }
    if (replay->file.head->arch != chip->config.arch) {
        snprintf(error, error_bytes, "the tape is of %.31s, which has another architecture than %s",
                 replay->file.head->soc, chip->config.name);
        return LEO_ERR_INVALID_ARG;
    }
    if (!link_tasks(chip, replay)) {
        snprintf(error, error_bytes, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    chip->replay = replay;
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    status = run(chip, replay);
    fesetenv(&callers);
    if (status != LEO_OK) {
        snprintf(error, error_bytes, "%s", replay->error);
    }
    return status;
}

leo_status leo_sim_replay(const struct leo_sim_replay_opts *opts,
                          struct leo_sim_replay_result *result, char *error, size_t error_bytes)
{
    memset(result, 0, sizeof(*result));
    const struct sim_tape_head *head = opts->tape;
    if (opts->size != sizeof(*opts) || !sim_tape_has_head(opts->tape, opts->tape_bytes)) {
        snprintf(error, error_bytes, "not a tape");
        return LEO_ERR_INVALID_ARG;
    }
    snprintf(result->soc, sizeof(result->soc), "%.31s", head->soc);
    if (!opts->soc_text) {
        return LEO_OK;
    }
    const struct leo_sim_opts chip_opts = {.size = sizeof(chip_opts),
                                           .soc_text = opts->soc_text,
                                           .soc_text_name = opts->soc_text_name,
                                           .host_threads = 1,
                                           .gm_base = head->gm_base,
                                           .gm_bytes = head->gm_bytes};
    struct leo_sim_chip *chip;
    leo_status status = leo_sim_chip_create(&chip_opts, &chip, error, error_bytes);
    if (status != LEO_OK) {
        return status;
    }
    struct sim_replay replay = {.opts = opts, .result = result};
    status = replay_on(chip, &replay, error, error_bytes);
    leo_sim_chip_destroy(chip);
    sim_tape_file_finish(&replay.file);
    leo_free(replay.next);
    leo_free(replay.present);
    leo_free(replay.after);
    leo_free(replay.cursor);
    return status;
}
