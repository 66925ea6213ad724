/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes: the compiler and its tools. */
#pragma once

#include "fail.h"
#include "text.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** A program of the toolchain: its command, and the Debian package to name when it is missing. */
struct cc_tool {
    const char *command;
    const char *package;
    const char *variable; /**< Environment variable that names another command. */
};

enum cc_tool_id { CC_TOOL_CLANG, CC_TOOL_LLD, CC_TOOL_OBJDUMP, CC_TOOL_OBJCOPY };
#define CC_TOOL_COUNT 4

/** The command to start: the environment variable if set. */
const char *cc_tool_command(enum cc_tool_id tool);

/**
 * Runs `args` (item 0 is a tool's command) to its end. A missing command is LEO_ERR_NOT_FOUND with
 * a text; a non-zero exit is LEO_ERR_PARSE without one, since the child has said on stderr what is
 * wrong.
 */
leo_status cc_process_run(enum cc_tool_id tool, const struct cc_args *args, bool verbose,
                          const struct cc_fail *fail);

/** The same; what the child says on stderr goes to `take` line by line and nowhere else. */
leo_status cc_process_run_lines(enum cc_tool_id tool, const struct cc_args *args, bool verbose,
                                void (*take)(void *user, const char *line), void *user,
                                const struct cc_fail *fail);

/** Starts `args` with its stdout in `*out`; end with cc_process_close. */
leo_status cc_process_open(enum cc_tool_id tool, const struct cc_args *args, FILE **out, pid_t *pid,
                           const struct cc_fail *fail);
leo_status cc_process_close(FILE *out, pid_t pid);
/** Whether a read from a child failed only because a signal came: it may be tried again. */
bool cc_process_interrupted(FILE *from);
/** The signals that end a program politely. Held back by a caller that has to clean up first, they
 * reach the children all the same, and no further child is started. */
void cc_signals_fill(sigset_t *set);
