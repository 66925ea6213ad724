/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "replay.h"
#include <leo/alloc.h>
#include <math.h>
#include <string.h>

leo_status sim_time_engine_create(const struct sim_time_config *config, struct sim_l2 *l2,
                                  struct sim_time_engine **engine_out)
{
    *engine_out = NULL;
    struct sim_time_engine *engine = leo_calloc(1, sizeof(*engine));
    if (!engine) {
        return LEO_ERR_NO_MEMORY;
    }
    engine->config = *config;
    engine->l2 = l2;
    unsigned slots = config->cores * LEO_PIPE_COUNT;
    engine->core = leo_calloc(config->cores, sizeof(*engine->core));
    // At most one beginning a pipe and one end a core are ahead; those of abandoned blocks are
    // taken out.
    engine->event = leo_calloc(slots + config->cores, sizeof(*engine->event));
    engine->line = leo_calloc(SIM_TIME_LINES, sizeof(*engine->line));
    engine->fill = leo_calloc(config->cores, sizeof(*engine->fill));
    leo_status status = LEO_ERR_NO_MEMORY;
    if (engine->core && engine->event && engine->line && engine->fill) {
        status = sim_share_create(slots + config->cores, config->l2_rate, config->hbm_read_rate,
                                  &engine->share);
    }
    if (status == LEO_OK) {
        status = sim_time_cross_create(engine);
    }
    if (status != LEO_OK) {
        sim_time_engine_destroy(engine);
        return status;
    }
    sim_time_engine_reset(engine);
    *engine_out = engine;
    return LEO_OK;
}

void sim_time_engine_destroy(struct sim_time_engine *engine)
{
    if (engine) {
        sim_share_destroy(engine->share);
        sim_time_cross_destroy(engine);
        sim_time_stores_destroy(engine);
        leo_free(engine->core);
        leo_free(engine->event);
        leo_free(engine->line);
        leo_free(engine->fill);
        leo_free(engine);
    }
}

void sim_time_engine_set_trace(struct sim_time_engine *engine, sim_time_trace_fn trace, void *user)
{
    engine->trace = trace;
    engine->trace_user = user;
}

void sim_time_engine_watch(struct sim_time_engine *engine, const struct sim_time_watch *watch)
{
    engine->watch = watch;
}

static void reset_core(struct sim_time_core *core)
{
    core->front = SIM_TIME_FREE;
    core->is_marked = false;
    core->stores.count = 0;
    for (unsigned pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
        // A line without transfers is made anew by the next: only what a fault cut off is in the
        // way.
        struct sim_time_line *line = core->pipe[pipe].line;
        if (line) {
            line->active = 0;
            core->pipe[pipe].line = NULL;
        }
    }
}

void sim_time_engine_reset(struct sim_time_engine *engine)
{
    // The cores of a large chip fill the host's second-level cache: only those that were used.
    for (unsigned word = 0; word < SIM_TIME_WOKEN_WORDS; word++) {
        for (uint64_t left = engine->begun[word]; left; left &= left - 1) {
            reset_core(&engine->core[word * 64 + (unsigned)__builtin_ctzll(left)]);
        }
        engine->begun[word] = 0;
    }
    sim_share_clear(engine->share);
    memset(engine->fill, 0, engine->config.cores * sizeof(*engine->fill));
    memset(engine->woken, 0, sizeof(engine->woken));
    engine->events = 0;
    engine->now = 0;
    engine->horizon = INFINITY;
}

double sim_time_engine_now(const struct sim_time_engine *engine)
{
    return engine->now;
}

/* ---- blocks ---- */

void sim_time_engine_begin(struct sim_time_engine *engine, unsigned core, struct sim_time_log *log,
                           double start, double lead, double limit)
{
    engine->begun[core / 64] |= UINT64_C(1) << core % 64;
    sim_time_core_begin(engine, core, log, sim_time_max(start, engine->now), lead, limit);
    sim_time_core_advance(engine, core);
}

void sim_time_engine_abandon(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    if (core->front == SIM_TIME_FREE) {
        return;
    }
    sim_time_events_drop(engine, id);
    for (unsigned pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
        sim_share_cancel(engine->share, id * LEO_PIPE_COUNT + pipe, engine->now);
        sim_time_leave_line(&core->pipe[pipe]);
    }
    core->front = SIM_TIME_FREE;
    core->is_marked = false;
}

static void feed_core(struct sim_time_engine *engine, unsigned id)
{
    if (engine->core[id].front == SIM_TIME_HUNGRY) {
        const struct sim_time_gm *gm;
        if (sim_time_log_peek(engine->core[id].log, &gm)) {
            engine->core[id].is_marked = false;
        }
        sim_time_core_advance(engine, id);
    }
}

/* Tries cores again whose logs ended: more may have been published. */
static void feed(struct sim_time_engine *engine)
{
    engine->horizon = INFINITY;
    for (unsigned word = 0; word < SIM_TIME_WOKEN_WORDS; word++) {
        for (uint64_t left = engine->begun[word]; left; left &= left - 1) {
            feed_core(engine, word * 64 + (unsigned)__builtin_ctzll(left));
        }
    }
}

/* Cores whose flags were raised, or that gave a wait up, go on; that may wake others. */
static void advance_woken(struct sim_time_engine *engine)
{
    for (unsigned word = 0; word < SIM_TIME_WOKEN_WORDS;) {
        if (!engine->woken[word]) {
            word++;
            continue;
        }
        unsigned id = word * 64 + (unsigned)__builtin_ctzll(engine->woken[word]);
        engine->woken[word] &= engine->woken[word] - 1;
        const struct sim_time_core *core = &engine->core[id];
        if (core->front == SIM_TIME_RUNNING ||
            (core->front == SIM_TIME_HUNGRY && core->is_parked && core->gave_up)) {
            sim_time_core_advance(engine, id);
            word = 0; // others may have been woken
        }
    }
}

/* What is not published yet cannot begin before the horizon: up to there all is known. */
enum sim_time_stop sim_time_engine_run(struct sim_time_engine *engine, double until, unsigned *core)
{
    feed(engine);
    for (;;) {
        advance_woken(engine);
        double ends = sim_share_next(engine->share);
        double begins = engine->events ? engine->event[0].at : INFINITY;
        double next = sim_time_min(ends, begins);
        if (engine->horizon < INFINITY && engine->horizon <= next && engine->horizon <= until) {
            engine->now = sim_time_max(engine->now, engine->horizon);
            return SIM_TIME_STARVED;
        }
        if (next > until || next == INFINITY) {
            engine->now = until > engine->now && until < INFINITY ? until : engine->now;
            return SIM_TIME_REACHED;
        }
        engine->now = sim_time_max(engine->now, next);
        if (ends <= begins) {
            unsigned slot;
            bool done = sim_share_step(engine->share, &slot);
            unsigned moves = engine->config.cores * LEO_PIPE_COUNT;
            if (done && slot >= moves) {
                sim_time_fill_end(engine, slot - moves);
            } else if (done) {
                sim_time_move_end(engine, slot / LEO_PIPE_COUNT, slot % LEO_PIPE_COUNT);
            }
            continue;
        }
        struct sim_time_event event = sim_time_event_pop(engine);
        if (event.pipe < LEO_PIPE_COUNT) {
            sim_time_move_begin(engine, event.core, event.pipe);
            continue;
        }
        *core = event.core;
        if (engine->core[event.core].stats.timed_out || engine->core[event.core].stats.overflow) {
            sim_time_engine_abandon(engine, event.core);
        }
        engine->core[event.core].front = SIM_TIME_FREE;
        return SIM_TIME_ENDED;
    }
}

bool sim_time_engine_wants(const struct sim_time_engine *engine, unsigned core)
{
    return engine->core[core].front == SIM_TIME_HUNGRY;
}

bool sim_time_engine_mark(const struct sim_time_engine *engine, unsigned core, double *cycle)
{
    *cycle = engine->core[core].cycle;
    return engine->core[core].front == SIM_TIME_HUNGRY && engine->core[core].is_marked;
}

const struct sim_time_stats *sim_time_engine_stats(const struct sim_time_engine *engine,
                                                   unsigned core)
{
    return &engine->core[core].stats;
}
