/* SPDX-License-Identifier: Apache-2.0 */
/* Order between the pipes of one core: flags by (source, destination, id), and barriers. */
#include "../check/check.h"
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

/* [P] eight events, four in the first generation. */
static unsigned events_of(const struct sim_core *core)
{
    return core->config->arch == 1001 ? 4 : 8;
}

static bool name_flag(struct sim_core *core, const struct sim_op *op, struct flag_name *flag)
{
    unsigned src = op->imm & 15u;
    unsigned dst = op->imm >> 4 & 15u;
    if (!has_pipe(core, src) || !has_pipe(core, dst)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->imm, 0);
    }
    const uint64_t event = (op->imm >> 8) + op->b;
    if (event >= events_of(core)) {
        return sim_core_fault(core, LEO_FAULT_BAD_EVENT, LEO_MEM_SPACE_PRIVATE, event, 0);
    }
    *flag = (struct flag_name){(enum leo_pipe)src, (enum leo_pipe)dst, (unsigned)event};
    return true;
}

static void log_flag(struct sim_core *core, enum sim_time_kind kind, const struct flag_name *flag)
{
    struct sim_time_record record = {.kind = (uint8_t)kind,
                                     .pipe = (uint8_t)flag->src,
                                     .dst = (uint8_t)flag->dst,
                                     .id = (uint8_t)flag->id};
    sim_core_log(core, &record, NULL);
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
    if (core->check) {
        sim_check_flag_set(core->check, flag.src, flag.dst, flag.id, op->pc - LEO_MAP_IMAGE);
    }
    log_flag(core, SIM_TIME_SET, &flag);
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
    if (core->check) {
        sim_check_flag_wait(core->check, flag.src, flag.dst, flag.id);
    }
    log_flag(core, SIM_TIME_WAIT, &flag);
    return true;
}

/* The flags of one memory are the flags of all: the pipes and the event name them. */
static bool with_pipes(struct sim_core *core, const struct sim_op *op,
                       bool (*run)(struct sim_core *core, const struct sim_op *op))
{
    if (op->b > 0x1f) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->b, 0);
    }
    struct sim_op plain = *op;
    plain.imm = op->a & 0xff;
    plain.b = op->a >> 8;
    return run(core, &plain);
}

bool sim_core_hflag_set(struct sim_core *core, const struct sim_op *op)
{
    return with_pipes(core, op, sim_core_flag_set);
}

bool sim_core_hflag_wait(struct sim_core *core, const struct sim_op *op)
{
    return with_pipes(core, op, sim_core_flag_wait);
}

bool sim_core_barrier(struct sim_core *core, const struct sim_op *op)
{
    unsigned pipe = op->imm;
    if (pipe != LEO_PIPE_ALL && (pipe == LEO_PIPE_S || !has_pipe(core, pipe))) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_PRIVATE, op->imm, 0);
    }
    if (core->check) {
        sim_check_barrier(core->check, (enum leo_pipe)pipe);
    }
    struct sim_time_record record = {
        .kind = SIM_TIME_BARRIER, .pipe = (uint8_t)pipe, .busy = core->config->barrier};
    sim_core_log(core, &record, NULL);
    return true;
}
