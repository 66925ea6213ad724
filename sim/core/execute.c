/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of an instruction: outlined, checked, done. Time is issue.c's. */
#include "../check/check.h"
#include "../memory/hbm.h"
#include "../memory/unknown.h"
#include "core.h"
#include "debug.h"
#include "deferred_mmad.h"
#include <sim_units.h>

#include <string.h>

bool sim_core_outline(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    sim_footprint_begin(foot);
    return !op->row->foot || op->row->foot(core, op, foot);
}

bool sim_core_has(const struct sim_core *core, enum leo_insn insn)
{
    int arch = leo_arch_index(core->config->arch);
    return arch >= 0 && core->insns[insn].cores[arch] >> core->kind & 1;
}

static bool map_span(struct sim_core *core, struct sim_span *span)
{
    if (span->touch == 0 || span->space == LEO_MEM_SPACE_GM) {
        span->host = NULL;
        return true;
    }
    uint8_t *low =
        sim_core_local(core, (enum leo_mem_space)span->space, span->low, span->extent, span->align);
    span->host = low ? low + (span->addr - span->low) : NULL;
    return low != NULL;
}

static bool tell_operand(struct sim_core *core, unsigned operand)
{
    core->scalar.fault.operand = (uint8_t)(operand + 1);
    return false;
}

bool sim_footprint_map(struct sim_core *core, struct sim_footprint *foot)
{
    if (foot->empty) {
        return true;
    }
    for (unsigned i = SIM_OPERAND_B; i < SIM_OPERAND_EXTRA; i++) {
        if (!map_span(core, &foot->span[i])) {
            return tell_operand(core, i);
        }
    }
    if (!map_span(core, &foot->span[SIM_OPERAND_A])) {
        return tell_operand(core, SIM_OPERAND_A);
    }
    for (unsigned i = SIM_OPERAND_EXTRA; i < foot->count; i++) {
        if (!map_span(core, &foot->span[i])) {
            return false;
        }
    }
    return true;
}

/* Of a fault in global memory: the operand that is there. */
static void tell_global(struct sim_core *core, const struct sim_op *op)
{
    struct sim_fault *fault = &core->scalar.fault;
    for (unsigned i = 0; i < SIM_OPERAND_EXTRA && !fault->operand; i++) {
        if (op->row->operand[i] == LEO_INSN_OPERAND_GM) {
            fault->operand = (uint8_t)(i + 1);
        }
    }
}

/* What was wrong is in the configuration words: the record gets them as address and length. */
static bool tell_config(struct sim_core *core, const struct sim_op *op)
{
    struct sim_fault *fault = &core->scalar.fault;
    if (fault->code == LEO_FAULT_GM_OUT_OF_RANGE || fault->code == LEO_FAULT_GM_READ_ONLY) {
        tell_global(core, op);
    }
    if (fault->code != LEO_FAULT_ILLEGAL_CONFIG && fault->code != LEO_FAULT_ILLEGAL_INSTRUCTION) {
        return false;
    }
    const uint64_t value[] = {op->a, op->b, op->c, op->d};
    uint64_t words[2] = {0, 0};
    unsigned count = 0;
    for (unsigned i = 0; i < 4 && count < 2; i++) {
        if (op->row->operand[i] == LEO_INSN_OPERAND_CFG) {
            words[count++] = value[i];
        }
    }
    bool other =
        fault->addr != 0 && fault->addr != words[0] && fault->addr != words[1]; // a CSR's value
    if (count && !other) {
        fault->addr = words[0];
        fault->bytes = words[1];
    }
    return false;
}

/* Bytes that an operand names, those it names twice counted twice. */
static uint64_t bytes_of(const struct sim_span *span)
{
    return span->touch == 0 ? 0
                            : (uint64_t)span->level[0].count * span->level[1].count *
                                  span->level[2].count * span->bytes;
}

/*
 * Operands that overlap themselves can name any number of bytes. A move of more than twice the
 * largest buffer is priced before it is done: when the pipe's moves alone take longer than the
 * block may run, the block ends here, so that no instruction takes the host longer than its limit.
 */
static bool is_within_limit(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *span = op->foot->span;
    const uint64_t most = 2 * (uint64_t)core->config->l1_bytes;
    if (core->limit <= 0 || op->row->pipe == LEO_PIPE_V || op->row->pipe == LEO_PIPE_M ||
        !op->row->cost ||
        (bytes_of(&span[SIM_OPERAND_A]) <= most && bytes_of(&span[SIM_OPERAND_B]) <= most)) {
        return true;
    }
    struct sim_cost cost;
    sim_core_price(core, op, &cost);
    const struct sim_config *config = core->config;
    double *spent = &core->spent[op->row->pipe];
    *spent += cost.busy_cycles - cost.overlap_cycles +
              (double)cost.gm_read_bytes / config->gm_read_rate +
              (double)cost.gm_write_bytes / config->gm_write_rate;
    return *spent <= core->limit ||
           sim_core_fault(core, LEO_FAULT_WATCHDOG, LEO_MEM_SPACE_PRIVATE, 0, 0);
}

/* Its exec function tells deferred_mmad.h of it. */
static bool looks_after(enum leo_insn insn)
{
    return insn == LEO_INSN_MMAD || insn == LEO_INSN_LOAD_CBUF_TO_CA ||
           insn == LEO_INSN_LOAD_CBUF_TO_CB;
}

/* Whether a unit only moves and computes values: what it says to the scalar unit aside. */
static bool is_values_only(const struct sim_core *core, const struct sim_op *op)
{
    return core->unknown && !core->stores && op->row->cost && op->row->foot;
}

static bool is_global(const struct sim_span *span, unsigned touch)
{
    return span->touch & touch && span->space == LEO_MEM_SPACE_GM;
}

/* What was not computed stays so where a block moves it, and so does what the block makes of it. */
static void tell_unknown(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *src = &op->foot->span[SIM_OPERAND_B],
                          *dst = &op->foot->span[SIM_OPERAND_A];
    core->holds_unknown = core->holds_unknown || is_values_only(core, op) ||
                          (is_global(src, SIM_TOUCH_READ) &&
                           sim_unknown_has(core->unknown, src->low & ~SIM_GM_NO_L2, src->extent));
    if (core->holds_unknown && is_global(dst, SIM_TOUCH_WRITE)) {
        sim_unknown_set(core->unknown, dst->low & ~SIM_GM_NO_L2, dst->extent, false);
    }
}

static bool compute(struct sim_core *core, const struct sim_op *op)
{
    if (core->unknown) {
        tell_unknown(core, op);
    }
    return is_values_only(core, op) || op->row->exec(core, op);
}

bool sim_core_execute(struct sim_core *core, struct sim_op *op)
{
    op->row = &core->insns[op->insn];
    op->foot = &core->foot;
    if (!op->row->exec) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0, 0);
    }
    if (!sim_core_outline(core, op, &core->foot) || !sim_footprint_map(core, &core->foot)) {
        return tell_config(core, op);
    }
    const struct sim_span *src = &op->foot->span[SIM_OPERAND_B];
    if (core->poll.passing && src->space == LEO_MEM_SPACE_GM && src->touch && !core->foot.empty) {
        sim_core_poll_read(core, src->low, src->extent);
    }
    if (core->check) {
        const unsigned found = core->check->findings.count;
        sim_check_unit(core->check, core, op);
        sim_core_name_callers(core, found);
        if (core->debug) {
            sim_debug_found(core, found);
        }
    }
    if (core->deferred && !looks_after(op->insn)) {
        sim_deferred_meet(core, op->foot);
    }
    return core->foot.empty || (is_within_limit(core, op) && compute(core, op)) ||
           tell_config(core, op);
}

void sim_core_price(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    *cost = (struct sim_cost){0};
    op->row->cost(core, op, cost);
}

/* Takes the mask bits when all earlier vector work is done; later vector work sees them. */
bool sim_foot_cmpmask(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    (void)core;
    struct sim_span *bits = sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_UB, SIM_TOUCH_READ,
                                              op->b, sizeof(core->cmpmask));
    bits->align = sizeof(core->cmpmask);
    return true;
}

bool sim_core_set_cmpmask(struct sim_core *core, const struct sim_op *op)
{
    memcpy(core->cmpmask, op->foot->span[SIM_OPERAND_B].host, sizeof(core->cmpmask));
    struct sim_time_record record = {
        .kind = SIM_TIME_BARRIER, .pipe = LEO_PIPE_V, .busy = core->config->barrier};
    sim_core_log(core, &record, NULL);
    return true;
}

bool sim_foot_getmask(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct sim_span *bits = sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_UB,
                                              SIM_TOUCH_WRITE, op->a, sizeof(core->cmpmask));
    bits->align = sizeof(core->cmpmask);
    return true;
}

/* The scalar unit waits for the vector unit, whose comparisons set the bits. */
bool sim_core_get_cmpmask(struct sim_core *core, const struct sim_op *op)
{
    memcpy(op->foot->span[SIM_OPERAND_A].host, core->cmpmask, sizeof(core->cmpmask));
    struct sim_time_record record = {.kind = SIM_TIME_DRAIN, .pipe = LEO_PIPE_V};
    sim_core_log(core, &record, NULL);
    return true;
}

/* The scalar unit's accesses to global memory are seen by everybody at once (decision 23), so what
 * orders them or moves cache lines has nothing to move. Operands are checked all the same, and the
 * checker tells what a data cache would have kept back. */
bool sim_core_dcci(struct sim_core *core, const struct sim_op *op)
{
    if (op->a > 1) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, op->a, 0);
    }
    if (op->a == 0 && !sim_core_gm(core, op->b, 1, false)) {
        return false;
    }
    sim_caches_drop(&core->caches, op->a == 1 ? UINT64_MAX : op->b);
    sim_scalar_forget_line(&core->scalar, op->a == 1 ? UINT64_MAX : op->b);
    if (core->check) {
        sim_check_dcci(core->check, op->b, op->a == 1);
    }
    return true;
}

bool sim_core_dsb(struct sim_core *core, const struct sim_op *op)
{
    if (op->a > 3) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, op->a, 0);
    }
    if (core->check) {
        sim_check_dsb(core->check);
    }
    return true;
}

bool sim_core_hint(struct sim_core *core, const struct sim_op *op)
{
    (void)core;
    (void)op;
    return true;
}

/* Comes here only from the scalar unit's run loop if the value does not fit. */
bool sim_core_check_field(struct sim_core *core, const struct sim_op *op)
{
    return sim_field_fits(op->imm, op->b) ||
           sim_core_fault(core, LEO_FAULT_BAD_FIELD, LEO_MEM_SPACE_PRIVATE, op->b, 0);
}

bool sim_core_trap(struct sim_core *core, const struct sim_op *op)
{
    return sim_core_fault(core, LEO_FAULT_KERNEL_TRAP, LEO_MEM_SPACE_PRIVATE, op->b, 0);
}
