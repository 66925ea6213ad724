/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <leo/alloc.h>
#include <string.h>

void sim_trace_push(struct sim_trace *trace, const struct leo_trace_record *record)
{
    if (trace->count == trace->capacity) {
        size_t capacity = trace->capacity ? trace->capacity * 2 : 256;
        struct leo_trace_record *grown = leo_realloc(trace->record, capacity * sizeof(*grown));
        if (!grown) {
            trace->lost++;
            return;
        }
        trace->record = grown;
        trace->capacity = capacity;
    }
    trace->record[trace->count++] = *record;
}

void sim_trace_finish(struct sim_trace *trace)
{
    leo_free(trace->record);
    memset(trace, 0, sizeof(*trace));
}
