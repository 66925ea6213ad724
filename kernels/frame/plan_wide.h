/* SPDX-License-Identifier: Apache-2.0 */
/* Plans in f32 for operators on bf16. */
#pragma once

#include "plan_internal.h"

/** Whether the call has tensors in bf16 that the chip's programs of the row do not take. */
bool op_plan_must_widen(const struct op_plan *plan, const struct op_row *row,
                        const struct op_value *args);
/** Appends the steps of the row in f32 with conversions before and after. */
LEO_MUST_CHECK leo_status op_plan_add_widened(struct op_plan *plan, const struct op_row *row,
                                              const struct op_value *args);
