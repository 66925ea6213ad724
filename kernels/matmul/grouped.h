/* SPDX-License-Identifier: Apache-2.0 */
/* Products of groups whose sizes only the device knows. */
#pragma once

#include "../frame/chain.h"
#include "matmul.h"

struct op_matmul_grouped {
    struct op_tensor a;           /**< [rows, k] of all groups */
    struct op_tensor b;           /**< [groups, k, n], or [k, n] if split_k */
    struct op_tensor out;         /**< [rows, n], or [groups, m, n] if split_k */
    const struct op_tensor *bias; /**< [groups, n] of any type of floats; NULL: none */
    struct op_tensor list;        /**< i64 [all groups] */
    int64_t first, groups;        /**< the groups that b has */
    bool counts;                  /**< the list has lengths, not ends */
    bool split_k;                 /**< groups of k, not of rows; groups of none leave `out` alone */
};

/** Fails with LEO_ERR_UNSUPPORTED where the cube has no such product. Rows of no group stay. */
LEO_MUST_CHECK leo_status op_matmul_grouped_plan(const struct op_call *call,
                                                 const struct op_matmul_grouped *grouped);
