/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sees: registers, doorbells, rings, faults, interrupts. */
#pragma once

#include "../section.h"
#include "dma.h"
#include <leo/layout.h>
#include <leo/regs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_config;
struct sim_hbm;
struct sim_tape;
struct sim_trace;

/** A submission ring and its completion ring. Indices as in leo/ring_math.h. */
struct sim_ring {
    uint64_t sq_base, cq_base;
    uint32_t depth;   /**< 0 = the queue does not exist */
    uint32_t sq_head; /**< next entry to fetch */
    uint32_t cq_tail; /**< next completion to write */
    uint32_t phase;
    uint16_t space;
    uint8_t priority; /**< 0..LEO_PRIORITY_LEAST, 0 first */
    bool broken;      /**< its memory went away: takes nothing more */
};

/** Profile rings as set_profile gave them. */
struct sim_profile {
    struct leo_sqe_profile rings;
    uint64_t counts[2];
    bool changed; /**< counts not yet reported to the host */
};

struct sim_function {
    /* What it works with; the chip gives it before anything else is done. */
    const struct sim_config *config;
    const struct sim_hbm *hbm; /**< where device memory begins and ends */
    struct sim_host_lock *run_lock;
    struct sim_tape *tape;     /**< learns of doorbells; NULL = nothing is recorded */
    void (*reset)(void *chip); /**< what the control register asks for */
    void *chip;

    struct sim_dma dma;
    struct sim_ring *ring; /**< by queue number, config.queues of them */
    /* Written by any thread. */
    _Atomic uint32_t *sq_tail, *cq_head; /**< doorbells by queue number */
    _Atomic uint64_t rung[LEO_DOORBELL_COUNT / 64];
    _Atomic bool any_rung;
    _Atomic uint32_t control; /**< what was last asked for, until it is done */
    _Atomic uint32_t status, irq_status, irq_mask;
    _Atomic uint64_t admin_sq_base, admin_cq_base, fault_base;
    _Atomic uint32_t admin_depth, fault_depth;
    _Atomic uint64_t sim_time_ns;
    uint32_t fault_count; /**< records written */
    struct sim_profile profile;
};

leo_status sim_function_init(struct sim_function *function);
void sim_function_finish(struct sim_function *function);
/** Its state (section.h). */
bool sim_function_walk(struct sim_function *function, sim_stretch_fn fn, void *user);
/** Does what the control register was last asked to do. Caller holds the run lock. */
void sim_function_control(struct sim_function *function);
/** Registers; any thread. */
uint64_t sim_function_read(struct sim_function *function, uint32_t offset, unsigned bytes);
void sim_function_write(struct sim_function *function, uint32_t offset, unsigned bytes,
                        uint64_t value);
bool sim_function_has_irq(const struct sim_function *function);
void sim_function_raise(struct sim_function *function, uint32_t bits);
/** The device no longer takes entries until it is reset. */
void sim_function_die(struct sim_function *function);

/** Entries the host has rung for that are not fetched yet. */
bool sim_ring_has_entry(struct sim_function *function, unsigned queue);
/** False: none there, or the ring is broken. */
bool sim_ring_fetch(struct sim_function *function, unsigned queue, struct leo_sqe *entry);
/** The entry `place` places behind the next one; it stays where it is. */
bool sim_ring_peek(struct sim_function *function, unsigned queue, uint32_t place,
                   struct leo_sqe *entry);
bool sim_ring_has_room(const struct sim_function *function, unsigned queue);
/** Writes a completion (phase and queue are filled in) and raises the interrupt. */
void sim_ring_complete(struct sim_function *function, unsigned queue, struct leo_cqe *entry);

/** Writes a fault record; its number + 1, or 0 if the host gave no ring. */
uint32_t sim_fault_write(struct sim_function *function, const struct leo_fault_record *record);
void sim_profile_task(struct sim_function *function, const struct leo_task_record *record);
/** Moves the trace of a core to the host, as of command `cmd_id`. */
void sim_profile_trace(struct sim_function *function, struct sim_trace *trace, uint32_t cmd_id);
/** Tells the host the counts if they changed. */
void sim_profile_flush(struct sim_function *function);
