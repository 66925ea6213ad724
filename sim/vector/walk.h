/* SPDX-License-Identifier: Apache-2.0 */
/* How a vector instruction walks the unified buffer: repeats of lanes, blocks of 32 bytes, masks.
 * docs/hw/vector.md. */
#pragma once

#include "../core/core.h"
#include "../simd/simd.h"
#include "../simd/simd_vector.h"

#define SIM_VEC_BLOCK_BYTES  32u
#define SIM_VEC_REPEAT_BYTES 256u

/** One operand in the unified buffer, checked. */
struct sim_vec_array {
    uint32_t blk, rep; /**< bytes from block to block and from repeat to repeat */
    uint32_t lane_bytes;
    uint8_t *data;
    uint64_t bytes; /**< to the end of the last lane touched */
};

/** Lanes of one instruction: its footprint's, and who computes them. */
struct sim_vec {
    struct sim_core *core;
    const struct sim_simd_vector *simd;
    struct sim_lanes lanes;
    uint32_t infinity; /**< of the float type whose results saturate; 0 = none does */
    bool keeps_dst;    /**< the kernel finds the old lanes where it writes the new ones */
};

/** Computes `count` lanes; `first` counts lanes from the start of the instruction. Sources may be
 * NULL if not used. */
typedef void (*sim_vec_kernel_fn)(void *context, void *dst, const void *a, const void *b,
                                  uint64_t first, size_t count);

struct sim_vec sim_vec_of(struct sim_core *core, const struct sim_op *op);
/** An operand of lanes. */
struct sim_vec_array sim_vec_array_of(const struct sim_op *op, enum sim_operand at);
/** If CSR ctrl saturates: results of this type do, and raise CSR overflow. */
void sim_vec_saturates(struct sim_vec *vec, enum leo_dtype type);
/** The lowest `lanes` lanes, 0..128. */
void sim_vec_set_prefix(uint64_t mask[2], uint32_t lanes);
/** Whether the mask is the lowest `used` lanes. */
bool sim_vec_is_prefix(const uint64_t mask[2], uint32_t used);
/** Whether the operand is one contiguous run over all repeats. */
bool sim_vec_is_contiguous(const struct sim_vec *vec, const struct sim_vec_array *array);
/** Whether two byte ranges share a byte. */
bool sim_vec_overlap(const uint8_t *a, uint64_t a_bytes, const uint8_t *b, uint64_t b_bytes);
/** The first `used` lanes of a repeat, gathered to `buffer`
 * unless they lie side by side already. */
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
