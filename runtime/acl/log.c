/* SPDX-License-Identifier: Apache-2.0 */
/* The AscendCL log: level from ASCEND_GLOBAL_LOG_LEVEL, to standard output or to a file a process.
 */
#include "acl_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ACL_LOG_LINE_BYTES 1024

// Level and target are read at every line: programs set them at run time, and lines are rare.
static int level_limit(void)
{
    const char *text = getenv("ASCEND_GLOBAL_LOG_LEVEL");
    if (text && text[0] >= '0' && text[0] <= '4' && !text[1]) {
        return text[0] - '0';
    }
    return ACL_ERROR;
}

static bool to_stdout(void)
{
    const char *text = getenv("ASCEND_LOG_PRINT_TO_STDOUT");
    if (!text) {
        text = getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
    }
    return text && strcmp(text, "1") == 0;
}

static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        bool good = mkdir(path, 0750) == 0 || errno == EEXIST;
        *slash = '/';
        if (!good) {
            return false;
        }
    }
    return true;
}

static FILE *open_file(void)
{
    char path[1024];
    const char *base = getenv("ASCEND_PROCESS_LOG_PATH");
    const char *home = getenv("HOME");
    int used;
    if (base) {
        used = snprintf(path, sizeof(path), "%s/plog/plog-%d.log", base, (int)getpid());
    } else if (home) {
        used = snprintf(path, sizeof(path), "%s/ascend/log/debug/plog/plog-%d.log", home,
                        (int)getpid());
    } else {
        return NULL;
    }
    if (used < 0 || (size_t)used >= sizeof(path) || !make_folders(path)) {
        return NULL;
    }
    return fopen(path, "ae");
}

void acl_log_line(int level, const char *func, const char *file, uint32_t line, const char *fmt,
                  va_list args)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    char text[ACL_LOG_LINE_BYTES];
    if (level < ACL_DEBUG || level > ACL_ERROR || level < level_limit()) {
        return;
    }
    time_t now = time(NULL);
    struct tm when;
    char stamp[32];
    localtime_r(&now, &when);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d-%H:%M:%S", &when);
    int used = snprintf(text, sizeof(text), "[%s] ACL(%d):%s [%s:%u][%s] ", names[level],
                        (int)getpid(), stamp, file, line, func);
    if (used > 0 && (size_t)used < sizeof(text)) {
        vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, args);
    }
    if (to_stdout()) {
        printf("%s\n", text);
        fflush(stdout);
        return;
    }
    FILE *out = open_file();
    if (out) {
        fprintf(out, "%s\n", text);
        fclose(out);
    }
}

void acl_log(int level, const char *func, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    acl_log_line(level, func, "acl", 0, fmt, args);
    va_end(args);
}

void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
               const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    acl_log_line((int)logLevel, func ? func : "?", file ? file : "?", line, fmt, args);
    va_end(args);
}
