/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct cc_tool tools[CC_TOOL_COUNT] = {
    [CC_TOOL_CLANG] = {LEO_DEVICE_CC, "clang-19", "LEO_DEVICE_CC"},
    [CC_TOOL_LLD] = {LEO_DEVICE_LD, "lld-19", "LEO_DEVICE_LD"},
    [CC_TOOL_OBJDUMP] = {LEO_DEVICE_OBJDUMP, "llvm-19", "LEO_DEVICE_OBJDUMP"},
    [CC_TOOL_OBJCOPY] = {LEO_DEVICE_OBJCOPY, "llvm-19", "LEO_DEVICE_OBJCOPY"},
};

const char *cc_tool_command(enum cc_tool_id tool)
{
    const char *other = getenv(tools[tool].variable);
    return other && *other ? other : tools[tool].command;
}

void cc_signals_fill(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

// One that came while it was held back.
static bool signals_are_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

static leo_status spawn(enum cc_tool_id tool, const struct cc_args *args,
                        const posix_spawn_file_actions_t *actions, pid_t *pid,
                        const struct cc_fail *fail)
{
    if (args->failed) {
        return cc_fail(fail, LEO_ERR_NO_MEMORY, "out of memory");
    }
    if (signals_are_pending()) {
        return cc_fail(fail, LEO_ERR_CANCELLED, "interrupted");
    }
    // What we hold back is not held back from the tools.
    posix_spawnattr_t attributes;
    sigset_t mask, ours;
    cc_signals_fill(&ours);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&ours, number) == 1) {
            sigdelset(&mask, number);
        }
    }
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setsigmask(&attributes, &mask);
        error = posix_spawnp(pid, args->items[0], actions, &attributes, args->items, environ);
        posix_spawnattr_destroy(&attributes);
    }
    if (error == ENOENT) {
        return cc_fail(fail, LEO_ERR_NOT_FOUND,
                       "%s not found: install the Debian package %s (apt-get install %s), or name "
                       "the command in %s",
                       args->items[0], tools[tool].package, tools[tool].package,
                       tools[tool].variable);
    }
    if (error != 0) {
        return cc_fail(fail, LEO_ERR_IO, "cannot start %s: %s", args->items[0], strerror(error));
    }
    return LEO_OK;
}

static leo_status await(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return LEO_ERR_IO;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? LEO_OK : LEO_ERR_PARSE;
}

leo_status cc_process_run(enum cc_tool_id tool, const struct cc_args *args, bool verbose,
                          const struct cc_fail *fail)
{
    for (size_t i = 0; verbose && i < args->count; i++) {
        fprintf(stderr, "%s%c", args->items[i], i + 1 < args->count ? ' ' : '\n');
    }
    pid_t pid = 0;
    leo_status status = spawn(tool, args, NULL, &pid, fail);
    return status == LEO_OK ? await(pid) : status;
}

/* Starts `args`, what it writes to its `stream` coming out of `*out`. */
static leo_status open_stream(enum cc_tool_id tool, const struct cc_args *args, int stream,
                              FILE **out, pid_t *pid, const struct cc_fail *fail)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return cc_fail(fail, LEO_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], stream);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    leo_status status = spawn(tool, args, &actions, pid, fail);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (status != LEO_OK) {
        close(ends[0]);
        return status;
    }
    *out = fdopen(ends[0], "r");
    if (!*out) {
        close(ends[0]);
        (void)await(*pid);
        return cc_fail(fail, LEO_ERR_NO_MEMORY, "out of memory");
    }
    return LEO_OK;
}

bool cc_process_interrupted(FILE *from)
{
    const bool interrupted = ferror(from) && errno == EINTR;
    if (interrupted) {
        clearerr(from);
    }
    return interrupted;
}

leo_status cc_process_run_lines(enum cc_tool_id tool, const struct cc_args *args, bool verbose,
                                void (*take)(void *user, const char *line), void *user,
                                const struct cc_fail *fail)
{
    for (size_t i = 0; verbose && i < args->count; i++) {
        fprintf(stderr, "%s%c", args->items[i], i + 1 < args->count ? ' ' : '\n');
    }
    pid_t pid = 0;
    FILE *messages = NULL;
    leo_status status = open_stream(tool, args, STDERR_FILENO, &messages, &pid, fail);
    if (status != LEO_OK) {
        return status;
    }
    char *line = NULL;
    size_t room = 0;
    for (;;) {
        if (getline(&line, &room, messages) > 0) {
            take(user, line);
        } else if (!cc_process_interrupted(messages)) {
            break;
        }
    }
    free(line);
    return cc_process_close(messages, pid);
}

leo_status cc_process_open(enum cc_tool_id tool, const struct cc_args *args, FILE **out, pid_t *pid,
                           const struct cc_fail *fail)
{
    return open_stream(tool, args, STDOUT_FILENO, out, pid, fail);
}

leo_status cc_process_close(FILE *out, pid_t pid)
{
    fclose(out);
    return await(pid);
}
