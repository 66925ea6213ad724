/* SPDX-License-Identifier: Apache-2.0 */
/* What the generator makes for families from their rows (struct op_row, data). */
#pragma once

#include "../frame/plan.h"

#include <family_plans.h> // generated: op_plan_<family> of each

/** In which numbers a pointwise operator computes: those of its inputs, always floats, always
 * integers, double for floats, always double. */
enum op_compute {
    OP_COMPUTE_ANY,
    OP_COMPUTE_FLOAT,
    OP_COMPUTE_INT,
    OP_COMPUTE_WIDE,
    OP_COMPUTE_REAL,
};

enum { OP_POINTWISE_MAX = 6 };

struct op_pointwise {
    const char *program, *name; /**< kernels are pw_<name>_<class> in this program */
    enum op_compute compute;
    unsigned out;                        /**< parameter */
    unsigned var_count;                  /**< variables of the expression */
    unsigned char var[OP_POINTWISE_MAX]; /**< their parameters, or enum op_pointwise_var */
};
