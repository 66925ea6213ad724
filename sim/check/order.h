/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens before what on one core: vector clocks of its pipes and its scalar unit (decision
 * 0012). Each actor numbers its instructions from 1. known[p][q]: the instructions of q that are
 * complete before what p starts next.
 */
#pragma once

#include <leo/isa_enums.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIM_ACTORS ((unsigned)LEO_PIPE_ALL) /* enum leo_pipe, S to FIX */

struct sim_clock {
    uint32_t done[SIM_ACTORS];
};

struct sim_order {
    uint32_t issued[SIM_ACTORS];
    struct sim_clock known[SIM_ACTORS];
    struct sim_clock flag[SIM_ACTORS][SIM_ACTORS][8]; /**< what a set flag tells */
};

static inline void sim_clock_join(struct sim_clock *to, const struct sim_clock *from)
{
    for (unsigned i = 0; i < SIM_ACTORS; i++) {
        to->done[i] = from->done[i] > to->done[i] ? from->done[i] : to->done[i];
    }
}

static inline void sim_order_begin(struct sim_order *order)
{
    memset(order, 0, sizeof(*order));
}

/** The scalar unit hands an instruction to `pipe`: what the scalar unit waited for is done before
 * it. Its number. */
static inline uint32_t sim_order_issue(struct sim_order *order, enum leo_pipe pipe)
{
    sim_clock_join(&order->known[pipe], &order->known[LEO_PIPE_S]);
    return ++order->issued[pipe];
}

/** The flag rises when all that `src` was given is complete. */
static inline void sim_order_set(struct sim_order *order, enum leo_pipe src, enum leo_pipe dst,
                                 unsigned id)
{
    struct sim_clock *flag = &order->flag[src][dst][id];
    *flag = order->known[src];
    sim_clock_join(flag, &order->known[LEO_PIPE_S]);
    flag->done[src] = order->issued[src];
}

static inline void sim_order_wait(struct sim_order *order, enum leo_pipe src, enum leo_pipe dst,
                                  unsigned id)
{
    sim_clock_join(&order->known[dst], &order->flag[src][dst][id]);
}

/** What `pipe` is given next starts when all before is complete; LEO_PIPE_ALL: every pipe, and the
 * scalar unit goes on then. */
static inline void sim_order_barrier(struct sim_order *order, enum leo_pipe pipe)
{
    if (pipe != LEO_PIPE_ALL) {
        order->known[pipe].done[pipe] = order->issued[pipe];
        return;
    }
    for (unsigned i = 0; i < SIM_ACTORS; i++) {
        memcpy(order->known[i].done, order->issued, sizeof(order->issued));
    }
}
