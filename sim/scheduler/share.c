/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets how much of global memory. In each quantum every transfer that is under way at the same
 * time has an equal share of the chip's bandwidth, but no more than the core's port. How many are
 * under way is what the last quantum saw: a core that moves data for half of the time counts as
 * half a transfer. So is how much of it the L2 had.
 */
#include "../chip/chip.h"

/* Neither number is a property of a chip: they say how fast the model forgets, and the rates of the
 * SoC files were fitted with them. How much of the bytes and HBM time of the past counts again in
 * the next quantum: [A] about eight quanta are remembered. */
#define KEPT 0.875
/* How much of the transfers under way in the past counts again: [A] half. */
#define ACTIVE_KEPT 0.5

void sim_share_count(struct leo_sim_chip *chip, unsigned id)
{
    struct sim_scheduler *scheduler = &chip->scheduler;
    struct sim_slot *slot = &scheduler->slot[id];
    const struct sim_core *core = &chip->core[id];
    uint64_t read = core->gm_read_bytes - slot->read_seen;
    uint64_t written = core->gm_write_bytes - slot->write_seen;
    slot->read_seen = core->gm_read_bytes;
    slot->write_seen = core->gm_write_bytes;
    slot->read_backlog += (double)read / core->gm_read_rate;
    slot->write_backlog += (double)written / core->gm_write_rate;
}

/* What went over the wires to HBM for each byte that cores moved, and the bandwidth of that mix. */
static double chip_bandwidth(struct leo_sim_chip *chip)
{
    const struct sim_config *config = &chip->config;
    struct sim_l2 *l2 = &chip->l2;
    for (unsigned id = 0; id < chip->core_count; id++) {
        sim_gm_log_tell(&chip->gm_log[id], l2);
    }
    // Sums that forget: a core reads in one quantum and writes in the next, and the memory works
    // for both.
    struct sim_scheduler *scheduler = &chip->scheduler;
    double hbm_ns = (double)l2->read_bytes / config->hbm_read_gb_per_s +
                    (double)l2->written_bytes / config->hbm_write_gb_per_s;
    scheduler->gm_used_bytes = scheduler->gm_used_bytes * KEPT + (double)l2->used_bytes;
    scheduler->gm_hbm_ns = scheduler->gm_hbm_ns * KEPT + hbm_ns;
    l2->used_bytes = l2->read_bytes = l2->written_bytes = 0;
    if (scheduler->gm_used_bytes <= 0) {
        return config->hbm_read_gb_per_s;
    }
    double l2_ns = scheduler->gm_used_bytes / config->l2_gb_per_s;
    return scheduler->gm_used_bytes / (scheduler->gm_hbm_ns > l2_ns ? scheduler->gm_hbm_ns : l2_ns);
}

/* Takes at most `quantum` cycles of transfers out of the backlog; the part of the quantum they
 * fill. */
static double take(double *backlog, double quantum)
{
    double cycles = *backlog < quantum ? *backlog : quantum;
    *backlog -= cycles;
    return cycles / quantum;
}

void sim_share_rest(struct leo_sim_chip *chip)
{
    struct sim_scheduler *scheduler = &chip->scheduler;
    (void)chip_bandwidth(chip); // the L2 keeps what it was told last
    scheduler->gm_used_bytes = scheduler->gm_hbm_ns = scheduler->active_transfers = 0;
    for (unsigned id = 0; id < chip->core_count; id++) {
        scheduler->slot[id].read_backlog = scheduler->slot[id].write_backlog = 0;
    }
}

void sim_share_update(struct leo_sim_chip *chip)
{
    struct sim_scheduler *scheduler = &chip->scheduler;
    const struct sim_config *config = &chip->config;
    double quantum = config->quantum_ns * config->clock_khz * 1e-6;
    double active = 0;
    bool fresh = false;
    for (unsigned id = 0; id < chip->core_count; id++) {
        struct sim_slot *slot = &scheduler->slot[id];
        if (slot->state == SIM_CORE_RUNNING) {
            sim_share_count(chip, id);
        }
        double part = take(&slot->read_backlog, quantum) + take(&slot->write_backlog, quantum);
        if (slot->state == SIM_CORE_RUNNING && slot->fresh) {
            // Nothing is known of it yet: it probably begins with a load.
            part = part > 1 ? part : 1;
            slot->fresh = slot->local_ps >= scheduler->now_ps + sim_ps_from_ns(config->quantum_ns);
            fresh = true;
        }
        active += part;
    }
    if (!fresh) {
        active = active * (1 - ACTIVE_KEPT) + scheduler->active_transfers * ACTIVE_KEPT;
    }
    scheduler->active_transfers = active;
    double share = chip_bandwidth(chip) * 1e6 / config->clock_khz / (active > 1 ? active : 1);
    for (unsigned id = 0; id < chip->core_count; id++) {
        chip->core[id].gm_read_rate = share < config->gm_read_rate ? share : config->gm_read_rate;
        chip->core[id].gm_write_rate =
            share < config->gm_write_rate ? share : config->gm_write_rate;
    }
}
