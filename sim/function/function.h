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

struct leo_sim_chip;

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
    bool changed; /**< counts not yet told to the host */
};

struct sim_function {
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
    void (*reset)(struct leo_sim_chip *chip);
};

/** `reset`: what the control register asks for. */
leo_status sim_function_init(struct leo_sim_chip *chip, void (*reset)(struct leo_sim_chip *chip));
void sim_function_finish(struct leo_sim_chip *chip);
/** Its state (section.h). */
bool sim_function_walk(struct leo_sim_chip *chip, sim_stretch_fn fn, void *user);
/** Does what the control register was last asked to do. Caller holds the run lock. */
void sim_function_control(struct leo_sim_chip *chip);
bool sim_function_has_irq(const struct leo_sim_chip *chip);
void sim_function_raise(struct leo_sim_chip *chip, uint32_t bits);
/** The device no longer takes entries until it is reset. */
void sim_function_die(struct leo_sim_chip *chip);

/** Entries the host has rung for and nobody has fetched. */
bool sim_ring_has_entry(struct leo_sim_chip *chip, unsigned queue);
/** False: none there, or the ring is broken. */
bool sim_ring_fetch(struct leo_sim_chip *chip, unsigned queue, struct leo_sqe *entry);
bool sim_ring_has_room(const struct leo_sim_chip *chip, unsigned queue);
/** Writes a completion (phase and queue are filled in) and raises the interrupt. */
void sim_ring_complete(struct leo_sim_chip *chip, unsigned queue, struct leo_cqe *entry);

/** Writes a fault record; its number + 1, or 0 if the host gave no ring. */
uint32_t sim_fault_write(struct leo_sim_chip *chip, const struct leo_fault_record *record);
void sim_profile_task(struct leo_sim_chip *chip, const struct leo_task_record *record);
/** Moves the traces of all cores to the host, in core order. */
void sim_profile_traces(struct leo_sim_chip *chip);
/** Tells the host the counts if they changed. */
void sim_profile_flush(struct leo_sim_chip *chip);
