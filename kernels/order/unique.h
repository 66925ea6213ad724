/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to leave out repetitions. */
#pragma once

#include "../frame/family.h"

#include "unique_args.h"

/** Whether a list of so many elements is taken by op_unique_plan_list. */
bool op_unique_takes_list(enum op_type type, int64_t count);
/** The same as the program unique of elements; *count: the address of how many are left. */
LEO_MUST_CHECK leo_status op_unique_plan_list(const struct op_call *call,
                                              const struct op_unique_args *args, uint64_t *count);
