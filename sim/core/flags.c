/* SPDX-License-Identifier: Apache-2.0 */
/* Order between the pipes of one core: flags by (source, destination, id), and barriers. */
#include "core.h"
#include <sim_units.h>

struct flag_name {
    enum leo_pipe src, dst;
    unsigned id;
};

static bool has_pipe(const struct sim_core *core, unsigned pipe)
{
    return pipe < LEO_PIPE_ALL && !(pipe == LEO_PIPE_FIX && core->config->arch == 1001);
}

static bool name_flag(struct sim_core *core, const struct sim_op *op, struct flag_name *flag)
{
    unsigned src = op->imm & 15u;
    unsigned dst = op->imm >> 4 & 15u;
    if (!has_pipe(core, src) || !has_pipe(core, dst)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->imm, 0);
    }
    *flag = (struct flag_name){(enum leo_pipe)src, (enum leo_pipe)dst,
                               (unsigned)((op->imm >> 8) + op->b) & 7u};
    return true;
}

static double later(double left, double right)
{
    return left > right ? left : right;
}

/* When everything issued to the pipe so far is done. */
static double drained(const struct sim_core *core, enum leo_pipe pipe)
{
    if (pipe == LEO_PIPE_S) {
        return core->scalar.cycle;
    }
    return later(core->scalar.cycle, later(core->pipe[pipe].free_at, core->pipe[pipe].not_before));
}

static void stall_scalar(struct sim_core *core, double until)
{
    if (until > core->scalar.cycle) {
        core->stall += until - core->scalar.cycle;
        core->scalar.cycle = until;
    }
}

bool sim_core_flag_set(struct sim_core *core, const struct sim_op *op)
{
    struct flag_name flag = {0};
    if (!name_flag(core, op, &flag)) {
        return false;
    }
    uint8_t *set = &core->flag_set[flag.src][flag.dst];
    if (*set >> flag.id & 1) {
        return sim_core_fault(core, LEO_FAULT_FLAG_SET_TWICE, LEO_MEM_SPACE_PRIVATE, op->imm,
                              flag.id);
    }
    *set = (uint8_t)(*set | 1u << flag.id);
    core->pipe[flag.src].flagged = true;
    core->flag_cycle[flag.src][flag.dst][flag.id] =
        drained(core, flag.src) + core->config->flag_set;
    return true;
}

bool sim_core_flag_wait(struct sim_core *core, const struct sim_op *op)
{
    struct flag_name flag = {0};
    if (!name_flag(core, op, &flag)) {
        return false;
    }
    uint8_t *set = &core->flag_set[flag.src][flag.dst];
    if (!(*set >> flag.id & 1)) {
        return sim_core_fault(core, LEO_FAULT_FLAG_NEVER_SET, LEO_MEM_SPACE_PRIVATE, op->imm,
                              flag.id);
    }
    *set = (uint8_t)(*set & ~(1u << flag.id));
    double ready = core->flag_cycle[flag.src][flag.dst][flag.id] + core->config->flag_wait;
    if (flag.dst == LEO_PIPE_S) {
        stall_scalar(core, ready);
    } else {
        core->pipe[flag.dst].not_before = later(core->pipe[flag.dst].not_before, ready);
    }
    return true;
}

bool sim_core_barrier(struct sim_core *core, const struct sim_op *op)
{
    unsigned pipe = op->imm;
    if (pipe == LEO_PIPE_ALL) {
        double all = sim_core_end(core);
        for (int i = 0; i < LEO_PIPE_ALL; i++) {
            all = later(all, core->pipe[i].not_before);
        }
        stall_scalar(core, all + core->config->barrier);
        for (int i = 0; i < LEO_PIPE_ALL; i++) {
            core->pipe[i].not_before = core->scalar.cycle;
            core->pipe[i].fenced = true;
        }
        return true;
    }
    if (pipe == LEO_PIPE_S || !has_pipe(core, pipe)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->imm, 0);
    }
    core->pipe[pipe].not_before = drained(core, (enum leo_pipe)pipe) + core->config->barrier;
    core->pipe[pipe].fenced = true;
    return true;
}
