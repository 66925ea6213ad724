/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of events: one table an address space. */
#include "scheduler.h"

#include <leo/alloc.h>
#include <string.h>

enum { FEWEST_EVENTS = 64 };

bool sim_events_are_legal(uint32_t count)
{
    return count == 0 ||
           (count >= FEWEST_EVENTS && count <= LEO_MAX_EVENTS && (count & (count - 1)) == 0);
}

uint64_t *sim_event_slot(struct sim_events *events, uint32_t number)
{
    if (number < events->count) {
        return &events->value[number];
    }
    if (number >= LEO_MAX_EVENTS) {
        return NULL;
    }
    uint32_t count = events->count ? events->count : FEWEST_EVENTS;
    while (count <= number) {
        count *= 2;
    }
    uint64_t *value = leo_realloc(events->value, count * sizeof(*value));
    if (!value) {
        return NULL;
    }
    memset(value + events->count, 0, (count - events->count) * sizeof(*value));
    events->value = value;
    events->count = count;
    return &value[number];
}
