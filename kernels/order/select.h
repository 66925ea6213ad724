/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that a mask selects, for other families. */
#pragma once

#include "../frame/family.h"

/** out = the elements of `in` (a dense list, NULL: their positions as i64) where `mask`, a list as
 * long, is not 0; *count is the address of how many they are (i64). */
LEO_MUST_CHECK leo_status op_select_plan_list(struct op_plan *plan, const struct op_tensor *mask,
                                              const struct op_tensor *in, uint64_t out,
                                              uint64_t *count);
