/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that poll global memory (core/poll.h), between rounds. */
#include "../chip/chip.h"
#include "../core/stores.h"

leo_status sim_polls_create(struct leo_sim_chip *chip)
{
    chip->scheduler.stores = sim_stores_create(chip->core_count);
    return chip->scheduler.stores ? LEO_OK : LEO_ERR_NO_MEMORY;
}

void sim_polls_destroy(struct leo_sim_chip *chip)
{
    sim_stores_destroy(chip->scheduler.stores);
}

static void set_noting(struct leo_sim_chip *chip, struct sim_stores *stores)
{
    for (unsigned id = 0; id < chip->core_count; id++) {
        if (chip->core[id].stores != stores) {
            chip->core[id].stores = stores;
            sim_core_forget(&chip->core[id]);
        }
    }
}

void sim_polls_begin(struct leo_sim_chip *chip, const struct sim_decoded *text)
{
    if (sim_decoded_spins(text)) {
        set_noting(chip, chip->scheduler.stores);
    }
}

void sim_polls_rest(struct leo_sim_chip *chip)
{
    set_noting(chip, NULL);
    sim_stores_clear(chip->scheduler.stores);
}

void sim_polls_copied(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes, uint64_t end_ps)
{
    struct sim_stores *stores = chip->core[0].stores;
    if (stores && bytes && bytes <= UINT32_MAX) {
        const struct sim_store store = {.span = sim_store_span(addr, bytes),
                                        .at = sim_cores_cycle(chip, end_ps)};
        sim_stores_add(&stores->list[stores->cores], &store);
    }
}

/** A list that is trimmed. */
struct trim {
    const struct leo_sim_chip *chip;
    unsigned id;
};

/* Whoever reads it now or later might have to wait for it. */
static bool is_needed(const struct sim_store *store, void *context)
{
    const struct trim *trim = context;
    return trim->id == trim->chip->core_count
               ? store->at > sim_time_engine_now(trim->chip->engine)
               : !sim_time_engine_stored(trim->chip->engine, trim->id, store->number);
}

bool sim_polls_settle(struct leo_sim_chip *chip)
{
    struct sim_stores *stores = chip->core[0].stores;
    bool moved = false;
    for (unsigned id = 0; stores && id <= stores->cores; id++) {
        struct trim trim = {chip, id};
        sim_stores_trim(&stores->list[id], is_needed, &trim);
    }
    for (unsigned id = 0; stores && id < chip->core_count; id++) {
        const struct sim_slot *slot = &chip->scheduler.slot[id];
        if (slot->state == SIM_CORE_RUNNING && !slot->is_over &&
            chip->core[id].park == SIM_PARK_POLL && sim_core_poll_try(&chip->core[id])) {
            sim_time_log_publish(&chip->core[id].log);
            sim_checks_after(chip, id, false); // the next core may read what an atomic access wrote
            moved = true;
        }
    }
    return moved;
}
