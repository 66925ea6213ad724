/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: leo study PROGRAM|SCRIPT.py|TAPE [--vary TABLE.csv] [options] [-- ARGUMENT...]\n"
    "Records a run once and prices it on every variant of a chip, with workers that stay, then "
    "makes a\n"
    "page: speed-ups, which unit holds the kernels up and how that moves, what an infinite HBM or "
    "free\n"
    "launches would give. A study that was stopped goes on where it was: each variant is a line "
    "of\n"
    "results.jsonl as soon as it is done.\n"
    "\n"
    "  --chip NAME|FILE      the chip that varies (default: LEO_SOC, else ascend910a; of a tape, "
    "its own)\n"
    "  --vary TABLE.csv      variants, as for leo sweep; checked before anything runs\n"
    "  --baseline NAME|FILE  another chip to stand beside, up to 8 times\n"
    "  --cards N,N...        the run on so many cards, each group of recorded ranks as often as it "
    "fits\n"
    "  --topology FILE       how they are connected (default: [link] of the chip; "
    "docs/studies.md)\n"
    "  --step N              the N-th of the steps that do the same, not the whole run: set-up "
    "and its\n"
    "                        copies are left out\n"
    "  --estimate            price variants whose numbers programs choose by as if they chose what "
    "they\n"
    "                        did (default: run the command anew for each; of a tape, an estimate)\n"
    "  --out FOLDER          of the record, the results and the page (default: NAME.study)\n"
    "  --jobs N              workers (default: processors of the host)\n"
    "  --shard I/N           this machine's share, 1/N to N/N, without a page; when all lie in one "
    "folder,\n"
    "                        the same command without --shard puts them together\n"
    "  --dask ADDRESS        of a Dask scheduler, whose workers price the variants; what must run "
    "anew runs\n"
    "                        here\n"
    "  --json                the results on standard output, for programs\n"
    "Marks: \"exact\" = what a run on that chip takes; \"re-planned\" = it was run; \"estimate\" = "
    "programs\n"
    "or processes may do something else there. SCRIPT.py runs under python3, TAPE is a recorded "
    "run\n"
    "(LEO_TAPE=FILE) or a folder of those of several processes.\n"
    "Exit code: 0 good, 1 failed or variants are missing, 2 wrong use.\n";

static bool read_number(const char *option, const char *text, long most, long *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    if (end == text || *end || *out < 1 || *out > most) {
        fprintf(stderr, "leo study: %s %s: a number from 1 to %ld is wanted\n", option, text, most);
        return false;
    }
    return true;
}

static bool read_shard(const char *text, struct study_request *request)
{
    char extra;
    const bool good = sscanf(text, "%u/%u%c", &request->shard, &request->shards, &extra) == 2 &&
                      request->shard >= 1 && request->shard <= request->shards &&
                      request->shards <= STUDY_SHARDS_MAX;
    if (!good) {
        fprintf(stderr, "leo study: --shard %s: I/N is wanted, I from 1 to N\n", text);
    }
    return good;
}

/* "8,64,1024" */
static bool read_cards(const char *text, struct study_request *request)
{
    for (const char *at = text; at;) {
        char *end;
        const long cards = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || cards < 1 || cards > STUDY_CARD_MAX ||
            request->card_counts == STUDY_CARDS_MAX) {
            fprintf(stderr,
                    "leo study: --cards %s: numbers from 1 to %d with commas between are wanted, "
                    "at most %d of them\n",
                    text, STUDY_CARD_MAX, STUDY_CARDS_MAX);
            return false;
        }
        request->cards[request->card_counts++] = cards;
        at = *end ? end + 1 : NULL;
    }
    return true;
}

static bool add_baseline(const char *name, struct study_request *request)
{
    if (request->baselines == STUDY_BASELINES_MAX) {
        fprintf(stderr, "leo study: --baseline: at most %d\n", STUDY_BASELINES_MAX);
        return false;
    }
    request->baseline[request->baselines++] = name;
    return true;
}

/* An option with a value. */
static bool read_valued(const char *option, const char *value, struct study_request *request)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"--chip", &request->chip},
                 {"--vary", &request->vary},
                 {"--out", &request->out},
                 {"--dask", &request->dask}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(option, texts[i].name) == 0) {
            *texts[i].text = value;
            return true;
        }
    }
    if (strcmp(option, "--cards") == 0) {
        return read_cards(value, request);
    }
    if (strcmp(option, "--topology") == 0) {
        request->topology_path = value;
        return study_topology_read(value, &request->topology);
    }
    if (strcmp(option, "--baseline") == 0) {
        return add_baseline(value, request);
    }
    if (strcmp(option, "--step") == 0) {
        return read_number(option, value, 1000000, &request->step);
    }
    if (strcmp(option, "--jobs") == 0) {
        return read_number(option, value, STUDY_JOBS_MAX, &request->jobs);
    }
    if (strcmp(option, "--shard") == 0) {
        return read_shard(value, request);
    }
    fprintf(stderr, "leo study: there is no option %s\n", option);
    return false;
}

/* What is studied: a tape or what runs. */
static bool set_subject(char *subject, char **rest, struct study_request *request)
{
    size_t count = 0;
    const char *dot = strrchr(subject, '.');
    const bool is_script = dot && strcmp(dot, ".py") == 0;
    if (replay_is_tape(subject)) {
        request->tape = subject;
        if (*rest) {
            fprintf(stderr, "leo study: a tape takes no arguments\n");
        }
        return !*rest;
    }
    while (rest[count]) {
        count++;
    }
    request->command = leo_calloc(count + 3, sizeof(*request->command));
    if (!request->command) {
        return false;
    }
    char **at = request->command;
    if (is_script) {
        *at++ = strcpy(request->python, "python3");
    }
    *at++ = subject;
    memcpy(at, rest, count * sizeof(*at));
    return true;
}

int study_options(int argc, char **argv, struct study_request *request)
{
    char *subject = NULL;
    int i = 1;
    *request = (struct study_request){.jobs = sysconf(_SC_NPROCESSORS_ONLN)};
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return -1;
        }
        if (strcmp(argv[i], "--estimate") == 0) {
            request->estimate = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            request->json = true;
        } else if (argv[i][0] != '-' && !subject) {
            subject = argv[i];
        } else if (i + 1 == argc) {
            fprintf(stderr, "leo study: %s: not known, or its value is missing\n", argv[i]);
            return 2;
        } else if (!read_valued(argv[i], argv[i + 1], request)) {
            return 2;
        } else {
            i++;
        }
    }
    if (!subject) {
        fprintf(stderr, "leo study: name a program, a script or a tape\n\n%s", help);
        return 2;
    }
    request->jobs = request->jobs > STUDY_JOBS_MAX ? STUDY_JOBS_MAX : request->jobs;
    return set_subject(subject, argv + (i < argc ? i + 1 : argc), request) ? 0 : 2;
}
