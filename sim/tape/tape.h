/* SPDX-License-Identifier: Apache-2.0 */
/* A tape that was read: its tasks and where their blocks lie. */
#pragma once

#include "classes.h"
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
    const struct leo_link_note *link; /**< of the event that ends it; else NULL */
    uint64_t reached;                 /**< of a link: the task of the event it waited for */
    uint32_t launch;                  /**< its class; SIM_TAPE_NO_CLASS: depends on others */
    bool is_again;                    /**< others are of its class */
    uint64_t operations;              /**< of all blocks, unless they depend on others */
};

/** What one core did of a block. */
struct sim_tape_part {
    const uint8_t *item;
    size_t bytes;
    uint64_t first_store;   /**< as recorded */
    uint64_t first_address; /**< of those of the file */
    uint32_t class;         /**< SIM_TAPE_NO_CLASS: depends on others */
};

/** Whose stores follow from a number on. */
struct sim_tape_owner {
    uint32_t core;
    uint64_t first_store;
    const struct sim_tape_part *part;
};

struct sim_tape_file {
    const struct sim_tape_head *head;
    struct sim_tape_entry *entry;
    uint64_t entries;
    uint32_t *order; /**< tasks in the order in which they were complete */
    uint64_t orders;
    struct sim_tape_part *part;
    uint64_t parts;
    struct sim_tape_owner *owner; /**< by core, then by number */
    uint64_t owners;
    const struct leo_link_note **link; /**< in the order of the file */
    uint64_t links;
    const char **name; /**< by tag */
    uint32_t names;
    uint32_t queues; /**< past the highest in use */
    struct sim_tape_class *class;
    uint64_t classes;
    uint64_t *address; /**< in device memory, by part, in the order of its operations */
    uint32_t launches; /**< classes of them */
};

/** A tape that is read once, for any number of replays at a time. */
struct leo_sim_tape {
    void *data;
    size_t bytes;
    struct sim_tape_file file;
};

/** Whether these bytes begin as a tape does. */
bool sim_tape_has_head(const void *data, size_t bytes);
/** The text of the recorded chip, in the tape; it has a head. */
const char *sim_tape_soc_text(const void *data);

/** Checks and reads; `data` stays the caller's and is pointed into. LEO_ERR_INVALID_ARG: damaged.
 */
leo_status sim_tape_read(const void *data, size_t bytes, struct sim_tape_file *file);
void sim_tape_file_finish(struct sim_tape_file *file);
/** What wrote store `number` of a core; NULL: nothing on the tape. */
const struct sim_tape_part *sim_tape_owner(const struct sim_tape_file *file, uint32_t core,
                                           uint64_t number);
/** NULL: the tape has none. */
const struct sim_tape_part *sim_tape_part(const struct sim_tape_file *file, uint64_t task,
                                          uint32_t block, uint32_t member);
