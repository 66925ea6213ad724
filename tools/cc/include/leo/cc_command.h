/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of leo-cc, which is also `leo cc`. */
#pragma once

/** Runs the command; `program` is how the user called it. Returns the exit code: 0 good, 1 failed,
 * 2 misuse. */
int leo_cc_command_run(const char *program, int argc, char **argv);
