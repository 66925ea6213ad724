/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <leo/alloc.h>

void sim_remote_release(struct sim_remote *remote)
{
    if (remote && --remote->refs == 0) {
        leo_free(remote);
    }
}

struct sim_remote *sim_remote_hold(const struct sim_remote *remote)
{
    struct sim_remote *held = (struct sim_remote *)(uintptr_t)remote; // counts are not content
    if (held) {
        held->refs++;
    }
    return held;
}

/* A copy that may be changed; of NULL: nothing known. */
static struct sim_remote *copy_of(struct sim_check_cross *cross, const struct sim_remote *remote)
{
    size_t bytes = cross->cores * sizeof(remote->core[0]);
    struct sim_remote *copy = leo_calloc(1, sizeof(*copy) + bytes);
    if (!copy) {
        cross->failed = true;
        return NULL;
    }
    if (remote) {
        memcpy(copy->core, remote->core, bytes);
    }
    copy->refs = 1;
    return copy;
}

static bool grow(struct sim_check_cross *cross, void **items, size_t count, size_t *capacity,
                 size_t bytes)
{
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = leo_realloc(*items, wanted * bytes);
    if (!grown) {
        cross->failed = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

static struct sim_picture *add_picture(struct sim_check_cross *cross, struct sim_pictures *list)
{
    void *items = list->item;
    bool grown = grow(cross, &items, list->count, &list->capacity, sizeof(*list->item));
    list->item = items;
    if (!grown) {
        return NULL;
    }
    list->item[list->count] = (struct sim_picture){0};
    return &list->item[list->count++];
}

static void drop_first(struct sim_pictures *list, size_t count)
{
    if (count == 0) {
        return; // there may be no memory yet
    }
    for (size_t i = 0; i < count; i++) {
        sim_remote_release(list->item[i].remote);
    }
    list->count -= count;
    list->dropped += (uint32_t)count;
    memmove(list->item, list->item + count, list->count * sizeof(*list->item));
}

/* Of two blocks on one core the later one counts: it has the higher number. */
static void join_core(struct sim_remote_core *to, const struct sim_remote_core *from)
{
    if (from->block == to->block) {
        sim_clock_join(&to->clock, &from->clock);
        to->loads = from->loads > to->loads ? from->loads : to->loads;
    } else if (from->block > to->block) {
        *to = *from;
    }
}

static void join(const struct sim_check_cross *cross, struct sim_remote *to,
                 const struct sim_remote *from)
{
    for (unsigned id = 0; from && id < cross->cores; id++) {
        join_core(&to->core[id], &from->core[id]);
    }
}

void sim_check_cross_set(struct sim_check *check, enum leo_pipe pipe, unsigned mode, unsigned flag,
                         uint64_t pc)
{
    struct sim_check_cross *cross = &check->cross;
    cross->pc[mode][flag] = (uint32_t)pc;
    struct sim_picture *picture = add_picture(cross, &cross->set[mode][flag]);
    const struct sim_order *order = &check->order;
    check->syncs++;
    if (!picture) {
        return;
    }
    // As set_flag: what the pipe was given, and what that waited for.
    picture->own = (struct sim_remote_core){
        .block = check->block + 1, .loads = order->issued[LEO_PIPE_S], .clock = order->known[pipe]};
    sim_clock_join(&picture->own.clock, &order->known[LEO_PIPE_S]);
    picture->own.clock.done[pipe] = order->issued[pipe];
    picture->remote = sim_remote_hold(cross->now);
}

/* What the core knows from now on, besides what it knew; notes refer to the old. */
static void become(struct sim_check_cross *cross, struct sim_remote *now)
{
    void *olds = cross->old;
    bool grown = grow(cross, &olds, cross->olds, &cross->old_capacity, sizeof(struct sim_remote *));
    cross->old = olds;
    if (!now || !grown) {
        sim_remote_release(now);
        return;
    }
    join(cross, now, cross->now);
    cross->old[cross->olds++] = cross->now;
    cross->now = now;
}

void sim_check_cross_wait(struct sim_check *check, unsigned mode, unsigned flag)
{
    struct sim_check_cross *cross = &check->cross;
    struct sim_pictures *raised = &cross->raised[mode][flag];
    check->syncs++;
    if (raised->count == 0) {
        return; // out of memory before
    }
    struct sim_remote *now = copy_of(cross, raised->item[0].remote);
    drop_first(raised, 1);
    become(cross, now);
}

void sim_check_cross_learn(struct sim_check *check, const struct sim_picture *picture,
                           unsigned from)
{
    struct sim_check_cross *cross = &check->cross;
    struct sim_remote *now = copy_of(cross, picture->remote);
    if (now) {
        join_core(&now->core[from], &picture->own);
    }
    become(cross, now);
}

void sim_check_cross_raise(struct sim_check *check, unsigned mode, unsigned flag)
{
    struct sim_check_cross *cross = &check->cross;
    struct sim_picture *picture = add_picture(cross, &cross->raised[mode][flag]);
    if (picture) {
        picture->remote = copy_of(cross, NULL);
    }
}

void sim_check_cross_join(struct sim_check *check, const struct sim_check *from, unsigned mode,
                          unsigned flag, uint32_t number, bool has_ended)
{
    struct sim_check_cross *cross = &check->cross;
    struct sim_pictures *raised = &cross->raised[mode][flag];
    const struct sim_pictures *sets = &from->cross.set[mode][flag];
    struct sim_remote *to = raised->count ? raised->item[raised->count - 1].remote : NULL;
    if (!to || (!has_ended && number - sets->dropped >= sets->count)) {
        cross->failed = true;
        return;
    }
    if (has_ended) {
        struct sim_remote_core all = {.block = from->block + 1, .loads = UINT32_MAX};
        memset(&all.clock, 0xff, sizeof(all.clock));
        join_core(&to->core[from->core], &all);
        return;
    }
    const struct sim_picture *picture = &sets->item[number - sets->dropped];
    join(cross, to, picture->remote);
    join_core(&to->core[from->core], &picture->own);
}

void sim_check_cross_drop(struct sim_check *check, unsigned mode, unsigned flag, uint32_t number)
{
    struct sim_pictures *sets = &check->cross.set[mode][flag];
    if (number > sets->dropped && number - sets->dropped <= sets->count) {
        drop_first(sets, number - sets->dropped);
    }
}

void sim_check_cross_taken(struct sim_check_cross *cross)
{
    for (size_t i = 0; i < cross->olds; i++) {
        sim_remote_release(cross->old[i]);
    }
    cross->olds = 0;
}

void sim_check_cross_finish(struct sim_check_cross *cross)
{
    sim_check_cross_taken(cross);
    for (unsigned mode = 0; mode < LEO_CROSS_COUNT; mode++) {
        for (unsigned flag = 0; flag < SIM_CHECK_CROSS_FLAGS; flag++) {
            struct sim_pictures *lists[] = {&cross->set[mode][flag], &cross->raised[mode][flag]};
            for (unsigned i = 0; i < 2; i++) {
                drop_first(lists[i], lists[i]->count);
                leo_free(lists[i]->item);
            }
        }
    }
    sim_remote_release(cross->now);
    leo_free(cross->old);
    *cross = (struct sim_check_cross){.cores = cross->cores};
}

bool sim_remote_has(const struct sim_remote *remote, unsigned core, uint32_t block, unsigned unit,
                    uint32_t number, bool was_load)
{
    return remote && sim_remote_core_has(&remote->core[core], block, unit, number, was_load);
}

bool sim_remote_core_has(const struct sim_remote_core *known, uint32_t block, unsigned unit,
                         uint32_t number, bool was_load)
{
    return known->block == block + 1 &&
           (number <= known->clock.done[unit] ||
            (was_load && unit == LEO_PIPE_S && number <= known->loads));
}

bool sim_remote_has_later(const struct sim_remote *remote, unsigned core, uint32_t block)
{
    return remote && remote->core[core].block > block + 1;
}
