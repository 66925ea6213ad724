/* SPDX-License-Identifier: Apache-2.0 */
/* leo report, leo diff, leo doctor: start their scripts (tools/toolkit/report). */
#include "leo_cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run_script(const char *name, int argc, char **argv)
{
    char exe[PATH_MAX], script[PATH_MAX + 64];
    ssize_t bytes = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    char **arguments = calloc((size_t)argc + 3, sizeof(*arguments));
    if (bytes <= 0 || !arguments) {
        fprintf(stderr, "leo %s: cannot start\n", name);
        free(arguments);
        return 1;
    }
    exe[bytes] = '\0';
    *strrchr(exe, '/') = '\0';
    snprintf(script, sizeof(script), "%s/../share/leo/report/%s.py", exe, name);
    if (access(script, R_OK) != 0) {
        snprintf(script, sizeof(script), "%s/share/leo/report/%s.py", LEO_BUILD_TOOLKIT, name);
    }
    char python[] = "python3", no_cache[] = "-B";
    arguments[0] = python;
    arguments[1] = no_cache;
    arguments[2] = script;
    memcpy(arguments + 3, argv + 1, (size_t)(argc - 1) * sizeof(*argv));
    fflush(stdout);
    execvp(arguments[0], arguments);
    fprintf(stderr, "leo %s: cannot run %s: %s\n", name, arguments[0], strerror(errno));
    free(arguments);
    return 1;
}

int leo_cmd_report(int argc, char **argv)
{
    return run_script("report", argc, argv);
}

int leo_cmd_diff(int argc, char **argv)
{
    return run_script("diff", argc, argv);
}

int leo_cmd_doctor(int argc, char **argv)
{
    return run_script("doctor", argc, argv);
}

int leo_cmd_study_page(const char *folder)
{
    char name[] = "study_page", place[PATH_MAX];
    char *arguments[] = {name, place};
    snprintf(place, sizeof(place), "%s", folder);
    return run_script("study_page", 2, arguments);
}
