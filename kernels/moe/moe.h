/* SPDX-License-Identifier: Apache-2.0 */
/* What operators of mixtures of experts share: lists of places, and rows at places. */
#pragma once

#include "../frame/chain.h"

/** Fails with the shapes of three tensors that do not fit. */
LEO_MUST_CHECK leo_status op_moe_fail_shapes(const struct op_call *call, const struct op_tensor *a,
                                             const struct op_tensor *b, const struct op_tensor *c);
/** A tensor as one list. */
struct op_tensor op_moe_flat(struct op_chain *chain, const struct op_tensor *tensor);
/** The order that sorts a list, stable, i64; `values` (NULL: not wanted) gets it sorted. */
struct op_tensor op_moe_order(struct op_chain *chain, const struct op_tensor *list,
                              const struct op_tensor *values);
/** The order that sorts a list of i64 from 0 on that are no more than it is long, as an order is:
 * of that, where each place went. */
struct op_tensor op_moe_rank(struct op_chain *chain, const struct op_tensor *order);
/** For each expert from `first` to before `end`: how many places of the sorted list of i32 are less
 * than it, with `after` not behind it; i32 or i64. */
struct op_tensor op_moe_bound(struct op_chain *chain, const struct op_tensor *sorted, int64_t first,
                              int64_t end, enum op_type type, bool after);
/** out[i] = table[places[i]]; a place that the table does not have ends the kernel. */
void op_moe_take_rows(struct op_chain *chain, const struct op_tensor *table,
                      const struct op_tensor *places, const struct op_tensor *out);
/** out[i] = list[places[i]], lists of one dimension; any number where the list has no such place.
 */
struct op_tensor op_moe_pick(struct op_chain *chain, const struct op_tensor *list,
                             const struct op_tensor *places);
/** Pairs (a, b) turned: out[0] = a cos[0] - b sin[0], out[1] = b cos[1] + a sin[1]. */
void op_moe_turn(struct op_chain *chain, const struct op_tensor *a, const struct op_tensor *b,
                 const struct op_tensor cos[2], const struct op_tensor sin[2],
                 const struct op_tensor out[2]);
/** Rows of `table` [rows, width] at the places of a list: [places, width] of table's type. Rows of
 * places that the table does not have are 0 if `may_miss`; else such a place ends the kernel. */
struct op_tensor op_moe_rows(struct op_chain *chain, const struct op_tensor *table,
                             const struct op_tensor *places, bool may_miss);
/** out[t] = sum over k of rows[t, k] * factor[t, k] (NULL: 1); rows dense [t * k, width]. */
void op_moe_sum(struct op_chain *chain, const struct op_tensor *rows,
                const struct op_tensor *factor, const struct op_tensor *out);
