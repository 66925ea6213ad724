/* SPDX-License-Identifier: Apache-2.0 */
/* The AscendCL log: level from ASCEND_GLOBAL_LOG_LEVEL, to standard output or to a file a process.
 */
#include "acl_internal.h"

#include <errno.h>
#include <fcntl.h>
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

static bool file_path(char *path, size_t bytes)
{
    const char *base = getenv("ASCEND_PROCESS_LOG_PATH");
    const char *home = getenv("HOME");
    int used;
    if (base) {
        used = snprintf(path, bytes, "%s/plog/plog-%d.log", base, (int)getpid());
    } else if (home) {
        used = snprintf(path, bytes, "%s/ascend/log/debug/plog/plog-%d.log", home, (int)getpid());
    } else {
        return false;
    }
    return used > 0 && (size_t)used < bytes;
}

// Writes to the file of this process, which stays open as long as its name stays the same: opening
// it costs more than most calls.
static void write_file(const char *line)
{
    struct acl_log_file *log = &acl_process()->log_file;
    char path[sizeof(log->path)];
    if (!file_path(path, sizeof(path))) {
        return;
    }
    pthread_mutex_lock(&log->lock);
    if (log->fd < 1 || strcmp(log->path, path) != 0) {
        if (log->fd > 0) {
            close(log->fd);
        }
        strcpy(log->path, path);
        log->fd = make_folders(path)
                      ? open(log->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640)
                      : 0;
    }
    if (log->fd > 0) {
        // One write a line: lines of several threads do not mix. A full disk must not stop a
        // program.
        ssize_t ignored = write(log->fd, line, strlen(line));
        (void)ignored;
    }
    pthread_mutex_unlock(&log->lock);
}

void acl_log_line(int level, const char *func, const char *file, uint32_t line, const char *fmt,
                  va_list args)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    char text[ACL_LOG_LINE_BYTES + 1];
    if (level < ACL_DEBUG || level > ACL_ERROR || level < level_limit()) {
        return;
    }
    time_t now = time(NULL);
    struct tm when;
    char stamp[32];
    localtime_r(&now, &when);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d-%H:%M:%S", &when);
    int used = snprintf(text, ACL_LOG_LINE_BYTES, "[%s] ACL(%d):%s [%s:%u][%s] ", names[level],
                        (int)getpid(), stamp, file, line, func);
    if (used > 0 && (size_t)used < ACL_LOG_LINE_BYTES) {
        vsnprintf(text + used, ACL_LOG_LINE_BYTES - (size_t)used, fmt, args);
    }
    if (to_stdout()) {
        printf("%s\n", text);
        fflush(stdout);
        return;
    }
    strcat(text, "\n");
    write_file(text);
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
