/* SPDX-License-Identifier: Apache-2.0 */
/* Hands instructions to the units: effect now, time on the pipe's own line. */
#include "../chip/host_pool.h"
#include "../memory/gm_log.h"
#include "../trace/trace.h"
#include "core.h"

/* When the pipe's queue takes another instruction: a slot is free again when the instruction in it
 * starts. */
static double slot_free(const struct sim_pipe *pipe, unsigned depth)
{
    return pipe->queue_count < depth ? 0 : pipe->queue[(pipe->queue_count - depth) % 64];
}

static double later(double left, double right)
{
    return left > right ? left : right;
}

static void record(struct sim_core *core, const struct sim_op *op, unsigned pipe, double start,
                   const struct sim_cost *cost)
{
    double ps_a_cycle = 1e9 / core->config->clock_khz;
    double duration = cost->busy_cycles * ps_a_cycle;
    struct leo_trace_record trace = {
        .start_ns = (core->start_ps + (uint64_t)(start * ps_a_cycle)) / 1000,
        .dur_ps = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX,
        .insn = (uint16_t)op->insn,
        .core = (uint8_t)core->id,
        .pipe = (uint8_t)pipe,
        .pc = (uint32_t)(op->pc - SIM_IMAGE_BASE),
        .bytes = cost->work,
    };
    sim_trace_push(core->trace, &trace);
}

/* Cycles that hide behind the instruction before (op.h); any idle gap between the two has shown
 * part of them. */
static double hidden_cycles(const struct sim_pipe *pipe, const struct sim_cost *cost, double start)
{
    if (pipe->fenced || (pipe->flagged && cost->flag_drains)) {
        return 0;
    }
    double hidden = cost->overlap_cycles - (start - pipe->free_at);
    return hidden > 0 ? hidden : 0;
}

static bool issue_unit(struct sim_core *core, struct sim_op *op, const struct sim_insn *row)
{
    struct sim_pipe *pipe = &core->pipe[row->pipe];
    double asked = core->scalar.cycle + core->config->scalar_issue;
    double issued = later(asked, slot_free(pipe, core->config->queue_depth_pipe[row->pipe]));
    double start = later(issued, later(pipe->free_at, pipe->not_before));
    if (start >= core->until && row->moves_gm) {
        // What it gets of the memory's bandwidth is known when its quantum comes: tried again then,
        // from here.
        core->held = true;
        return false;
    }
    core->scalar.cycle = issued;
    core->stall += issued - asked;
    if (leo_cfg_ctrl_unpack(core->ctrl).atomic != LEO_ATOMIC_NONE && row->writes_gm) {
        // Float additions do not commute: cores that add to global memory do it in the order of
        // their numbers.
        sim_host_pool_wait_turn(core->pool, core->turn);
    }
    if (!sim_core_execute(core, op)) {
        core->scalar.fault.unit = (enum leo_pipe)row->pipe;
        return false;
    }
    struct sim_cost cost;
    sim_core_price(core, op, &cost);
    cost.busy_cycles -= pipe->queue_count ? hidden_cycles(pipe, &cost, start) : 0;
    pipe->flagged = pipe->fenced = false;
    pipe->free_at = start + cost.busy_cycles;
    pipe->busy += cost.busy_cycles;
    pipe->queue[pipe->queue_count++ % 64] = start;
    core->gm_read_bytes += cost.gm_read_bytes;
    core->gm_write_bytes += cost.gm_write_bytes;
    if (row->moves_gm) {
        sim_gm_log_push(core->gm_log, &core->foot);
    }
    if (core->trace) {
        record(core, op, row->pipe, start, &cost);
    }
    return true;
}

bool sim_core_issue(struct sim_scalar *scalar, const struct sim_op *op)
{
    struct sim_core *core = scalar->owner;
    const struct sim_insn *row = &sim_insns[op->insn];
    if (!sim_core_has(core, op->insn)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0, 0);
    }
    struct sim_op ready = *op;
    if (row->cost) {
        return issue_unit(core, &ready, row);
    }
    scalar->cycle += core->config->scalar_issue;
    return sim_core_execute(core, &ready);
}
