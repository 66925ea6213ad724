/* SPDX-License-Identifier: Apache-2.0 */
/* A tape played on a chip made for it. */
#include "../replay/replay.h"

#include "chip.h"
#include <fenv.h>
#include <leo/alloc.h>
#include <leo/replay.h>
#include <stdio.h>
#include <string.h>

static bool link_tasks(struct leo_sim_chip *chip, struct sim_replay *replay)
{
    const uint32_t queues = chip->config.queues;
    const uint64_t none = replay->file.entries;
    replay->next = leo_calloc(queues, sizeof(*replay->next));
    replay->present = leo_calloc(queues, sizeof(*replay->present));
    replay->after = leo_calloc(none + 1, sizeof(*replay->after));
    replay->cursor = leo_calloc(chip->cores.count, sizeof(*replay->cursor));
    replay->begun = leo_calloc(replay->file.parts + 1, sizeof(*replay->begun));
    if (!replay->next || !replay->present || !replay->after || !replay->cursor || !replay->begun) {
        return false;
    }
    for (uint32_t queue = 0; queue < queues; queue++) {
        replay->next[queue] = none;
    }
    for (uint64_t task = none; task-- > 0;) {
        const uint32_t queue = replay->file.entry[task].task->queue;
        replay->after[task] = replay->next[queue];
        replay->next[queue] = task;
        sim_scheduler_wake(&chip->scheduler, queue);
    }
    return true;
}

static leo_status run(struct leo_sim_chip *chip, struct sim_replay *replay)
{
    do {
        sim_scheduler_advance(&chip->scheduler);
        if (sim_cores_busy(&chip->scheduler) && chip->scheduler.rests) {
            sim_replay_fail(replay, "a kernel polls what a block or copy writes that comes later "
                                    "here: on this chip it would wait for ever");
        }
    } while (!replay->error[0] && sim_scheduler_step(&chip->scheduler, false));
    // A task that waited for ever, in the recorded run too, is not on the list of those that ended.
    if (!replay->error[0] && replay->complete < replay->file.orders) {
        sim_replay_fail(replay, "a task that ended when it was recorded does not end here");
    }
    replay->result->ps = replay->last_ps - replay->first_ps;
    replay->result->recorded_ps = replay->recorded_last_ps - replay->recorded_first_ps;
    return replay->error[0] ? LEO_ERR_INVALID_ARG : LEO_OK;
}

static leo_status replay_on(struct leo_sim_chip *chip, struct sim_replay *replay, char *error,
                            size_t error_bytes)
{
    leo_status status = sim_tape_read(replay->opts->tape, replay->opts->tape_bytes,
                                      chip->config.queues, &replay->file, error, error_bytes);
    if (status != LEO_OK) {
        return status;
    }
    if (replay->file.head->arch != chip->config.arch) {
        snprintf(error, error_bytes, "the tape is of %.31s, which has another architecture than %s",
                 replay->file.head->soc, chip->config.name);
        return LEO_ERR_INVALID_ARG;
    }
    if (!link_tasks(chip, replay)) {
        snprintf(error, error_bytes, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    chip->scheduler.replay = replay;
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    status = run(chip, replay);
    fesetenv(&callers);
    if (status != LEO_OK) {
        snprintf(error, error_bytes, "%s", replay->error);
    }
    return status;
}

leo_status leo_sim_tape_links(const void *tape, size_t tape_bytes,
                              void (*each)(void *user, const struct leo_link_note *note),
                              void *user)
{
    struct sim_tape_file file;
    char error[128];
    leo_status status = sim_tape_read(tape, tape_bytes, UINT32_MAX, &file, error, sizeof(error));
    for (uint64_t i = 0; i < file.links && status == LEO_OK; i++) {
        each(user, file.link[i]);
    }
    sim_tape_file_finish(&file);
    return status;
}

leo_status leo_sim_replay(const struct leo_sim_replay_opts *opts,
                          struct leo_sim_replay_result *result, char *error, size_t error_bytes)
{
    memset(result, 0, sizeof(*result));
    const struct sim_tape_head *head = opts->tape;
    if (opts->size != sizeof(*opts) ||
        !sim_tape_has_head(opts->tape, opts->tape_bytes, SIM_TAPE_OPEN_MAGIC)) {
        snprintf(error, error_bytes, "not a tape, or one of another version of the simulator");
        return LEO_ERR_INVALID_ARG;
    }
    snprintf(result->soc, sizeof(result->soc), "%.31s", head->soc);
    result->soc_text = sim_tape_soc_text(opts->tape);
    if (!opts->soc_text) {
        return LEO_OK;
    }
    const struct leo_sim_opts chip_opts = {.size = sizeof(chip_opts),
                                           .soc_text = opts->soc_text,
                                           .soc_text_name = opts->soc_text_name,
                                           .host_threads = 1,
                                           .gm_base = head->gm_base,
                                           .gm_bytes = head->gm_bytes};
    struct leo_sim_chip *chip;
    leo_status status = leo_sim_chip_create(&chip_opts, &chip, error, error_bytes);
    if (status != LEO_OK) {
        return status;
    }
    struct sim_replay replay = {.opts = opts, .result = result};
    status = replay_on(chip, &replay, error, error_bytes);
    leo_sim_chip_destroy(chip);
    sim_tape_file_finish(&replay.file);
    leo_free(replay.next);
    leo_free(replay.present);
    leo_free(replay.after);
    leo_free(replay.cursor);
    leo_free(replay.begun);
    return status;
}
