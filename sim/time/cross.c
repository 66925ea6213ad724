/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of flags between cores. The k-th set of a flag by each core that takes part makes its k-th
 * raise; the n-th wait of a core takes the n-th raise of its flag, whatever the mode. Raises are
 * found as soon as the last set of them is, which may be before or after their time.
 */
#include "replay.h"

#include <leo/alloc.h>
#include <string.h>

enum {
    COUNTER_MAX = 15,
    FIRST_PLACES = 8,
    /* Channels of a team (by side), then of a group: vectors, cube to vectors, vectors to cube. */
    TEAM_CHANNELS = 2,
    GROUP_CHANNELS = 3,
    CHANNELS = (TEAM_CHANNELS + GROUP_CHANNELS) * SIM_TIME_CROSS_FLAGS
};

leo_status sim_time_cross_create(struct sim_time_engine *engine)
{
    engine->channel = leo_calloc((size_t)engine->config.cores * CHANNELS, sizeof(*engine->channel));
    return engine->channel ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_time_cross_destroy(struct sim_time_engine *engine)
{
    for (size_t i = 0; engine->channel && i < (size_t)engine->config.cores * CHANNELS; i++) {
        leo_free(engine->channel[i].meets.item);
    }
    for (unsigned id = 0; engine->core && id < engine->config.cores; id++) {
        for (unsigned flag = 0; flag < SIM_TIME_CROSS_FLAGS; flag++) {
            leo_free(engine->core[id].raise[flag].meets.item);
        }
    }
    leo_free(engine->channel);
}

/* ---- queues of raises ---- */

static struct sim_time_meet *meet_at(const struct sim_time_meets *meets, uint32_t place)
{
    return &meets->item[(meets->first + place) & (meets->capacity - 1)];
}

/* Lengthens the queue by an empty raise; false: no memory. */
static bool add_meet(struct sim_time_meets *meets)
{
    if (meets->count == meets->capacity) {
        uint32_t capacity = meets->capacity ? meets->capacity * 2 : FIRST_PLACES;
        struct sim_time_meet *grown = leo_alloc(capacity * sizeof(*grown));
        if (!grown) {
            return false;
        }
        for (uint32_t i = 0; i < meets->count; i++) {
            grown[i] = *meet_at(meets, i);
        }
        leo_free(meets->item);
        *meets = (struct sim_time_meets){grown, 0, meets->count, capacity};
    }
    *meet_at(meets, meets->count++) = (struct sim_time_meet){0};
    return true;
}

static void drop_meet(struct sim_time_meets *meets)
{
    meets->first = (meets->first + 1) & (meets->capacity - 1);
    meets->count--;
}

/* ---- who meets whom ---- */

static struct sim_time_channel *team_channels(struct sim_time_engine *engine, unsigned team)
{
    return &engine->channel[(size_t)team * TEAM_CHANNELS * SIM_TIME_CROSS_FLAGS];
}

static struct sim_time_channel *group_channels(struct sim_time_engine *engine, unsigned group)
{
    size_t teams = (size_t)engine->config.cores * TEAM_CHANNELS * SIM_TIME_CROSS_FLAGS;
    return &engine->channel[teams + (size_t)group * GROUP_CHANNELS * SIM_TIME_CROSS_FLAGS];
}

static void clear(struct sim_time_channel *channel, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        channel[i].raised = 0;
        channel[i].meets.first = channel[i].meets.count = 0;
    }
}

void sim_time_engine_new_team(struct sim_time_engine *engine, unsigned team)
{
    clear(team_channels(engine, team), TEAM_CHANNELS * SIM_TIME_CROSS_FLAGS);
}

void sim_time_engine_new_group(struct sim_time_engine *engine, unsigned group)
{
    clear(group_channels(engine, group), GROUP_CHANNELS * SIM_TIME_CROSS_FLAGS);
}

void sim_time_engine_join(struct sim_time_engine *engine, unsigned id,
                          const struct sim_time_team *team)
{
    engine->core[id].team = *team;
}

void sim_time_cross_begin(struct sim_time_core *core)
{
    for (unsigned flag = 0; core->cross_used && flag < SIM_TIME_CROSS_FLAGS; flag++) {
        struct sim_time_raises *raise = &core->raise[flag];
        raise->meets.first = raise->meets.count = 0;
        raise->total = raise->waits = 0;
    }
    memset(core->posts, 0, sizeof(core->posts));
    core->cross_used = core->gave_up = core->gave_up_anywhere = false;
}

/** One flag in one mode, seen from a core that sets it. */
struct meeting {
    struct sim_time_channel *channel;
    uint32_t needed; /**< sets that make a raise */
    bool to_vector;  /**< side of those it is raised for */
};

static struct meeting meeting_of(struct sim_time_engine *engine, const struct sim_time_team *team,
                                 enum leo_cross mode, unsigned flag)
{
    unsigned side = team->is_vector;
    switch (mode) {
    case LEO_CROSS_VECTORS:
        return (struct meeting){&group_channels(engine, team->group)[flag], team->vectors, true};
    case LEO_CROSS_GROUP:
        return (struct meeting){
            &group_channels(engine, team->group)[(1 + side) * SIM_TIME_CROSS_FLAGS + flag],
            team->is_vector ? team->vectors : 1, !team->is_vector};
    case LEO_CROSS_ALL:
        break;
    }
    return (struct meeting){&team_channels(engine, team->team)[side * SIM_TIME_CROSS_FLAGS + flag],
                            team->kin, team->is_vector};
}

/* ---- sets, raises, waits ---- */

static void overflow(struct sim_time_core *core, unsigned flag, uint32_t pc)
{
    if (!core->stats.overflow) {
        core->stats.overflow = true;
        core->stats.overflow_flag = (uint8_t)flag;
        core->stats.overflow_pc = pc;
    }
}

/* Raise n would make 16 at once if wait n - 15 comes after it. */
static void raise_at(struct sim_time_engine *engine, unsigned id, unsigned flag,
                     const struct sim_time_meet *meet)
{
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_raises *raise = &core->raise[flag];
    uint32_t number = raise->total++;
    core->cross_used = true;
    if (!add_meet(&raise->meets) ||
        (number >= COUNTER_MAX && number - COUNTER_MAX < raise->waits &&
         raise->waited[(number - COUNTER_MAX) % SIM_TIME_CROSS_WAITS] > meet->at)) {
        overflow(core, flag, meet->pc);
    } else {
        *meet_at(&raise->meets, raise->meets.count - 1) = *meet;
    }
    engine->woken[id / 64] |= UINT64_C(1) << id % 64;
}

static void tell(struct sim_time_engine *engine, const struct sim_time_team *from,
                 enum leo_cross mode, bool to_vector, unsigned flag,
                 const struct sim_time_meet *meet)
{
    for (unsigned id = 0; id < engine->config.cores; id++) {
        const struct sim_time_core *core = &engine->core[id];
        const struct sim_time_team *team = &core->team;
        bool runs = core->front == SIM_TIME_RUNNING || core->front == SIM_TIME_HUNGRY;
        if (runs && team->team == from->team && team->is_vector == to_vector &&
            (mode == LEO_CROSS_ALL || team->group == from->group)) {
            raise_at(engine, id, flag, meet);
        }
    }
}

void sim_time_cross_post(struct sim_time_engine *engine, unsigned id,
                         const struct sim_time_record *record, double at)
{
    struct sim_time_core *core = &engine->core[id];
    enum leo_cross mode = (enum leo_cross)record->dst;
    const struct meeting meeting = meeting_of(engine, &core->team, mode, record->id);
    struct sim_time_channel *channel = meeting.channel;
    uint32_t place = core->posts[mode][record->id]++ - channel->raised;
    while (channel->meets.count <= place) {
        if (!add_meet(&channel->meets)) {
            overflow(core, record->id, record->pc);
            return;
        }
    }
    struct sim_time_meet *meet = meet_at(&channel->meets, place);
    meet->at = sim_time_max(meet->at, at + engine->config.cross_core);
    meet->pc = record->pc;
    meet->come++;
    while (channel->meets.count && meet_at(&channel->meets, 0)->come == meeting.needed) {
        const struct sim_time_meet first = *meet_at(&channel->meets, 0);
        drop_meet(&channel->meets);
        channel->raised++;
        tell(engine, &core->team, mode, meeting.to_vector, record->id, &first);
    }
}

bool sim_time_cross_pend(struct sim_time_core *core, unsigned flag, double *at)
{
    struct sim_time_raises *raise = &core->raise[flag];
    if (raise->meets.count == 0) {
        return false;
    }
    *at = sim_time_max(core->cycle, meet_at(&raise->meets, 0)->at);
    drop_meet(&raise->meets);
    raise->waited[raise->waits++ % SIM_TIME_CROSS_WAITS] = *at;
    if (raise->meets.count >= COUNTER_MAX) {
        const struct sim_time_meet *last = meet_at(&raise->meets, COUNTER_MAX - 1);
        if (last->at < *at) {
            overflow(core, flag, last->pc);
        }
    }
    return true;
}

void sim_time_cross_end(struct sim_time_core *core)
{
    for (unsigned flag = 0; core->cross_used && flag < SIM_TIME_CROSS_FLAGS; flag++) {
        const struct sim_time_meets *meets = &core->raise[flag].meets;
        if (meets->count > COUNTER_MAX) {
            overflow(core, flag, meet_at(meets, COUNTER_MAX)->pc);
        }
    }
}

void sim_time_engine_give_up(struct sim_time_engine *engine, unsigned id, bool anywhere)
{
    engine->core[id].gave_up = true;
    engine->core[id].gave_up_anywhere = anywhere;
    engine->woken[id / 64] |= UINT64_C(1) << id % 64;
}
