/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "study.h"

#include "../sweep_table.h"
#include <inttypes.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What cannot be built, to see what the rest would take. All change times alone, so they are exact;
 * the largest rate that a chip file may have is as good as none. */
static const struct counterfactual {
    const char *name;
    struct {
        const char *section, *key, *value;
    } set[6];
} counterfactuals[] = {
    {"HBM infinite",
     {{"gm", "hbm_read_gb_per_s", "1000000"},
      {"gm", "hbm_write_gb_per_s", "1000000"},
      {"gm", "hbm_refresh_ns", "0"},
      {"gm", "hbm_turn_bytes", "0"},
      {"gm", "hbm_run_bytes", "0"}}},
    {"launch free",
     {{"scheduler", "dispatch_ns", "0"},
      {"scheduler", "complete_ns", "0"},
      {"scheduler", "stream_gap_ns", "0"}}},
    {"flags free",
     {{"sync", "flag_set", "0"},
      {"sync", "flag_wait", "0"},
      {"sync", "barrier", "0"},
      {"sync", "cross_core_ns", "0"}}},
};
enum { COUNTERFACTUALS = sizeof(counterfactuals) / sizeof(counterfactuals[0]) };

/* Takes over `text`. */
static bool add(struct study_variants *variants, const char *kind, const char *name, char *text)
{
    struct study_variant *more =
        text ? leo_realloc(variants->of, (variants->count + 1) * sizeof(*more)) : NULL;
    if (!more) {
        free(text);
        return false;
    }
    variants->of = more;
    for (size_t i = 0; i < variants->count; i++) {
        if (strcmp(more[i].name, name) == 0) {
            fprintf(stderr, "leo study: there are two variants '%s': names must differ\n", name);
            free(text);
            return false;
        }
    }
    struct study_variant *variant = &more[variants->count];
    *variant = (struct study_variant){.name = strdup(name), .text = text, .kind = kind};
    variants->count += 1;
    return variant->name != NULL;
}

static bool add_counterfactual(struct study_variants *variants, const struct counterfactual *what,
                               const char *base)
{
    struct sweep_row row = {.name = what->name};
    struct sweep_table table = {.rows = 1, .row = &row};
    while (table.keys < sizeof(what->set) / sizeof(what->set[0]) && what->set[table.keys].key) {
        table.section[table.keys] = what->set[table.keys].section;
        table.key[table.keys] = what->set[table.keys].key;
        row.value[table.keys] = what->set[table.keys].value;
        table.keys++;
    }
    return add(variants, "counterfactual", what->name, sweep_table_apply(&table, 0, base));
}

static bool add_baseline(struct study_variants *variants, const char *name)
{
    char *text = replay_soc_text("study", name);
    char *own = text ? strdup(text) : NULL;
    leo_free(text);
    return add(variants, "baseline", name, own);
}

/* Numbers that a file may leave out (docs/soc.md). */
static bool may_be_left_out(const char *section, const char *key)
{
    static const struct {
        const char *section, *key;
    } optional[] = {
        {"soc", "told_as"},       {"cube", "cube_m"}, {"cube", "cube_n"}, {"cube", "cube_k"},
        {"vector", "ub_repeats"}, {"energy", NULL},   {"area", NULL},     {"card", NULL}};
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        if (strcmp(optional[i].section, section) == 0 &&
            (!optional[i].key || strcmp(optional[i].key, key) == 0)) {
            return true;
        }
    }
    return false;
}

struct search {
    const char *section, *key;
    bool found;
};

static void look(void *user, const struct chip_difference *difference)
{
    struct search *search = user;
    search->found = search->found || (strcmp(difference->section, search->section) == 0 &&
                                      strcmp(difference->key, search->key) == 0);
}

/* Whether the chip has the numbers of the table: a wrong name is reported before anything runs. */
static bool check_keys(const struct sweep_table *table, const char *path, const char *base)
{
    for (size_t i = 0; i < table->keys; i++) {
        const char *section = table->section[i];
        struct search search = {strncmp(section, "insn", 4) == 0 ? "insn" : section, table->key[i],
                                may_be_left_out(section, table->key[i])};
        if (!chip_texts_compare("", base, look, &search)) {
            return false;
        }
        if (!search.found) {
            fprintf(stderr, "leo study: %s:1: %s.%s is no number of the chip\n", path, section,
                    table->key[i]);
            return false;
        }
    }
    return true;
}

/* Cells are one number or, of an instruction, up to three; told_as is a name. */
static bool check_cells(const struct sweep_table *table, const char *path)
{
    for (size_t i = 0; i < table->rows; i++) {
        for (size_t k = 0; k < table->keys; k++) {
            const char *value = table->row[i].value[k];
            if (value[strspn(value, "0123456789. ")] && strcmp(table->key[k], "told_as") != 0) {
                fprintf(stderr, "leo study: %s: '%s': %s.%s is '%s': a number is wanted\n", path,
                        table->row[i].name, table->section[k], table->key[k], value);
                return false;
            }
        }
    }
    return true;
}

static bool add_table(struct study_variants *variants, const char *path, const char *base)
{
    struct sweep_table table = {0};
    bool good = sweep_table_read(&table, "study", path) && check_keys(&table, path, base) &&
                check_cells(&table, path);
    for (size_t i = 0; i < table.rows && good; i++) {
        good = add(variants, "variant", table.row[i].name, sweep_table_apply(&table, i, base));
    }
    sweep_table_finish(&table);
    return good;
}

bool study_variants_make(const struct study_request *request, const char *base,
                         struct study_variants *variants)
{
    *variants = (struct study_variants){0};
    bool good = add(variants, "base", "base", strdup(base));
    for (size_t i = 0; i < request->baselines && good; i++) {
        good = add_baseline(variants, request->baseline[i]);
    }
    for (size_t i = 0; i < COUNTERFACTUALS && good; i++) {
        good = add_counterfactual(variants, &counterfactuals[i], base);
    }
    for (size_t i = 0; i < request->card_counts && good; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%ld cards", request->cards[i]);
        good = add(variants, "cards", name, strdup(base));
        variants->of[variants->count - 1].cards = request->cards[i];
    }
    return good && (!request->vary || add_table(variants, request->vary, base));
}

/* Whether the tapes can stand for so many cards; says so if not. */
static bool check_cards(const struct study_request *request, const struct study_tapes *tapes,
                        const struct study_variant *variant)
{
    const uint32_t ranks = study_links_ranks(tapes->links);
    if (ranks == 0) {
        fprintf(stderr, "leo study: '%s': the run has no collectives: record two ranks or more\n",
                variant->name);
        return false;
    }
    if (variant->cards % ranks) {
        fprintf(stderr,
                "leo study: '%s': %u ranks were recorded, so a multiple of that is wanted\n",
                variant->name, ranks);
        return false;
    }
    return !request->topology_path ||
           study_topology_holds(&request->topology, (double)variant->cards);
}

/* Whether the command must run anew; false with a message if that is needed and not possible. */
static bool judge(const struct study_request *request, const struct study_tapes *tapes,
                  struct study_variant *variant)
{
    // What ranks do together is priced by [link] if all of them are there.
    const bool links = study_links_count(tapes->links) > 0 && study_links_whole(tapes->links);
    if (!replay_mark_compare(tapes->of[0].tape.soc_text, variant->text, links, &variant->mark)) {
        return false;
    }
    for (size_t i = 0; i < tapes->count; i++) {
        variant->mark.looks += tapes->of[i].tape.looks;
    }
    const enum chip_effect may =
        request->estimate || request->tape ? CHIP_EFFECT_PLANS : CHIP_EFFECT_TIMES;
    variant->rerun = variant->mark.effect > may;
    if (variant->rerun && request->tape) {
        fprintf(stderr,
                "leo study: '%s': a tape does not hold what these numbers change: %s; give the "
                "command instead of the tape\n",
                variant->name, variant->mark.keys);
        return false;
    }
    return true;
}

bool study_variants_judge(const struct study_request *request, const struct study_tapes *tapes,
                          struct study_variants *variants)
{
    for (size_t i = 0; i < variants->count; i++) {
        struct study_variant *variant = &variants->of[i];
        if (!judge(request, tapes, variant) ||
            (variant->cards && !check_cards(request, tapes, variant))) {
            return false;
        }
        const uint64_t how[] = {tapes->hash, (uint64_t)request->step, variant->rerun,
                                (uint64_t)variant->cards};
        variant->id = study_hash(study_hash(STUDY_HASH, how, sizeof(how)), variant->text,
                                 strlen(variant->text));
        if (variant->cards) {
            variant->id = study_hash(variant->id, &request->topology, sizeof(request->topology));
        }
    }
    return true;
}

void study_variants_finish(struct study_variants *variants)
{
    for (size_t i = 0; i < variants->count; i++) {
        free(variants->of[i].name);
        free(variants->of[i].text);
        json_decref(variants->of[i].result);
    }
    leo_free(variants->of);
    *variants = (struct study_variants){0};
}
