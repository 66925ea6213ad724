/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar unit: RV64IMAFD_Zfh_Zfbfmin + Zicsr, no C. Knows nothing of the core it sits in but
 * this table. */
#pragma once

#include "../op.h"
#include "../section.h"
#include <leo/map.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_scalar;
struct sim_decoded;
struct leo_debug_count;

enum sim_access {
    SIM_ACCESS_READ = 1,
    SIM_ACCESS_WRITE = 2,
    SIM_ACCESS_EXEC = 4,
    SIM_ACCESS_MISALIGNED = 8, /**< of a region only: loads and stores need not be aligned */
    SIM_ACCESS_WATCHED = 16,   /**< of a region only: env->watch sees each access */
    SIM_ACCESS_CACHED = 32     /**< of a region only: loads go through the data cache */
};

/** A stretch of the address space that is contiguous host memory; may be kept until
 * sim_scalar_forget. */
struct sim_region {
    uint64_t base, bytes;
    uint8_t *host;
    unsigned access; /**< enum sim_access bits */
    float load_cycles, store_cycles;
};

/**
 * The world of a scalar unit. Functions that return false have set scalar->fault (the run loop adds
 * pc and word), or leave fault.code NONE to have the instruction tried again later
 * (SIM_SCALAR_BLOCKED).
 */
struct sim_scalar_env {
    /** Finds the region that holds [addr, addr + bytes) with this access. */
    bool (*find)(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access,
                 struct sim_region *region);
    /** Called for a load of a cached region (SIM_ACCESS_CACHED) whose line is not the one the base
     * register last met. */
    void (*line)(struct sim_scalar *scalar, uint64_t addr);
    /** Called before each load, store or (READ and WRITE) atomic in a watched region, scalar->pc
     * set. May be NULL. */
    void (*watch)(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, unsigned access);
    /** Called before a load, atomic access or (`bytes` 0) custom instruction of a loop that may
     * wait for memory (poll_loop.c), scalar->pc set. False as above. May be NULL. */
    bool (*poll)(struct sim_scalar *scalar, uint64_t addr, unsigned bytes);
    /** Called before an atomic access: returns when it is this unit's turn. May be NULL. */
    void (*order)(struct sim_scalar *scalar, uint64_t addr);
    /** Issues a custom instruction; may move scalar->cycle forward (full queue, wait, barrier). */
    bool (*custom)(struct sim_scalar *scalar, struct sim_op *op);
    bool (*csr_read)(struct sim_scalar *scalar, unsigned csr, uint64_t *value);
    bool (*csr_write)(struct sim_scalar *scalar, unsigned csr, uint64_t value);
    /** ecall: false and fault.code NONE = the program exited. */
    bool (*ecall)(struct sim_scalar *scalar);
    /** Called before a marked instruction, or any while is_stepping is set, of a text prepared by
     * sim_decoded_break; scalar is as before it. False as above; may have moved scalar->pc then. */
    bool (*meet)(struct sim_scalar *scalar);
};

/** The instruction that was counted last. */
struct sim_scalar_counted {
    size_t index;
    uint64_t number; /**< of instructions before it, plus 1; 0: none yet */
    double cycle;    /**< when it began */
};

/** Breakpoints, by (address - LEO_MAP_IMAGE) / 4. */
struct sim_scalar_marks {
    uint8_t *mark;
    uint64_t count;
};

/** A region as loads, or stores, with one base register last met it: the loop asks here first. */
struct sim_reach {
    uint64_t base, span; /**< eight bytes at base + n lie in the region for each n < span */
    uint8_t *host;
    int32_t ticks;  /**< what an access costs beyond an ALU instruction */
    uint32_t align; /**< 7 = aligned accesses only, else 0 */
    bool is_line;   /**< of the data cache */
};

/** Costs in cycles, copied from the SoC file so that this unit needs no other struct. */
struct sim_scalar_time {
    double alu, mul, div, branch, float_op, float_div;
};

/** Registers and one place more, where instructions write whose rd is x0. */
enum { SIM_X_NOWHERE = 32, SIM_X_COUNT };

struct sim_scalar {
    uint64_t x[SIM_X_COUNT];
    uint64_t f[32]; /**< NaN-boxed */
    uint64_t pc;
    uint32_t fcsr;
    double cycle; /**< local time */
    uint64_t instructions;
    uint64_t reservation; /**< address of the last lr plus 1; 0 = none */
    uint64_t reserved;    /**< what it loaded */
    struct sim_fault fault;
    const struct sim_scalar_env *env;
    const struct sim_decoded *text; /**< decoded executable bytes; borrowed */
    struct sim_scalar_time time;
    void *owner;         /**< the core, for env functions */
    uint32_t line_bytes; /**< of the data cache, a power of two; of cached regions */
    struct sim_region region_cache[4];
    struct sim_reach load_reach[32], store_reach[32]; /**< by base register */
    int64_t slowest; /**< most ticks of one instruction, as far as known; 0 = to be computed */
    /* cycle is anchor + anchor_ticks ticks until the environment moves it: where runs are stopped
     * does not change how times are rounded. */
    double anchor;
    int64_t anchor_ticks;
    const struct sim_scalar_marks *marks; /**< NULL: no debugger */
    struct leo_debug_count *counts;       /**< by instruction of the text; NULL: not counted */
    struct sim_scalar_counted counted;
    bool is_stepping; /**< env->meet is called before each instruction */
};

enum sim_scalar_stop {
    SIM_SCALAR_TIME,
    SIM_SCALAR_RETURNED,
    SIM_SCALAR_EXITED,
    SIM_SCALAR_FAULT,
    SIM_SCALAR_BLOCKED
};

enum { SIM_SPIN_DEPTH = 16 };

/**
 * A load of a loop that may wait for memory: link addresses of the load, and of the loop's first
 * and last instruction; the calls between the loop and the load by where they return to, the last
 * one first. A function that several loops call has several for one load. An atomic access outside
 * of such loops is one of its own.
 */
struct sim_poll_loop {
    uint64_t at, first, last;
    unsigned depth;
    uint64_t back[SIM_SPIN_DEPTH];
};

/** Those of the load at an address, those with fewer calls first; NULL: it is none. */
const struct sim_poll_loop *sim_decoded_polls_at(const struct sim_decoded *decoded, uint64_t at,
                                                 size_t *count);
/** Whether there is any such loop. */
bool sim_decoded_poll_loops(const struct sim_decoded *decoded);

/** The instruction at scalar->pc, for who follows the turn of a loop. */
struct sim_scalar_next {
    uint64_t store; /**< where it stores */
    unsigned bytes; /**< 0: it does not, or atomically */
    int level;      /**< 1: it calls, -1: it returns */
};
struct sim_scalar_next sim_scalar_next(const struct sim_scalar *scalar);

/** Decodes executable bytes once; read-only afterwards, shared by all cores and threads. */
leo_status sim_decoded_create(const void *text, size_t bytes, uint64_t base,
                              struct sim_decoded **decoded);
struct leo_image_desc;
/** The text of an image, with its loops that wait for memory. */
leo_status sim_decoded_create_image(const struct leo_image_desc *desc, const void *image,
                                    struct sim_decoded **decoded);
/** Finds loops that do nothing but look at memory until it changes, and makes their loads
 * SIM_CODE_POLL. Once, before the text runs. `image`: the program with its tables of addresses. */
leo_status sim_decoded_find_poll_loops(struct sim_decoded *decoded, const void *image,
                                       size_t bytes);
void sim_decoded_destroy(struct sim_decoded *decoded);
/** For a debugger: each instruction looks for a breakpoint first. Once, before the text runs. */
void sim_decoded_break(struct sim_decoded *decoded);
/** Whether they do. */
bool sim_decoded_breaks(const struct sim_decoded *decoded);

/** What becomes of its members. */
extern const struct sim_sections sim_scalar_sections;
/** Zeroes registers and counters; env, text, time, owner stay. */
void sim_scalar_reset(struct sim_scalar *scalar);
/** Drops cached regions (mappings changed). */
void sim_scalar_forget(struct sim_scalar *scalar);
/** The line of an address left the data cache: the next load asks again. UINT64_MAX: all. */
void sim_scalar_forget_line(struct sim_scalar *scalar, uint64_t addr);
/** Runs until local time reaches `until_cycle`, or the program ends, faults, or an env function
 * asks to stop. */
enum sim_scalar_stop sim_scalar_run(struct sim_scalar *scalar, double until_cycle);
