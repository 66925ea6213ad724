/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulated chip and a debugger say to each other. The chip stands still while `stopped`
 * runs; whatever the debugger asks, it asks from there. Threads are the cores that run a block:
 * a block has the same number in each run of a launch, whatever core it gets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leo_debug_chip;

/** A core that runs a block. */
struct leo_debug_thread {
    uint32_t id; /**< 1 and up, by block */
    uint32_t block;
    uint16_t core;
    uint8_t kind;      /**< enum leo_core_kind */
    uint8_t sub_block; /**< of the vector cores of a block, which */
    bool is_in_group;  /**< other cores run the same block with it */
    bool waits;        /**< for a flag of another core, or for memory to change */
    const char *holds; /**< which memories it has, one word: "UB", "L1 L0A", .. */
};

/** Why everything stands still. */
enum leo_debug_why {
    LEO_DEBUG_ENTRY,  /**< before the first instruction of the first launch */
    LEO_DEBUG_BREAK,  /**< a breakpoint, or `interrupted` said so */
    LEO_DEBUG_STEP,   /**< the step is done */
    LEO_DEBUG_FAULT,  /**< the instruction cannot be carried out: its block ends here */
    LEO_DEBUG_FINDING /**< the checker found something at this instruction, which goes on */
};

struct leo_debug_stop {
    enum leo_debug_why why;
    uint32_t thread;
    /* Of a fault or finding. */
    uint16_t code;            /**< enum leo_fault */
    uint8_t unit, other_unit; /**< enum leo_pipe */
    uint8_t space;            /**< enum leo_mem_space */
    uint64_t addr, bytes;
    uint64_t pc, other_pc; /**< core addresses; other_pc 0: there is no other instruction */
};

/** How a thread goes on. */
enum leo_debug_motion {
    LEO_DEBUG_GO,
    LEO_DEBUG_RANGE, /**< one instruction, and on while inside [low, high) */
    LEO_DEBUG_HOLD   /**< not at all, while another one steps */
};

/** Registers of a thread, where they are: to be read and written. */
struct leo_debug_registers {
    uint64_t *x, *f, *pc; /**< 32, 32 and one */
    uint32_t *fcsr;
};

enum { LEO_DEBUG_ALL = 0 /**< as a thread's number */ };

/** What a debugger may ask while the chip stands still. */
struct leo_debug_ops {
    /** Fills `list` with the threads by rising number; how many there are. */
    size_t (*threads)(struct leo_debug_chip *chip, struct leo_debug_thread *list, size_t room);
    bool (*registers)(struct leo_debug_chip *chip, uint32_t thread,
                      struct leo_debug_registers *registers);
    /** Value of a special register by its number in isa/csr.csv; false: it cannot be read. */
    bool (*special)(struct leo_debug_chip *chip, uint32_t thread, unsigned csr, uint64_t *value);
    /** Copies between `data` and memory as the thread sees it; how many bytes were there to be
     * copied, from the first on. */
    size_t (*memory)(struct leo_debug_chip *chip, uint32_t thread, uint64_t addr, void *data,
                     size_t bytes, bool write);
    /** A breakpoint at a core address; false: nothing can be executed there, or no memory. */
    bool (*mark)(struct leo_debug_chip *chip, uint64_t addr, bool on);
    /** No breakpoints any more, and all threads go on. */
    void (*forget)(struct leo_debug_chip *chip);
    /** How a thread, or LEO_DEBUG_ALL with those to come, goes on when `stopped` returns. */
    void (*move)(struct leo_debug_chip *chip, uint32_t thread, enum leo_debug_motion motion,
                 uint64_t low, uint64_t high);
};

/** One instruction on one core: how often it was carried out, and what that took the scalar unit.
 */
struct leo_debug_count {
    uint64_t count;
    double cycles;
};

/** A debugger, or one who counts, as the chip sees it. */
struct leo_debugger {
    void *user;
    /** Where the chip counts what a core does with the text of an image: `instructions` places,
     * the first for link address `text`. NULL: nowhere. Called when a block begins; NULL itself:
     * nothing is counted. */
    struct leo_debug_count *(*counts)(void *user, uint64_t image_addr, unsigned core, uint64_t text,
                                      size_t instructions);
    /** Everything stands still until this returns. NULL: nothing is ever stopped, nor asked for by
     * the two below. */
    void (*stopped)(void *user, const struct leo_debug_ops *ops, struct leo_debug_chip *chip,
                    const struct leo_debug_stop *stop);
    /** Whether kernels of the image at a device address are debugged; others run undisturbed. */
    bool (*wants)(void *user, uint64_t image_addr);
    /** Asked now and then while cores run: true stops them. */
    bool (*interrupted)(void *user);
};

#ifdef __cplusplus
}
#endif
