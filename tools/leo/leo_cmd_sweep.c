/* SPDX-License-Identifier: Apache-2.0 */
/* leo sweep: one command on many variants of a chip, priced or run, several at a time. */
#define _GNU_SOURCE
#include "leo_cmd.h"

#include "chip_keys.h"
#include "file.h"
#include "replay_mark.h"
#include "replay_tape.h"
#include "sweep_table.h"
#include <errno.h>
#include <leo/alloc.h>
#include <leo/isa_enums.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: leo sweep TABLE.csv [options] -- COMMAND [ARGUMENT...]\n"
    "Tells how long the command would take on variants of a chip: one run is recorded and priced "
    "for each\n"
    "row of the table whose numbers change times alone (marked \"exact\"). Rows with numbers by "
    "which\n"
    "programs choose what they do, or that a record lacks, are run anew with LEO_SOC naming a "
    "chip\n"
    "that has them (\"re-planned\").\n"
    "\n"
    "The table's first line names numbers of the chip's file as section.key (isa/soc/*.ini), the "
    "first\n"
    "column is the variant's name; an empty cell leaves the number as it is:\n"
    "    name,memory.l2_bytes,soc.clock_khz\n"
    "    as it is,,\n"
    "    half L2,100663296,\n"
    "\n"
    "  --base NAME|FILE  the chip that varies (default: LEO_SOC, else ascend910a)\n"
    "  --jobs N          runs at a time (default: processors of the host)\n"
    "  --estimate        price rows whose numbers change choices too, as if programs chose what "
    "they did:\n"
    "                    quicker, marked \"estimate\"\n"
    "  --match TEXT      run the command for every row; the time is the first number behind the "
    "last\n"
    "                    TEXT in what it prints\n"
    "\n"
    "Told are the time from the first task's start to the last one's end, and the sum over "
    "kernels. The\n"
    "first row is what the others are compared with.\n"
    "Exit code: 0 good, 1 a run failed or told no time, 2 wrong use.\n";

enum { JOBS_MAX = 256, OUTPUT_MAX = 1 << 16 };

struct request {
    const char *table, *base, *match;
    long jobs;
    bool estimate; /**< price what can be priced, whatever programs would choose */
    char **command;
};

/* One run of the command. */
struct run {
    FILE *output;
    pid_t pid;
    int status;
    bool good, priced; /**< priced: not run */
    double us, kernels_us;
};

static bool read_options(int argc, char **argv, struct request *request)
{
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (argv[i][0] != '-' && !request->table) {
            request->table = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--estimate") == 0) {
            request->estimate = true;
            continue;
        }
        if (!value) {
            fprintf(stderr, "leo sweep: %s: not known, or its value is missing\n", argv[i]);
            return false;
        }
        if (strcmp(argv[i], "--base") == 0) {
            request->base = value;
        } else if (strcmp(argv[i], "--match") == 0) {
            request->match = value;
        } else if (strcmp(argv[i], "--jobs") == 0) {
            char *end;
            request->jobs = strtol(value, &end, 10);
            if (*end || request->jobs < 1 || request->jobs > JOBS_MAX) {
                fprintf(stderr, "leo sweep: --jobs %s: a number from 1 to %d\n", value, JOBS_MAX);
                return false;
            }
        } else {
            fprintf(stderr, "leo sweep: there is no option %s\n", argv[i]);
            return false;
        }
        i++;
    }
    request->command = argv + i + 1;
    if (!request->table || i + 1 >= argc) {
        fprintf(stderr, "leo sweep: a table and, behind --, a command are needed\n\n%s", help);
        return false;
    }
    return true;
}

/* What the numbers of a row change, the one that asks for most. */
static enum chip_effect effect_of(const struct sweep_table *table, size_t row)
{
    enum chip_effect most = CHIP_EFFECT_NONE;
    for (size_t i = 0; i < table->keys; i++) {
        const enum chip_effect one = chip_key_effect(table->section[i], table->key[i]);
        if (table->row[row].value[i][0] && one > most) {
            most = one;
        }
    }
    return most;
}

static bool is_priced(const struct request *request, const struct sweep_table *table, size_t row)
{
    return effect_of(table, row) <= (request->estimate ? CHIP_EFFECT_PLANS : CHIP_EFFECT_TIMES);
}

/* How a row's time came about. */
static const char *mark_of(const struct sweep_table *table, size_t row, bool priced)
{
    if (!priced) {
        return "re-planned";
    }
    return effect_of(table, row) >= CHIP_EFFECT_PLANS ? "estimate" : "exact";
}

/* ---- one run ---- */

static void add_kernel(void *user, const struct leo_sim_replayed *task)
{
    double *us = user;
    if (task->record->opcode == LEO_SQE_OP_KERNEL) {
        *us += (double)(task->end_ps - task->start_ps) / 1e6;
    }
}

/* Prices a tape; the times go to `out` as text. */
static bool price(const char *path, const char *soc, FILE *out)
{
    struct replay_tape tape;
    struct leo_sim_replay_result result;
    double kernels_us = 0;
    char *text = replay_soc_text("sweep", soc);
    bool good = text && replay_tape_open("sweep", path, &tape);
    if (good) {
        good = replay_tape_run("sweep", &tape, text, soc, add_kernel, &kernels_us, &result);
        replay_tape_close(&tape);
    }
    leo_free(text);
    if (good) {
        fprintf(out, "%.17g %.17g\n", (double)result.ps / 1e6, kernels_us);
    }
    return good && fflush(out) == 0;
}

/* In the child: the command on a chip, recorded if `tape` is not NULL. */
static _Noreturn void run_command(const struct request *request, const char *soc, const char *tape)
{
    setenv("LEO_SOC", soc, 1);
    if (tape) {
        setenv("LEO_TAPE", tape, 1);
    }
    execvp(request->command[0], request->command);
    fprintf(stderr, "leo sweep: cannot start %s: %s\n", request->command[0], strerror(errno));
    _exit(127);
}

/* A child that runs the command (`priced` NULL) or prices a tape. */
static bool start(struct run *run, const struct request *request, const char *soc, const char *tape,
                  const char *priced)
{
    run->output = tmpfile();
    if (!run->output) {
        fprintf(stderr, "leo sweep: no temporary file: %s\n", strerror(errno));
        return false;
    }
    fflush(stdout);
    run->priced = priced != NULL;
    run->pid = fork();
    if (run->pid == 0) {
        dup2(fileno(run->output), STDOUT_FILENO);
        dup2(fileno(run->output), STDERR_FILENO);
        if (priced) {
            _exit(price(priced, soc, stdout) ? 0 : 1);
        }
        run_command(request, soc, tape);
    }
    return run->pid > 0;
}

/* The first number behind the last match. */
static bool find_time(const char *text, const char *match, double *us)
{
    bool found = false;
    for (const char *at = text; (at = strstr(at, match)); at++) {
        const char *number = at + strlen(match);
        number += strcspn(number, "0123456789");
        char *end;
        double value = strtod(number, &end);
        if (end != number) {
            *us = value;
            found = true;
        }
    }
    return found;
}

/* Whether a tape was recorded on this chip: a command may choose another than LEO_SOC names. */
static bool is_of_chip(const char *path, const char *soc)
{
    struct replay_tape tape;
    struct replay_mark mark;
    char *text = replay_soc_text("sweep", soc);
    bool good = text && replay_tape_open("sweep", path, &tape);
    if (good) {
        good = replay_mark_compare(tape.soc_text, text, false, &mark) &&
               mark.effect == CHIP_EFFECT_NONE;
        replay_tape_close(&tape);
    }
    leo_free(text);
    return good;
}

/* The times of a run that was recorded: those it was recorded with. */
static bool take_tape(struct run *run, const char *soc, const char *tape)
{
    FILE *times = access(tape, R_OK) == 0 ? tmpfile() : NULL;
    bool good = times && is_of_chip(tape, soc) && price(tape, soc, times);
    if (good) {
        rewind(times);
        good = fscanf(times, "%lf %lf", &run->us, &run->kernels_us) == 2;
    }
    if (times) {
        fclose(times);
    }
    return good;
}

static void finish(struct run *run, const struct request *request, const char *name,
                   const char *soc, const char *tape)
{
    char *text = leo_calloc(1, OUTPUT_MAX + 1);
    if (text) {
        rewind(run->output);
        (void)!fread(text, 1, OUTPUT_MAX, run->output);
        bool failed = !WIFEXITED(run->status) || WEXITSTATUS(run->status) != 0;
        run->good =
            !failed && (request->match ? find_time(text, request->match, &run->us)
                        : run->priced  ? sscanf(text, "%lf %lf", &run->us, &run->kernels_us) == 2
                                       : take_tape(run, soc, tape));
        if (!run->good) {
            fprintf(stderr, "leo sweep: %s: the command %s:\n%s\n", name,
                    failed           ? "failed"
                    : request->match ? "printed no time"
                                     : "ran no task on the chip that LEO_SOC names",
                    text);
        }
    }
    leo_free(text);
    fclose(run->output);
    run->output = NULL;
}

/* ---- all of them ---- */

/* Where a variant's chip and tape lie; the tape of the run that is priced is number `rows`. */
struct paths {
    char soc[256], tape[256];
};

static struct paths paths_of(const char *folder, size_t number)
{
    struct paths paths;
    snprintf(paths.soc, sizeof(paths.soc), "%s/%zu.ini", folder, number);
    snprintf(paths.tape, sizeof(paths.tape), "%s/%zu.tape", folder, number);
    return paths;
}

/* Waits for any run under way. */
static void reap(struct run *runs, size_t count, const struct request *request,
                 const struct sweep_table *table, const char *folder)
{
    int status;
    pid_t pid = wait(&status);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].pid == pid && runs[i].output) {
            const struct paths paths = paths_of(folder, i);
            runs[i].status = status;
            finish(&runs[i], request, table->row[i].name, paths.soc, paths.tape);
        }
    }
}

/* Records the run that is priced, if any row wants it. */
static bool record(const struct request *request, const struct sweep_table *table, const char *base,
                   const char *folder)
{
    const struct paths paths = paths_of(folder, table->rows);
    struct run run = {0};
    bool wanted = false;
    for (size_t i = 0; i < table->rows && !request->match; i++) {
        wanted = wanted || is_priced(request, table, i);
    }
    if (!wanted) {
        return true;
    }
    if (!file_write("sweep", paths.soc, base, strlen(base)) ||
        !start(&run, request, paths.soc, paths.tape, NULL)) {
        return false;
    }
    (void)waitpid(run.pid, &run.status, 0);
    finish(&run, request, "the recorded run", paths.soc, paths.tape);
    return run.good;
}

/* Writes the chips and runs the command on each. False: some could not be started. */
static bool run_all(const struct request *request, const struct sweep_table *table,
                    const char *base, const char *folder, struct run *runs)
{
    const struct paths recorded = paths_of(folder, table->rows);
    long under_way = 0;
    bool good = record(request, table, base, folder);
    for (size_t i = 0; i < table->rows && good; i++) {
        const struct paths paths = paths_of(folder, i);
        char *text = sweep_table_apply(table, i, base);
        good = text && file_write("sweep", paths.soc, text, strlen(text));
        free(text);
        if (good && under_way == request->jobs) {
            reap(runs, i, request, table, folder);
            under_way--;
        }
        const bool priced = !request->match && is_priced(request, table, i);
        good = good && start(&runs[i], request, paths.soc, request->match ? NULL : paths.tape,
                             priced ? recorded.tape : NULL);
        under_way += good;
    }
    while (under_way-- > 0) {
        reap(runs, table->rows, request, table, folder);
    }
    return good;
}

static void print_time(double us, double first)
{
    printf("  %14.3f", us);
    if (first > 0) {
        printf("  %+7.1f%%", 100 * (us / first - 1));
    }
}

static bool print_all(const struct request *request, const struct sweep_table *table,
                      const struct run *runs)
{
    bool good = true;
    int width = 4;
    for (size_t i = 0; i < table->rows; i++) {
        int length = (int)strlen(table->row[i].name);
        width = length > width ? length : width;
    }
    printf("%-*s  %14s  %8s", width, "name", "simulated us", "change");
    if (!request->match) {
        printf("  %14s  %8s", "kernels us", "change");
    }
    printf("\n");
    for (size_t i = 0; i < table->rows; i++) {
        good = good && runs[i].good;
        printf("%-*s", width, table->row[i].name);
        if (!runs[i].good) {
            printf("  %14s\n", "failed");
            continue;
        }
        print_time(runs[i].us, runs[0].good ? runs[0].us : 0);
        if (!request->match) {
            print_time(runs[i].kernels_us, runs[0].good ? runs[0].kernels_us : 0);
        }
        printf("  %s\n", mark_of(table, i, runs[i].priced));
    }
    return good;
}

static void remove_folder(const char *folder, size_t files)
{
    for (size_t i = 0; i <= files; i++) {
        const struct paths paths = paths_of(folder, i);
        (void)unlink(paths.soc);
        (void)unlink(paths.tape);
    }
    (void)rmdir(folder);
}

int leo_cmd_sweep(int argc, char **argv)
{
    const char *soc = getenv("LEO_SOC");
    struct request request = {.base = soc && *soc ? soc : "ascend910a",
                              .jobs = sysconf(_SC_NPROCESSORS_ONLN)};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("%s", help);
        return 0;
    }
    if (!read_options(argc, argv, &request)) {
        return 2;
    }
    struct sweep_table table = {0};
    char folder[] = "/tmp/leo-sweep-XXXXXX", *base = replay_soc_text("sweep", request.base);
    struct run *runs = NULL;
    bool good = base && sweep_table_read(&table, "sweep", request.table);
    if (good && !mkdtemp(folder)) {
        fprintf(stderr, "leo sweep: no temporary folder: %s\n", strerror(errno));
        good = false;
    }
    if (good) {
        runs = leo_calloc(table.rows, sizeof(*runs));
        good = runs && run_all(&request, &table, base, folder, runs);
        good = good && print_all(&request, &table, runs);
        remove_folder(folder, table.rows);
    }
    leo_free(runs);
    sweep_table_finish(&table);
    leo_free(base);
    return good ? 0 : 1;
}
