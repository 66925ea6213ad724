/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to compute one operator, in a table: the first that does not decline makes its steps. */
#pragma once

#include "plan.h"

struct op_variant {
    const char *name;  /**< what LEO_OP_EXPLAIN calls it */
    const char *needs; /**< what a call must be for it; NULL: it takes every call */
    /** Appends the steps, or OP_DECLINED: what it appended then goes again. `work` is the family's
     * own. */
    leo_status (*plan)(const void *work);
};

/** A way tried outside of a table: says why it is not taken, and is OP_DECLINED. */
LEO_MUST_CHECK leo_status op_decline(struct op_plan *plan, const char *name, const char *needs);
/** Goes through the table in its order; OP_DECLINED: as all of its ways did. */
LEO_MUST_CHECK leo_status op_choose(struct op_plan *plan, const struct op_variant *variants,
                                    unsigned count, const void *work);
