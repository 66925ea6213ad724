/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a fault's text (fault.c puts them together). The device's lock is held. */
#pragma once

#include "../program/image.h"

/** A text that grows; cut at its end. */
struct rt_text {
    char *out;
    size_t bytes, used;
};
void rt_text_append(struct rt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct rt_fault {
    struct leo_rt_device *device;
    const struct leo_rt_kernel *kernel;
    const char *args; /**< the argument block, NULL if it is not at hand */
    enum leo_fault code;
    const struct leo_fault_record *record;
};

/** Kind of the core it happened on. */
enum leo_core_kind rt_fault_kind(const struct rt_fault *fault);
/** As programs write it: "PIPE_V"; "?" if there is none of that number. */
const char *rt_fault_pipe(unsigned pipe);

/* fault_where.c */
/** " (ub_x + 64)": the on-chip array that holds the address, or the one before it. */
void rt_fault_array(struct rt_text *text, const struct rt_fault *fault, enum leo_mem_space space);
/** ", argument 1 (y)": the argument that points into the nearest allocation. */
void rt_fault_argument(struct rt_text *text, const struct rt_fault *fault);
/** "; UB has 262144 bytes". */
void rt_fault_limit(struct rt_text *text, const struct rt_fault *fault, enum leo_mem_space space);
/** Name of the function at `pc`, "?" if nothing tells. */
const char *rt_fault_function(struct rt_image *image, uint64_t pc);
/** ", inlined from axpy.c:30": where the function at `pc` was put in. */
void rt_fault_inlines(struct rt_text *text, struct rt_image *image, uint64_t pc);
/** " in peek, called at axpy.c:30": who called the function at `pc` that returns to `back` (0: not
 * known), if it was not put into its caller. */
void rt_fault_caller(struct rt_text *text, struct rt_image *image, uint64_t pc, uint32_t back);
/** "axpy.c:12 in peek, called at axpy.c:30": the three above, with the file's last name. False:
 * nothing tells. */
bool rt_fault_place(struct rt_text *text, struct rt_image *image, uint64_t pc, uint32_t back);

/* fault_insn.c */
/** The instruction, why this core does not execute it, and what its configuration words hold. */
void rt_fault_instruction(struct rt_text *text, const struct rt_fault *fault);

/* deadlock.c */
/** "of its cube core": whose sets the flag of a record needs. */
const char *rt_fault_raiser(const struct rt_fault *fault, const struct leo_check_record *wait);
/** Cores that wait for each other, a line each. */
void rt_deadlock_text(struct rt_text *text, const struct rt_fault *fault,
                      const struct leo_drv_completion *done);

/* check.c */
/** What the checker found, a line each. */
void rt_check_text(struct rt_text *text, const struct rt_fault *fault,
                   const struct leo_drv_completion *done);
