/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that poll global memory (core/poll.h), between rounds. */
#include "../core/stores.h"
#include "../replay/replay.h"
#include "../tape/record.h"
#include "scheduler.h"

#include <math.h>

leo_status sim_polls_create(struct sim_scheduler *scheduler)
{
    scheduler->stores = sim_stores_create(scheduler->cores->count);
    return scheduler->stores ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_polls_destroy(struct sim_scheduler *scheduler)
{
    sim_stores_destroy(scheduler->stores);
}

static void set_noting(struct sim_scheduler *scheduler, struct sim_stores *stores)
{
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        if (scheduler->cores->core[id].stores != stores) {
            scheduler->cores->core[id].stores = stores;
            sim_core_forget(&scheduler->cores->core[id]);
        }
    }
}

void sim_polls_begin(struct sim_scheduler *scheduler, const struct sim_decoded *text)
{
    if (sim_decoded_poll_loops(text)) {
        set_noting(scheduler, scheduler->stores);
    }
}

/* Copies that are under way go on, in the cycles of the new epoch. */
void sim_polls_rest(struct sim_scheduler *scheduler)
{
    struct sim_stores *stores = scheduler->stores;
    struct sim_store_list *copies = &stores->list[stores->cores];
    set_noting(scheduler, scheduler->watched ? stores : NULL);
    sim_stores_clear(stores);
    for (size_t i = 0; i < copies->count; i++) {
        copies->item[i].at = sim_cores_cycle(scheduler, copies->item[i].number);
    }
}

void sim_polls_watch(struct sim_scheduler *scheduler)
{
    scheduler->watched = true;
    set_noting(scheduler, scheduler->stores);
}

uint64_t sim_polls_there_ps(const struct sim_scheduler *scheduler, uint64_t addr, uint64_t bytes)
{
    const struct sim_stores *stores = scheduler->stores;
    const struct sim_store *copy = sim_stores_find(&stores->list[stores->cores], addr, bytes);
    uint64_t there_ps = copy && copy->number > scheduler->now_ps ? copy->number : 0;
    for (unsigned id = 0; sim_cores_busy(scheduler) && id < stores->cores; id++) {
        const struct sim_store *store = sim_stores_find(&stores->list[id], addr, bytes);
        double at;
        if (store && !sim_time_engine_stored(scheduler->cores->engine, id, store->number, &at)) {
            // A picosecond later, so that no rounding is before it.
            const uint64_t ps = isfinite(at) ? sim_cores_ps(scheduler, at) + 1 : UINT64_MAX;
            there_ps = ps > there_ps ? ps : there_ps;
        }
    }
    return there_ps;
}

static bool is_under_way(const struct sim_store *copy, void *context)
{
    const struct sim_scheduler *scheduler = context;
    return copy->number > scheduler->now_ps;
}

/* Noted whether or not a core polls: one that will may begin before the copy has ended. */
void sim_polls_copied(struct sim_scheduler *scheduler, unsigned queue, uint64_t addr,
                      uint64_t bytes, uint64_t end_ps)
{
    struct sim_store_list *copies = &scheduler->stores->list[scheduler->stores->cores];
    if (scheduler->replay) {
        sim_replay_copied(scheduler->replay, queue, end_ps);
        return;
    }
    if (!scheduler->tape || !sim_cores_busy(scheduler)) {
        sim_stores_trim(copies, is_under_way, scheduler);
    }
    if (bytes && bytes <= UINT32_MAX) {
        const struct sim_store store = {
            .span = sim_store_span(addr, bytes),
            .number = end_ps,
            .at = sim_cores_cycle(scheduler, end_ps),
            .task = scheduler->tape ? sim_tape_present(scheduler->tape, queue) : 0};
        sim_stores_add(copies, &store);
    }
}

/** A list that is trimmed. */
struct trim {
    const struct sim_scheduler *scheduler;
    unsigned id;
};

/* Whoever reads it now or later might have to wait for it. */
static bool is_needed(const struct sim_store *store, void *context)
{
    const struct trim *trim = context;
    double at;
    return trim->id == trim->scheduler->cores->count
               ? store->at > sim_time_engine_now(trim->scheduler->cores->engine)
               : !sim_time_engine_stored(trim->scheduler->cores->engine, trim->id, store->number,
                                         &at);
}

/* Cores that play a tape go on when what they polled is known to come. */
static bool settle_replay(struct sim_scheduler *scheduler)
{
    bool moved = false;
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        struct sim_core *core = &scheduler->cores->core[id];
        if (scheduler->slot[id].state == SIM_CORE_RUNNING && core->park == SIM_PARK_POLL &&
            sim_replay_may_go(scheduler->replay, id)) {
            core->park = SIM_PARK_NONE;
            moved = true;
        }
    }
    return moved;
}

bool sim_polls_settle(struct sim_scheduler *scheduler)
{
    if (scheduler->replay) {
        return settle_replay(scheduler);
    }
    struct sim_stores *stores = scheduler->cores->core[0].stores;
    bool moved = false;
    // A tape has all that is polled: what was over long ago here may not be on another chip.
    const bool trims = stores && !scheduler->tape;
    for (unsigned id = 0; trims && id <= stores->cores; id++) {
        struct trim trim = {scheduler, id};
        sim_stores_trim(&stores->list[id], is_needed, &trim);
    }
    for (unsigned id = 0; stores && id < scheduler->cores->count; id++) {
        const struct sim_slot *slot = &scheduler->slot[id];
        if (slot->state == SIM_CORE_RUNNING && !slot->is_over &&
            scheduler->cores->core[id].park == SIM_PARK_POLL &&
            sim_core_poll_try(&scheduler->cores->core[id])) {
            sim_time_log_publish(&scheduler->cores->core[id].log);
            sim_checks_after(scheduler, id,
                             false); // the next core may read what an atomic access wrote
            moved = true;
        }
    }
    return moved;
}

bool sim_polls_have_run(const struct sim_scheduler *scheduler, uint64_t ns)
{
    const double cycles = (double)ns * scheduler->config->clock_khz * 1e-6;
    for (unsigned id = 0; id < scheduler->cores->count; id++) {
        const struct sim_core *core = &scheduler->cores->core[id];
        if (scheduler->slot[id].state == SIM_CORE_RUNNING && core->park == SIM_PARK_POLL &&
            core->scalar.cycle >= cycles) {
            return true;
        }
    }
    return false;
}
