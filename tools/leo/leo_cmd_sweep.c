/* SPDX-License-Identifier: Apache-2.0 */
/* leo sweep: one command on many variants of a chip, several at a time. */
#define _GNU_SOURCE
#include "leo_cmd.h"

#include "file.h"
#include "sweep_table.h"
#include <errno.h>
#include <leo/alloc.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: leo sweep TABLE.csv [options] -- COMMAND [ARGUMENT...]\n"
    "Runs the command once for each row of the table, with LEO_SOC naming a chip that has the "
    "row's\n"
    "numbers, and tells the simulated times beside each other.\n"
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
    "  --match TEXT      the time is the first number behind TEXT in what the command prints\n"
    "                    (default: the number before \" us simulated\", as leo run prints it)\n"
    "\n"
    "The last match counts. The first row is what the others are compared with.\n"
    "Exit code: 0 good, 1 a run failed or printed no time, 2 wrong use.\n";

enum { JOBS_MAX = 256, OUTPUT_MAX = 1 << 16 };

struct request {
    const char *table, *base, *match;
    long jobs;
    char **command;
};

/* One run of the command. */
struct run {
    FILE *output;
    pid_t pid;
    int status;
    bool good;
    double us;
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

/* The text of the chip that varies; leo_free() it. */
static char *read_base(const char *name)
{
    const char *text = leo_isa_soc_text(name);
    if (text) {
        char *copy = leo_alloc(strlen(text) + 1);
        return copy ? strcpy(copy, text) : NULL;
    }
    struct file_bytes file;
    if (!file_read("sweep", name, &file)) {
        return NULL;
    }
    char *copy = leo_alloc(file.bytes + 1);
    if (copy) {
        memcpy(copy, file.data, file.bytes);
        copy[file.bytes] = '\0';
    }
    file_finish(&file);
    return copy;
}

static bool start(struct run *run, const struct request *request, const char *soc)
{
    run->output = tmpfile();
    if (!run->output) {
        fprintf(stderr, "leo sweep: no temporary file: %s\n", strerror(errno));
        return false;
    }
    fflush(stdout);
    run->pid = fork();
    if (run->pid == 0) {
        setenv("LEO_SOC", soc, 1);
        dup2(fileno(run->output), STDOUT_FILENO);
        dup2(fileno(run->output), STDERR_FILENO);
        execvp(request->command[0], request->command);
        fprintf(stderr, "leo sweep: cannot start %s: %s\n", request->command[0], strerror(errno));
        _exit(127);
    }
    return run->pid > 0;
}

/* The last time in what a run printed. */
static bool find_time(const char *text, const char *match, double *us)
{
    static const char before[] = " us simulated";
    bool found = false;
    for (const char *at = text; (at = strstr(at, match ? match : before)); at++) {
        const char *number = at + (match ? strlen(match) : 0);
        if (match) {
            number += strcspn(number, "0123456789");
        } else {
            while (number > text && strchr("0123456789.", number[-1])) {
                number--;
            }
        }
        char *end;
        double value = strtod(number, &end);
        if (end != number) {
            *us = value;
            found = true;
        }
    }
    return found;
}

static void finish(struct run *run, const struct request *request, const char *name)
{
    char *text = leo_calloc(1, OUTPUT_MAX + 1);
    if (text) {
        rewind(run->output);
        (void)!fread(text, 1, OUTPUT_MAX, run->output);
        bool failed = !WIFEXITED(run->status) || WEXITSTATUS(run->status) != 0;
        run->good = !failed && find_time(text, request->match, &run->us);
        if (!run->good) {
            fprintf(stderr, "leo sweep: %s: the command %s:\n%s\n", name,
                    failed ? "failed" : "printed no time", text);
        }
    }
    leo_free(text);
    fclose(run->output);
    run->output = NULL;
}

/* Waits for any run under way. */
static void reap(struct run *runs, size_t count, const struct request *request,
                 const struct sweep_table *table)
{
    int status;
    pid_t pid = wait(&status);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].pid == pid && runs[i].output) {
            runs[i].status = status;
            finish(&runs[i], request, table->row[i].name);
        }
    }
}

/* Writes the chips and runs the command on each. False: some could not be started. */
static bool run_all(const struct request *request, const struct sweep_table *table,
                    const char *base, const char *folder, struct run *runs)
{
    long under_way = 0;
    bool good = true;
    for (size_t i = 0; i < table->rows && good; i++) {
        char path[256], *text = sweep_table_apply(table, i, base);
        snprintf(path, sizeof(path), "%s/%zu.ini", folder, i);
        good = text && file_write("sweep", path, text, strlen(text));
        free(text);
        if (good && under_way == request->jobs) {
            reap(runs, i, request, table);
            under_way--;
        }
        good = good && start(&runs[i], request, path);
        under_way += good;
    }
    while (under_way-- > 0) {
        reap(runs, table->rows, request, table);
    }
    return good;
}

static bool print_all(const struct sweep_table *table, const struct run *runs)
{
    bool good = true;
    int width = 4;
    for (size_t i = 0; i < table->rows; i++) {
        int length = (int)strlen(table->row[i].name);
        width = length > width ? length : width;
    }
    printf("%-*s  %14s  %8s\n", width, "name", "simulated us", "change");
    for (size_t i = 0; i < table->rows; i++) {
        good = good && runs[i].good;
        if (!runs[i].good) {
            printf("%-*s  %14s\n", width, table->row[i].name, "failed");
        } else if (runs[0].good && runs[0].us > 0) {
            printf("%-*s  %14.3f  %+7.1f%%\n", width, table->row[i].name, runs[i].us,
                   100 * (runs[i].us / runs[0].us - 1));
        } else {
            printf("%-*s  %14.3f\n", width, table->row[i].name, runs[i].us);
        }
    }
    return good;
}

static void remove_folder(const char *folder, size_t files)
{
    for (size_t i = 0; i < files; i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%zu.ini", folder, i);
        (void)unlink(path);
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
    char folder[] = "/tmp/leo-sweep-XXXXXX", *base = read_base(request.base);
    struct run *runs = NULL;
    bool good = base && sweep_table_read(&table, request.table);
    if (good && !mkdtemp(folder)) {
        fprintf(stderr, "leo sweep: no temporary folder: %s\n", strerror(errno));
        good = false;
    }
    if (good) {
        runs = leo_calloc(table.rows, sizeof(*runs));
        good = runs && run_all(&request, &table, base, folder, runs);
        good = good && print_all(&table, runs);
        remove_folder(folder, table.rows);
    }
    leo_free(runs);
    sweep_table_finish(&table);
    leo_free(base);
    return good ? 0 : 1;
}
