/* SPDX-License-Identifier: Apache-2.0 */
/* Calls written as text (op_calls.txt), and how long they take. */
#pragma once

#include "rig_args.h"

/** The whole text; ends the process if there is none. */
const char *op_calls_read(const char *path);
/** The arguments of an operator's line; NULL: it has none. */
const char *op_call_find(const char *calls, const char *name);
/** The arguments of a line; *shape becomes that of the first tensor. False: not as many as the row
 * has. */
bool op_call_make(const struct op_test_row *row, const char *line, unsigned char *memory,
                  union op_test_arg *args, struct rig_wish *shape);
/** One call with both phases: simulated us and the host's. False: the operator does not take it, or
 * it faulted. */
bool op_call_run(const struct op_test_row *row, const union op_test_arg *args, double *simulated,
                 double *host);
