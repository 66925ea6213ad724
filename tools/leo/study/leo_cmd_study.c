/* SPDX-License-Identifier: Apache-2.0 */
/* leo study: records, prices, tells. */
#define _GNU_SOURCE
#include "../leo_cmd.h"

#include "study.h"
#include <leo/alloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = PATH_MAX + 64 };

/* ---- the record ---- */

/* What makes a record the one of this study: the command, the folder it runs in, the chip. */
static char *describe(const struct study_request *request, const char *base)
{
    char *text = NULL, folder[PATH_MAX] = "";
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out || !getcwd(folder, sizeof(folder))) {
        return NULL;
    }
    fprintf(out, "%s\n", folder);
    for (char **word = request->command; *word; word++) {
        fprintf(out, "%s\n", *word);
    }
    fputs(base, out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* 1: the file has this text, 0: there is none, -1: it has another. */
static int compare_file(const char *path, const char *text)
{
    const size_t length = strlen(text);
    char *found = leo_calloc(1, length + 2);
    FILE *file = fopen(path, "r");
    const size_t bytes = file && found ? fread(found, 1, length + 1, file) : 0;
    const int same = !file ? 0 : bytes == length && memcmp(found, text, length) == 0 ? 1 : -1;
    if (file) {
        fclose(file);
    }
    leo_free(found);
    return same;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    good = file && fclose(file) == 0 && good;
    if (!good) {
        fprintf(stderr, "leo study: cannot write %s\n", path);
    }
    return good;
}

/* The mark that the record is whole is written last. */
static bool record_now(const struct study_request *request, const char *base, const char *folder,
                       const char *tapes, const char *mark, const char *text)
{
    char soc[PATH_BYTES + 32], output[PATH_BYTES + 32];
    snprintf(soc, sizeof(soc), "%s/chip.ini", folder);
    snprintf(output, sizeof(output), "%s/output", folder);
    study_folder_remove(folder); // half a record
    return study_folder(folder) && study_folder(tapes) && write_text(soc, base) &&
           study_run_command(request, soc, tapes, output) && write_text(mark, text);
}

static bool record(const struct study_request *request, const char *base, const char *folder,
                   const char *tapes)
{
    char mark[PATH_BYTES + 32];
    snprintf(mark, sizeof(mark), "%s/command", folder);
    char *text = describe(request, base);
    const int same = text ? compare_file(mark, text) : -1;
    bool good = same == 1;
    if (text && same < 0) {
        fprintf(stderr,
                "leo study: %s holds the record of another command or chip: name another --out, or "
                "remove it\n",
                folder);
    }
    if (text && same == 0) {
        good = record_now(request, base, folder, tapes, mark, text);
    }
    free(text);
    return good;
}

/* ---- the answer ---- */

static void add_change(void *user, const struct chip_difference *change)
{
    json_array_append_new(user,
                          json_pack("{s:s++, s:s, s:s}", "key", change->section, ".", change->key,
                                    "from", change->old_value, "to", change->new_value));
}

/* The numbers in which a variant is not the base. */
static json_t *changes_of(const struct study_variants *variants, size_t index)
{
    json_t *list = json_array();
    (void)chip_texts_compare(variants->of[0].text, variants->of[index].text, add_change, list);
    return list;
}

static json_t *answer(const struct study_tapes *tapes, const struct study_request *request,
                      const struct study_variants *variants)
{
    json_t *list = json_array();
    for (size_t i = 0; i < variants->count; i++) {
        json_t *one = json_copy(variants->of[i].result);
        json_object_set_new(one, "kind", json_string(variants->of[i].kind));
        json_object_set_new(one, "changes", changes_of(variants, i));
        json_array_append_new(list, one);
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "soc", tapes->of[0].tape.soc,
                     "soc_text", variants->of[0].text, "processes", (json_int_t)tapes->count,
                     "step", (json_int_t)request->step, "steps", (json_int_t)tapes->of[0].steps,
                     "step_kernels", (json_int_t)tapes->of[0].step_tasks, "variants", list);
}

static double us_of(const json_t *result, const char *key)
{
    return (double)json_integer_value(json_object_get(result, key)) / 1e6;
}

static void print_table(const struct study_tapes *tapes, const struct study_variants *variants)
{
    const double base = us_of(variants->of[0].result, "ps");
    if (tapes->of[0].steps) {
        printf("one of %llu like steps of %llu kernels\n", (unsigned long long)tapes->of[0].steps,
               (unsigned long long)tapes->of[0].step_tasks);
    }
    printf("%-28s %14s %9s %14s  %s\n", "name", "simulated us", "speed-up", "kernels us", "mark");
    for (size_t i = 0; i < variants->count; i++) {
        const json_t *result = variants->of[i].result;
        const double us = us_of(result, "ps");
        printf("%-28s %14.3f %9.3f %14.3f  %s\n", variants->of[i].name, us, us > 0 ? base / us : 0,
               us_of(result, "kernels_ps"), json_string_value(json_object_get(result, "mark")));
    }
}

static bool tell(const struct study_request *request, const struct study_tapes *tapes,
                 const struct study_variants *variants)
{
    char path[PATH_BYTES + 32];
    json_t *all = answer(tapes, request, variants);
    snprintf(path, sizeof(path), "%s/study.json", request->out);
    bool good = all && json_dump_file(all, path, JSON_INDENT(1) | JSON_SORT_KEYS) == 0;
    if (!good) {
        fprintf(stderr, "leo study: cannot write %s\n", path);
    } else if (request->json) {
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_SORT_KEYS);
        putchar('\n');
    } else {
        print_table(tapes, variants);
    }
    json_decref(all);
    return good;
}

/* ---- all of it ---- */

/* Prices and tells; the record is there. */
static int study(const struct study_request *request, const char *tapes_path,
                 struct study_variants *variants)
{
    struct study_tapes tapes = {0};
    bool good =
        study_tapes_open(tapes_path, request->step, &tapes) &&
        (request->tape || study_tapes_are_of(&tapes, variants->of[0].text, variants->of[0].name)) &&
        study_tapes_keep(&tapes) && study_variants_judge(request, &tapes, variants) &&
        (!request->dask || study_dask_run(request, tapes_path, variants)) &&
        study_results_load(request, variants) && study_results_make(request, &tapes, variants);
    if (good && request->shards > 1) {
        printf("share %u of %u is done\n", request->shard, request->shards);
    }
    const bool whole = good && request->shards < 2;
    good = good && (!whole || tell(request, &tapes, variants));
    study_tapes_close(&tapes);
    return !good ? 1 : whole && !request->json ? leo_cmd_study_page(request->out) : 0;
}

static char *base_text(const struct study_request *request)
{
    const char *soc = request->chip ? request->chip : getenv("LEO_SOC");
    if (!request->tape || request->chip) {
        return replay_soc_text("study", soc && *soc ? soc : "ascend910a");
    }
    struct study_tapes tapes = {0};
    char *text = NULL;
    if (study_tapes_open(request->tape, 0, &tapes)) {
        const size_t bytes = strlen(tapes.of[0].tape.soc_text) + 1;
        text = leo_alloc(bytes);
        if (text) {
            memcpy(text, tapes.of[0].tape.soc_text, bytes);
        }
    }
    study_tapes_close(&tapes);
    return text;
}

/* The folder, made and whole: commands may run elsewhere. */
static bool set_out(struct study_request *request, char *path)
{
    char name[PATH_BYTES];
    const char *of = request->tape ? request->tape : request->command[request->python[0] ? 1 : 0];
    snprintf(name, sizeof(name), "%s.study", of);
    const char *wanted = request->out ? request->out : name;
    if (!study_folder(wanted) || !realpath(wanted, path)) {
        return false;
    }
    request->out = path;
    return true;
}

int leo_cmd_study(int argc, char **argv)
{
    struct study_request request;
    struct study_variants variants = {0};
    char out[PATH_MAX], folder[PATH_BYTES], tapes[PATH_BYTES + 32];
    int code = study_options(argc, argv, &request);
    if (code != 0) {
        leo_free(request.command);
        return code < 0 ? 0 : code;
    }
    char *base = base_text(&request);
    bool good = base && study_variants_make(&request, base, &variants) && set_out(&request, out);
    if (good) {
        snprintf(folder, sizeof(folder), "%s/record", request.out);
        snprintf(tapes, sizeof(tapes), "%s/tapes", folder);
        good = request.tape || record(&request, base, folder, tapes);
    }
    code = good ? study(&request, request.tape ? request.tape : tapes, &variants) : 1;
    study_variants_finish(&variants);
    leo_free(request.command);
    leo_free(base);
    return code;
}
