/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions on the vector unit. */
#pragma once

#include "../frame/family.h"
#include "reduce_args.h"
#include "reduce_vector_args.h"

/** What is reduced: `self` over the dimensions marked in `reduced`, its elements changed first. */
struct op_reduce_input {
    const struct op_tensor *self;
    const bool *reduced;
    enum op_reduce_step step;
    const struct op_tensor *beside; /**< of steps of rows: f32, an element for each result */
};
/** Whether steps of rows can be: no dimension behind a reduced one is kept. */
bool op_reduce_has_rows(const struct op_tensor *self, const bool *reduced);
/* Ways of a reduction; OP_DECLINED: it is not for this one. */
/** As op_reduce_plan_vector. */
LEO_MUST_CHECK leo_status op_reduce_plan_stepped(struct op_plan *plan,
                                                 const struct op_reduce_input *input,
                                                 enum op_reduce_mode mode,
                                                 const struct op_tensor *out);
/**
 * Appends the reduction of `self` over the dimensions marked in `reduced`, with the result in `out`
 * (dense, the dimensions left in their order), if the vector unit has it: sums, means, largest and
 * smallest elements and the norm of order 2 of floats of up to 32 bits.
 */
LEO_MUST_CHECK leo_status op_reduce_plan_vector(struct op_plan *plan, const struct op_tensor *self,
                                                const bool *reduced, enum op_reduce_mode mode,
                                                double order, const struct op_tensor *out);
/**
 * The same of the largest or smallest element, into `value` (f32), and of the place of the first
 * one, counted over the reduced dimensions, into `place` (f32).
 */
LEO_MUST_CHECK leo_status op_reduce_plan_place(struct op_plan *plan, const struct op_tensor *self,
                                               const bool *reduced, enum op_reduce_mode mode,
                                               const struct op_tensor *value,
                                               const struct op_tensor *place);
/** A reduction as a call asks for it; out and second are dense, second (the mean) may be NULL. */
struct op_reduction {
    enum op_reduce_mode mode;
    const struct op_tensor *self;
    const bool *reduced;
    double order;
    int64_t correction;
    const struct op_tensor *out, *second;
};
/** Appends a variance or deviation of rows that UB holds. */
LEO_MUST_CHECK leo_status op_reduce_plan_variance(struct op_plan *plan,
                                                  const struct op_reduction *reduction);
/** Appends the largest or smallest elements (value may be NULL) and places of rows that UB holds.
 */
LEO_MUST_CHECK leo_status op_reduce_plan_extreme(struct op_plan *plan, const struct op_tensor *self,
                                                 const bool *reduced, enum op_reduce_mode mode,
                                                 const struct op_tensor *value,
                                                 const struct op_tensor *index);
/** Appends it if it is worth several steps on the vector unit. */
LEO_MUST_CHECK leo_status op_reduce_plan_steps(const struct op_call *call,
                                               const struct op_reduction *reduction);
/** out = sum of the rows of a dense f32 matrix [rows, count], in their order; count is a multiple
 * of 16. */
LEO_MUST_CHECK leo_status op_reduce_plan_rows(struct op_plan *plan, const struct op_tensor *rows,
                                              const struct op_tensor *out);
