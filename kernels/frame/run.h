/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as callers see them: got for a call, run as often as wanted, given back. */
#pragma once

#include "engine.h"

struct op_plan;

/**
 * Checks the arguments and gives the plan for them, found again or made. The caller gives it back
 * with op_plan_put. Errors: LEO_ERR_BAD_POINTER for a NULL argument, LEO_ERR_DTYPE, LEO_ERR_SHAPE
 * or LEO_ERR_INVALID_ARG for a wrong one; the text is the thread's last error.
 */
LEO_MUST_CHECK leo_status op_plan_get(struct op_engine *engine, const struct op_row *row,
                                      const struct op_value *args, struct op_plan **plan);
void op_plan_put(struct op_plan *plan);
/** With LEO_OP_READ_MARGIN behind its last tensor; 0 = none needed. */
uint64_t op_plan_workspace_bytes(const struct op_plan *plan);
const struct op_row *op_plan_row(const struct op_plan *plan);

/** Addresses of a run: of each tensor argument (lists flattened) in the order of the row, 0 for one
 * not given. */
struct op_run {
    const uint64_t *addr;
    unsigned addr_count;
    uint64_t workspace;
    const char *tag; /**< of the launches in profiles; NULL: the row's name */
    /** Told by operators whose result size depends on data: the shape of the tensor argument
     * `index`. NULL: not kept. */
    void (*set_shape)(void *user, unsigned index, unsigned rank, const int64_t *dim);
    void *user;
};
/** Submits the plan's steps; does not wait. */
LEO_MUST_CHECK leo_status op_plan_run(const struct op_plan *plan, struct leo_rt_stream *stream,
                                      const struct op_run *run);
