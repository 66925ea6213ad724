/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "study.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <leo/alloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, ID_BYTES = 17 };

/* ---- lines ---- */

static void take_line(struct study_variants *variants, const char *line)
{
    json_t *result = json_loads(line, 0, NULL); // a line that was cut is as if it were not there
    const char *id = json_string_value(json_object_get(result, "id"));
    for (size_t i = 0; id && i < variants->count; i++) {
        struct study_variant *variant = &variants->of[i];
        const char *name = json_string_value(json_object_get(result, "name"));
        char wanted[ID_BYTES];
        snprintf(wanted, sizeof(wanted), "%016" PRIx64, variant->id);
        if (!variant->result && name && strcmp(wanted, id) == 0 &&
            strcmp(name, variant->name) == 0) {
            variant->result = json_incref(result);
        }
    }
    json_decref(result);
}

static bool load_file(struct study_variants *variants, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &room, file) > 0) {
        take_line(variants, line);
    }
    const bool good = file && !ferror(file);
    if (!good) {
        fprintf(stderr, "leo study: cannot read %s: %s\n", path, strerror(errno));
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return good;
}

bool study_results_load(const struct study_request *request, struct study_variants *variants)
{
    char pattern[PATH_BYTES];
    glob_t found = {0};
    bool good = true;
    snprintf(pattern, sizeof(pattern), "%s/results*.jsonl", request->out);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && good; i++) {
            good = load_file(variants, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return good;
}

static void path_of(const struct study_request *request, char *path)
{
    if (request->shards > 1) {
        snprintf(path, PATH_BYTES, "%s/results.%u-of-%u.jsonl", request->out, request->shard,
                 request->shards);
    } else {
        snprintf(path, PATH_BYTES, "%s/results.jsonl", request->out);
    }
}

/* In one piece, so that workers do not cut each other's lines. A newline in front closes one that a
 * killed worker left. */
static bool append(const struct study_request *request, const struct study_variant *variant,
                   json_t *result)
{
    char path[PATH_BYTES], id[ID_BYTES], *whole = NULL;
    path_of(request, path);
    snprintf(id, sizeof(id), "%016" PRIx64, variant->id);
    json_object_set_new(result, "id", json_string(id));
    json_object_set_new(result, "name", json_string(variant->name));
    char *line = json_dumps(result, JSON_COMPACT | JSON_SORT_KEYS);
    const int bytes = line ? asprintf(&whole, "\n%s\n", line) : -1;
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const bool good = bytes > 0 && file >= 0 && write(file, whole, (size_t)bytes) == bytes;
    if (!good) {
        fprintf(stderr, "leo study: cannot write %s: %s\n", path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    free(line);
    free(whole);
    return good;
}

/* ---- one variant ---- */

/* The command runs on the variant's chip; its own tapes are priced there. */
static json_t *run_anew(const struct study_request *request, const struct study_variant *variant)
{
    char folder[PATH_BYTES], soc[PATH_BYTES + 16], tapes_path[PATH_BYTES + 16];
    char output[PATH_BYTES + 16];
    struct study_tapes tapes = {0};
    json_t *result = NULL;
    snprintf(folder, sizeof(folder), "%s/run-%016" PRIx64, request->out, variant->id);
    snprintf(soc, sizeof(soc), "%s/chip.ini", folder);
    snprintf(tapes_path, sizeof(tapes_path), "%s/tapes", folder);
    snprintf(output, sizeof(output), "%s/output", folder);
    study_folder_remove(folder); // of a run that was killed
    bool good = study_folder(folder) && study_folder(tapes_path);
    FILE *file = good ? fopen(soc, "w") : NULL;
    good = file && fputs(variant->text, file) >= 0;
    good = file && fclose(file) == 0 && good &&
           study_run_command(request, soc, tapes_path, output) &&
           study_tapes_open(tapes_path, request->step, &tapes) &&
           study_tapes_are_of(&tapes, variant->text, variant->name);
    if (good) {
        result = study_price(&tapes, variant->text, variant->name, NULL);
    }
    study_tapes_close(&tapes);
    if (result) {
        study_folder_remove(folder);
    }
    return result;
}

/* Ranks that were not recorded are waited for as long as they were. */
static bool waits_are_known(const struct study_tapes *tapes, const struct study_variant *variant)
{
    return variant->mark.effect == CHIP_EFFECT_NONE || study_links_count(tapes->links) == 0 ||
           study_links_whole(tapes->links);
}

static const char *mark_of(const struct study_tapes *tapes, const struct study_variant *variant)
{
    if (variant->rerun) {
        return "re-planned";
    }
    return !waits_are_known(tapes, variant) || variant->cards ? "estimate"
                                                              : replay_mark_text(&variant->mark);
}

static const char *reason_of(const struct study_tapes *tapes, const struct study_variant *variant)
{
    return variant->mark.keys[0]             ? variant->mark.keys
           : variant->mark.looks             ? "values that were not computed"
           : variant->cards                  ? "each copy of the recorded ranks does the same"
           : waits_are_known(tapes, variant) ? ""
                                             : "waits for ranks that were not recorded";
}

/* With --cards the ranks meet on a topology, with another [link] by that, else as they did. */
static json_t *price(const struct study_request *request, const struct study_tapes *tapes,
                     const struct study_variant *variant)
{
    struct study_topology of_chip;
    const bool has_file = variant->cards && request->topology_path;
    if (!variant->cards && !variant->mark.links) {
        return study_price(tapes, variant->text, variant->name, NULL);
    }
    if (!has_file && !study_topology_of_chip(variant->text, &of_chip)) {
        fprintf(stderr, "leo study: '%s': the chip has no [link]: --topology is wanted\n",
                variant->name);
        return NULL;
    }
    const struct study_cards cards = {.cards = (double)variant->cards,
                                      .topology = has_file ? &request->topology : &of_chip,
                                      .is_placed = has_file};
    json_t *result = study_price(tapes, variant->text, variant->name, &cards);
    if (result && variant->cards) {
        json_object_set_new(result, "cards", json_integer(variant->cards));
        json_object_set_new(result, "topology", json_string(cards.topology->name));
    }
    return result;
}

static bool make_one(const struct study_request *request, const struct study_tapes *tapes,
                     const struct study_variant *variant)
{
    json_t *result = variant->rerun ? run_anew(request, variant) : price(request, tapes, variant);
    if (!result) {
        fprintf(stderr, "leo study: '%s' has no result\n", variant->name);
        return false;
    }
    const char *mark = mark_of(tapes, variant);
    const bool is_estimate = strcmp(mark, "estimate") == 0;
    json_object_set_new(result, "mark", json_string(mark));
    json_object_set_new(result, "estimated_by",
                        json_string(is_estimate ? reason_of(tapes, variant) : ""));
    const bool good = append(request, variant, result);
    json_decref(result);
    return good;
}

/* ---- all of them ---- */

/* A worker: takes the next one until none is left. */
static _Noreturn void work(const struct study_request *request, const struct study_tapes *tapes,
                           const struct study_variants *variants, _Atomic size_t *next)
{
    bool good = true;
    for (size_t i; (i = atomic_fetch_add(next, 1)) < variants->count;) {
        const bool mine = request->shards < 2 || i % request->shards == request->shard - 1;
        if (mine && !variants->of[i].result) {
            good = make_one(request, tapes, &variants->of[i]) && good;
        }
    }
    fflush(stderr);
    _exit(good ? 0 : 1);
}

static size_t missing(const struct study_request *request, const struct study_variants *variants)
{
    size_t count = 0;
    for (size_t i = 0; i < variants->count; i++) {
        const bool mine = request->shards < 2 || i % request->shards == request->shard - 1;
        count += mine && !variants->of[i].result;
    }
    return count;
}

/* One round of workers. True: none was killed, so that another round would find the same. */
static bool round_of(const struct study_request *request, const struct study_tapes *tapes,
                     const struct study_variants *variants, _Atomic size_t *next)
{
    bool whole = true;
    pid_t worker[STUDY_JOBS_MAX];
    atomic_store(next, 0);
    fflush(NULL);
    for (long i = 0; i < request->jobs; i++) {
        worker[i] = fork();
        if (worker[i] == 0) {
            work(request, tapes, variants, next);
        }
    }
    for (long i = 0; i < request->jobs; i++) {
        int status = 0;
        if (worker[i] > 0 && waitpid(worker[i], &status, 0) == worker[i] && WIFSIGNALED(status)) {
            fprintf(stderr, "leo study: a worker was killed by signal %d\n", WTERMSIG(status));
            whole = false;
        }
    }
    return whole;
}

bool study_results_make(const struct study_request *request, const struct study_tapes *tapes,
                        struct study_variants *variants)
{
    _Atomic size_t *next =
        mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED) {
        return false;
    }
    bool good = true, again = true;
    for (size_t left; good && again && (left = missing(request, variants)) > 0;) {
        again = !round_of(request, tapes, variants, next);
        good = study_results_load(request, variants);
        again = again && missing(request, variants) < left; // else it would be killed for ever
    }
    munmap(next, sizeof(*next));
    return good && missing(request, variants) == 0;
}
