/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the transfers that are under way at one time share global memory. A transfer is a flow of
 * bytes in up to three parts, one after the other: what the L2 holds, what it does not, and what
 * HBM must take back for it. Rates follow from max-min fairness: every flow has the same rate,
 * but none more than its cap, and neither the L2 nor HBM gives more than it has. They are found
 * anew only when a part begins or ends. Flows with the same cap and the same needs form a class and
 * progress alike, so a class has one clock of bytes and its flows wait in the order of the byte
 * they end at: an event costs the logarithm of the flows, not their number. Times are core cycles.
 */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIM_FLOW_HIT, SIM_FLOW_MISS, SIM_FLOW_VICTIM, SIM_FLOW_PARTS };

/** What one transfer asks of the memory. */
struct sim_flow {
    double bytes[SIM_FLOW_PARTS]; /**< VICTIM: bytes of HBM reads that would take as long */
    double cap[SIM_FLOW_PARTS];   /**< most bytes per cycle of each part; INFINITY = no limit */
};

struct sim_share;

/* fmax and fmin are calls unless the compiler may forget about NaN; there is none here. */
static inline double sim_time_max(double left, double right)
{
    return left > right ? left : right;
}

static inline double sim_time_min(double left, double right)
{
    return left < right ? left : right;
}

/** `slots` flows at most, numbered by the caller. Bytes per cycle of the L2 and of HBM reads. */
leo_status sim_share_create(unsigned slots, double l2_rate, double hbm_rate,
                            struct sim_share **share);
void sim_share_destroy(struct sim_share *share);
/** Forgets all flows. */
void sim_share_clear(struct sim_share *share);
/** Whether a slot has no flow. */
bool sim_share_is_free(const struct sim_share *share, unsigned slot);
/** A flow begins at `now`, which is not before anything reported earlier. A slot has one flow at a
 * time; a flow without bytes ends at once. */
void sim_share_begin(struct sim_share *share, unsigned slot, double now,
                     const struct sim_flow *flow);
/** The flow of a slot, if any, is of no more interest. */
void sim_share_cancel(struct sim_share *share, unsigned slot, double now);
/** When the next part of any flow ends as things are; INFINITY = there is none. */
double sim_share_next(struct sim_share *share);
/** Goes to that time. True: the flow of `slot` is done; false: it was not its last part. */
bool sim_share_step(struct sim_share *share, unsigned *slot);
/** Of a flow that is done now: the mean rate it would have had without caps of its own. */
double sim_share_fair_rate(const struct sim_share *share, unsigned slot);
/** The present rate of a flow in bytes per cycle, 0 = none under way. */
double sim_share_rate(struct sim_share *share, unsigned slot);
