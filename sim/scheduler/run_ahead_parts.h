/* SPDX-License-Identifier: Apache-2.0 */
/* What run_ahead.c and run_ahead_copy.c have in common. */
#pragma once

#include "run_ahead.h"
#include "scheduler.h"

enum {
    MAX_CORES = 64,
    SPARE_CORES = 4,         /* beside one a thread: of blocks that had to stop */
    MAX_PLACES = 5u << 20,   /* of logs not read yet: 240 MB */
    MAX_HELD_BYTES = 1 << 28 /* of what is to be copied to the host */
};

enum block_state {
    BLOCK_NONE,
    BLOCK_BEGUN, /* a core has it */
    BLOCK_OVER,
    BLOCK_GIVEN /* to the core of the chip that runs it */
};

struct run_ahead_core {
    struct sim_core core;
    struct sim_run_ahead_task *task; /* NULL = it is free */
    uint32_t block;
    bool over, stuck;
    enum sim_scalar_stop stop;
    bool is_within; /* a stretch */
    struct sim_stretch_begin begin;
};

struct run_ahead_block {
    enum block_state state;
    struct run_ahead_core *core; /* BEGUN */
    uint64_t *end;               /* of its stretches */
    uint32_t stretches, capacity;
    struct sim_time_log log;
    enum sim_scalar_stop stop;
    struct sim_fault fault;
    uint64_t pc, overflow;
};

struct sim_run_ahead_task {
    struct sim_run_ahead_task *next;
    struct leo_sqe entry;
    bool is_done;            /* all values are there */
    bool is_refused;         /* it must wait for its time */
    struct sim_stream *work; /* of a kernel under way */
    struct run_ahead_block *block;
    uint32_t blocks, begun, over;
    /* Of a copy to the host. */
    struct sim_run_ahead_task *later; /* in the list of those that hold something */
    uint8_t *held;
    uint64_t held_bytes;
    uint64_t host, host_bytes; /* where it goes */
};

/* Entries not fetched yet, of which something was done, oldest first. */
struct run_ahead_queue {
    struct sim_run_ahead_task *first, *last;
    uint32_t count;
};

struct sim_run_ahead {
    struct run_ahead_queue *queue;        /* by number */
    struct sim_events events[LEO_SPACES]; /* recorded here and not yet in time */
    struct run_ahead_core *core;
    unsigned cores, per_kind;
    uint8_t *arena, *scratch;
    uint64_t arena_bytes;
    uint64_t places; /* of logs of blocks that are over */
    struct sim_run_ahead_task *holding;
    uint64_t held_bytes;
    uint64_t until_ns;
    struct run_ahead_core *run[MAX_CORES];
};

/** run_ahead_copy.c: does a copy or fill; false: it must wait for its time. */
bool sim_run_ahead_copy(struct sim_scheduler *scheduler, unsigned queue,
                        struct sim_run_ahead_task *task);
/** The task holds nothing for the host any more. */
void sim_run_ahead_let_go(struct sim_run_ahead *run_ahead, const struct sim_run_ahead_task *task);
