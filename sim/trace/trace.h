/* SPDX-License-Identifier: Apache-2.0 */
/* What one core did since the last boundary, as trace records, until they go to the host's ring. */
#pragma once

#include <leo/layout.h>
#include <stddef.h>

struct sim_trace {
    struct leo_trace_record *record;
    size_t count, capacity;
    uint64_t lost; /**< records for which there was no host memory */
};

/** Adds a record; when memory runs out it is only counted. */
void sim_trace_push(struct sim_trace *trace, const struct leo_trace_record *record);
void sim_trace_finish(struct sim_trace *trace);
