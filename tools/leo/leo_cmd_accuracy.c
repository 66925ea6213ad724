/* SPDX-License-Identifier: Apache-2.0 */
/* leo accuracy FILE.csv: simulated time beside published measurements. */
#include "accuracy_class.h"
#include "leo_cmd.h"

#include <accuracy.h>
#include <ctype.h>
#include <leo/soc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: leo accuracy FILE.csv .. [--only ID,ID,..] [--within PERCENT] [--runs N]\n"
    "                    [--classes OUT.csv]\n"
    "\n"
    "Runs the workload of every row on the simulated chip the row names and prints the simulated, "
    "the published\n"
    "value and the error. The file's columns: id,soc,workload,params,metric,value,unit,source.\n"
    "Every row has a chip of its own and runs once before it is measured; warm=N and before=others "
    "among its\n"
    "params change that. A row is fitted if a number of its chip's SoC file names it, else held "
    "out;\n"
    "rows V.. may not be fitted.\n"
    "\n"
    "  --only ID,..      only these rows\n"
    "  --within PERCENT  exit code 1 if a row that ran is further off\n"
    "  --runs N          runs each row N times, each on a new chip, and tells how far apart they "
    "are\n"
    "  --classes OUT.csv writes the errors by class of operator there: what to expect of one\n"
    "\n"
    "Rows whose chip or workload is not modelled are listed as such and count as neither good nor "
    "bad.\n"
    "Exit code: 0 good, 1 a row failed to run or is out of bounds, 2 wrong use.\n";

enum { MAX_RUNS = 1000, MAX_FILES = 8 };

struct options {
    const char *path[MAX_FILES];
    unsigned paths;
    const char *classes;
    const char *only;
    double within; /**< percent, below 0 = any */
    unsigned long runs;
};

/** The last run: rows with the same soc, workload and params share it. */
struct last_run {
    struct accuracy_chip chip;
    const struct accuracy_row *row;
    struct accuracy_result result;
    leo_status status;
    char error[512];
};

static int parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.within = -1, .runs = 1};
    for (int i = 1; i < argc; i++) {
        char *end;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return -1;
        }
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            options->only = argv[++i];
        } else if (strcmp(argv[i], "--classes") == 0 && i + 1 < argc) {
            options->classes = argv[++i];
        } else if (strcmp(argv[i], "--within") == 0 && i + 1 < argc) {
            options->within = strtod(argv[++i], &end);
            if (*end || options->within < 0) {
                fprintf(stderr, "leo accuracy: --within wants a percentage, not '%s'\n", argv[i]);
                return 2;
            }
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            options->runs = strtoul(argv[++i], &end, 10);
            if (*end || options->runs < 1 || options->runs > MAX_RUNS) {
                fprintf(stderr, "leo accuracy: --runs wants 1 to %d, not '%s'\n", MAX_RUNS,
                        argv[i]);
                return 2;
            }
        } else if (argv[i][0] == '-' || options->paths == MAX_FILES) {
            fprintf(stderr, "leo accuracy: cannot use '%s'\n\n%s", argv[i], help);
            return 2;
        } else {
            options->path[options->paths++] = argv[i];
        }
    }
    if (!options->paths) {
        fprintf(stderr, "leo accuracy: name a CSV file\n\n%s", help);
        return 2;
    }
    return 0;
}

static bool is_chosen(const char *only, const char *id)
{
    size_t length = strlen(id);
    while (only) {
        if (strncmp(only, id, length) == 0 && (only[length] == ',' || only[length] == '\0')) {
            return true;
        }
        only = strchr(only, ',');
        only = only ? only + 1 : NULL;
    }
    return false;
}

static void run_row(struct last_run *last, const struct accuracy_row *row)
{
    struct accuracy_params params;
    if (last->row && strcmp(last->row->soc, row->soc) == 0 &&
        strcmp(last->row->workload, row->workload) == 0 &&
        strcmp(last->row->params, row->params) == 0) {
        return;
    }
    last->row = row;
    last->error[0] = '\0';
    // Every row has a chip of its own: the order of rows is of no consequence.
    accuracy_chip_close(&last->chip);
    last->status = accuracy_chip_open(&last->chip, row->soc);
    if (last->status != LEO_OK) {
        snprintf(last->error, sizeof(last->error), "%s", leo_rt_last_error());
        last->status = last->status == LEO_ERR_NOT_FOUND || last->status == LEO_ERR_IO
                           ? LEO_ERR_UNSUPPORTED
                           : last->status;
        return;
    }
    accuracy_params_parse(row->params, &params);
    last->status = accuracy_workload_run(&last->chip, row->workload, &params, &last->result,
                                         last->error, sizeof(last->error));
}

enum { MAX_ERRORS = 1024, MAX_CLASSES = 32 };

/** Errors of one kind of row. */
struct errors {
    unsigned ran;
    double error[MAX_ERRORS];
};

struct tally {
    unsigned failed, outside, skipped;
    struct errors fitted, held_out;
    /** By class: what to expect of an operator of that kind. */
    struct class_errors {
        const char *name;
        struct errors fitted, held_out;
    } class[MAX_CLASSES];
    unsigned classes;
    double spread; /**< largest over the runs of a row, percent */
};

static void note_error(struct errors *errors, double error)
{
    if (errors->ran < MAX_ERRORS) {
        errors->error[errors->ran] = fabs(error);
    }
    errors->ran++;
}

static void note_class(struct tally *tally, const char *name, bool fitted, double error)
{
    unsigned at = 0;
    while (at < tally->classes && strcmp(tally->class[at].name, name) != 0) {
        at++;
    }
    if (at == MAX_CLASSES) {
        return;
    }
    tally->classes += at == tally->classes;
    tally->class[at].name = name;
    note_error(fitted ? &tally->class[at].fitted : &tally->class[at].held_out, error);
}

/** Whether a number of the chip came from this row: a line of its SoC file marked [F] or [M] names
 * it. */
static bool is_fitted(const struct accuracy_row *row)
{
    const char *text = leo_isa_soc_text(row->soc);
    size_t length = strlen(row->id);
    for (const char *at = text ? strstr(text, row->id) : NULL; at; at = strstr(at + 1, row->id)) {
        const char *line = at;
        while (line > text && line[-1] != '\n') {
            line--;
        }
        bool whole = !isalnum((unsigned char)at[length]) && !isalnum((unsigned char)at[-1]);
        for (const char *mark = line; whole && mark < at; mark++) {
            if (strncmp(mark, "[F", 2) == 0 || strncmp(mark, "[M", 2) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void print_row(const struct last_run *last, const struct accuracy_row *row, double within,
                      struct tally *tally)
{
    double value;
    printf("%-5s %-12s %-14s %-16s ", row->id, row->soc, row->workload, row->metric);
    if (last->status == LEO_ERR_UNSUPPORTED) {
        printf("skipped: %s\n", last->error);
        tally->skipped++;
    } else if (last->status != LEO_OK) {
        printf("FAILED: %s\n", last->error);
        tally->failed++;
    } else if (!accuracy_metric(&last->chip, &last->result, row->metric, &value)) {
        printf("skipped: metric not modelled\n");
        tally->skipped++;
    } else if (row->id[0] == 'V' && is_fitted(row)) {
        printf(
            "FAILED: a number of the chip is fitted to it, and rows V.. are kept from fitting\n");
        tally->failed++;
    } else {
        double error = (value / row->published - 1) * 100;
        bool outside = within >= 0 && fabs(error) > within;
        bool fitted = is_fitted(row);
        printf("%12.4g %12.4g %-7s %+7.1f %%  %s%s\n", value, row->published, row->unit, error,
               fitted ? "fitted" : "held out", outside ? "  OUTSIDE" : "");
        note_error(fitted ? &tally->fitted : &tally->held_out, error);
        note_class(tally, accuracy_class(row->workload), fitted, error);
        tally->outside += outside;
    }
    fflush(stdout);
}

// Where the time of a network's step goes; once for rows that share a run.
static void print_shares(const struct last_run *last, const struct accuracy_row *row)
{
    if (last->status != LEO_OK || last->row != row) {
        return;
    }
    for (unsigned i = 0; i < last->result.shares; i++) {
        const struct accuracy_share *share = &last->result.share[i];
        printf("      %10.3f ms %5.1f %% %5u kernels  %s\n", share->us / 1e3,
               100 * share->us / last->result.kernels_us, share->kernels, share->name);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t kept_errors(const struct errors *errors)
{
    return errors->ran < MAX_ERRORS ? errors->ran : MAX_ERRORS;
}

static void sort_errors(struct errors *errors)
{
    qsort(errors->error, kept_errors(errors), sizeof(errors->error[0]), by_value);
}

static void print_errors(const char *kind, struct errors *errors)
{
    const size_t kept = kept_errors(errors);
    if (kept) {
        sort_errors(errors);
        printf("%-24s %3u rows, median error %.1f %%, worst %.1f %%\n", kind, errors->ran,
               errors->error[kept / 2], errors->error[kept - 1]);
    }
}

static void print_class(struct class_errors *class)
{
    char name[64];
    snprintf(name, sizeof(name), "%s, fitted", class->name);
    print_errors(name, &class->fitted);
    snprintf(name, sizeof(name), "%s, held out", class->name);
    print_errors(name, &class->held_out);
}

/* Runs the row again, on new chips: simulated times are the same each time, or something is wrong.
 */
static void run_again(struct last_run *last, const struct accuracy_row *row, unsigned long runs,
                      struct tally *tally)
{
    double first, value;
    if (last->status != LEO_OK ||
        !accuracy_metric(&last->chip, &last->result, row->metric, &first)) {
        return;
    }
    for (unsigned long run = 1; run < runs; run++) {
        last->row = NULL;
        run_row(last, row);
        if (last->status == LEO_OK &&
            accuracy_metric(&last->chip, &last->result, row->metric, &value)) {
            const double apart = fabs(value / first - 1) * 100;
            tally->spread = apart > tally->spread ? apart : tally->spread;
        }
    }
}

static void print_tally(struct tally *tally, unsigned long runs)
{
    print_errors("fitted", &tally->fitted);
    print_errors("held out", &tally->held_out);
    if (tally->classes > 1) {
        printf("by class:\n");
        for (unsigned i = 0; i < tally->classes; i++) {
            print_class(&tally->class[i]);
        }
    }
    if (runs > 1) {
        printf("%lu runs of each row lie at most %.3g %% apart\n", runs, tally->spread);
    }
    printf("%u rows ran; %u not modelled, %u failed\n", tally->fitted.ran + tally->held_out.ran,
           tally->skipped, tally->failed);
}

// A class: its held-out rows, or those that were fitted if there are no others.
static bool write_classes(const char *path, struct tally *tally)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "leo accuracy: cannot write %s\n", path);
        return false;
    }
    fprintf(file,
            "# Errors of simulated against published times, in percent, by class of operator: "
            "written by make accuracy-operators.\nclass,rows,of,median,worst\n");
    for (unsigned i = 0; i < tally->classes; i++) {
        struct class_errors *class = &tally->class[i];
        struct errors *errors = class->held_out.ran ? &class->held_out : &class->fitted;
        sort_errors(errors);
        const size_t kept = kept_errors(errors);
        fprintf(file, "%s,%u,%s,%.0f,%.0f\n", class->name, errors->ran,
                errors == &class->fitted ? "fitted" : "held out", errors->error[kept / 2],
                errors->error[kept - 1]);
    }
    return fclose(file) == 0;
}

/* The chosen rows of one file; how many, or -1: it cannot be read. */
static int run_file(const char *path, const struct options *options, struct tally *tally)
{
    struct accuracy_file file;
    struct last_run last = {0};
    char error[512];
    int chosen = 0;
    if (accuracy_file_read(path, &file, error, sizeof(error)) != LEO_OK) {
        fprintf(stderr, "leo accuracy: %s\n", error);
        return -1;
    }
    for (size_t i = 0; i < file.count; i++) {
        if (!options->only || is_chosen(options->only, file.row[i].id)) {
            chosen++;
            run_row(&last, &file.row[i]);
            run_again(&last, &file.row[i], options->runs, tally);
            print_row(&last, &file.row[i], options->within, tally);
            print_shares(&last, &file.row[i]);
        }
    }
    accuracy_chip_close(&last.chip);
    accuracy_file_finish(&file);
    return chosen;
}

int leo_cmd_accuracy(int argc, char **argv)
{
    struct options options;
    struct tally tally = {0};
    int use = parse(argc, argv, &options);
    if (use) {
        return use < 0 ? 0 : use;
    }
    printf("%-5s %-12s %-14s %-16s %12s %12s %-7s %9s\n", "id", "soc", "workload", "metric",
           "simulated", "published", "unit", "error");
    int chosen = 0;
    for (unsigned i = 0; i < options.paths; i++) {
        const int rows = run_file(options.path[i], &options, &tally);
        if (rows < 0) {
            return 1;
        }
        chosen += rows;
    }
    print_tally(&tally, options.runs);
    if (!chosen) {
        fprintf(stderr, "leo accuracy: no row has an id of '%s'\n",
                options.only ? options.only : "");
    }
    const bool written = !options.classes || write_classes(options.classes, &tally);
    return tally.failed || tally.outside || !chosen || !written;
}
