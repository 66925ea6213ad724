/* SPDX-License-Identifier: Apache-2.0 */
/* One AI core: its scalar unit, its memories, its pipes' timelines. Meaning lives in exec_*, time in unit_*. */
#pragma once

#include "../config.h"
#include "../op.h"
#include "../scalar/scalar.h"
#include <leo/isa_enums.h>

struct sim_simd;
struct sim_space;

/** An on-chip buffer. */
struct sim_local {
    uint8_t *data;
    uint32_t bytes;
};

/** An in-order queue with one unit behind it. Times are core cycles. */
struct sim_pipe {
    double free_at;       /**< end of the last instruction issued to it */
    double not_before;    /**< waits and barriers seen so far */
    double queue[64];     /**< start times of the last queue_depth instructions, a ring */
    uint32_t queue_count;
    double busy;          /**< busy cycles so far */
};

struct sim_core {
    struct sim_scalar scalar;
    const struct sim_config *config;
    const struct sim_simd *simd;
    unsigned id;
    enum leo_core_kind kind;
    /* What the running block sees. */
    uint32_t block_idx, block_num, sub_block_idx, sub_block_num;
    uint64_t vmask[2], ctrl, cmpmask[2], selmask_addr;
    struct sim_local local[LEO_MEM_SPACE_COUNT]; /**< by enum leo_mem_space; GM and PRIVATE unused */
    struct sim_space *space;                     /**< mappings of the owner; read-only while cores run */
    uint8_t *scratch;                            /**< 1 MiB host scratch for exec functions, 64-byte aligned */
    /* Time. */
    struct sim_pipe pipe[LEO_PIPE_COUNT];
    double gm_read_rate, gm_write_rate;          /**< this quantum's share, bytes per cycle */
    uint64_t gm_read_bytes, gm_write_bytes;
};

/**
 * Host pointer to [addr, addr + bytes) of an on-chip buffer. `addr` is a bare offset or an address in the buffer's
 * window. NULL with scalar.fault set (code, space, addr, bytes) if it leaves the buffer or is not a multiple of `align`.
 */
uint8_t *sim_core_local(struct sim_core *core, enum leo_mem_space space, uint64_t addr, uint64_t bytes, unsigned align);
/** Host pointer to [addr, addr + bytes) of global memory (or of the core's image / private windows), or NULL + fault. */
uint8_t *sim_core_gm(struct sim_core *core, uint64_t addr, uint64_t bytes, bool write);
/** Sets scalar.fault and returns false: `return sim_core_fault(...)`. pc, word and unit are filled in by the issuer. */
bool sim_core_fault(struct sim_core *core, enum leo_fault code, enum leo_mem_space space, uint64_t addr,
                    uint64_t bytes);

/* Meaning and time of the units, one pair a unit. exec: false = fault set, nothing after it is executed. */
bool sim_exec_vector(struct sim_core *core, const struct sim_op *op);
void sim_unit_vector(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);
bool sim_exec_mte(struct sim_core *core, const struct sim_op *op);   /* pipes MTE1 MTE2 MTE3 and UB->UB */
void sim_unit_mte(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);
bool sim_exec_cube(struct sim_core *core, const struct sim_op *op);
void sim_unit_cube(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);
bool sim_exec_fixpipe(struct sim_core *core, const struct sim_op *op); /* also copy_matrix_cc_to_ubuf (pipe V) */
void sim_unit_fixpipe(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost);
