/* SPDX-License-Identifier: Apache-2.0 */
/* Cores that run a block together. */
#include "scheduler.h"

unsigned sim_core_group(const struct sim_scheduler *scheduler, unsigned id)
{
    unsigned cubes = scheduler->config->cube_cores;
    return id < cubes ? id : (id - cubes) / (scheduler->config->vector_cores / cubes);
}

unsigned sim_kernel_group(const struct sim_scheduler *scheduler, const struct sim_kernel *kernel,
                          unsigned group, unsigned id[SIM_GROUP_MAX])
{
    unsigned cubes = scheduler->config->cube_cores, ratio = scheduler->config->vector_cores / cubes;
    id[0] = group;
    for (unsigned i = 0; i < kernel->group_vectors; i++) {
        id[1 + i] = cubes + group * ratio + i;
    }
    return 1 + kernel->group_vectors;
}
