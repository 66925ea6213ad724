/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of writes to global memory that other cores poll: a read of what a store wrote is not
 * before the store is there. Which store a read saw is known from the values (core/poll.c).
 */
#include "replay.h"

#include <leo/alloc.h>
#include <math.h>

enum { FIRST_STORES = 64 };

void sim_time_stores_destroy(struct sim_time_engine *engine)
{
    for (unsigned id = 0; engine->core && id < engine->config.cores; id++) {
        leo_free(engine->core[id].stores.at);
    }
}

static double *store_at(const struct sim_time_stores *stores, uint32_t place)
{
    return &stores->at[(stores->first + place) & (stores->capacity - 1)];
}

void sim_time_stores_begin(struct sim_time_core *core)
{
    for (uint32_t i = 0; i < core->stores.count; i++) {
        double *at = store_at(&core->stores, i);
        *at = isnan(*at) ? -INFINITY : *at;
    }
    core->polls = core->is_parked = false;
}

/* False: no memory, and no wait for the store. */
static bool add_store(struct sim_time_stores *stores)
{
    if (stores->count == stores->capacity) {
        const uint32_t capacity = stores->capacity ? stores->capacity * 2 : FIRST_STORES;
        double *grown = leo_alloc(capacity * sizeof(*grown));
        if (!grown) {
            return false;
        }
        for (uint32_t i = 0; i < stores->count; i++) {
            grown[i] = *store_at(stores, i);
        }
        leo_free(stores->at);
        stores->at = grown;
        stores->first = 0;
        stores->capacity = capacity;
    }
    *store_at(stores, stores->count++) = NAN;
    return true;
}

void sim_time_store_issue(struct sim_time_engine *engine, unsigned id, uint64_t number)
{
    struct sim_time_stores *stores = &engine->core[id].stores;
    while (stores->count && *store_at(stores, 0) <= engine->now) {
        stores->first = (stores->first + 1) & (stores->capacity - 1);
        stores->base++;
        stores->count--;
    }
    if (number < stores->base + stores->count) {
        return; // is tried again
    }
    if (stores->count == 0 || number != stores->base + stores->count) {
        stores->base = number;
        stores->count = 0;
    }
    if (!add_store(stores)) {
        stores->base = number + 1;
        stores->count = 0;
    }
}

void sim_time_store_done(struct sim_time_engine *engine, unsigned id, uint64_t number, double at)
{
    struct sim_time_stores *stores = &engine->core[id].stores;
    if (number < stores->base || number - stores->base >= stores->count) {
        return;
    }
    *store_at(stores, (uint32_t)(number - stores->base)) = at;
    for (unsigned other = 0; other < engine->config.cores; other++) {
        if (engine->core[other].polls) {
            engine->woken[other / 64] |= UINT64_C(1) << other % 64;
        }
    }
}

bool sim_time_poll(struct sim_time_engine *engine, const struct sim_time_record *record, double *at)
{
    const struct sim_time_stores *stores = &engine->core[record->id].stores;
    *at = record->busy;
    if (record->dst || record->work < stores->base) {
        return true;
    }
    if (record->work - stores->base >= stores->count) {
        return false;
    }
    *at = *store_at(stores, (uint32_t)(record->work - stores->base));
    return !isnan(*at);
}

bool sim_time_engine_stored(const struct sim_time_engine *engine, unsigned id, uint64_t number,
                            double *at)
{
    const struct sim_time_stores *stores = &engine->core[id].stores;
    *at = number < stores->base ? -INFINITY
          : number - stores->base < stores->count
              ? *store_at(stores, (uint32_t)(number - stores->base))
              : NAN;
    return *at <= engine->now;
}
