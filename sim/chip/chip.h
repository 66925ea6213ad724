/* SPDX-License-Identifier: Apache-2.0 */
/* The chip: composes function, scheduler, cores and memory. */
#pragma once

#include "../config.h"
#include "../core/core.h"
#include "../function/function.h"
#include "../memory/hbm.h"
#include "../memory/l2.h"
#include "../memory/space.h"
#include "../scheduler/scheduler.h"
#include "../time/engine.h"
#include "../trace/trace.h"
#include <leo/sim.h>

struct sim_check;
struct sim_check_written;
struct sim_host_pool;
struct sim_host_lock;
struct sim_tape;
struct sim_replay;

struct leo_sim_chip {
    struct sim_config config;
    const struct sim_simd *simd;
    struct sim_host_pool *pool;
    struct sim_host_lock
        *run_lock; /**< held by the thread that lets time go on; protects all but the atomics */
    struct sim_hbm hbm;
    struct sim_space space[LEO_SPACES];
    bool overflow[LEO_SPACES]; /**< sticky: a block ended with CSR overflow set */
    unsigned core_count;
    struct sim_core *core;
    struct sim_l2 l2;
    struct sim_time_pool log_pool; /**< of the cores' logs */
    struct sim_time_engine *engine;
    struct sim_trace *trace; /**< one a core */
    unsigned check_which;    /**< SIM_CHECK_*, 0 = kernels are not checked */
    struct sim_check *check; /**< one a core; NULL = off */
    struct sim_check_written *written;
    _Atomic bool windowed; /**< others write its memory unseen: nobody knows what is unwritten */
    uint8_t *arena;        /**< on-chip memories of all cores, then the scratch */
    uint8_t *scratch;      /**< SIM_SCRATCH_BYTES for each host thread: it stays in its cache */
    uint64_t arena_bytes;
    struct sim_function function;
    struct sim_scheduler scheduler;
    struct sim_tape *tape;     /**< what it does is recorded; NULL = it is not */
    struct sim_replay *replay; /**< what it does comes from a tape; NULL = from its rings */
    void (*log)(void *user, int level, const char *text);
    void *log_user;
};

/** Back to the state after power-up; time goes on, the host's DMA table stays. */
void sim_chip_reset(struct leo_sim_chip *chip);
