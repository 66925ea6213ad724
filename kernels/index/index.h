/* SPDX-License-Identifier: Apache-2.0 */
/* Ways of indexing that move whole lines; OP_DECLINED: they are not for the call. */
#pragma once

#include "../frame/family.h"

/** A row of so many bytes in blocks; 0: it is none, not whole ones, or too long to be moved at
 * once.
 */
uint32_t op_index_row_blocks(int64_t bytes);

/** Whether the list is long enough for passes over all of the table. */
bool op_index_is_worth_table(const struct op_tensor *index, const struct op_tensor *table);
/** out[i] = table[index[i]]; table has two dimensions. */
LEO_MUST_CHECK leo_status op_index_plan_get_rows(struct op_plan *plan,
                                                 const struct op_tensor *table,
                                                 const struct op_tensor *index,
                                                 const struct op_tensor *out);
/** sums = 0, then sums[index[i]] += values[i] in order, but where index[i] is `skip` (-1: nowhere).
 * `sums` is made: f32 of `dim` (two dimensions), its rows apart, or is `out` if that is such a
 * table (NULL: never). */
LEO_MUST_CHECK leo_status op_index_plan_add_rows(struct op_plan *plan,
                                                 const struct op_tensor *values,
                                                 const struct op_tensor *index, int64_t skip,
                                                 const int64_t *dim, const struct op_tensor *out,
                                                 struct op_tensor *sums);
/** table[index[i]] = values[i] in the order of the list, nothing where index[i] is `skip`; table
 * has two dimensions. */
LEO_MUST_CHECK leo_status op_index_plan_put_rows(struct op_plan *plan,
                                                 const struct op_tensor *values,
                                                 const struct op_tensor *index, int64_t skip,
                                                 const struct op_tensor *table);

/** Elements along `dim`: index has the table's rank, and its shape but for `dim`. */
struct op_index_lines {
    const struct op_tensor *table, *index;
    const struct op_tensor *value; /**< has index's shape: written by GET, else read */
    const struct op_tensor *out;   /**< what the table becomes; may be the table itself */
    unsigned dim;
    uint8_t mode; /**< enum op_index_mode */
};
LEO_MUST_CHECK leo_status op_index_plan_lines(struct op_plan *plan,
                                              const struct op_index_lines *lines);

/** out = self backwards along the dimensions that are turned. */
LEO_MUST_CHECK leo_status op_index_plan_flip(const struct op_call *call,
                                             const struct op_tensor *self, const bool *turned,
                                             const struct op_tensor *out);
/** out = the slices of self along `dim` that index, a list, names. */
LEO_MUST_CHECK leo_status op_index_plan_select(struct op_plan *plan, const struct op_tensor *self,
                                               unsigned dim, const struct op_tensor *index,
                                               const struct op_tensor *out);
