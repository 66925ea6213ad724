/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "study.h"

#include <dirent.h>
#include <leo/alloc.h>
#include <leo/isa_enums.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TAPES_MAX = 1024 };

/* [A] of each worker, for all tapes: a host that prices on all its processors has room for it. */
#define KNOWN_BYTES (UINT64_C(512) << 20)

/* Kernels of a run by number of the task. */
struct kernels {
    struct kernel {
        uint64_t number, hash;
    } *of;
    size_t count, capacity;
    uint64_t tasks; /**< of the whole run: past the last number */
    bool failed;
};

static void take_kernel(void *user, const struct leo_sim_replayed *task)
{
    struct kernels *kernels = user;
    kernels->tasks = task->number + 1 > kernels->tasks ? task->number + 1 : kernels->tasks;
    if (task->record->opcode != LEO_SQE_OP_KERNEL || kernels->failed) {
        return;
    }
    if (kernels->count == kernels->capacity) {
        const size_t capacity = kernels->capacity ? 2 * kernels->capacity : 1024;
        struct kernel *more = leo_realloc(kernels->of, capacity * sizeof(*more));
        if (!more) {
            kernels->failed = true;
            return;
        }
        kernels->of = more;
        kernels->capacity = capacity;
    }
    const uint64_t named = study_hash(STUDY_HASH, task->name, strlen(task->name));
    kernels->of[kernels->count++] = (struct kernel){
        task->number, study_hash(named, &task->record->block_num, sizeof(task->record->block_num))};
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = ((const struct kernel *)left)->number;
    const uint64_t b = ((const struct kernel *)right)->number;
    return (a > b) - (a < b);
}

/* Number of the task with which step `step` (from 0) begins. */
static uint64_t begin_of(const struct kernels *kernels, const struct study_steps *steps,
                         size_t step)
{
    const size_t at = steps->first + step * steps->period;
    return at < kernels->count ? kernels->of[at].number : kernels->tasks;
}

static bool set_step(const char *path, struct study_tape *tape, const struct kernels *kernels,
                     const struct study_steps *steps, long step)
{
    tape->steps = steps->count;
    tape->step_tasks = steps->period;
    if (steps->count == 0) {
        fprintf(stderr,
                "leo study: %s: --step: no sequence of kernels repeats, so there are no steps: let "
                "the program run two steps that do the same, or more\n",
                path);
        return false;
    }
    if ((uint64_t)step > steps->count) {
        fprintf(stderr, "leo study: %s: --step %ld: the run has %zu like steps of %zu kernels\n",
                path, step, steps->count, steps->period);
        return false;
    }
    if (study_steps_are_few(steps, kernels->count)) {
        fprintf(stderr,
                "leo study: %s: the like steps are %zu of %zu kernels, %zu of the run's %zu: if a "
                "step has more, let the program run more steps (a first one often differs)\n",
                path, steps->count, steps->period, steps->count * steps->period, kernels->count);
    }
    const size_t at = (size_t)step - 1;
    tape->first = begin_of(kernels, steps, at);
    tape->last = begin_of(kernels, steps, at + 1);
    tape->before = at ? begin_of(kernels, steps, at - 1) : tape->first;
    return true;
}

static bool find_step(const char *path, struct study_tape *tape, long step, bool *is_empty)
{
    struct kernels kernels = {0};
    struct leo_sim_replay_result result;
    bool good = replay_tape_run("study", &tape->tape, tape->tape.soc_text, tape->tape.soc,
                                take_kernel, &kernels, &result) &&
                !kernels.failed;
    uint64_t *hash = good && kernels.count ? leo_calloc(kernels.count, sizeof(*hash)) : NULL;
    *is_empty = good && result.tasks == 0;
    tape->last = UINT64_MAX;
    if (hash) {
        qsort(kernels.of, kernels.count, sizeof(*kernels.of), by_number);
        for (size_t i = 0; i < kernels.count; i++) {
            hash[i] = kernels.of[i].hash;
        }
    }
    if (good && step && !*is_empty) {
        const struct study_steps steps =
            hash ? study_steps_find(hash, kernels.count) : (struct study_steps){0};
        good = set_step(path, tape, &kernels, &steps, step);
    }
    leo_free(hash);
    leo_free(kernels.of);
    return good;
}

static bool add_tape(const char *path, long step, struct study_tapes *tapes)
{
    struct study_tape tape = {0};
    bool is_empty = false;
    if (!replay_tape_open("study", path, &tape.tape)) {
        return false;
    }
    const bool found = find_step(path, &tape, step, &is_empty);
    if (!found) {
        fprintf(stderr, "leo study: %s cannot be used\n", path);
    }
    if (!found || is_empty) {
        replay_tape_close(&tape.tape);
        return is_empty;
    }
    tapes->hash = study_hash(tapes->hash, &tape.tape.hash, sizeof(tape.tape.hash));
    tapes->of[tapes->count++] = tape;
    return true;
}

static int is_tape(const struct dirent *entry)
{
    return strstr(entry->d_name, ".tape") != NULL;
}

bool study_tapes_open(const char *path, long step, struct study_tapes *tapes)
{
    struct stat info;
    struct dirent **names = NULL;
    *tapes = (struct study_tapes){.hash = STUDY_HASH};
    const bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    const int count = is_folder ? scandir(path, &names, is_tape, versionsort) : 1;
    bool good = count >= 0 && count <= TAPES_MAX;
    if (!good) {
        fprintf(stderr, "leo study: %s: its tapes cannot be listed, or are more than %d\n", path,
                TAPES_MAX);
    }
    tapes->of = good ? leo_calloc((size_t)count + 1, sizeof(*tapes->of)) : NULL;
    good = good && tapes->of;
    for (int i = 0; i < count && is_folder; i++) {
        char one[4096];
        snprintf(one, sizeof(one), "%s/%s", path, names[i]->d_name);
        good = good && add_tape(one, step, tapes);
        free(names[i]);
    }
    free(names);
    good = good && (is_folder || add_tape(path, step, tapes));
    if (good && tapes->count == 0) {
        fprintf(stderr, "leo study: %s: no task was recorded\n", path);
        good = false;
    }
    tapes->links = good ? study_links_create(tapes) : NULL;
    return good && tapes->links;
}

bool study_tapes_keep(struct study_tapes *tapes)
{
    bool good = true;
    for (size_t i = 0; i < tapes->count && good; i++) {
        good = replay_tape_keep("study", &tapes->of[i].tape, KNOWN_BYTES / tapes->count);
    }
    return good;
}

bool study_tapes_are_of(const struct study_tapes *tapes, const char *soc_text, const char *name)
{
    for (size_t i = 0; i < tapes->count; i++) {
        struct replay_mark mark;
        if (!replay_mark_compare(tapes->of[i].tape.soc_text, soc_text, false, &mark)) {
            return false;
        }
        if (mark.effect != CHIP_EFFECT_NONE) {
            fprintf(stderr,
                    "leo study: '%s': the command ran on another chip (%s) than LEO_SOC names: it "
                    "must not choose one itself\n",
                    name, tapes->of[i].tape.soc);
            return false;
        }
    }
    return true;
}

void study_tapes_close(struct study_tapes *tapes)
{
    for (size_t i = 0; i < tapes->count; i++) {
        replay_tape_close(&tapes->of[i].tape);
    }
    study_links_destroy(tapes->links);
    leo_free(tapes->of);
    *tapes = (struct study_tapes){0};
}
