/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by name (leo/op.h) that somebody keeps a record of. */
#pragma once

#include "run.h"

struct leo_op_context;

/** Launches a call in place of op_plan_run, which it calls itself. */
typedef leo_status (*op_call_fn)(void *user, const struct op_plan *plan,
                                 const struct op_value *values, struct leo_rt_stream *stream,
                                 struct op_run *run);
/** Calls of the context go through `launch` from now on. */
void op_context_watch(struct leo_op_context *context, op_call_fn launch, void *user);
