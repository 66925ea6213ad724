/* SPDX-License-Identifier: Apache-2.0 */
/* A tape played on a chip made for it. */
#include "../replay/replay.h"
#include "../replay/known.h"
#include "../replay/memo.h"

#include "chip.h"
#include <fenv.h>
#include <leo/alloc.h>
#include <leo/replay.h>
#include <stdio.h>
#include <string.h>

static bool link_tasks(struct leo_sim_chip *chip, struct sim_replay *replay)
{
    const uint32_t queues = chip->config.queues;
    const uint64_t none = replay->file->entries;
    replay->next = leo_calloc(queues, sizeof(*replay->next));
    replay->present = leo_calloc(queues, sizeof(*replay->present));
    replay->after = leo_calloc(none + 1, sizeof(*replay->after));
    replay->task = leo_calloc(none + 1, sizeof(*replay->task));
    replay->cursor = leo_calloc(chip->cores.count, sizeof(*replay->cursor));
    replay->begun = leo_calloc(replay->file->parts + 1, sizeof(*replay->begun));
    replay->prices_addresses = SIM_TAPE_ALIGN % chip->config.gm_request_bytes == 0;
    if (!replay->next || !replay->present || !replay->after || !replay->task || !replay->cursor ||
        !replay->begun) {
        return false;
    }
    for (uint32_t queue = 0; queue < queues; queue++) {
        replay->next[queue] = replay->present[queue] = none;
    }
    for (uint64_t task = none; task-- > 0;) {
        const uint32_t queue = replay->file->entry[task].task->queue;
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
    if (!replay->error[0] && replay->complete < replay->file->orders) {
        sim_replay_fail(replay, "a task that ended when it was recorded does not end here");
    }
    replay->result->ps = replay->last_ps - replay->first_ps;
    replay->result->recorded_ps = replay->recorded_last_ps - replay->recorded_first_ps;
    return replay->error[0] ? LEO_ERR_INVALID_ARG : LEO_OK;
}

static leo_status fail(const char *text, leo_status status, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "%s", text);
    return status;
}

static leo_status replay_on(struct leo_sim_chip *chip, struct sim_replay *replay, char *error,
                            size_t error_bytes)
{
    const struct sim_tape_file *file = replay->file;
    if (file->head->arch != chip->config.arch) {
        snprintf(error, error_bytes, "the tape is of %.31s, which has another architecture than %s",
                 file->head->soc, chip->config.name);
        return LEO_ERR_INVALID_ARG;
    }
    if (file->queues > chip->config.queues) {
        return fail("the recorded run uses more queues than the chip has", LEO_ERR_INVALID_ARG,
                    error, error_bytes);
    }
    if (!link_tasks(chip, replay) || !sim_known_begin(replay->known, &chip->config) ||
        sim_memo_create(file, replay->known, chip->memory.hbm.base, chip->cores.engine,
                        &chip->memory.l2, &replay->memo) != LEO_OK) {
        return fail("out of host memory", LEO_ERR_NO_MEMORY, error, error_bytes);
    }
    chip->scheduler.replay = replay;
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    const leo_status status = run(chip, replay);
    fesetenv(&callers);
    return status == LEO_OK ? LEO_OK : fail(replay->error, status, error, error_bytes);
}

static void finish(struct sim_replay *replay)
{
    sim_memo_destroy(replay->memo);
    leo_free(replay->next);
    leo_free(replay->present);
    leo_free(replay->after);
    leo_free(replay->task);
    leo_free(replay->cursor);
    leo_free(replay->begun);
}

struct leo_sim_known {
    struct sim_known *known;
};

leo_status leo_sim_known_create(const struct leo_sim_tape *tape, uint64_t bytes,
                                struct leo_sim_known **known_out)
{
    struct leo_sim_known *known = *known_out = leo_calloc(1, sizeof(*known));
    leo_status status =
        known ? sim_known_create(&tape->file, bytes, &known->known) : LEO_ERR_NO_MEMORY;
    if (status != LEO_OK) {
        leo_sim_known_destroy(known);
        *known_out = NULL;
    }
    return status;
}

void leo_sim_known_destroy(struct leo_sim_known *known)
{
    if (known) {
        sim_known_destroy(known->known);
        leo_free(known);
    }
}

leo_status leo_sim_replay(const struct leo_sim_replay_opts *opts,
                          struct leo_sim_replay_result *result, char *error, size_t error_bytes)
{
    memset(result, 0, sizeof(*result));
    if (opts->size != sizeof(*opts) || !opts->tape || !opts->soc_text) {
        return fail("options of another version, or without a tape or a chip", LEO_ERR_INVALID_ARG,
                    error, error_bytes);
    }
    const struct sim_tape_head *head = opts->tape->file.head;
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
    struct sim_replay replay = {.file = &opts->tape->file, .opts = opts, .result = result};
    struct sim_known *own = NULL;
    if (!opts->known) {
        status = sim_known_create(replay.file, 0, &own);
    }
    replay.known = opts->known ? opts->known->known : own;
    status = status == LEO_OK ? replay_on(chip, &replay, error, error_bytes)
                              : fail("out of host memory", status, error, error_bytes);
    finish(&replay); // the memo lets go of the engine
    if (opts->known) {
        sim_known_end(opts->known->known);
    }
    sim_known_destroy(own);
    leo_sim_chip_destroy(chip);
    return status;
}
