/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops cores for a debugger (leo/debug.h). With one attached, each decoded instruction goes
 * through SIM_CODE_BREAK, cores run on the caller's thread, one after the other, and nothing is
 * computed before its time; without one none of this exists. Values and simulated times are the
 * same as without.
 */
#pragma once

#include "../scalar/scalar.h"
#include <leo/debug.h>
#include <leo/status.h>

struct sim_core;
struct sim_cores;
struct sim_debug;

/** A core's side. */
struct sim_debug_core {
    struct sim_debug *debug;
    bool is_live; /**< it runs a block of an image that is debugged, which has not ended */
    uint32_t thread;
    enum leo_debug_motion motion;
    uint64_t low, high;                /**< of LEO_DEBUG_RANGE */
    bool is_released;                  /**< the instruction at this place may be carried out */
    uint64_t released_pc, released_at; /**< place, and number of instructions before it */
};

leo_status sim_debug_create(struct sim_cores *cores, const struct leo_debugger *debugger,
                            struct sim_debug **debug);
void sim_debug_destroy(struct sim_debug *debug);

/** Whether an image at a device address is to be prepared by sim_decoded_break. */
bool sim_debug_wants(const struct sim_debug *debug, uint64_t image_addr);
/** A block begins on the core, or has ended there or been dropped. */
void sim_debug_begin(struct sim_core *core);
void sim_debug_end(struct sim_core *core);
/** Before an instruction with a mark, or any of a unit that does not just go on: whether it may
 * be carried out now. */
bool sim_debug_meet(struct sim_scalar *scalar);
/** The block has ended in a fault, which is in scalar.fault. */
void sim_debug_fault(struct sim_core *core);
/** What the checker found at this instruction: its findings from number `first` on. */
void sim_debug_found(struct sim_core *core, unsigned first);
/** A stretch of the core begins: the debugger may want to stop everything. */
void sim_debug_look(struct sim_core *core);
