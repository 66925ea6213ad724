/* SPDX-License-Identifier: Apache-2.0 */
/* The families of vector instructions. Each executes one instruction; false: fault. */
#pragma once

#include "walk.h"

/** A family with the member it is to compute (an enum of its own). */
typedef bool (*sim_vec_family_fn)(struct sim_core *core, const struct sim_op *op, unsigned member);

/* exec_lanes.c; members are enum sim_binary, enum sim_unary, or unused */
bool sim_vec_binary(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_scalar(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_unary(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_axpy(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_copy(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_dup(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_convert(struct sim_core *core, const struct sim_op *op, unsigned member);

/* exec_compare.c */
bool sim_vec_select(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_compare(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_compare_scalar(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_compare_to_csr(struct sim_core *core, const struct sim_op *op, unsigned member);

/* exec_reduce.c; members are enum sim_binary */
bool sim_vec_reduce_repeat(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_reduce_block(struct sim_core *core, const struct sim_op *op, unsigned member);
bool sim_vec_reduce_pair(struct sim_core *core, const struct sim_op *op, unsigned member);

/* Shared checks (exec_vector.c). */
/** The instruction has this type on this chip; else an illegal instruction. */
bool sim_vec_check_type(struct sim_core *core, const struct sim_op *op, unsigned type);
/** An illegal configuration word. */
bool sim_vec_bad_config(struct sim_core *core);
/** Bytes of a lane. */
uint32_t sim_vec_type_bytes(enum leo_dtype type);
/** The computing lane of a type that sim_vec_check_type let through. */
enum sim_lane sim_vec_lane_of(enum leo_dtype type);

/** A scalar operand repeated side by side, so that two-operand kernels serve scalar instructions.
 */
struct sim_vec_splat {
    _Alignas(64) uint8_t bytes[1024];
    size_t lanes; /**< how many are filled */
};
void sim_vec_splat_fill(struct sim_vec_splat *splat, uint64_t scalar, uint32_t lane_bytes,
                        uint64_t lanes);
