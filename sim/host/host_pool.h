/* SPDX-License-Identifier: Apache-2.0 */
/* The only place in the simulator that knows threads: a pool that runs numbered work items, locks,
 * wall time. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_host_pool;
struct sim_host_lock;

/** `thread` is below sim_host_pool_threads and tells which one calls:
 * for memory that stays warm. */
typedef void (*sim_host_work_fn)(void *user, unsigned index, unsigned thread);

/** `threads` counts the caller of run: 1 makes no thread, 0 means all the host has. */
leo_status sim_host_pool_create(unsigned threads, struct sim_host_pool **pool);
void sim_host_pool_destroy(struct sim_host_pool *pool);
unsigned sim_host_pool_threads(const struct sim_host_pool *pool);
/** Calls work(user, i, thread) for each i < count, in any order on any thread, and returns when all
 * are done. */
void sim_host_pool_run(struct sim_host_pool *pool, sim_host_work_fn work, void *user,
                       unsigned count);
/** The same in the order of i on the caller's thread: for work shorter than waking another one. */
void sim_host_pool_run_here(struct sim_host_pool *pool, sim_host_work_fn work, void *user,
                            unsigned count);
/**
 * Called from inside work item `index`: returns when all items from `first` to below it are done.
 * Items are claimed in rising order, so the lowest unfinished one never waits. Gives effects that
 * do not commute one order on every number of threads.
 */
void sim_host_pool_wait_turn(struct sim_host_pool *pool, unsigned first, unsigned index);

/** A mutex. */
leo_status sim_host_lock_create(struct sim_host_lock **lock);
void sim_host_lock_destroy(struct sim_host_lock *lock);
void sim_host_lock_take(struct sim_host_lock *lock);
bool sim_host_lock_try(struct sim_host_lock *lock);
void sim_host_lock_give(struct sim_host_lock *lock);

/** Wall time, for the time limits of callers only: it never reaches simulated time. */
uint64_t sim_host_now_ns(void);
