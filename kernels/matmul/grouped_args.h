/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of op_matmul_grouped. */
#pragma once

#include "matmul_args.h"

/** A product for each group of rows of a (or, split_k, of the k that both operands share). The list
 * is read when the kernel runs; a list that goes back or beyond `total` ends it with a trap. */
struct op_matmul_grouped_args {
    uint64_t list;                           /**< i64, one a group */
    struct op_matmul_args matmul;            /**< of one group of all rows, or of all k */
    uint64_t b_group, bias_group, out_group; /**< bytes from group to group */
    uint32_t first, groups;                  /**< the groups of this launch */
    uint32_t total;                          /**< rows, or k, of all groups at most */
    uint32_t out_bytes;                      /**< of an element */
    uint8_t counts;                          /**< the list has lengths, not ends */
    uint8_t split_k;
};
