/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting of floats in the vector unit of the split generation, for sort.c. */
#pragma once

#include "../frame/family.h"

/** Dense rows: addresses, and what is asked for. */
struct op_lanes_rows {
    uint64_t in;            /**< [rows, length] of type */
    uint64_t values, index; /**< [rows, keep]: of type, and i64 */
    uint64_t rows, length, keep;
    enum op_type type;
    bool descending;
};

/** Whether the plan's chip sorts rows of this type in its vector unit: f32, f16 and bf16. */
bool op_lanes_take(const struct op_plan *plan, enum op_type type, int64_t length);

/** Launches for the first `keep` elements of each row in order and where they were; stable, NaN
 * largest, both zeros alike. */
LEO_MUST_CHECK leo_status op_lanes_plan(struct op_plan *plan, const struct op_lanes_rows *rows);
