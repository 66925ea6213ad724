/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of kernels: finds what a run on hardware may hide. Looks on only; values and times
 * are the same with and without it. docs/hw/check.md, decision 0012.
 *
 * On chip each access is compared at once with what touched the bytes before (hazard.c). Accesses
 * to global memory are noted by each core and compared at boundaries, in the order of cores, so
 * that the findings are the same on any number of host threads (global.c).
 */
#pragma once

#include "../footprint.h"
#include "../op.h"
#include "cross.h"
#include "order.h"
#include "shadow.h"
#include <leo/layout.h>
#include <leo/status.h>
#include <stddef.h>

/* As LEO_SIM_CHECK_* of <leo/sim.h>. */
enum { SIM_CHECK_HAZARD = 1, SIM_CHECK_INIT = 2, SIM_CHECK_RACE = 4, SIM_CHECK_BOUNDS = 8 };

/** Most findings a launch tells; the rest is counted. */
#define SIM_FINDINGS 16

/** Something that is wrong with a kernel. */
struct sim_finding {
    enum leo_fault code;
    enum leo_check_kind kind;
    uint8_t unit, other_unit; /**< enum leo_pipe */
    uint8_t space;            /**< enum leo_mem_space */
    uint8_t event;
    uint16_t core;
    uint32_t pc, other_pc; /**< link addresses; other_pc 0 = not known */
    uint32_t caller;       /**< where the function at pc returns to; 0 = not known */
    uint32_t block, other_block;
    uint64_t addr, bytes;
};

/** Findings of one core or one launch, each place reported once. */
struct sim_findings {
    struct sim_finding list[SIM_FINDINGS];
    unsigned count;
    uint64_t more; /**< others that were not kept */
};

void sim_findings_add(struct sim_findings *findings, const struct sim_finding *finding);

/** An access to global memory, noted by a core. */
struct sim_check_note {
    struct sim_span span;
    struct sim_clock known;          /**< what was complete before it on its core */
    const struct sim_remote *remote; /**< and on others; NULL = nothing */
    uint32_t number, pc, block;
    uint32_t syncs;
    uint8_t unit;
    bool line;  /**< of the scalar unit: its cache works on whole lines (said of the second
                   generation only) */
    bool clean; /**< no access: this line, or all of the core's, is written back */
    bool all;
    bool blocks; /**< whole 32-byte blocks: the last one may reach past what is meant */
};

/** An instruction as the checker remembers it. */
struct sim_check_past {
    uint32_t *pc; /**< by number modulo capacity; bit 0: unit flag */
    uint32_t capacity;
};

/** One core's side. */
struct sim_check {
    unsigned which; /**< SIM_CHECK_* */
    uint32_t arch;
    uint16_t core;
    uint32_t block;
    uint64_t gm_base;
    struct sim_order order;
    struct sim_check_past past[SIM_ACTORS];
    struct sim_shadow local[LEO_MEM_SPACE_COUNT];
    struct sim_check_note *note;
    size_t notes, capacity;
    bool ended;                                  /**< the block has, without a fault */
    uint32_t syncs;                              /**< flags and barriers so far */
    uint32_t flag_pc[SIM_ACTORS][SIM_ACTORS][8]; /**< who set it; 0 = not set */
    struct sim_check_cross cross;
    struct sim_check_global *global; /**< of the launch; for sim_check_acquire */
    struct sim_findings findings;
    const struct leo_image_array *array; /**< of the kernel's image; borrowed */
    size_t arrays;
};

struct sim_core;

/** Core number `core` of `cores`. */
void sim_check_init(struct sim_check *check, unsigned which, uint32_t arch, unsigned core,
                    unsigned cores);
void sim_check_finish(struct sim_check *check);
/** A block starts: nothing on chip is written, no flag is set. */
void sim_check_begin(struct sim_check *check, uint32_t block, uint64_t gm_base);
/** Operands of an instruction that begin in an on-chip array and leave it. */
void sim_check_arrays(struct sim_check *check, const struct sim_op *op);
/** A load or store of the scalar unit at a core's address that no array can hold whole. */
void sim_check_arrays_scalar(struct sim_check *check, uint64_t addr, uint64_t bytes, uint64_t pc);
/** The block has ended without a fault: flags left set. */
void sim_check_end(struct sim_check *check);
/** An instruction that is about to take effect; its footprint is mapped. */
void sim_check_unit(struct sim_check *check, const struct sim_core *core, const struct sim_op *op);
/** A load, store (or both: an atomic) of the scalar unit. `local` is its offset in UB, if there. */
void sim_check_scalar(struct sim_check *check, enum leo_mem_space space, uint64_t addr,
                      uint64_t bytes, unsigned touch, uint64_t pc);
void sim_check_flag_set(struct sim_check *check, enum leo_pipe src, enum leo_pipe dst,
                        unsigned event, uint64_t pc);
void sim_check_flag_wait(struct sim_check *check, enum leo_pipe src, enum leo_pipe dst,
                         unsigned event);
void sim_check_barrier(struct sim_check *check, enum leo_pipe pipe);
/** The data cache writes back the line of an address, or all. */
void sim_check_dcci(struct sim_check *check, uint64_t addr, bool all);
/** What the scalar unit did is done. */
void sim_check_dsb(struct sim_check *check);

/* acquire.c */

/** Between rounds: the core reads global memory in a loop that waits for it. What the stores it
 * reads were ordered behind is complete for it. */
void sim_check_acquire(struct sim_check *check, uint64_t addr, uint64_t bytes, uint64_t pc);
/** A store, whose record is `record`. */
void sim_check_release(struct sim_check_global *global, const struct sim_check_note *note,
                       uint32_t record);
/** The core has run on: what others polled before and it has not written back since is reported.
 * The end of a block writes everything back. */
void sim_check_settle_kept(struct sim_check_global *global, const struct sim_check *check);
void sim_check_release_forget(struct sim_check_global *global);

/* global.c */

/** An access that the shadow names. */
struct sim_check_record {
    uint32_t block, number, pc;
    uint16_t core;
    uint8_t unit;
    bool atomic, line, blocks;
    bool clean;      /**< it is no longer in a data cache alone */
    uint32_t origin; /**< its own number, or of the store that was cleaned */
};

/** Whether what a scalar unit stored is still in its data cache, where no other core sees it. */
bool sim_check_is_kept_back(const struct sim_check_global *global,
                            const struct sim_check_record *record);

/** Whether the access was complete when its block stored something that others look at, in front of
 * a later block of that core that `remote` knows. */
bool sim_check_was_released(const struct sim_check_global *global,
                            const struct sim_check_record *record, const struct sim_remote *remote,
                            bool was_load);

enum { SIM_CHECK_CORES = 256, SIM_CHECK_LINE_BYTES = 64 }; /* of the data cache [P] */

/** Up to which of its accesses a core has written its whole data cache back. */
struct sim_check_cleaned {
    uint32_t block, number;
};

/** What a store of a kernel that polls tells those who read it. */
struct sim_check_release {
    uint32_t record;
    struct sim_picture picture;
};

/** A store that was polled while it was still in a data cache. */
struct sim_check_kept {
    uint64_t addr, bytes;
    uint32_t record, pc, block;
    uint16_t core;
};

/** Who touched global memory in one launch. */
struct sim_check_global {
    struct sim_check_cleaned cleaned[SIM_CHECK_CORES];
    unsigned which;
    struct sim_shadow shadow;
    struct sim_check_record *record; /**< by the shadow's numbers; [0] is none */
    uint32_t records, capacity;
    bool polls;                        /**< what follows is kept */
    struct sim_check_release *release; /**< by rising records */
    size_t releases, release_capacity;
    struct sim_check_kept kept[SIM_FINDINGS];
    unsigned kepts;
    struct sim_findings findings;
};

/** Which bytes of global memory hold something: all were unwritten when they were mapped. */
struct sim_check_written {
    struct sim_shadow shadow;
};

void sim_check_global_begin(struct sim_check_global *global, unsigned which, bool polls);
void sim_check_global_finish(struct sim_check_global *global);
/** Compares what the core noted since the last time, and takes over what it found. */
void sim_check_global_take(struct sim_check_global *global, struct sim_check *check,
                           struct sim_check_written *written);
/** Counts the bytes of a range that were not written. */
void sim_check_written_look(const struct sim_check_written *memory, uint64_t addr, uint64_t bytes,
                            struct leo_unwritten *found);
/** Bytes that copies wrote, or that were mapped or given back (`written` false). */
void sim_check_written_set(struct sim_check_written *memory, uint64_t addr, uint64_t bytes,
                           bool written);
