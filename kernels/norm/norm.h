/* SPDX-License-Identifier: Apache-2.0 */
/* What normalisations share: passes over rows, and statistics as dense f32 arrays. */
#pragma once

#include "../frame/family.h"

#include "norm_args.h"

/** Rows of an operator: planes of `length` elements. */
struct op_norm_rows {
    int64_t rows, length;
    int64_t entry_rows, entries;  /**< which entry of a table is a row's (norm/norm_args.h) */
    int64_t weight_span, weights; /**< which weight is an element's; weights 0: none */
    uint64_t weight, bias;        /**< f32, 0 = none */
    bool no_mean;
};

/** moments (workspace, struct op_norm_moments) of each row of `in`, which is dense. */
LEO_MUST_CHECK leo_status op_norm_plan_moments(struct op_plan *plan,
                                               const struct op_norm_rows *rows,
                                               const struct op_tensor *in, uint64_t *moments);
/** sums (workspace, struct op_norm_sums) of each row; means are f32 entries. */
LEO_MUST_CHECK leo_status op_norm_plan_sums(struct op_plan *plan, const struct op_norm_rows *rows,
                                            const struct op_tensor *gradient,
                                            const struct op_tensor *in, uint64_t means,
                                            uint64_t *sums);
/** out from in (and gradient, if not NULL) by a table of struct op_norm_entry. */
LEO_MUST_CHECK leo_status op_norm_plan_apply(struct op_plan *plan, const struct op_norm_rows *rows,
                                             const struct op_tensor *gradient,
                                             const struct op_tensor *in, uint64_t table,
                                             const struct op_tensor *out);

/** Gradient of the weights (means and inverse deviations of the rows given) or of the biases (both
 * 0), dense f32. */
LEO_MUST_CHECK leo_status op_norm_plan_columns(struct op_plan *plan,
                                               const struct op_norm_rows *rows,
                                               const struct op_tensor *gradient,
                                               const struct op_tensor *in, uint64_t means,
                                               uint64_t inverses, uint64_t out);

/** The tensor's rows as the passes take them: dense, and f32 for bf16, which vector code has not.
 */
LEO_MUST_CHECK leo_status op_norm_plan_input(struct op_plan *plan, const struct op_tensor *tensor,
                                             struct op_tensor *out);
/** Address of the elements of `tensor` as dense f32, converted if need be; NULL gives 0. */
LEO_MUST_CHECK leo_status op_norm_take(struct op_plan *plan, const struct op_tensor *tensor,
                                       uint64_t *addr);
/** Where to write the elements of `tensor` as dense f32; op_norm_give brings them there. */
LEO_MUST_CHECK leo_status op_norm_place(struct op_plan *plan, const struct op_tensor *tensor,
                                        uint64_t *addr);
LEO_MUST_CHECK leo_status op_norm_give(struct op_plan *plan, uint64_t addr,
                                       const struct op_tensor *tensor);
