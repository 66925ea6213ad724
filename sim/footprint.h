/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one instruction touches: computed once per issue from its operands by the form of its
 * configuration words (foot_*.c of the units) and taken by everything that asks: bounds checks,
 * meaning, time, the L2's log, the checker, replays that only price.
 */
#pragma once

#include "op.h"

/** Places of sim_footprint.span. The operands have fixed ones; what else an instruction touches
 * follows. */
enum sim_operand { SIM_OPERAND_A, SIM_OPERAND_B, SIM_OPERAND_C, SIM_OPERAND_D, SIM_OPERAND_EXTRA };

/** Most spans: the 16 sources and 16 destinations of a transposition, and the operands. */
#define SIM_SPANS 36

enum sim_touch {
    SIM_TOUCH_READ = 1,
    SIM_TOUCH_WRITE = 2,
    SIM_TOUCH_ATOMIC = 4,  /**< with WRITE: adds to (or else combines with) what is there */
    SIM_TOUCH_PADDED = 8,  /**< with READ: some of it is padding whose value has no effect */
    SIM_TOUCH_MOVED = 16,  /**< with READ: its elements go to places the footprint does not tell */
    SIM_TOUCH_PARTLY = 32, /**< with WRITE: some of it may stay as it was (padding of fractals, bits
                             and results of lanes that are not active) */
    SIM_TOUCH_NO_L2 = 64   /**< in global memory: past the L2 */
};

/** `count` times, `step` bytes apart. */
struct sim_level {
    uint32_t count;
    int64_t step;
};

/** Pieces of bytes at regular places of one memory. */
struct sim_span {
    uint64_t addr;             /**< of the first piece, as the operand names it */
    struct sim_level level[3]; /**< outermost first */
    uint32_t bytes;            /**< of a piece */
    uint16_t align;            /**< what addr must be a multiple of, in a local memory */
    uint8_t touch;             /**< enum sim_touch bits; 0 = the operand touches nothing */
    uint8_t space;             /**< enum leo_mem_space */
    uint8_t lane_bytes;        /**< not 0: level 0 are repeats, level 1 blocks of 32 bytes, and only
                                  lanes that sim_footprint.lanes has active are touched */
    uint64_t low, extent;      /**< lowest byte, and bytes from it to the end of the highest */
    uint8_t *host;             /**< of addr, once mapped; NULL in global memory */
};

/** Lanes of a vector instruction: vmask, or the element count in counter mode. */
struct sim_lanes {
    uint32_t count;   /**< lanes of a repeat: 256 bytes of the widest operand */
    uint32_t asked;   /**< repeats that take time */
    uint32_t repeats; /**< repeats that do something: 0 without an active lane */
    uint32_t used;    /**< lanes up to the last active one, in all repeats but the last */
    uint32_t used_last;
    uint64_t mask[2]; /**< active lanes of all repeats but the last */
    uint64_t mask_last[2];
    bool dense; /**< the active lanes are one run of `total` from the first on */
    uint64_t total;
};

struct sim_footprint {
    unsigned count; /**< spans in use, gaps (touch 0) included */
    bool empty;     /**< nothing is touched: no repeats, no bursts, no active lane */
    struct sim_lanes lanes;
    /** img2col: output pixels from the first one on, in rows of out_w. */
    struct {
        uint32_t first, count, out_w, stride_w;
    } pixels;
    struct sim_span span[SIM_SPANS];
};

/** No spans yet. */
static inline void sim_footprint_begin(struct sim_footprint *foot)
{
    foot->count = SIM_OPERAND_EXTRA;
    foot->empty = false;
    for (unsigned i = 0; i < SIM_OPERAND_EXTRA; i++) {
        foot->span[i].touch = 0;
    }
}

/** A span of one piece in place `at` (SIM_OPERAND_EXTRA: the next one after the operands). Fill in
 * align and levels, then call sim_span_close. */
struct sim_span *sim_footprint_add(struct sim_footprint *foot, enum sim_operand at,
                                   enum leo_mem_space space, unsigned touch, uint64_t addr,
                                   uint64_t bytes);
/** Computes low and extent from the levels. */
void sim_span_close(struct sim_span *span);
/** The memory an address operand lies in. */
enum leo_mem_space sim_operand_space(enum leo_insn_operand operand);

/** One run of bytes of a span; `addr` in the terms of span->addr. */
typedef void (*sim_range_fn)(void *context, uint64_t addr, uint64_t bytes);
/** Calls `fn` for each run of bytes, masks applied, neighbours joined where that is easy. */
void sim_span_each(const struct sim_footprint *foot, const struct sim_span *span, sim_range_fn fn,
                   void *context);
