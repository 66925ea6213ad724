/* SPDX-License-Identifier: Apache-2.0 */
/* Every so many elements of a row, and 64-bit integers as two words of 32 (decision 32). */
#pragma once

#include "../frame/family.h"

/** Rows of `count` groups of `step` elements; pitches in elements. */
struct op_move_steps {
    uint64_t groups;
    int64_t rows, count, group_pitch, plane_pitch;
    uint32_t step, first, bytes; /**< step 2 to OP_MOVE_STEP_MAX, 2 or 4 bytes an element */
};

/** Planes [rows][count] of elements first, first + 1, .. of each group. */
LEO_MUST_CHECK leo_status op_move_plan_split(struct op_plan *plan,
                                             const struct op_move_steps *steps,
                                             const uint64_t *planes, unsigned count);

/** Element `first` of each group is that of a plane; the others stay, and are written again. */
LEO_MUST_CHECK leo_status op_move_plan_put(struct op_plan *plan, const struct op_move_steps *steps,
                                           uint64_t plane);

/** The words of a dense i64 tensor, as dense i32 tensors. */
LEO_MUST_CHECK leo_status op_move_plan_words(struct op_plan *plan, const struct op_tensor *wide,
                                             struct op_tensor *low, struct op_tensor *high);
/** The lower words alone, into a dense i32 tensor. */
LEO_MUST_CHECK leo_status op_move_plan_low_words(struct op_plan *plan, const struct op_tensor *wide,
                                                 const struct op_tensor *low);
/** A dense i64 tensor of dense i32 tensors with its words. */
LEO_MUST_CHECK leo_status op_move_plan_join(struct op_plan *plan, const struct op_tensor *low,
                                            const struct op_tensor *high,
                                            const struct op_tensor *wide);
