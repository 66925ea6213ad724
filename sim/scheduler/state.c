/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

#include <leo/alloc.h>

#define SECTION(what, member) SIM_SECTION(struct sim_stream, what, member)
static const struct sim_section stream_list[] = {
    SECTION(STATE, state), // none of a saved chip
    SECTION(GIVEN, entry),      SECTION(GIVEN, ready_ps),    SECTION(GIVEN, start_ps),
    SECTION(GIVEN, end_ps),     SECTION(STATE, free_ps),     SECTION(STATE, had_task),
    SECTION(STATE, failed),     SECTION(GIVEN, fault),       SECTION(GIVEN, fault_block),
    SECTION(GIVEN, fault_core), SECTION(GIVEN, fault_cycle), SECTION(GIVEN, kernel),
    SECTION(GIVEN, check),      SECTION(GIVEN, checked),     SECTION(GIVEN, stuck),
    SECTION(GIVEN, looked),     SECTION(WIRED, args),        SECTION(WIRED, args_capacity),
    SECTION(GIVEN, early),
};
#undef SECTION

#define SECTION(what, member) SIM_SECTION(struct sim_scheduler, what, member)
static const struct sim_section list[] = {
    SECTION(WIRED, config),    SECTION(WIRED, cores),          SECTION(WIRED, memory),
    SECTION(WIRED, host),      SECTION(WIRED, tape),           SECTION(WIRED, counter),
    SECTION(WIRED, debug),     SECTION(WIRED, replay),         SECTION(CLOCK, now_ps),
    SECTION(CLOCK, epoch_ps),  SECTION(WIRED, stream),         SECTION(WIRED, active),
    SECTION(WIRED, slot),      SECTION(GIVEN, running),        SECTION(WIRED, events),
    SECTION(WIRED, images), // derived from device memory
    SECTION(GIVEN, teams),     SECTION(STATE, engine_free_ps), SECTION(WIRED, wanted),
    SECTION(WIRED, run_ahead), // a chip with nothing to do has none under way
    SECTION(WIRED, stores),    // empty while no core runs
    SECTION(WIRED, watched),   // what the host has loaded
    SECTION(GIVEN, rests),     SECTION(GIVEN, for_ever),       SECTION(GIVEN, run_core),
    SECTION(GIVEN, until),     SECTION(GIVEN, engine_stop),    SECTION(GIVEN, engine_core),
};
#undef SECTION

static const struct sim_sections stream_sections = SIM_SECTIONS(struct sim_stream, stream_list);
static const struct sim_sections sections = SIM_SECTIONS(struct sim_scheduler, list);

/* The slots of a space; their number comes first, so that a restored one finds room. */
static bool walk_events(struct sim_events *events, unsigned space, sim_stretch_fn fn, void *user)
{
    struct sim_stretch stretch = {
        .owner = "events",
        .name = "count",
        .index = space,
        .data = &events->count,
        .bytes = sizeof(events->count),
        .unit = sizeof(events->count),
        .kind = SIM_SECTION_CLOCK, // a reset keeps the room
    };
    const uint32_t count = events->count;
    if (!fn(user, &stretch)) {
        return false;
    }
    const uint64_t bytes = events->count * sizeof(*events->value);
    if (events->count != count) {
        uint64_t *value = sim_events_are_legal(events->count) ? leo_calloc(1, bytes + 1) : NULL;
        if (!value) {
            events->count = count;
            return false;
        }
        leo_free(events->value);
        events->value = value;
    }
    stretch.name = "value";
    stretch.data = events->value;
    stretch.bytes = bytes;
    stretch.unit = sizeof(*events->value);
    stretch.kind = SIM_SECTION_STATE;
    return bytes == 0 || fn(user, &stretch);
}

bool sim_scheduler_walk(struct sim_scheduler *scheduler, sim_stretch_fn fn, void *user)
{
    bool on = sim_sections_walk(&sections, 0, scheduler, fn, user);
    for (uint32_t queue = 0; on && queue < scheduler->config->queues; queue++) {
        on = sim_sections_walk(&stream_sections, queue, &scheduler->stream[queue], fn, user);
    }
    for (unsigned space = 0; on && space < LEO_SPACES; space++) {
        on = walk_events(&scheduler->events[space], space, fn, user);
    }
    return on;
}

bool sim_scheduler_is_idle(const struct sim_scheduler *scheduler)
{
    for (uint32_t queue = 0; queue < scheduler->config->queues; queue++) {
        if (scheduler->stream[queue].state != SIM_TASK_NONE) {
            return false;
        }
    }
    return scheduler->running == 0;
}
