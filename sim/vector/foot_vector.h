/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the footprints of vector instructions. docs/hw/vector.md. */
#pragma once

#include "exec_vector.h"

/** Mask mode and mask (HW-VEC-02..04). `widest` is the lane size of the widest operand. False: an
 * element count that no buffer holds (fault). */
bool sim_vec_foot_begin(struct sim_core *core, struct sim_footprint *foot, uint32_t widest,
                        uint32_t repeat);
/** Work that masks do not touch: `repeat` repeats of `count` lanes, which only time looks at. */
void sim_vec_foot_unmasked(struct sim_footprint *foot, uint32_t repeat, uint32_t count);
/** An operand of lanes; strides in blocks. */
void sim_vec_foot_lanes(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                        uint64_t addr, uint32_t blk, uint32_t rep, uint32_t lane_bytes);
/** `bytes` of the unified buffer, `align`ed. */
struct sim_span *sim_vec_foot_bytes(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                                    uint64_t addr, uint64_t bytes, unsigned align);
/** `repeat` times `blocks` pieces of `bytes`; strides in blocks. */
void sim_vec_foot_blocks(struct sim_footprint *foot, enum sim_operand at, unsigned touch,
                         uint64_t addr, struct sim_level repeats, struct sim_level blocks,
                         uint32_t bytes);
/** The destination as half blocks: 16 bytes for each block of the sources. */
void sim_vec_foot_halves(struct sim_footprint *foot, uint64_t addr, uint32_t blk, uint32_t rep);
/** Type and mode are the instruction's; else a fault. */
bool sim_vec_foot_check(struct sim_core *core, const struct sim_op *op, unsigned type,
                        unsigned mode);
/** Bytes of the unified buffer to look at before the footprint is known; NULL: fault. */
const uint8_t *sim_vec_foot_peek(struct sim_core *core, uint64_t addr, uint64_t bytes);
