/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order by polled memory (decision 26). A store tells whoever polls it what was complete on its
 * core before it: for the scalar unit what that had waited for, for a pipe what was behind a flag
 * or a barrier of it. Loads that poll are no accesses for the comparison: they are the wait.
 */
#include "check.h"

#include <leo/alloc.h>

bool sim_check_is_kept_back(const struct sim_check_global *global,
                            const struct sim_check_record *record)
{
    const struct sim_check_cleaned *cleaned = &global->cleaned[record->core];
    return record->unit == LEO_PIPE_S && record->line && !record->atomic && !record->clean &&
           !(cleaned->block == record->block && record->number <= cleaned->number);
}

void sim_check_release_forget(struct sim_check_global *global)
{
    for (size_t i = 0; i < global->releases; i++) {
        sim_remote_release(global->release[i].picture.remote);
    }
    global->releases = 0;
}

void sim_check_release(struct sim_check_global *global, const struct sim_check_note *note,
                       uint32_t record)
{
    if (global->releases == global->release_capacity) {
        size_t capacity = global->release_capacity ? global->release_capacity * 2 : 256;
        struct sim_check_release *grown = leo_realloc(global->release, capacity * sizeof(*grown));
        if (!grown) {
            return;
        }
        global->release = grown;
        global->release_capacity = capacity;
    }
    struct sim_check_release *release = &global->release[global->releases++];
    *release = (struct sim_check_release){
        .record = record,
        .picture = {.own = {.block = note->block + 1,
                            .loads = note->unit == LEO_PIPE_S ? note->number : 0,
                            .clock = note->known},
                    .remote = sim_remote_hold(note->remote)},
    };
    release->picture.own.clock.done[note->unit] = note->number;
}

static const struct sim_check_release *find_release(const struct sim_check_global *global,
                                                    uint32_t record)
{
    size_t low = 0, high = global->releases;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (global->release[middle].record < record) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < global->releases && global->release[low].record == record ? &global->release[low]
                                                                           : NULL;
}

bool sim_check_was_released(const struct sim_check_global *global,
                            const struct sim_check_record *record, const struct sim_remote *remote,
                            bool was_load)
{
    // Of each core the last block is known; what its earlier ones released was in it.
    bool found = false;
    for (size_t i = 0; sim_remote_has_later(remote, record->core, record->block) && !found &&
                       i < global->releases;
         i++) {
        const struct sim_remote_core *own = &global->release[i].picture.own;
        found = global->record[global->release[i].record].core == record->core &&
                sim_remote_core_has(own, record->block, record->unit, record->number, was_load);
    }
    return found;
}

/** One look at memory. */
struct look {
    struct sim_check *check;
    uint32_t pc, last;
};

/* It may still be written back in what the other core does next. */
static void note_kept(struct look *look, uint32_t record, uint64_t addr, uint64_t bytes)
{
    struct sim_check_global *global = look->check->global;
    for (unsigned i = 0; i < global->kepts; i++) {
        if (global->kept[i].record == record && global->kept[i].core == look->check->core) {
            return;
        }
    }
    if (global->kepts < SIM_FINDINGS) {
        global->kept[global->kepts++] = (struct sim_check_kept){
            addr, bytes, record, look->pc, look->check->block, look->check->core};
    }
}

static void learn(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct look *look = context;
    const struct sim_check_global *global = look->check->global;
    const struct sim_check_record *record = &global->record[entry->write];
    if (entry->write == 0 || entry->write == look->last ||
        (record->core == look->check->core && record->block == look->check->block)) {
        return;
    }
    look->last = entry->write;
    // A line that was written back has a record of its own, behind that of the store.
    const struct sim_check_release *release = find_release(global, record->origin);
    if (release) {
        sim_check_cross_learn(look->check, &release->picture, record->core);
    }
    if (sim_check_is_kept_back(global, record)) {
        note_kept(look, record->origin, addr, (uint64_t)entry->end - entry->begin);
    }
}

void sim_check_acquire(struct sim_check *check, uint64_t addr, uint64_t bytes, uint64_t pc)
{
    struct look look = {.check = check, .pc = (uint32_t)pc};
    check->syncs++;
    if (check->global && check->global->records) {
        sim_shadow_peek(&check->global->shadow, addr, bytes, learn, &look);
    }
}

/** A store that was kept back, and whether it still is the one there. */
struct still {
    const struct sim_check_global *global;
    uint32_t record;
    bool kept;
};

static void look_again(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct still *still = context;
    const struct sim_check_record *record = &still->global->record[entry->write];
    (void)addr;
    still->kept = still->kept || (entry->write && record->origin == still->record &&
                                  sim_check_is_kept_back(still->global, record));
}

static void tell_kept(struct sim_check_global *global, const struct sim_check_kept *kept)
{
    const struct sim_check_record *record = &global->record[kept->record];
    struct still still = {.global = global, .record = kept->record};
    sim_shadow_peek(&global->shadow, kept->addr, kept->bytes, look_again, &still);
    const struct sim_finding finding = {
        .code = LEO_FAULT_RACE,
        .kind = LEO_CHECK_KIND_NOT_CLEANED,
        .unit = LEO_PIPE_S,
        .other_unit = LEO_PIPE_S,
        .space = LEO_MEM_SPACE_GM,
        .core = kept->core,
        .pc = kept->pc,
        .other_pc = record->pc,
        .block = kept->block,
        .other_block = record->block,
        .event = (uint8_t)record->core,
        .addr = kept->addr,
        .bytes = kept->bytes,
    };
    if (still.kept && global->which & SIM_CHECK_RACE) {
        sim_findings_add(&global->findings, &finding);
    }
}

void sim_check_settle_kept(struct sim_check_global *global, const struct sim_check *check)
{
    unsigned left = 0;
    for (unsigned i = 0; i < global->kepts; i++) {
        const struct sim_check_kept kept = global->kept[i];
        if (global->record[kept.record].core != check->core) {
            global->kept[left++] = kept;
        } else if (!check->ended) {
            tell_kept(global, &kept);
        }
    }
    global->kepts = left;
}
