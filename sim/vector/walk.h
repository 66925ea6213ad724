/* SPDX-License-Identifier: Apache-2.0 */
/* How a vector instruction walks the unified buffer: repeats of lanes, blocks of 32 bytes, masks.
 * docs/hw/vector.md. */
#pragma once

#include "../core/core.h"
#include "../simd/simd.h"
#include "../simd/simd_vector.h"

#define SIM_VEC_BLOCK_BYTES  32u
#define SIM_VEC_REPEAT_BYTES 256u

/** One operand in the unified buffer. */
struct sim_vec_array {
    uint64_t addr;
    uint32_t blk, rep; /**< bytes from block to block and from repeat to repeat */
    uint32_t lane_bytes;
    uint8_t *data;  /**< host address of `addr`, set by sim_vec_map */
    uint64_t bytes; /**< from `addr` to the end of the last lane touched, set by sim_vec_map */
};

/** Lanes of one instruction. */
struct sim_vec {
    struct sim_core *core;
    const struct sim_simd_vector *simd;
    uint32_t lanes; /**< a repeat; 256 bytes of the widest operand */
    uint32_t repeats;
    uint32_t used;      /**< lanes up to the last active one, in all repeats but the last */
    uint32_t used_last; /**< the same of the last repeat */
    uint64_t mask[2];   /**< active lanes of all repeats but the last */
    uint64_t mask_last[2];
    bool dense; /**< the active lanes are one run of `total` from the first on */
    uint64_t total;
};

/** Computes `count` lanes; `first` counts lanes from the start of the instruction. Sources may be
 * NULL if not used. */
typedef void (*sim_vec_kernel_fn)(void *context, void *dst, const void *a, const void *b,
                                  uint64_t first, size_t count);

/**
 * Reads mask mode and mask (HW-VEC-02..04). `widest` is the lane size of the widest operand. No
 * active lane: repeats 0. False: an element count that no buffer holds (fault).
 */
bool sim_vec_begin(struct sim_vec *vec, struct sim_core *core, uint32_t widest, uint32_t repeat);
/** Checks that all active lanes lie in the unified buffer and sets data and bytes; false: fault. */
bool sim_vec_map(const struct sim_vec *vec, struct sim_vec_array *array);
/** An operand of vec2 / vec3 form; strides in blocks. */
struct sim_vec_array sim_vec_array_of(uint64_t addr, uint32_t blk, uint32_t rep,
                                      uint32_t lane_bytes);
/** Whether the operand is one contiguous run over all repeats. */
bool sim_vec_is_contiguous(const struct sim_vec *vec, const struct sim_vec_array *array);
/** Whether two byte ranges share a byte. */
bool sim_vec_overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes);
/** The first `used` lanes of a repeat, gathered to `buffer` unless they lie side by side already.
 */
const uint8_t *sim_vec_lanes(const struct sim_vec_array *array, uint32_t repeat, uint32_t used,
                             uint8_t *buffer);
/** Runs the kernel over all active lanes of mapped operands; `b` may be NULL, `a` too. */
void sim_vec_run(const struct sim_vec *vec, const struct sim_vec_array *dst,
                 const struct sim_vec_array *a, const struct sim_vec_array *b,
                 sim_vec_kernel_fn kernel, void *context);

static inline bool sim_vec_is_active(const uint64_t mask[2], uint32_t lane)
{
    return (mask[lane / 64] >> (lane % 64)) & 1;
}
