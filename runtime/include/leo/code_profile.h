/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction of a program's kernels did, for hot spots by line (LEO_PROFILE_CODE). */
#pragma once

#include <leo/faults.h>
#include <leo/isa_enums.h>
#include <leo/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One instruction on one core, over all launches while its module was loaded. */
struct leo_rt_code_place {
    const char *module;          /**< name it was loaded with */
    const char *function, *file; /**< of the source; "" where debug information does not tell */
    int line;
    unsigned core;
    uint32_t pc;   /**< link address */
    uint32_t word; /**< the instruction */
    uint64_t count;
    double scalar_cycles; /**< of the scalar unit, which goes through all instructions */
    /* Of an instruction of a unit, as far as the profile has records of instructions. */
    enum leo_pipe pipe;
    uint64_t busy_ps, wait_ps[LEO_STALL_MEMORY + 1]; /**< by enum leo_stall */
    uint64_t bytes;                                  /**< of global memory */
};

typedef void (*leo_rt_code_fn)(void *user, const struct leo_rt_code_place *place);

/** Whether instructions are counted: the environment asked for it when the runtime was made. */
bool leo_rt_counts_code(const struct leo_rt_device *device);
/** Calls `fn` for each instruction that was carried out, by module, core and address. A profile is
 * on, and the device has nothing to do. */
leo_status leo_rt_profile_code(struct leo_rt_device *device, leo_rt_code_fn fn, void *user);

#ifdef __cplusplus
}
#endif
