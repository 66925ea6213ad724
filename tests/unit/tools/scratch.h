/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of files that a test makes and throws away. */
#pragma once

#include <stddef.h>

struct scratch {
    char folder[64];
};

void scratch_init(struct scratch *scratch);
void scratch_finish(struct scratch *scratch);
/** Path of a file in the folder; valid until the fourth call after it. */
const char *scratch_path(const struct scratch *scratch, const char *name);
void scratch_write(const struct scratch *scratch, const char *name, const char *text);
/** Reads a file into `text`, NUL-terminated; "" if it is not there. */
void scratch_read(const struct scratch *scratch, const char *name, char *text, size_t bytes);
/** Runs a shell command in the folder; its stdout and stderr go to `text`. Returns its exit code.
 */
int scratch_run(const struct scratch *scratch, char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
