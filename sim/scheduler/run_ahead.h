/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values ahead of time (decision 27): what entries of the rings will compute and copy is done
 * before they may start, while the host waits for nothing, on cores of its own. Time stays where
 * it is: the logs of the blocks are kept until the scheduler hands the blocks out, and the event
 * engine reads them then as if they had just been written. What depends on when or where a block
 * runs (the system counter, the core's number, additions in global memory) stops its core; the
 * block goes on from there on the core that gets it.
 */
#pragma once

#include "../core/core.h"
#include <leo/layout.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_run_ahead;
struct sim_run_ahead_task;
struct sim_run_ahead_done;
struct sim_scheduler;
struct sim_stream;

/** Cores of the chip may have memories of those that run ahead: at its end only. */
void sim_run_ahead_destroy(struct sim_scheduler *scheduler);
/** Forgets events; the queues were dropped. */
void sim_run_ahead_reset(struct sim_scheduler *scheduler);
/** Goes on until nothing can be done before its time, or `until_ns` of the host's clock has passed,
 * or somebody wants the chip. Statuses as leo_sim_chip_run_ahead. Caller holds the run lock. */
leo_status sim_run_ahead_run(struct sim_scheduler *scheduler, uint64_t until_ns);
/** The queue's next entry was fetched: what was done of it, or NULL. */
struct sim_run_ahead_task *sim_run_ahead_take(struct sim_scheduler *scheduler, unsigned queue);
/** Whether all of its values are computed. */
bool sim_run_ahead_is_done(const struct sim_run_ahead_task *task);
/** Writes what its copy holds for the host. False: some of it is not mapped any more. */
bool sim_run_ahead_write(struct sim_scheduler *scheduler, const struct sim_run_ahead_task *task,
                         const struct leo_sqe_copy *body);
/** Gives a core the block it is about to begin, as far as it has come. False: nothing was done of
 * it. What `early` points to lives as long as the task. */
bool sim_run_ahead_adopt(struct sim_scheduler *scheduler, struct sim_run_ahead_task *task,
                         uint32_t block, struct sim_core *core, struct sim_run_ahead_done *early);
/** The task has ended or was given up. */
void sim_run_ahead_end(struct sim_scheduler *scheduler, struct sim_run_ahead_task *task);
/** The queue is gone with what it held. */
void sim_run_ahead_drop(struct sim_scheduler *scheduler, unsigned queue);
