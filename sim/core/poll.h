/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling of global memory. A load of a loop that waits for memory (scalar/poll_loop.c) is carried
 * out between rounds, when no core runs, so that what it sees is the same on any number of host
 * threads. If the loop comes back to it with nothing changed, it would do so for ever: the core is
 * parked until the bytes it read change, and the turns of the loop leave no time behind. What it
 * read at last is not before the store that wrote it (time/store.c).
 */
#pragma once

#include "../time/log.h"
#include <leo/insn.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_core;
struct sim_scalar;
struct sim_span;

enum { SIM_POLL_RANGES = 64 };

/** What a turn of the loop read. */
struct sim_poll_range {
    uint64_t addr, bytes, hash;
};

struct sim_poll {
    bool passing;    /**< loads are carried out */
    bool once;       /**< the next load is, wherever it comes */
    bool waits;      /**< parked until `range` changes */
    bool many;       /**< the turn read more than `range` holds */
    uint64_t pc;     /**< link address of the first load of the turn */
    uint32_t caller; /**< where its function returns to, if the loop calls it; else 0 */
    unsigned ranges;
    struct sim_poll_range range[SIM_POLL_RANGES];
};

/** For the scalar unit (struct sim_scalar_env). */
bool sim_core_poll(struct sim_scalar *scalar, uint64_t addr, unsigned bytes);
/** A unit instruction of the loop is about to read global memory. */
void sim_core_poll_read(struct sim_core *core, uint64_t addr, uint64_t bytes);
/** Between rounds, of a core that is parked at such a load: goes round its loop if that may lead
 * anywhere. False: it stays. */
bool sim_core_poll_try(struct sim_core *core);
/** The core has written global memory, or (scalar unit) is about to. */
void sim_core_stored(struct sim_core *core, const struct sim_span *span, enum leo_pipe pipe);
