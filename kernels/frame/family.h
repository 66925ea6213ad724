/* SPDX-License-Identifier: Apache-2.0 */
/* What the generator makes for families from their rows (struct op_row, data). */
#pragma once

#include "plan.h"

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

/** Operations of an expression on whole tiles. Each makes the value var_count + its position. */
enum op_expr_code {
    OP_EXPR_CONST, /**< number a */
    OP_EXPR_ADD,
    OP_EXPR_SUB,
    OP_EXPR_MUL,
    OP_EXPR_DIV,
    OP_EXPR_MAX,
    OP_EXPR_MIN,
    OP_EXPR_ABS,
    OP_EXPR_EXP,
    OP_EXPR_LN,
    OP_EXPR_SQRT,
    OP_EXPR_EQ, /**< masks from here on */
    OP_EXPR_NE,
    OP_EXPR_LT,
    OP_EXPR_LE,
    OP_EXPR_GT,
    OP_EXPR_GE,
    OP_EXPR_SELECT, /**< mask a ? b : c */
    OP_EXPR_AND,    /**< of bits: integers alone */
    OP_EXPR_OR,
    OP_EXPR_XOR,
    OP_EXPR_NOT,
    OP_EXPR_SIGNED, /**< a, which is not negative, with the sign of b: floats alone from here on */
    OP_EXPR_BITS_AND,
    OP_EXPR_BITS_OR,
    OP_EXPR_TO_WORD,  /**< the bits of the word a is */
    OP_EXPR_TO_FLOAT, /**< the number of the word whose bits a has */
    OP_EXPR_FMA,      /**< a * b + c, rounded once */
    OP_EXPR_FALLBACK, /**< mask a ? b : enum op_fallback e of c (and d) */
    OP_EXPR_DIGITS,   /**< the most binary digits of a tensor, known at planning time */
};

struct op_expr_insn {
    unsigned char code, e;
    unsigned short a, b, c, d;
};

struct op_expr {
    const struct op_expr_insn *insns;
    unsigned count; /**< 0: the result is the one variable */
    const float *numbers;
};

struct op_pointwise {
    const char *program, *name; /**< kernels are pw_<name>_<class> in this program */
    enum op_compute compute;
    unsigned out;                        /**< parameter */
    unsigned var_count;                  /**< variables of the expression */
    unsigned char var[OP_POINTWISE_MAX]; /**< their parameters, or enum op_pointwise_var */
    const struct op_expr *tile;          /**< NULL: the vector unit cannot compute it */
    bool moves; /**< every result is one of the operands or its magnitude */
};
