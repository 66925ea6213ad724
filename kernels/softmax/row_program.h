/* SPDX-License-Identifier: Apache-2.0 */
/* What the generator makes of `rows` of a row of an operator (gen/row_programs.py). */
#pragma once

#include <stdint.h>

enum op_row_operation {
    OP_ROW_ADD,
    OP_ROW_SUB,
    OP_ROW_MUL,
    OP_ROW_DIV,
    OP_ROW_EXP,
    OP_ROW_LOG,
    OP_ROW_MAX, /**< of a row */
    OP_ROW_SUM,
};

enum { OP_ROW_VALUES_MAX = 16 };

/** A value from others: inputs first, then those of the steps before. */
struct op_row_step {
    uint8_t operation, a, b;
};

struct op_row_program {
    const char *name;                    /* of the device program and its kernel */
    uint8_t inputs[2], input_count, out; /**< parameters */
    const struct op_row_step *steps;     /**< the last makes the output */
    unsigned step_count;
};
