/* SPDX-License-Identifier: Apache-2.0 */
/* The chip: composes function, scheduler, cores and memory. */
#pragma once

#include "../config.h"
#include "../core/cores.h"
#include "../function/function.h"
#include "../memory/memory.h"
#include "../scheduler/scheduler.h"
#include <leo/sim.h>

struct sim_host_lock;
struct sim_tape;

struct leo_sim_chip {
    struct sim_config config;
    struct sim_host_lock
        *run_lock; /**< held by the thread that lets time go on; protects all but the atomics */
    struct sim_memory memory;
    struct sim_cores cores;
    struct sim_time_pool log_pool; /**< of the cores' logs */
    uint8_t *arena;                /**< on-chip memories of all cores, then the scratch */
    uint64_t arena_bytes;
    struct sim_function function;
    struct sim_scheduler scheduler;
    struct sim_tape *tape; /**< what it does is recorded; NULL = it is not */
    void (*log)(void *user, int level, const char *text);
    void *log_user;
};

/** Back to the state after power-up; time goes on, the host's DMA table stays. */
void sim_chip_reset(struct leo_sim_chip *chip);
