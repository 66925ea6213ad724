/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the cores. Their values are computed ahead, a stretch of each block at a time, by as many
 * host threads as there are; beside them the event engine goes through what the stretches before
 * left in the logs and finds out when it happens. A stretch ends after a number of log places or
 * scalar cycles, so neither what a round does nor its order depends on the host.
 */
#include "../host/host_pool.h"
#include "../replay/replay.h"
#include "run_ahead.h"
#include "scheduler.h"

#include <math.h>

enum { MAX_PLACES = 2 * SIM_STRETCH_PLACES /* what the engine may lie behind */ };

static bool may_run(const struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_core *core = &scheduler->cores->core[id];
    return slot->state == SIM_CORE_RUNNING && !slot->is_over && core->clock != SIM_CLOCK_ASKED &&
           core->park != SIM_PARK_FLAG && core->park != SIM_PARK_POLL &&
           core->log.published - core->log.read < MAX_PLACES;
}

/* What was computed before its time is shown as if it were done now, a stretch each round: which
 * round does what decides about more than time. */
static enum sim_scalar_stop next_stretch(struct sim_scheduler *scheduler, struct sim_slot *slot,
                                         struct sim_core *core)
{
    struct sim_run_ahead_done *early = &slot->early;
    struct sim_stretch_begin begin = {core->scalar.cycle, core->log.written};
    if (early->shown < early->stretches) {
        return early->is_over && early->shown + 1 == early->stretches ? early->stop
                                                                      : SIM_SCALAR_TIME;
    }
    if (early->is_within) {
        begin = early->begin;
        early->is_within = false;
    }
    return sim_cores_stretch(scheduler, core, &begin);
}

static void publish(struct sim_run_ahead_done *early, struct sim_time_log *log)
{
    if (early->shown < early->stretches) {
        log->published = early->end[early->shown++];
    } else {
        sim_time_log_publish(log);
    }
}

static void run_engine(struct sim_scheduler *scheduler)
{
    do {
        scheduler->engine_stop = sim_time_engine_run(scheduler->cores->engine, scheduler->until,
                                                     &scheduler->engine_core);
        // The next block of the same task goes out at once; all else waits for the end of the
        // round.
    } while (scheduler->engine_stop == SIM_TIME_ENDED &&
             sim_kernel_refill(scheduler, scheduler->engine_core));
}

/* Work item of the pool: the first is the engine, the others are cores. */
static void run_item(void *user, unsigned index, unsigned thread)
{
    struct sim_scheduler *scheduler = user;
    if (index == 0) {
        run_engine(scheduler);
        return;
    }
    unsigned id = scheduler->run_core[index - 1];
    struct sim_slot *slot = &scheduler->slot[id];
    struct sim_core *core = &scheduler->cores->core[id];
    core->first_turn = 1;
    core->turn = index;
    core->pool = scheduler->cores->pool;
    core->scratch = scheduler->cores->scratch + thread * SIM_SCRATCH_BYTES;
    slot->stop = scheduler->replay ? sim_replay_run(scheduler->replay, core, SIM_STRETCH_PLACES)
                                   : next_stretch(scheduler, slot, core);
    slot->is_over = slot->stop != SIM_SCALAR_TIME;
}

/* What a core left behind that concerns others. */
static void after_run(struct sim_scheduler *scheduler, unsigned id)
{
    struct sim_core *core = &scheduler->cores->core[id];
    publish(&scheduler->slot[id].early, &core->log);
    sim_checks_after(scheduler, id, scheduler->slot[id].stop == SIM_SCALAR_RETURNED);
    sim_cores_settle_text(scheduler, core);
}

/* Programs that asked for the time go on when the engine has come so far. */
static void tell_clocks(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        struct sim_core *core = &scheduler->cores->core[id];
        double cycle;
        if (scheduler->slot[id].state == SIM_CORE_RUNNING && core->clock == SIM_CLOCK_ASKED &&
            sim_time_engine_mark(scheduler->cores->engine, id, &cycle)) {
            core->clock = SIM_CLOCK_KNOWN;
            core->clock_ps = sim_cores_ps(scheduler, cycle);
        }
    }
}

/* In the order of cores. */
static void tell_traces(struct sim_scheduler *scheduler)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_stream *stream = &scheduler->stream[scheduler->slot[id].queue];
        sim_profile_trace(scheduler->host, &scheduler->cores->trace[id], stream->entry.cmd_id);
    }
}

/* Nothing of this core is left for the engine: the two have nothing to do side by side. */
static bool has_no_past(const struct sim_scheduler *scheduler, unsigned id)
{
    const struct sim_time_log *log = &scheduler->cores->core[id].log;
    return log->published == log->read;
}

void sim_cores_round(struct sim_scheduler *scheduler, uint64_t until_ps)
{
    unsigned count = 0;
    scheduler->until = until_ps == UINT64_MAX ? INFINITY : sim_cores_cycle(scheduler, until_ps);
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        if (may_run(scheduler, id)) {
            scheduler->run_core[count++] = (uint16_t)id;
        }
    }
    if (count == 1 && has_no_past(scheduler, scheduler->run_core[0])) {
        sim_host_pool_run_here(scheduler->cores->pool, run_item, scheduler, count + 1);
    } else {
        sim_host_pool_run(scheduler->cores->pool, run_item, scheduler, count + 1);
    }
    for (unsigned i = 0; i < count; i++) {
        after_run(scheduler, scheduler->run_core[i]);
    }
    tell_traces(scheduler);
    tell_clocks(scheduler);
    const bool polled = sim_polls_settle(scheduler);
    bool idle =
        count == 0 && !polled && scheduler->engine_stop != SIM_TIME_ENDED && until_ps == UINT64_MAX;
    for (unsigned id = 0; idle && id < scheduler->cores->count; id++) {
        idle = !may_run(scheduler, id);
    }
    scheduler->rests = idle;
    sim_cross_settle(scheduler, idle);
    uint64_t now_ps = scheduler->engine_stop == SIM_TIME_REACHED && until_ps != UINT64_MAX
                          ? until_ps
                          : sim_cores_ps(scheduler, sim_time_engine_now(scheduler->cores->engine));
    // Before its first block the engine stands at a time that has not come.
    now_ps = now_ps < until_ps ? now_ps : until_ps;
    scheduler->now_ps = now_ps > scheduler->now_ps ? now_ps : scheduler->now_ps;
    if (scheduler->engine_stop == SIM_TIME_ENDED) {
        sim_kernel_block_end(scheduler, scheduler->engine_core);
    }
}
