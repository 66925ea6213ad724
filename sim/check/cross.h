/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core knows to be complete on the others, by flags between cores (decision 15). A set takes
 * a picture of what its core knows; a raise joins the pictures of all that take part; a wait adds
 * the raise to what its core knows. All accesses issued after the wait come after that.
 */
#pragma once

#include "order.h"
#include <leo/isa_enums.h>
#include <stddef.h>

struct sim_check;

/** Of one core: what is complete of its block. */
struct sim_remote_core {
    uint32_t block;
    uint32_t loads; /**< of the scalar unit: these are over when it goes on */
    struct sim_clock clock;
};

/** Of all cores. Not changed once it is shared. */
struct sim_remote {
    unsigned refs;
    struct sim_remote_core core[];
};

/** What a core knew when it set a flag. */
struct sim_picture {
    struct sim_remote_core own;
    struct sim_remote *remote; /**< counted; NULL = nothing of others */
};

/** Pictures, or raises not yet waited for: the oldest is number `dropped`. */
struct sim_pictures {
    struct sim_picture *item;
    size_t count, capacity;
    uint32_t dropped;
};

enum { SIM_CHECK_CROSS_FLAGS = 16 };

struct sim_check_cross {
    unsigned cores;
    struct sim_remote *now; /**< counted; NULL = nothing yet */
    struct sim_pictures set[LEO_CROSS_COUNT][SIM_CHECK_CROSS_FLAGS];
    uint32_t pc[LEO_CROSS_COUNT][SIM_CHECK_CROSS_FLAGS]; /**< link address of the last set */
    struct sim_pictures raised[LEO_CROSS_COUNT][SIM_CHECK_CROSS_FLAGS];
    struct sim_remote **old; /**< that notes still refer to */
    size_t olds, old_capacity;
    bool failed; /**< out of memory: everything counts as ordered */
};

/** A picture of more references. */
struct sim_remote *sim_remote_hold(const struct sim_remote *remote);
void sim_remote_release(struct sim_remote *remote);
/** The core learns what a picture of another one tells. */
void sim_check_cross_learn(struct sim_check *check, const struct sim_picture *picture,
                           unsigned from);

/** The core's pipe has been told to set a flag. */
void sim_check_cross_set(struct sim_check *check, enum leo_pipe pipe, unsigned mode, unsigned flag,
                         uint64_t pc);
/** It has waited for one. */
void sim_check_cross_wait(struct sim_check *check, unsigned mode, unsigned flag);

/** Between rounds: raise `number` of a flag comes to `check`. Then each core that took part adds
 * its picture; one whose block has ended adds all it did. */
void sim_check_cross_raise(struct sim_check *check, unsigned mode, unsigned flag);
void sim_check_cross_join(struct sim_check *check, const struct sim_check *from, unsigned mode,
                          unsigned flag, uint32_t number, bool has_ended);
/** Pictures up to `number` are joined everywhere. */
void sim_check_cross_drop(struct sim_check *check, unsigned mode, unsigned flag, uint32_t number);
/** Notes are compared: what only they referred to is given back. */
void sim_check_cross_taken(struct sim_check_cross *cross);
void sim_check_cross_finish(struct sim_check_cross *cross);

/** Whether access `number` of a unit in a block on a core is complete. */
bool sim_remote_has(const struct sim_remote *remote, unsigned core, uint32_t block, unsigned unit,
                    uint32_t number, bool was_load);
bool sim_remote_core_has(const struct sim_remote_core *known, uint32_t block, unsigned unit,
                         uint32_t number, bool was_load);
/** Whether a block that came after this one on the core is known. */
bool sim_remote_has_later(const struct sim_remote *remote, unsigned core, uint32_t block);
