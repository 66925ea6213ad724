/* SPDX-License-Identifier: Apache-2.0 */
/* What lead.c and lead_copy.c have in common. */
#pragma once

#include "lead.h"
#include "scheduler.h"

enum {
    MOST_CORES = 64,
    SPARE_CORES = 4,          /* beside one a thread: of blocks that had to stop */
    MOST_PLACES = 5u << 20,   /* of logs that nobody has read: 240 MB */
    MOST_HELD_BYTES = 1 << 28 /* of what is to be copied to the host */
};

enum block_state {
    BLOCK_NONE,
    BLOCK_BEGUN, /* a core has it */
    BLOCK_OVER,
    BLOCK_GIVEN /* to the core of the chip that runs it */
};

struct lead_core {
    struct sim_core core;
    struct sim_lead_task *task; /* NULL = it is free */
    uint32_t block;
    bool over, stuck;
    enum sim_scalar_stop stop;
    bool is_within; /* a stretch */
    struct sim_stretch_begin begin;
};

struct lead_block {
    enum block_state state;
    struct lead_core *core; /* BEGUN */
    uint64_t *end;          /* of its stretches */
    uint32_t stretches, capacity;
    struct sim_time_log log;
    enum sim_scalar_stop stop;
    struct sim_fault fault;
    uint64_t pc, overflow;
};

struct sim_lead_task {
    struct sim_lead_task *next;
    struct leo_sqe entry;
    bool is_done;            /* all values are there */
    bool is_refused;         /* it must wait for its time */
    struct sim_stream *work; /* of a kernel under way */
    struct lead_block *block;
    uint32_t blocks, begun, over;
    /* Of a copy to the host. */
    struct sim_lead_task *later; /* in the list of those that hold something */
    uint8_t *held;
    uint64_t held_bytes;
    uint64_t host, host_bytes; /* where it goes */
};

/* Entries that nobody has fetched and of which something was done, oldest first. */
struct lead_queue {
    struct sim_lead_task *first, *last;
    uint32_t count;
};

struct sim_lead {
    struct lead_queue *queue;             /* by number */
    struct sim_events events[LEO_SPACES]; /* recorded here and not yet in time */
    struct lead_core *core;
    unsigned cores, per_kind;
    uint8_t *arena, *scratch;
    uint64_t arena_bytes;
    uint64_t places; /* of logs of blocks that are over */
    struct sim_lead_task *holding;
    uint64_t held_bytes;
    uint64_t until_ns;
    struct lead_core *run[MOST_CORES];
};

/** lead_copy.c: does a copy or fill; false: it must wait for its time. */
bool sim_lead_copy(struct sim_scheduler *scheduler, unsigned queue, struct sim_lead_task *task);
/** The task holds nothing for the host any more. */
void sim_lead_let_go(struct sim_lead *lead, const struct sim_lead_task *task);
