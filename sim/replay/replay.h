/* SPDX-License-Identifier: Apache-2.0 */
/* A chip that gets its tasks and what their blocks do from a tape: the scheduler's side of it. */
#pragma once

#include "../scalar/scalar.h"
#include "../tape/tape.h"
#include "price.h"
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_core;
struct sim_known;
struct sim_memo;
struct leo_sim_replay_opts;
struct leo_sim_replay_result;

/** Where a core is in its part of a block. */
struct sim_replay_cursor {
    const uint8_t *item, *end;
    uint64_t first_store, was_first; /**< number of the block's first store, here and recorded */
    struct sim_tape_state state;
    const struct sim_price *price; /**< NULL: item by item */
    const uint64_t *address;       /**< of the part's transfers */
    uint32_t place, move;          /**< next ones of the price */
};

/** Where a part of a block began here. */
struct sim_replay_begun {
    uint64_t first_store;
    uint16_t core;
    bool has;
};

/** What became of a task. */
struct sim_replay_task {
    bool is_complete;
    bool is_copied; /**< a copy that ends at `copied_ps` */
    uint64_t ended_ps, copied_ps;
};

/** A task as the scheduler gets it. */
struct sim_replayed {
    struct leo_sqe entry;
    uint64_t arrival_ps; /**< it starts no earlier */
    bool is_first;       /**< of its queue, which was made anew */
};

/** When a task ran. */
struct sim_replay_time {
    uint64_t start_ps, end_ps;
};

struct sim_replay {
    const struct sim_tape_file *file;
    struct sim_replay_task *task; /**< by number */
    uint64_t *next;               /**< by queue: the task fetched next, or `entries` */
    uint64_t *present;            /**< by queue: the task fetched last */
    uint64_t *after;              /**< by task: the next one of its queue */
    uint64_t complete;            /**< tasks at the front of the recorded order that are complete */
    struct sim_replay_cursor *cursor;
    struct sim_replay_begun *begun; /**< by part */
    struct sim_known *known;        /**< what this and other replays of the tape found out */
    bool prices_addresses; /**< what a transfer costs depends on SIM_TAPE_ALIGN bytes of its address
                            */
    struct sim_memo *memo;
    uint64_t epoch_ps; /**< when cycles began to be counted */
    const struct leo_sim_replay_opts *opts;
    struct leo_sim_replay_result *result;
    uint64_t first_ps, last_ps, recorded_first_ps, recorded_last_ps;
    char error[256];
};

/** The next entry of a queue, if the host had submitted it by now. */
bool sim_replay_fetch(struct sim_replay *replay, unsigned queue, struct sim_replayed *task_out);
/** A core begins its part of a block. */
void sim_replay_begin(struct sim_replay *replay, struct sim_core *core, unsigned queue,
                      uint32_t block, unsigned member);
/** The present task of a queue is a launch whose blocks need not begin. */
void sim_replay_recall(struct sim_replay *replay, unsigned queue);
/** The present task of a queue is a copy, which will be over then. */
void sim_replay_copied(struct sim_replay *replay, unsigned queue, uint64_t end_ps);
/** Whether what a parked core polls is there now, or on its way. */
bool sim_replay_may_go(const struct sim_replay *replay, unsigned core);
/** Prices what the core did next: fills up to `places` of its log. What stopped it is as of
 * sim_core_run. */
enum sim_scalar_stop sim_replay_run(struct sim_replay *replay, struct sim_core *core,
                                    unsigned places);
/** The present task of a queue is complete; `record` NULL: it takes no time. */
void sim_replay_done(struct sim_replay *replay, unsigned queue,
                     const struct leo_task_record *record, const struct sim_replay_time *time);
/** Whether a queue has entries left. */
bool sim_replay_has(const struct sim_replay *replay, unsigned queue);
/** What is wrong with the tape: the first time counts. */
void sim_replay_fail(struct sim_replay *replay, const char *text);
