/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of op_convolution: convolutions, and products of matrices in FRACTAL_NZ. */
#pragma once

#include "../frame/family.h"
#include "convolution_tiling.h"

#include "convolution_cube_args.h"

/** Weights of op_convolution: address of its first tap; bytes from one group of 16 reduced channels
 * to the next, from tap to tap, and from block to block of 16 channels of the result. */
struct op_convolution_weights {
    uint64_t addr;
    int64_t group, row, column, block;
    bool turned; /**< fractals have the reduced channels along their rows */
};

/** A convolution of several over one map: its windows, weights and result. */
struct op_convolution_phase {
    struct op_window window;
    struct op_convolution_weights weight;
    struct op_tensor out;
};

/** Windows of `w`; sizes and places are left 0. */
struct op_convolution_cube_args op_convolution_begin_args(const struct op_window *w);
uint32_t op_convolution_type_flags(enum op_type type, enum op_type out);
/** out [image][N1][position][16] = windows of x [image][C1][position][16] times weights; of f32
 * [image][C1][position][8], `flags` with OP_CONVOLUTION_CUBE_HF32 or without. Fails with
 * LEO_ERR_UNSUPPORTED if no tile fits (op_convolution_choose_tiling). */
LEO_MUST_CHECK leo_status op_convolution_launch(struct op_plan *plan,
                                                const struct op_convolution_room *room,
                                                enum op_type type, const struct op_window *w,
                                                const struct op_tensor *x,
                                                const struct op_convolution_weights *weight,
                                                uint32_t flags, const struct op_tensor *out);
/** All of them, at most OP_CONVOLUTION_PHASES, by one launch if tiles of a common size fit; the
 * program's own order is lost. */
LEO_MUST_CHECK leo_status op_convolution_launch_phases(struct op_plan *plan,
                                                       const struct op_convolution_room *room,
                                                       enum op_type type, uint32_t flags,
                                                       struct op_convolution_phase *phase,
                                                       unsigned count, const struct op_tensor *x);
