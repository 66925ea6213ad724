/* SPDX-License-Identifier: Apache-2.0 */
/* A tape that was read: its tasks and where their blocks lie. */
#pragma once

#include "format.h"
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>

/** A task and what became of it. */
struct sim_tape_entry {
    const struct sim_tape_task *task;
    const struct sim_tape_done *done; /**< NULL: the run ended before it did */
    uint64_t first_part;              /**< place in `part` of its first block */
    uint32_t members;                 /**< cores of a block; 0 = no kernel */
    bool is_complete;                 /**< in the replay */
};

/** What one core did of a block. */
struct sim_tape_part {
    const uint8_t *item;
    size_t bytes;
};

struct sim_tape_file {
    const struct sim_tape_head *head;
    struct sim_tape_entry *entry;
    uint64_t entries;
    uint32_t *order; /**< tasks in the order in which they were complete */
    uint64_t orders;
    struct sim_tape_part *part;
    uint64_t parts;
    const char **name; /**< by tag */
    uint32_t names;
};

/** Whether these bytes begin as a tape does. */
bool sim_tape_has_head(const void *data, size_t bytes);

/** Checks and reads; `data` stays the caller's and is pointed into. On failure `error` says what is
 * wrong. */
leo_status sim_tape_read(const void *data, size_t bytes, uint32_t queues,
                         struct sim_tape_file *file, char *error, size_t error_bytes);
void sim_tape_file_finish(struct sim_tape_file *file);
/** NULL: the tape has none. */
const struct sim_tape_part *sim_tape_part(const struct sim_tape_file *file, uint64_t task,
                                          uint32_t block, uint32_t member);
