/* SPDX-License-Identifier: Apache-2.0 */
#include "function.h"

#include "../config.h"

#define SECTION(what, member) SIM_SECTION(struct sim_function, what, member)
static const struct sim_section list[] = {
    SECTION(WIRED, config),
    SECTION(WIRED, hbm),
    SECTION(WIRED, run_lock),
    SECTION(WIRED, tape),
    SECTION(WIRED, reset),
    SECTION(WIRED, chip),
    SECTION(WIRED, dma), // the host's table
    SECTION(WIRED, ring),
    SECTION(WIRED, sq_tail),
    SECTION(WIRED, cq_head),
    SECTION(HOST, rung),
    SECTION(HOST, any_rung),
    SECTION(WIRED, control), // sim_function_control ends what it asks for
    SECTION(HOST, status),
    SECTION(HOST, irq_status),
    SECTION(HOST, irq_mask),
    SECTION(HOST, admin_sq_base),
    SECTION(HOST, admin_cq_base),
    SECTION(HOST, fault_base),
    SECTION(HOST, admin_depth),
    SECTION(HOST, fault_depth),
    SECTION(WIRED, sim_time_ns), // of the scheduler's clock
    SECTION(HOST, fault_count),
    SECTION(HOST, profile),
};
#undef SECTION

static const struct sim_sections sections = SIM_SECTIONS(struct sim_function, list);

bool sim_function_walk(struct sim_function *function, sim_stretch_fn fn, void *user)
{
    const uint64_t queues = function->config->queues;
    const struct sim_stretch queue[] = {
        {.name = "ring", .data = function->ring, .bytes = queues * sizeof(*function->ring)},
        {.name = "sq_tail", .data = function->sq_tail, .bytes = queues * sizeof(uint32_t)},
        {.name = "cq_head", .data = function->cq_head, .bytes = queues * sizeof(uint32_t)},
    };
    bool on = sim_sections_walk(&sections, 0, function, fn, user);
    for (size_t i = 0; on && i < sizeof(queue) / sizeof(queue[0]); i++) {
        struct sim_stretch stretch = queue[i];
        stretch.owner = "queues";
        stretch.unit = sizeof(uint32_t);
        stretch.kind = SIM_SECTION_HOST;
        on = fn(user, &stretch);
    }
    return on;
}
