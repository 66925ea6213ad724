/* SPDX-License-Identifier: Apache-2.0 */
/* LEO_OP_EXPLAIN=1: how each plan is made, on stderr when it is. A plan's lines come in one piece,
 * from whichever thread made it. Without it all of this does nothing. */
#pragma once

#include "plan.h"

/** Begins the text of a plan if LEO_OP_EXPLAIN is 1; out of memory means none. */
void op_explain_begin(struct op_plan *plan);
/** Writes the text to stderr, with the thread's last error if the plan failed, and ends it. */
void op_explain_end(struct op_plan *plan, leo_status status);

/** Operator `row` with these arguments: one line, the types and shapes of its tensors. */
void op_explain_row(struct op_plan *plan, const struct op_row *row, const struct op_value *args);
/** One line below the operator being planned. */
void op_explain_line(struct op_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Bytes of text so far: a place to come back to. */
size_t op_explain_mark(const struct op_plan *plan);
/** The text from the mark on goes. */
void op_explain_drop(struct op_plan *plan, size_t mark);
/** A line before what was said from the mark on. */
void op_explain_insert(struct op_plan *plan, size_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
