/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of vector instructions share. */
#pragma once

#include "walk.h"
#include <sim_units.h>

/* Families (exec= in isa/insn/vector.isa): exec_lanes.c, exec_compare.c, exec_reduce.c. What a
 * family computes is op->row->member, an enum of its own (sim_binary, sim_unary). */

/** vconv of s4 (exec_s4.c). */
bool sim_vec_convert_s4(struct sim_core *core, const struct sim_op *op);
/** An illegal configuration word. */
bool sim_vec_bad_config(struct sim_core *core);
/** Bytes of a lane. */
uint32_t sim_vec_type_bytes(enum leo_dtype type);
/** The computing lane of a type that the footprint let through. */
enum sim_lane sim_vec_lane_of(enum leo_dtype type);

/** A scalar operand repeated side by side, so that two-operand
 * kernels serve scalar instructions. */
struct sim_vec_splat {
    _Alignas(64) uint8_t bytes[1024];
    size_t lanes; /**< how many are filled */
};
void sim_vec_splat_fill(struct sim_vec_splat *splat, uint64_t scalar, uint32_t lane_bytes,
                        uint64_t lanes);
