/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void scratch_init(struct scratch *scratch)
{
    strcpy(scratch->folder, "/tmp/leo-test-XXXXXX");
    if (!mkdtemp(scratch->folder)) {
        abort();
    }
}

void scratch_finish(struct scratch *scratch)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", scratch->folder);
    if (system(command) != 0) {
        fprintf(stderr, "%s is left behind\n", scratch->folder);
    }
}

const char *scratch_path(const struct scratch *scratch, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", scratch->folder, name);
    return path;
}

void scratch_write(const struct scratch *scratch, const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(scratch, name), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        abort();
    }
}

void scratch_read(const struct scratch *scratch, const char *name, char *text, size_t bytes)
{
    FILE *file = fopen(scratch_path(scratch, name), "r");
    size_t got = file ? fread(text, 1, bytes - 1, file) : 0;
    text[got] = '\0';
    if (file) {
        fclose(file);
    }
}

int scratch_run(const struct scratch *scratch, char *text, size_t bytes, const char *format, ...)
{
    char command[2048];
    int used = snprintf(command, sizeof(command), "cd '%s' && exec 2>&1; ", scratch->folder);
    va_list list;
    va_start(list, format);
    vsnprintf(command + used, sizeof(command) - (size_t)used, format, list);
    va_end(list);
    FILE *out = popen(command, "r");
    if (!out) {
        abort();
    }
    size_t got = 0;
    char rest[256];
    while (got + 1 < bytes && !feof(out)) {
        got += fread(text + got, 1, bytes - 1 - got, out);
    }
    text[got] = '\0';
    while (fread(rest, 1, sizeof(rest), out) > 0) {
    }
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
