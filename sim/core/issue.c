/* SPDX-License-Identifier: Apache-2.0 */
/* Hands instructions to the units: effect now, time on the pipe's own line. */
#include "../chip/host_pool.h"
#include "../memory/gm_log.h"
#include "../trace/trace.h"
#include "core.h"

#include <string.h>

enum { ON_CUBE = 1, ON_VECTOR = 2, ON_BOTH = 3 };

typedef bool (*exec_fn)(struct sim_core *core, const struct sim_op *op);
typedef void (*cost_fn)(const struct sim_core *core, const struct sim_op *op,
                        struct sim_cost *cost);

struct unit {
    exec_fn exec;
    cost_fn cost;
};

static const struct unit unit_vector = {sim_exec_vector, sim_unit_vector};
static const struct unit unit_mte = {sim_exec_mte, sim_unit_mte};
static const struct unit unit_cube = {sim_exec_cube, sim_unit_cube};
static const struct unit unit_fixpipe = {sim_exec_fixpipe, sim_unit_fixpipe};

static const struct unit *unit_of(enum leo_insn insn, const struct leo_insn_info *info)
{
    if (insn == LEO_INSN_COPY_MATRIX_CC_TO_UBUF || info->pipe == LEO_PIPE_FIX) {
        return &unit_fixpipe;
    }
    if (info->pipe == LEO_PIPE_M) {
        return &unit_cube;
    }
    // custom-0 is data movement, on whatever pipe.
    return (info->match & 0x7f) == 0x0b ? &unit_mte : &unit_vector;
}

/* Which cores of a split chip have what the operands name. */
static unsigned kinds_of(const struct leo_insn_info *info)
{
    if (info->pipe == LEO_PIPE_S) {
        return ON_BOTH;
    }
    unsigned kinds =
        info->pipe == LEO_PIPE_M || info->pipe == LEO_PIPE_MTE1 || info->pipe == LEO_PIPE_FIX
            ? ON_CUBE
            : ON_BOTH;
    for (unsigned i = 0; i < 4; i++) {
        if (info->operand[i] == LEO_INSN_OPERAND_UB) {
            kinds &= ON_VECTOR;
        } else if (info->operand[i] >= LEO_INSN_OPERAND_L1) {
            kinds &= ON_CUBE;
        }
    }
    return kinds;
}

static bool is_known(const struct sim_core *core, const struct sim_op *op)
{
    if (!leo_insn_has_arch(op->insn, core->config->arch)) {
        return false;
    }
    unsigned kind = core->kind == LEO_CORE_KIND_CUBE     ? ON_CUBE
                    : core->kind == LEO_CORE_KIND_VECTOR ? ON_VECTOR
                                                         : 0;
    return kind == 0 || (kinds_of(leo_insn_info(op->insn)) & kind) != 0;
}

/* What was wrong is in the configuration words: the record gets them as address and length. */
static void tell_config(struct sim_core *core, const struct sim_op *op,
                        const struct leo_insn_info *info)
{
    struct sim_fault *fault = &core->scalar.fault;
    if (fault->code != LEO_FAULT_ILLEGAL_CONFIG && fault->code != LEO_FAULT_ILLEGAL_INSTRUCTION) {
        return;
    }
    const uint64_t value[] = {op->a, op->b, op->c, op->d};
    uint64_t words[2] = {0, 0};
    unsigned count = 0;
    for (unsigned i = 0; i < 4 && count < 2; i++) {
        if (info->operand[i] == LEO_INSN_OPERAND_CFG) {
            words[count++] = value[i];
        }
    }
    bool other =
        fault->addr != 0 && fault->addr != words[0] && fault->addr != words[1]; // a CSR's value
    if (count && !other) {
        fault->addr = words[0];
        fault->bytes = words[1];
    }
}

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

static bool moves_gm(const struct leo_insn_info *info)
{
    return info->operand[0] == LEO_INSN_OPERAND_GM || info->operand[1] == LEO_INSN_OPERAND_GM;
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

static bool issue_unit(struct sim_core *core, const struct sim_op *op,
                       const struct leo_insn_info *info)
{
    const struct unit *unit = unit_of(op->insn, info);
    struct sim_pipe *pipe = &core->pipe[info->pipe];
    double asked = core->scalar.cycle + core->config->scalar_issue;
    double issued = later(asked, slot_free(pipe, core->config->queue_depth_pipe[info->pipe]));
    double start = later(issued, later(pipe->free_at, pipe->not_before));
    if (start >= core->until && moves_gm(info)) {
        // What it gets of the memory's bandwidth is known when its quantum comes: tried again then,
        // from here.
        core->held = true;
        return false;
    }
    core->scalar.cycle = issued;
    core->stall += issued - asked;
    if (leo_cfg_ctrl_unpack(core->ctrl).atomic != LEO_ATOMIC_NONE &&
        info->operand[0] == LEO_INSN_OPERAND_GM) {
        // Float additions do not commute: cores that add to global memory do it in the order of
        // their numbers.
        sim_host_pool_wait_turn(core->pool, core->turn);
    }
    if (!unit->exec(core, op)) {
        tell_config(core, op, info);
        core->scalar.fault.unit = (enum leo_pipe)info->pipe;
        return false;
    }
    struct sim_cost cost = {0};
    unit->cost(core, op, &cost);
    cost.busy_cycles -= pipe->queue_count ? hidden_cycles(pipe, &cost, start) : 0;
    pipe->flagged = pipe->fenced = false;
    pipe->free_at = start + cost.busy_cycles;
    pipe->busy += cost.busy_cycles;
    pipe->queue[pipe->queue_count++ % 64] = start;
    core->gm_read_bytes += cost.gm_read_bytes;
    core->gm_write_bytes += cost.gm_write_bytes;
    if (cost.gm_count) {
        sim_gm_log_push(core->gm_log, &cost);
    }
    if (core->trace) {
        record(core, op, info->pipe, start, &cost);
    }
    return true;
}

/* Takes the mask bits when all earlier vector work is done; later vector work sees them. */
static bool set_cmpmask(struct sim_core *core, const struct sim_op *op)
{
    const uint8_t *bits = sim_core_local(core, LEO_MEM_SPACE_UB, op->b, 16, 16);
    if (!bits) {
        return false;
    }
    memcpy(core->cmpmask, bits, 16);
    struct sim_pipe *pipe = &core->pipe[LEO_PIPE_V];
    double at = pipe->free_at > core->scalar.cycle ? pipe->free_at : core->scalar.cycle;
    pipe->not_before = (pipe->not_before > at ? pipe->not_before : at) + 1;
    return true;
}

static bool issue_system(struct sim_core *core, const struct sim_op *op)
{
    if (op->insn == LEO_INSN_SET_FLAG) {
        return sim_core_flag_set(core, op);
    }
    if (op->insn == LEO_INSN_WAIT_FLAG) {
        return sim_core_flag_wait(core, op);
    }
    if (op->insn == LEO_INSN_PIPE_BARRIER) {
        return sim_core_barrier(core, op);
    }
    if (op->insn == LEO_INSN_SET_CMPMASK) {
        return set_cmpmask(core, op);
    }
    if (op->insn == LEO_INSN_TRAP) {
        return sim_core_fault(core, LEO_FAULT_KERNEL_TRAP, LEO_MEM_SPACE_PRIVATE, op->b, 0);
    }
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0, 0);
}

bool sim_core_issue(struct sim_scalar *scalar, const struct sim_op *op)
{
    struct sim_core *core = scalar->owner;
    if (!is_known(core, op)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0, 0);
    }
    const struct leo_insn_info *info = leo_insn_info(op->insn);
    if (info->pipe != LEO_PIPE_S) {
        return issue_unit(core, op, info);
    }
    scalar->cycle += core->config->scalar_issue;
    return issue_system(core, op);
}
