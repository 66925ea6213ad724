/* SPDX-License-Identifier: Apache-2.0 */
/* leo report, leo diff, leo doctor: start their scripts (tools/toolkit/report). */
#include "../leo_cmd.h"

#include "script.h"
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run_script(const char *name, int argc, const char *const *argv)
{
    char file[64], script[PATH_MAX + 64];
    const char **arguments = calloc((size_t)argc + 3, sizeof(*arguments));
    if (!arguments) {
        fprintf(stderr, "leo %s: cannot start\n", name);
        return 1;
    }
    snprintf(file, sizeof(file), "%s.py", name);
    script_find("report", file, script, sizeof(script));
    arguments[0] = "python3";
    arguments[1] = "-B";
    arguments[2] = script;
    memcpy(arguments + 3, argv + 1, (size_t)(argc - 1) * sizeof(*argv));
    fflush(stdout);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments); // which changes none
    fprintf(stderr, "leo %s: cannot run %s: %s\n", name, arguments[0], strerror(errno));
    free((void *)arguments);
    return 1;
}

int leo_cmd_report(int argc, char **argv)
{
    return run_script("report", argc, (const char *const *)argv);
}

int leo_cmd_diff(int argc, char **argv)
{
    return run_script("diff", argc, (const char *const *)argv);
}

int leo_cmd_doctor(int argc, char **argv)
{
    return run_script("doctor", argc, (const char *const *)argv);
}

int leo_cmd_chakra(int argc, char **argv)
{
    return run_script("chakra", argc, (const char *const *)argv);
}

int leo_cmd_study_dask(const char *const *words, int count)
{
    return run_script("study_dask", count, words);
}

int leo_cmd_study_page(const char *folder)
{
    const char *arguments[] = {"study_page", folder};
    return run_script("study_page", 2, arguments);
}
