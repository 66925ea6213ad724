/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in f32 for operators on bf16. */
#pragma once

#include "plan_internal.h"

/** Whether the call has tensors in bf16 that the chip's programs of the row do not take. */
bool op_plan_must_widen(const struct op_plan *plan, const struct op_row *row,
                        const struct op_value *args);
/** A tensor in bf16 and the one in f32 that stands for it; wide NULL: the tensor is no bf16. */
struct op_wide_copy {
    const struct op_tensor *narrow, *wide;
    bool is_read, is_written;
};

/** A call with f32 in the place of bf16. Its tensors are in the order of the parameters, lists
 * flattened. */
struct op_wide_call {
    struct op_value values[OP_PARAMS_MAX];
    struct op_tensor_list lists[OP_PARAMS_MAX];
    const struct op_tensor **items;
    struct op_tensor *owned;
    struct op_wide_copy *copies;
    uint64_t used;
    unsigned count; /**< of copies */
};

/** Takes memory of the plan for the tensors in f32. What is read must be copied there before the
 * row runs, and what is written copied back behind it. The call must be ended even if this fails.
 */
LEO_MUST_CHECK leo_status op_wide_begin(struct op_plan *plan, const struct op_row *row,
                                        const struct op_value *args, struct op_wide_call *call);
void op_wide_end(struct op_wide_call *call);
