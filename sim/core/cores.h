/* SPDX-License-Identifier: Apache-2.0 */
/* The cores of a chip and what they run with: what the scheduler gets of them. */
#pragma once

#include "../time/engine.h"
#include "../trace/trace.h"
#include "core.h"

struct sim_check;
struct sim_host_pool;
struct sim_simd;

struct sim_cores {
    unsigned count;
    struct sim_core *core;
    struct sim_trace *trace; /**< one a core */
    struct sim_time_engine *engine;
    struct sim_host_pool *pool;
    const struct sim_simd *simd;
    uint8_t *scratch;        /**< SIM_SCRATCH_BYTES for each host thread: it stays in its cache */
    unsigned check_which;    /**< SIM_CHECK_*, 0 = kernels are not checked */
    struct sim_check *check; /**< one a core; NULL = off */
};
