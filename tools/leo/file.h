/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, for the subcommands. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>

struct file_bytes {
    unsigned char *data; /**< leo_free() it, through file_finish. */
    size_t bytes;
};

/** Reads a file; says on stderr what went wrong, after "leo COMMAND: ". */
bool file_read(const char *command, const char *path, struct file_bytes *file);
bool file_write(const char *command, const char *path, const void *data, size_t bytes);
void file_finish(struct file_bytes *file);
