/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows of a table by one list of indices; `taken` is false, and nothing planned, if they are
 * no whole blocks of memory. */
#pragma once

#include "family.h"

/** out[i] = table[index[i]]; table has two dimensions. */
LEO_MUST_CHECK leo_status op_index_plan_get_rows(struct op_plan *plan,
                                                 const struct op_tensor *table,
                                                 const struct op_tensor *index,
                                                 const struct op_tensor *out, bool *taken);
/** sums = 0, then sums[index[i]] += values[i] in order, but where index[i] is `skip` (-1: nowhere).
 * sums is dense f32 of two dimensions. */
LEO_MUST_CHECK leo_status op_index_plan_add_rows(struct op_plan *plan,
                                                 const struct op_tensor *values,
                                                 const struct op_tensor *index, int64_t skip,
                                                 const struct op_tensor *sums, bool *taken);
