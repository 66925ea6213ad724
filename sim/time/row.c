/* SPDX-License-Identifier: Apache-2.0 */
/* What the scalar unit does, for the trace: a bar is the time between two of its waits. */
#include "replay.h"

void sim_time_row_work(struct sim_time_core *core, double from, uint32_t pc)
{
    struct sim_time_row *row = &core->row;
    row->from = row->open ? row->from : from;
    row->pc = pc ? pc : row->pc; // the end of a block has none
    row->open = true;
}

void sim_time_row_end(struct sim_time_engine *engine, unsigned id)
{
    struct sim_time_core *core = &engine->core[id];
    struct sim_time_row *row = &core->row;
    if (row->open && engine->trace && core->cycle > row->from) {
        const struct sim_time_span span = {.start = row->from,
                                           .end = core->cycle,
                                           .wait = row->wait,
                                           .why = row->why,
                                           .from = row->source};
        const struct sim_time_record record = {.kind = SIM_TIME_SCALAR,
                                               .pipe = LEO_PIPE_S,
                                               .insn = LEO_INSN_COUNT,
                                               .pc = row->pc,
                                               .work = (uint64_t)(core->cycle - row->from)};
        engine->trace(engine->trace_user, id, &record, &span);
    }
    *row = (struct sim_time_row){0};
}

void sim_time_row_wait(struct sim_time_engine *engine, unsigned id, double wait, enum leo_stall why,
                       enum leo_pipe source)
{
    sim_time_row_end(engine, id);
    engine->core[id].row.wait = wait;
    engine->core[id].row.why = why;
    engine->core[id].row.source = source;
}
