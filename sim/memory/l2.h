/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines of device memory the chip's L2 holds. It keeps no data: it only says how much of what
 * the cores move must come from or go to HBM. Lines are replaced in the order in which they came,
 * but one that was used since its turn last came gets another round.
 */
#pragma once

#include "../section.h"
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_L2_LINE_BYTES = 512 };

struct leo_sqe_copy;

/** What changed of an L2 since sim_l2_watch, so that it can be taken back. */
struct sim_l2_journal {
    struct sim_l2_change {
        uint32_t place, line;
        uint8_t mark;
    } *change; /**< as they were before */
    size_t count, capacity;
    uint32_t hand, dirty, cleaner;
    bool failed; /**< no memory: it cannot be taken back */
};

struct sim_l2 {
    uint32_t *place; /**< by line of device memory: place in `line` + 1, 0 = not held; reserved, not
                        committed */
    uint32_t *line;  /**< by place: line + 1, 0 = free */
    uint8_t *mark;   /**< by place: used since its turn last came; written */
    uint64_t base;   /**< first address of device memory */
    uint64_t lines;  /**< of device memory */
    uint32_t places, hand;
    uint32_t dirty, max_dirty;      /**< lines that HBM does not have yet; how many may be */
    uint32_t cleaner;               /**< place that is looked at next to write one back */
    struct sim_l2_journal *journal; /**< NULL: changes are for good */
    /* Since last asked. */
    uint64_t used_bytes, read_bytes, written_bytes; /**< by cores; from HBM; to HBM */
    uint64_t read_runs;                             /**< of neighbouring lines from HBM */
    uint64_t last_read;                             /**< line + 1 that HBM was asked for last */
};

/** A chip without L2 (`bytes` 0) sends everything to HBM. `written_part` of it at most holds what
 * HBM has not; the oldest of that is written back, and stays. */
leo_status sim_l2_create(struct sim_l2 *l2, uint64_t base, uint64_t gm_bytes, uint64_t bytes,
                         double written_part);
void sim_l2_destroy(struct sim_l2 *l2);
/** Forgets everything it holds. */
void sim_l2_clear(struct sim_l2 *l2);
/** A core moves [offset, offset + bytes) of device memory. Offsets outside are ignored. */
void sim_l2_use(struct sim_l2 *l2, uint64_t offset, uint64_t bytes, bool write);
/** The same past the L2: uses lines that it holds, and brings none. */
void sim_l2_pass(struct sim_l2 *l2, uint64_t offset, uint64_t bytes, bool write);
/** What is copied or filled goes through it: its lines are there for whoever comes next. */
void sim_l2_copy(struct sim_l2 *l2, const struct leo_sqe_copy *body, bool is_fill);
/** Changes are noted from now on, in a journal that was zeroed or used before. */
void sim_l2_watch(struct sim_l2 *l2, struct sim_l2_journal *journal);
/** They are for good, or taken back; false: there was no memory to note them all. */
void sim_l2_keep(struct sim_l2 *l2);
bool sim_l2_take_back(struct sim_l2 *l2);
/** Its state (section.h). */
bool sim_l2_walk(struct sim_l2 *l2, sim_stretch_fn fn, void *user);
/** Finds `place` again after the rest was restored to an empty one. False: it makes no sense. */
bool sim_l2_settle(struct sim_l2 *l2);
