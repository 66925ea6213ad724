/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a core (time/log.h): records that are no instruction of a unit. */
#include "../tape/record.h"
#include "core.h"

void sim_core_log(struct sim_core *core, struct sim_time_record *record,
                  const struct sim_time_gm *gm)
{
    record->scalar = core->scalar.cycle - core->logged;
    core->logged = core->scalar.cycle;
    if (core->track) {
        sim_tape_plain(core->track, record);
    }
    sim_time_log_push(&core->log, record, gm);
}

void sim_core_log_missed(struct sim_core *core)
{
    struct sim_caches *caches = &core->caches;
    uint32_t *missed[] = {&caches->data_missed, &caches->text_missed};
    for (uint8_t kind = 0; kind < SIM_TIME_FETCHES; kind++) {
        if (*missed[kind]) {
            struct sim_time_record record = {
                .kind = SIM_TIME_FETCH, .dst = kind, .pc = *missed[kind]};
            *missed[kind] = 0;
            sim_core_log(core, &record, NULL);
        }
    }
}
