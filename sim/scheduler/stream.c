/* SPDX-License-Identifier: Apache-2.0 */
/* What ends the present task of a stream. */
#include "scheduler.h"

uint64_t sim_ps_from_ns(double ns)
{
    return (uint64_t)(ns * 1000 + 0.5);
}

bool sim_stream_fault(struct sim_stream *stream, enum leo_fault code, uint64_t addr, uint64_t bytes)
{
    if (stream->fault.code == LEO_FAULT_NONE) {
        stream->fault = (struct sim_fault){.code = code, .addr = addr, .bytes = bytes};
        stream->fault_core = LEO_NO_CORE;
        stream->fault_block = LEO_NO_BLOCK;
        stream->fault_cycle = 0;
    }
    return false;
}

void sim_stream_end(struct sim_stream *stream, uint64_t end_ps)
{
    stream->state = SIM_TASK_DONE;
    stream->end_ps = end_ps;
}
