/* SPDX-License-Identifier: Apache-2.0 */
#include "memo.h"

#include "../time/replay.h"
#include <leo/alloc.h>
#include <string.h>

#include "price.h"

enum {
    WAYS_MAX = 4, /* in which launches of one class went, kept at a time */
    FIRST_STEPS = 256
};

enum step_kind { STEP_BEGIN, STEP_MOVE, STEP_END };

/* Something that happened in a launch, in the order of time. */
struct step {
    uint32_t part; /* BEGIN: counted from the first of the launch */
    uint16_t core;
    uint8_t kind, pipe;
    uint32_t move;                         /* MOVE: of its class, by pipe */
    uint32_t sharers, read, written, runs; /* what was answered, in lines */
};

/* One way in which a launch went. */
struct way {
    struct way *next;
    struct sim_memo_launch launch;
    uint32_t steps;
    struct step step[];
};

/* What a core is at, in the launch that is kept or taken. */
struct at {
    uint64_t part;
    uint32_t begun[LEO_PIPE_COUNT]; /* transfers of the part */
};

struct sim_memo {
    const struct sim_tape_file *file;
    const struct sim_price *price; /* by class */
    uint64_t gm_base;
    struct sim_time_engine *engine;
    struct sim_l2 *l2;
    struct sim_l2_journal journal;
    struct sim_time_watch watch;
    struct way **way; /* by class of launches: the last one that was of use first */
    struct at *at;    /* by core */
    const struct sim_tape_entry *present; /* the launch that is kept; NULL: none is */
    struct step *step;
    uint32_t steps, capacity;
    bool failed;  /* it cannot be kept */
    bool is_lost; /* the L2 is not what it was: no memory */
};

/* ---- to keep ---- */

static struct step *add_step(struct sim_memo *memo)
{
    if (memo->steps == memo->capacity) {
        const uint32_t capacity = memo->capacity ? 2 * memo->capacity : FIRST_STEPS;
        struct step *step = leo_realloc(memo->step, capacity * sizeof(*step));
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
    struct step *step = add_step(memo);
    if (step) {
        *step = (struct step){.kind = STEP_MOVE,
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
    struct step *step = add_step(user);
    if (step) {
        *step = (struct step){.kind = STEP_END, .core = (uint16_t)core, .pipe = (uint8_t)pipe};
    }
}

void sim_memo_begin(struct sim_memo *memo, uint64_t task)
{
    const struct sim_tape_entry *entry = memo ? &memo->file->entry[task] : NULL;
    if (entry && entry->launch != SIM_TAPE_NO_CLASS && entry->is_again) {
        memo->present = entry;
        memo->steps = 0;
        memo->failed = false;
        sim_time_engine_watch(memo->engine, &memo->watch);
    }
}

void sim_memo_begin_part(struct sim_memo *memo, unsigned core, uint64_t part)
{
    if (memo && memo->present &&
        part - memo->present->first_part >= sim_tape_parts(memo->present)) {
        sim_memo_end(memo, NULL); // it is not alone
    }
    struct step *step = memo && memo->present ? add_step(memo) : NULL;
    if (step) {
        *step = (struct step){.kind = STEP_BEGIN,
                              .core = (uint16_t)core,
                              .part = (uint32_t)(part - memo->present->first_part)};
        memo->at[core] = (struct at){.part = part};
        // Of a part that has no price the transfers are not known.
        memo->failed |= !memo->price[memo->file->part[part].class].place;
    }
}

/* Of many ways the one goes that was of no use for the longest time. */
static void add_way(struct way **first, struct way *way)
{
    way->next = *first;
    *first = way;
    for (unsigned ways = 1; way; way = way->next, ways++) {
        if (ways == WAYS_MAX && way->next) {
            leo_free(way->next);
            way->next = NULL;
        }
    }
}

void sim_memo_end(struct sim_memo *memo, const struct sim_memo_launch *launch)
{
    if (!memo || !memo->present) {
        return;
    }
    const size_t bytes = memo->steps * sizeof(struct step);
    struct way *way = launch && !memo->failed ? leo_alloc(sizeof(*way) + bytes) : NULL;
    if (way) {
        way->launch = *launch;
        way->steps = memo->steps;
        memcpy(way->step, memo->step, bytes);
        add_way(&memo->way[memo->present->launch], way);
    }
    memo->present = NULL;
    sim_time_engine_watch(memo->engine, NULL);
}

/* ---- to take ---- */

static bool take_move(struct sim_memo *memo, const struct step *step)
{
    const struct sim_tape_part *part = &memo->file->part[memo->at[step->core].part];
    const struct sim_price *price = &memo->price[part->class];
    const struct sim_price_move *move = &price->move[price->first[step->pipe] + step->move];
    const uint64_t address = memo->file->address[part->first_address + move->address];
    struct sim_time_gm gm = move->gm;
    gm.addr = sim_price_addr(&move->gm, address, memo->gm_base);
    const struct sim_time_answer answer = sim_time_ask(
        memo->engine, &memo->engine->core[step->core].pipe[step->pipe], &gm, move->access);
    return answer.read == (uint64_t)step->read * SIM_L2_LINE_BYTES &&
           answer.written == (uint64_t)step->written * SIM_L2_LINE_BYTES &&
           answer.runs == step->runs && answer.sharers == step->sharers;
}

static bool take_step(struct sim_memo *memo, const struct sim_tape_entry *entry,
                      const struct step *step)
{
    struct sim_time_core *core = &memo->engine->core[step->core];
    switch ((enum step_kind)step->kind) {
    case STEP_BEGIN:
        memo->at[step->core].part = entry->first_part + step->part;
        for (unsigned pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
            core->pipe[pipe].sharers = 1;
        }
        return true;
    case STEP_MOVE:
        return take_move(memo, step);
    case STEP_END:
        sim_time_leave_line(&core->pipe[step->pipe]);
        return true;
    }
    return false;
}

/* Nobody reads any more. */
static void leave_lines(struct sim_memo *memo, const struct way *way, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (way->step[i].kind == STEP_MOVE) {
            sim_time_leave_line(&memo->engine->core[way->step[i].core].pipe[way->step[i].pipe]);
        }
    }
}

static bool take_way(struct sim_memo *memo, const struct sim_tape_entry *entry,
                     const struct way *way)
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

bool sim_memo_take(struct sim_memo *memo, uint64_t task, uint64_t most_ps,
                   struct sim_memo_launch *launch_out)
{
    const struct sim_tape_entry *entry = memo ? &memo->file->entry[task] : NULL;
    if (!entry || entry->launch == SIM_TAPE_NO_CLASS) {
        return false;
    }
    for (struct way **at = &memo->way[entry->launch]; *at; at = &(*at)->next) {
        struct way *way = *at;
        if (way->launch.ps < most_ps && take_way(memo, entry, way)) {
            *launch_out = way->launch;
            *at = way->next;
            way->next = memo->way[entry->launch];
            memo->way[entry->launch] = way;
            return true;
        }
    }
    return false;
}

bool sim_memo_is_lost(const struct sim_memo *memo)
{
    return memo->is_lost;
}

/* ---- all of it ---- */

leo_status sim_memo_create(const struct sim_tape_file *file, const struct sim_price *price,
                           uint64_t gm_base, struct sim_time_engine *engine, struct sim_l2 *l2,
                           struct sim_memo **memo_out)
{
    struct sim_memo *memo = leo_calloc(1, sizeof(*memo));
    *memo_out = memo;
    if (!memo) {
        return LEO_ERR_NO_MEMORY;
    }
    memo->file = file;
    memo->price = price;
    memo->gm_base = gm_base;
    memo->engine = engine;
    memo->l2 = l2;
    memo->watch = (struct sim_time_watch){move_begins, move_ends, memo};
    memo->way = leo_calloc(file->launches + 1, sizeof(*memo->way));
    memo->at = leo_calloc(engine->config.cores, sizeof(*memo->at));
    return memo->way && memo->at ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_memo_destroy(struct sim_memo *memo)
{
    if (!memo) {
        return;
    }
    sim_time_engine_watch(memo->engine, NULL);
    for (uint32_t i = 0; memo->way && i < memo->file->launches; i++) {
        while (memo->way[i]) {
            struct way *next = memo->way[i]->next;
            leo_free(memo->way[i]);
            memo->way[i] = next;
        }
    }
    leo_free(memo->journal.change);
    leo_free(memo->way);
    leo_free(memo->at);
    leo_free(memo->step);
    leo_free(memo);
}
