/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "../config.h"
#include <string.h>

struct sim_time_config sim_time_config_of(const struct sim_config *config)
{
    const double cycles_a_ns = config->clock_khz * 1e-6;
    // What refresh leaves; a pause is short and seldom beside a transfer under load.
    const double awake = 1 - config->hbm_refresh_ns / config->hbm_refresh_every_ns;
    const double answer = config->gm_read_hit_ns * cycles_a_ns;
    struct sim_time_config time = {
        .cores = config->cube_cores + config->vector_cores,
        .l2_rate = config->l2_gb_per_s / cycles_a_ns,
        .hbm_read_rate = awake * config->hbm_read_gb_per_s / cycles_a_ns,
        .hbm_write_rate = awake * config->hbm_write_gb_per_s / cycles_a_ns,
        .hbm_turn = config->hbm_turn_bytes,
        .hbm_run = config->hbm_run_bytes,
        .read_hit_latency = answer,
        .read_miss_latency = config->gm_read_miss_ns * cycles_a_ns,
        .write_latency = config->gm_write_ns * cycles_a_ns,
        .read_port = config->gm_read_rate,
        .write_port = config->gm_write_rate,
        .read_requests = config->gm_read_requests,
        .fetch = {[SIM_TIME_FETCH_DATA] = answer + config->dcache_line_bytes / config->gm_read_rate,
                  [SIM_TIME_FETCH_TEXT] =
                      answer + config->icache_line_bytes / config->gm_read_rate},
        .same_line_cycles = config->gm_same_line_ns * cycles_a_ns,
        .gm_interval = config->gm_small_interval,
        .flag_set = config->flag_set,
        .flag_wait = config->flag_wait,
        .barrier = config->barrier,
        .cross_core = config->cross_core_ns * cycles_a_ns,
    };
    memcpy(time.queue_depth, config->queue_depth_pipe, sizeof(time.queue_depth));
    return time;
}
