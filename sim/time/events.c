/* SPDX-License-Identifier: Apache-2.0 */
/* What begins or ends at a known time, the first of all in front (a heap). */
#include "replay.h"

static bool is_before(const struct sim_time_event *left, const struct sim_time_event *right)
{
    if (left->at != right->at) {
        return left->at < right->at;
    }
    return left->core != right->core ? left->core < right->core : left->pipe < right->pipe;
}

static void sift_down(struct sim_time_engine *engine, unsigned at, struct sim_time_event event)
{
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child >= engine->events) {
            break;
        }
        if (child + 1 < engine->events &&
            is_before(&engine->event[child + 1], &engine->event[child])) {
            child++;
        }
        if (is_before(&event, &engine->event[child])) {
            break;
        }
        engine->event[at] = engine->event[child];
        at = child;
    }
    engine->event[at] = event;
}

void sim_time_event_push(struct sim_time_engine *engine, double at, unsigned core, unsigned pipe)
{
    struct sim_time_event event = {at, core, pipe};
    unsigned place = engine->events++;
    while (place > 0 && is_before(&event, &engine->event[(place - 1) / 2])) {
        engine->event[place] = engine->event[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    engine->event[place] = event;
}

struct sim_time_event sim_time_event_pop(struct sim_time_engine *engine)
{
    struct sim_time_event first = engine->event[0];
    engine->events--;
    if (engine->events) {
        sift_down(engine, 0, engine->event[engine->events]);
    }
    return first;
}

void sim_time_events_drop(struct sim_time_engine *engine, unsigned core)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < engine->events; i++) {
        if (engine->event[i].core != core) {
            engine->event[kept++] = engine->event[i];
        }
    }
    engine->events = kept;
    for (unsigned at = kept / 2; at-- > 0;) {
        sift_down(engine, at, engine->event[at]);
    }
}
