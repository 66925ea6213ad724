/* SPDX-License-Identifier: Apache-2.0 */
#include "memo.h"

#include "../time/replay.h"
#include <leo/alloc.h>
#include <string.h>

enum { FIRST_STEPS = 256, FIRST_LATE = 64 };

/* What a core is at, in the launch that is kept or taken. */
struct at {
    uint64_t part;
    uint32_t begun[LEO_PIPE_COUNT]; /* transfers of the part */
};

/* Something that the L2 was not told yet. */
struct late {
    uint64_t task;
    const struct sim_way *way; /* NULL: a copy */
    struct leo_sqe_copy copy;
    bool is_fill;
};

struct sim_memo {
    const struct sim_tape_file *file;
    struct sim_known *known;
    uint64_t gm_base;
    struct sim_time_engine *engine;
    struct sim_l2 *l2;
    struct sim_l2_journal journal;
    struct sim_time_watch watch;
    struct at *at;                        /* by core */
    const struct sim_tape_entry *present; /* the launch that is kept; NULL: none is */
    struct sim_step *step;
    uint32_t steps, capacity;
    uint32_t node; /* of the history of the L2 */
    struct late *late;
    uint32_t lates, late_capacity;
    bool failed;  /* it cannot be kept */
    bool is_lost; /* the L2 is not what it was: no memory */
};

/* ---- to keep ---- */

static struct sim_step *add_step(struct sim_memo *memo)
{
    if (memo->steps == memo->capacity) {
        const uint32_t capacity = memo->capacity ? 2 * memo->capacity : FIRST_STEPS;
        struct sim_step *step = leo_realloc(memo->step, capacity * sizeof(*step));
        if (!step) {
            memo->failed = true;
            return NULL;
        }
        memo->step = step;
        memo->capacity = capacity;
    }
    return &memo->step[memo->steps++];
}

static bool in_lines(uint64_t bytes, uint32_t *lines)
{
    *lines = (uint32_t)(bytes / SIM_L2_LINE_BYTES);
    return bytes % SIM_L2_LINE_BYTES == 0 && bytes / SIM_L2_LINE_BYTES <= UINT32_MAX;
}

static void move_begins(void *user, unsigned core, unsigned pipe,
                        const struct sim_time_answer *answer)
{
    struct sim_memo *memo = user;
    struct sim_step *step = add_step(memo);
    if (step) {
        *step = (struct sim_step){.kind = SIM_STEP_MOVE,
                                  .core = (uint16_t)core,
                                  .pipe = (uint8_t)pipe,
                                  .move = memo->at[core].begun[pipe]++,
                                  .sharers = answer->sharers,
                                  .runs = (uint32_t)answer->runs};
        memo->failed |= answer->runs > UINT32_MAX || !in_lines(answer->read, &step->read) ||
                        !in_lines(answer->written, &step->written);
    }
}

static void move_ends(void *user, unsigned core, unsigned pipe)
{
    struct sim_step *step = add_step(user);
    if (step) {
        *step =
            (struct sim_step){.kind = SIM_STEP_END, .core = (uint16_t)core, .pipe = (uint8_t)pipe};
    }
}

/* ---- to do the same again ---- */

/* The transfer that a step was, with the addresses of the launch at hand. */
static struct sim_time_gm move_of(const struct sim_memo *memo, const struct sim_step *step,
                                  unsigned *access)
{
    const struct sim_tape_part *part = &memo->file->part[memo->at[step->core].part];
    const struct sim_moves *moves = sim_known_moves(memo->known, part->class);
    const struct sim_price_move *move = &moves->move[moves->first[step->pipe] + step->move];
    const uint64_t address = memo->file->address[part->first_address + move->address];
    struct sim_time_gm gm = move->gm;
    gm.addr = sim_price_addr(&move->gm, address, memo->gm_base);
    *access = move->access;
    return gm;
}

static bool take_move(struct sim_memo *memo, const struct sim_step *step)
{
    unsigned access;
    const struct sim_time_gm gm = move_of(memo, step, &access);
    const struct sim_time_answer answer =
        sim_time_ask(memo->engine, &memo->engine->core[step->core].pipe[step->pipe], &gm, access);
    return answer.read == (uint64_t)step->read * SIM_L2_LINE_BYTES &&
           answer.written == (uint64_t)step->written * SIM_L2_LINE_BYTES &&
           answer.runs == step->runs && answer.sharers == step->sharers;
}

static bool take_step(struct sim_memo *memo, const struct sim_tape_entry *entry,
                      const struct sim_step *step)
{
    struct sim_time_core *core = &memo->engine->core[step->core];
    switch ((enum sim_step_kind)step->kind) {
    case SIM_STEP_BEGIN:
        memo->at[step->core].part = entry->first_part + step->part;
        for (unsigned pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
            sim_time_forget_sharers(&core->pipe[pipe]);
        }
        return true;
    case SIM_STEP_MOVE:
        return take_move(memo, step);
    case SIM_STEP_END:
        sim_time_leave_line(&core->pipe[step->pipe]);
        return true;
    case SIM_STEP_COPY:
        break;
    }
    return false;
}

/* Nobody reads any more. */
static void leave_lines(struct sim_memo *memo, const struct sim_way *way, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (way->step[i].kind == SIM_STEP_MOVE) {
            sim_time_leave_line(&memo->engine->core[way->step[i].core].pipe[way->step[i].pipe]);
        }
    }
}

static bool take_way(struct sim_memo *memo, const struct sim_tape_entry *entry,
                     const struct sim_way *way)
{
    uint32_t done = 0;
    sim_l2_watch(memo->l2, &memo->journal);
    while (done < way->steps && take_step(memo, entry, &way->step[done])) {
        done++;
    }
    if (done == way->steps) {
        sim_l2_keep(memo->l2);
        return true;
    }
    leave_lines(memo, way, done + 1);
    memo->is_lost |= !sim_l2_take_back(memo->l2);
    return false;
}

/* ---- what the L2 is told late ---- */

static void note_late(struct sim_memo *memo, const struct late *late)
{
    if (memo->lates == memo->late_capacity) {
        const uint32_t capacity = memo->late_capacity ? 2 * memo->late_capacity : FIRST_LATE;
        struct late *list = leo_realloc(memo->late, capacity * sizeof(*list));
        memo->is_lost |= !list;
        if (!list) {
            return;
        }
        memo->late = list;
        memo->late_capacity = capacity;
    }
    memo->late[memo->lates++] = *late;
}

static void tell_way(struct sim_memo *memo, const struct sim_tape_entry *entry,
                     const struct sim_way *way)
{
    for (uint32_t i = 0; i < way->steps; i++) {
        const struct sim_step *step = &way->step[i];
        if (step->kind == SIM_STEP_BEGIN) {
            memo->at[step->core].part = entry->first_part + step->part;
        } else if (step->kind == SIM_STEP_MOVE) {
            unsigned access;
            const struct sim_time_gm gm = move_of(memo, step, &access);
            sim_time_tell(memo->engine, &gm, access);
        }
    }
}

static void catch_up(struct sim_memo *memo)
{
    for (uint32_t i = 0; i < memo->lates; i++) {
        const struct late *late = &memo->late[i];
        if (late->way) {
            tell_way(memo, &memo->file->entry[late->task], late->way);
        } else {
            sim_l2_copy(memo->l2, &late->copy, late->is_fill);
        }
    }
    memo->lates = 0;
}

void sim_memo_copy(struct sim_memo *memo, uint64_t task, const struct leo_sqe_copy *body,
                   bool is_fill)
{
    if (memo->present) {
        sim_l2_copy(memo->l2, body, is_fill);
        struct sim_step *step = add_step(memo);
        if (step) {
            *step = (struct sim_step){.kind = SIM_STEP_COPY, .part = (uint32_t)task};
        }
        return;
    }
    const struct sim_known_turn *turn = sim_known_turn(memo->known, memo->node, (uint32_t)task);
    if (turn) {
        const struct late late = {.task = task, .copy = *body, .is_fill = is_fill};
        note_late(memo, &late);
        memo->node = turn->child;
        return;
    }
    catch_up(memo);
    sim_l2_copy(memo->l2, body, is_fill);
    memo->node = sim_known_go(memo->known, memo->node, (uint32_t)task, NULL);
}

/* ---- a launch that the engine prices ---- */

void sim_memo_begin(struct sim_memo *memo, uint64_t task)
{
    const struct sim_tape_entry *entry = &memo->file->entry[task];
    if (entry->launch != SIM_TAPE_NO_CLASS && sim_known_wants(memo->known, entry)) {
        memo->present = entry;
        memo->steps = 0;
        memo->failed = false;
        sim_time_engine_watch(memo->engine, &memo->watch);
    }
}

void sim_memo_begin_part(struct sim_memo *memo, unsigned core, uint64_t part)
{
    if (memo->present && part - memo->present->first_part >= sim_tape_parts(memo->present)) {
        sim_memo_end(memo, NULL); // it is not alone
    }
    if (!memo->present) {
        catch_up(memo);
        memo->node = SIM_KNOWN_NOWHERE;
        return;
    }
    struct sim_step *step = add_step(memo);
    if (step) {
        *step = (struct sim_step){.kind = SIM_STEP_BEGIN,
                                  .core = (uint16_t)core,
                                  .part = (uint32_t)(part - memo->present->first_part)};
        memo->at[core] = (struct at){.part = part};
        // Of a part that has no price the transfers are not known.
        memo->failed |= !sim_known_moves(memo->known, memo->file->part[part].class)->move;
    }
}

void sim_memo_end(struct sim_memo *memo, const struct sim_memo_launch *launch)
{
    if (!memo->present) {
        return;
    }
    struct sim_way *way =
        launch && !memo->failed
            ? sim_known_add_way(memo->known, memo->present->launch, launch, memo->step, memo->steps)
            : NULL;
    memo->node = way ? sim_known_go(memo->known, memo->node,
                                    (uint32_t)(memo->present - memo->file->entry), way)
                     : SIM_KNOWN_NOWHERE;
    memo->present = NULL;
    sim_time_engine_watch(memo->engine, NULL);
}

/* ---- to take ---- */

static bool take_known(struct sim_memo *memo, uint64_t task, uint64_t most_ps,
                       struct sim_memo_launch *launch_out)
{
    const struct sim_known_turn *turn = sim_known_turn(memo->known, memo->node, (uint32_t)task);
    if (!turn || turn->way->result.ps >= most_ps) {
        return false;
    }
    const struct late late = {.task = task, .way = turn->way};
    note_late(memo, &late);
    memo->node = turn->child;
    *launch_out = turn->way->result;
    return true;
}

bool sim_memo_take(struct sim_memo *memo, uint64_t task, uint64_t most_ps,
                   struct sim_memo_launch *launch_out)
{
    const struct sim_tape_entry *entry = &memo->file->entry[task];
    if (entry->launch == SIM_TAPE_NO_CLASS) {
        return false;
    }
    if (take_known(memo, task, most_ps, launch_out)) {
        return true;
    }
    catch_up(memo);
    for (unsigned hbm = 0; hbm < 2; hbm++) {
        struct sim_way *way = sim_known_ways(memo->known, entry->launch, hbm);
        for (; way; way = sim_known_next(way)) {
            if (!way->is_out && way->result.ps < most_ps && take_way(memo, entry, way)) {
                memo->node = sim_known_go(memo->known, memo->node, (uint32_t)task, way);
                *launch_out = way->result;
                return true;
            }
        }
    }
    return false;
}

bool sim_memo_is_lost(const struct sim_memo *memo)
{
    return memo->is_lost;
}

/* ---- all of it ---- */

leo_status sim_memo_create(const struct sim_tape_file *file, struct sim_known *known,
                           uint64_t gm_base, struct sim_time_engine *engine, struct sim_l2 *l2,
                           struct sim_memo **memo_out)
{
    struct sim_memo *memo = leo_calloc(1, sizeof(*memo));
    *memo_out = memo;
    if (!memo) {
        return LEO_ERR_NO_MEMORY;
    }
    memo->file = file;
    memo->known = known;
    memo->gm_base = gm_base;
    memo->engine = engine;
    memo->l2 = l2;
    memo->node = sim_known_root(known);
    memo->watch = (struct sim_time_watch){move_begins, move_ends, memo};
    memo->at = leo_calloc(engine->config.cores, sizeof(*memo->at));
    return memo->at ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_memo_destroy(struct sim_memo *memo)
{
    if (!memo) {
        return;
    }
    sim_time_engine_watch(memo->engine, NULL);
    leo_free(memo->journal.change);
    leo_free(memo->at);
    leo_free(memo->step);
    leo_free(memo->late);
    leo_free(memo);
}
