/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a study for the workers of a Dask scheduler (tools/toolkit/report/study_dask.py). */
#define _GNU_SOURCE
#include "../leo_cmd.h"

#include "study.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 48, VARIANTS_A_SHARE = 4, SHARES_MAX = 256, NUMBER_BYTES = 256 };

struct words {
    const char *word[WORDS];
    int count;
};

static void add(struct words *words, const char *word)
{
    words->word[words->count++] = word;
}

static void add_option(struct words *words, const char *option, const char *value)
{
    if (value) {
        add(words, option);
        add(words, value);
    }
}

static void join_cards(const struct study_request *request, char *text, size_t bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < request->card_counts && at < bytes; i++) {
        at += (size_t)snprintf(text + at, bytes - at, "%s%ld", i ? "," : "", request->cards[i]);
    }
}

/* A share prices what a tape alone can tell: the command and --estimate say what that is. */
static _Noreturn void become(const struct study_request *request, const char *tapes_path,
                             const char *chip, unsigned shares)
{
    char exe[PATH_MAX] = "", share_text[16], step[24], cards[NUMBER_BYTES] = "";
    struct words words = {0};
    if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) <= 0) {
        _exit(1);
    }
    snprintf(share_text, sizeof(share_text), "%u", shares);
    snprintf(step, sizeof(step), "%ld", request->step);
    join_cards(request, cards, sizeof(cards));
    add(&words, "study_dask");
    add(&words, request->dask);
    add(&words, exe);
    add(&words, request->out);
    add(&words, share_text);
    add(&words, tapes_path);
    add_option(&words, "--chip", chip);
    add_option(&words, "--vary", request->vary);
    add_option(&words, "--topology", request->topology_path);
    add_option(&words, "--step", request->step ? step : NULL);
    add_option(&words, "--cards", request->card_counts ? cards : NULL);
    for (size_t i = 0; i < request->baselines; i++) {
        add_option(&words, "--baseline", request->baseline[i]);
    }
    _exit(leo_cmd_study_dask(words.word, words.count));
}

static bool write_chip(const struct study_request *request, const char *text, char *path,
                       size_t bytes)
{
    snprintf(path, bytes, "%s/dask.ini", request->out);
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    good = file && fclose(file) == 0 && good;
    if (!good) {
        fprintf(stderr, "leo study: cannot write %s: %s\n", path, strerror(errno));
    }
    return good;
}

bool study_dask_run(const struct study_request *request, const char *tapes_path,
                    const struct study_variants *variants)
{
    char chip[PATH_MAX + 16];
    size_t shares = (variants->count + VARIANTS_A_SHARE - 1) / VARIANTS_A_SHARE;
    int status = 0;
    shares = shares > SHARES_MAX ? SHARES_MAX : shares;
    if (!write_chip(request, variants->of[0].text, chip, sizeof(chip))) {
        return false;
    }
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        become(request, tapes_path, chip, (unsigned)shares);
    }
    // What it says is said.
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
