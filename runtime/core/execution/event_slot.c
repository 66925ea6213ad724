/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of the device's events, used again when their records and waits are over. */
#include "../rt.h"

#include <leo/alloc.h>

leo_status rt_event_slot_take(struct leo_rt_device *device, uint32_t *slot)
{
    if (device->slot_free) {
        *slot = device->slot_free - 1;
        device->slot_free = device->slots[*slot].next_free;
        return LEO_OK;
    }
    if (device->slot_count == LEO_MAX_EVENTS) {
        return rt_fail(LEO_ERR_FULL,
                       "device %d has %u events already: destroy those no longer used",
                       device->index, LEO_MAX_EVENTS);
    }
    if (device->slot_count == device->slot_capacity) {
        uint32_t capacity = device->slot_capacity ? device->slot_capacity * 2 : 64;
        struct rt_event_slot *slots = leo_realloc(device->slots, capacity * sizeof(*slots));
        if (!slots) {
            return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for an event",
                           device->index);
        }
        device->slots = slots;
        device->slot_capacity = capacity;
    }
    *slot = device->slot_count++;
    device->slots[*slot] = (struct rt_event_slot){0};
    return LEO_OK;
}

static bool is_settled(const struct rt_event_slot *slot)
{
    return slot->done >= slot->recorded && slot->waits == 0;
}

static void free_slot(struct leo_rt_device *device, uint32_t number)
{
    device->slots[number].next_free = device->slot_free;
    device->slot_free = number + 1;
}

// No event has it any more; records and waits under way may still need it.
void rt_event_slot_retire(struct leo_rt_device *device, uint32_t number)
{
    struct rt_event_slot *slot = &device->slots[number];
    slot->retired = !is_settled(slot);
    if (!slot->retired) {
        free_slot(device, number);
    }
}

void rt_event_settle(struct leo_rt_device *device, uint32_t number)
{
    struct rt_event_slot *slot = &device->slots[number];
    if (slot->retired && is_settled(slot)) {
        slot->retired = false;
        free_slot(device, number);
    }
}
