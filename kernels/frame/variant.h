/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to compute one operator, in a table: the first that takes the call makes its steps. */
#pragma once

#include "plan.h"

struct op_variant {
    const char *name;  /**< what LEO_OP_EXPLAIN calls it */
    const char *needs; /**< what a call must be for it; NULL: it takes every call */
    /** Appends the steps and sets *taken, or leaves it false: what it appended then goes again.
     * `work` is the family's own. */
    leo_status (*plan)(const void *work, bool *taken);
};

/** Goes through the table in its order. *taken: whether one took the call; NULL where the last one
 * takes every call. */
LEO_MUST_CHECK leo_status op_choose(struct op_plan *plan, const struct op_variant *variants,
                                    unsigned count, const void *work, bool *taken);
