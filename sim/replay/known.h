/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replays of one tape have found out: the transfers and prices of classes, the ways in
 * which launches went, and what became of the L2. A later replay, of another chip, uses what does
 * not depend on the numbers that are others there (needs.h).
 *
 * The L2 has a history: the same L2, to which the same was done in the same order, holds the same.
 * Histories are a tree: a node is what was done so far, and what a launch or copy did next leads to
 * another node. Where a launch went some way at a node it goes that way again on each chip that has
 * the numbers it depends on, and nobody has to be asked.
 */
#pragma once

#include "../tape/tape.h"
#include "../time/engine.h"
#include "needs.h"
#include "price.h"
#include <leo/status.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIM_KNOWN_NOWHERE = UINT32_MAX }; /* a node that no other replay comes to */

enum sim_step_kind { SIM_STEP_BEGIN, SIM_STEP_MOVE, SIM_STEP_END, SIM_STEP_COPY };

/** Something that happened in a launch, in the order of time. */
struct sim_step {
    uint32_t part; /**< BEGIN: counted from the first of the launch; COPY: its task */
    uint16_t core;
    uint8_t kind, pipe;
    uint32_t move;                         /**< MOVE: of its class, by pipe */
    uint32_t sharers, read, written, runs; /**< what was answered, in lines */
};

/** What a kernel's blocks needed in all. */
struct sim_kernel_sums {
    uint64_t core_mask[4]; /**< cores used */
    double core_cycles, busy[LEO_PIPE_COUNT], stalled[LEO_PIPE_COUNT][SIM_TIME_STALLS];
    uint64_t gm_read, gm_write, l2_hits, hbm_read, hbm_write;
};

/** How a launch went. */
struct sim_memo_launch {
    uint64_t ps; /**< from when its first block was dispatched to the end of its last block */
    struct sim_kernel_sums sums;
};

/** One way in which a launch went. */
struct sim_way {
    struct sim_way *next;   /**< of those of the same launches and numbers */
    struct sim_way *before; /**< in the order in which they were found */
    uint32_t launch, numbers;
    bool is_out;   /**< there are better ones to try */
    bool is_mixed; /**< copies came between: it says only where the history leads */
    struct sim_memo_launch result;
    uint32_t steps;
    struct sim_step step[];
};

/** At a node, a launch went this way (a copy: NULL), which led to another node. */
struct sim_known_turn {
    struct sim_way *way;
    uint32_t node, task, child;
    uint32_t next; /**< + 1; of those of the same place in the table */
};

struct sim_known;

/** `bytes`: to keep for later replays; 0: it is for one. */
leo_status sim_known_create(const struct sim_tape_file *file, uint64_t bytes,
                            struct sim_known **known_out);
void sim_known_destroy(struct sim_known *known);
/** A replay begins, on this chip; one at a time. False: no memory. */
bool sim_known_begin(struct sim_known *known, const struct sim_config *config);
/** It is over; what there is no room for is forgotten. */
void sim_known_end(struct sim_known *known);

/** The price of a class as it was found out last, for the numbers of this chip or (emptied) not
 * known yet. */
struct sim_price *sim_known_price(struct sim_known *known, uint32_t class);
/** Whether blocks of a class are worth a price. */
bool sim_known_is_priced(const struct sim_known *known, uint32_t class);
/** Counts what a price that was made takes. */
void sim_known_add_price(struct sim_known *known, const struct sim_price *price);
/** The transfers of a class. */
struct sim_moves *sim_known_moves(struct sim_known *known, uint32_t class);

/** The first way of a launch that went so with numbers that are this chip's too; `hbm`: of those
 * that HBM had a part in, or of the others. The rest are behind it. */
struct sim_way *sim_known_ways(struct sim_known *known, uint32_t launch, bool hbm);
/** The next one of the same; NULL: no more. */
struct sim_way *sim_known_next(const struct sim_way *way);
/** Whether ways of a launch are of use to others. */
bool sim_known_wants(const struct sim_known *known, const struct sim_tape_entry *entry);
/** Adds a way with its steps; NULL: no memory. */
struct sim_way *sim_known_add_way(struct sim_known *known, uint32_t launch,
                                  const struct sim_memo_launch *result, const struct sim_step *step,
                                  uint32_t steps);

/** The node where the replay begins. */
uint32_t sim_known_root(const struct sim_known *known);
/** A turn that a task takes here on this chip; NULL: none is known. It leads to `child`. */
const struct sim_known_turn *sim_known_turn(const struct sim_known *known, uint32_t node,
                                            uint32_t task);
/** The task took this way (a copy: NULL); where that leads. */
uint32_t sim_known_go(struct sim_known *known, uint32_t node, uint32_t task, struct sim_way *way);
