/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leo study: a run recorded once and priced on every variant of a table by workers that stay. What
 * goes wrong is said on stderr.
 */
#pragma once

#include "../replay_mark.h"
#include "../replay_tape.h"
#include "meeting.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STUDY_BASELINES_MAX = 8,
    STUDY_CARDS_MAX = 16,
    STUDY_JOBS_MAX = 256,
    STUDY_CARD_MAX = 1 << 20,
    STUDY_SHARDS_MAX = 10000
};

struct study_request {
    const char *chip; /**< NULL: LEO_SOC or, of a tape, that of the tape */
    const char *vary; /**< the table */
    const char *out;  /**< folder of the record and the results */
    const char *baseline[STUDY_BASELINES_MAX];
    size_t baselines;
    const char *tape;            /**< instead of a command */
    char **command;              /**< ended by NULL */
    char python[8];              /**< the word that runs a script */
    long jobs, step;             /**< step: 0 = the whole run */
    long cards[STUDY_CARDS_MAX]; /**< how many to price the run for */
    size_t card_counts;
    const char *dask;          /**< address of a scheduler; NULL: the work is done here */
    const char *topology_path; /**< NULL: the chip's [link] */
    struct study_topology topology;
    unsigned shard, shards;
    bool estimate, json;
};

/** 0 good, -1 help was printed, else the exit code. What `request` points to lives as long as
 * argv, but for `command`: leo_free() it. */
int study_options(int argc, char **argv, struct study_request *request);

/* ---- what was recorded ---- */

/** One process's tape and which of its tasks count. */
struct study_tape {
    struct replay_tape tape;
    uint64_t first, last, before; /**< numbers of tasks: [first, last), `before` the step before */
    uint64_t steps, step_tasks;   /**< found; 0 = not looked for */
};

struct study_tapes {
    struct study_tape *of;
    size_t count;
    struct study_links *links; /**< what they do with each other */
    uint64_t hash;             /**< of their bytes */
};

/** Opens a tape, or all of a folder that have tasks, and finds the step. */
bool study_tapes_open(const char *path, long step, struct study_tapes *tapes);
/** From now on a variant uses what those before it found out; for processes that are forked. */
bool study_tapes_keep(struct study_tapes *tapes);
/** Whether they were recorded on this chip; says so if not. */
bool study_tapes_are_of(const struct study_tapes *tapes, const char *soc_text, const char *name);
void study_tapes_close(struct study_tapes *tapes);

/** Steps of a run: the longest part of it that is one sequence of kernels, two times or more. */
struct study_steps {
    size_t first, period, count; /**< in kernels; count 0 = no such part */
};
struct study_steps study_steps_find(const uint64_t *kernel, size_t kernels);
/** Most of a run's kernels are in none: what repeats may be a part of a step. */
bool study_steps_are_few(const struct study_steps *steps, size_t kernels);

/** Mixes bytes into a hash; the first one begins with STUDY_HASH. */
#define STUDY_HASH UINT64_C(0xcbf29ce484222325)
uint64_t study_hash(uint64_t hash, const void *data, size_t bytes);

/* ---- what is priced ---- */

struct study_variant {
    char *name, *text; /**< text: of the chip */
    const char *kind;  /**< "base", "baseline", "counterfactual", "variant", "cards" */
    long cards;        /**< that the tapes stand for; 0: as many as were recorded */
    uint64_t id;       /**< of the record, the chip and the step: results with another are old */
    bool rerun;        /**< programs choose by its numbers: the command runs anew */
    struct replay_mark mark;
    json_t *result; /**< NULL: not there yet */
};

struct study_variants {
    struct study_variant *of;
    size_t count;
};

/** The base, baselines, counterfactuals and rows of the table, checked. `base`: text of the chip */
bool study_variants_make(const struct study_request *request, const char *base,
                         struct study_variants *variants);
/** Marks them against the recorded chip and gives them their ids. False: one cannot be priced. */
bool study_variants_judge(const struct study_request *request, const struct study_tapes *tapes,
                          struct study_variants *variants);
void study_variants_finish(struct study_variants *variants);

/** Prices a chip, or more of it (`cards`, or NULL): an object without name, mark and id. NULL: not
 * possible. */
json_t *study_price(const struct study_tapes *tapes, const char *soc_text, const char *name,
                    const struct study_cards *cards);

/* ---- results, a line each ---- */

/** Takes the results of earlier runs from the folder. False: a file cannot be read. */
bool study_results_load(const struct study_request *request, struct study_variants *variants);
/** Prices what has none yet, `jobs` at a time. False: some are missing now. */
bool study_results_make(const struct study_request *request, const struct study_tapes *tapes,
                        struct study_variants *variants);

/** Has the workers of a Dask scheduler price what can be priced; results are in the folder then. */
bool study_dask_run(const struct study_request *request, const char *tapes_path,
                    const struct study_variants *variants);

/** Runs the command on a chip's file, recorded to a folder or file. */
bool study_run_command(const struct study_request *request, const char *soc_path,
                       const char *tape_path, const char *output_path);
/** Makes a folder if it is not there. */
bool study_folder(const char *path);
/** Removes a folder of tapes and chips that this run made. */
void study_folder_remove(const char *path);
