/* SPDX-License-Identifier: Apache-2.0 */
/* Hands instructions to the units: their effect now, what they cost into the log (time/log.h). */
#include "../host/host_pool.h"
#include "../memory/hbm.h"
#include "../tape/record.h"
#include "core.h"
#include <sim_units.h>

/* Global memory that an instruction moves; NULL = none. */
static const struct sim_span *gm_span(const struct sim_footprint *foot)
{
    for (unsigned i = SIM_OPERAND_A; i <= SIM_OPERAND_B; i++) {
        if (foot->span[i].touch != 0 && foot->span[i].space == LEO_MEM_SPACE_GM) {
            return &foot->span[i];
        }
    }
    return NULL;
}

/* The two innermost levels of a span that repeat anything; of three, the outermost only adds to the
 * count. */
static void set_pieces(const struct sim_core *core, const struct sim_span *span,
                       struct sim_time_gm *gm)
{
    const struct sim_level *level[3];
    unsigned levels = 0;
    uint32_t outer = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (span->level[i].count > 1) {
            level[levels++] = &span->level[i];
        }
    }
    if (levels == 3) {
        outer = level[0]->count;
    }
    gm->addr = span->addr - core->gm_base;
    gm->piece = span->bytes;
    gm->count = levels > 0 ? level[levels - 1]->count : 1;
    gm->step = levels > 0 ? (uint64_t)level[levels - 1]->step : 0;
    gm->more = (levels > 1 ? level[levels - 2]->count : 1) * outer - 1;
    gm->more_step = levels > 1 ? (uint64_t)level[levels - 2]->step : 0;
}

void sim_core_log_unit(struct sim_core *core, const struct sim_op *op)
{
    struct sim_cost cost;
    sim_core_price(core, op, &cost);
    // Field by field where it stays: the host would wait for a copy of what was just written.
    union sim_time_place *place = sim_time_log_place(&core->log);
    struct sim_time_record *record = &place->record;
    record->scalar = core->scalar.cycle - core->logged;
    core->logged = core->scalar.cycle;
    record->busy = cost.busy_cycles;
    record->overlap = (float)cost.overlap_cycles;
    record->head = (float)cost.head_cycles;
    record->work = cost.work;
    record->pc = (uint32_t)(op->pc - LEO_MAP_IMAGE);
    record->insn = (uint16_t)op->insn;
    record->kind = SIM_TIME_OP;
    record->pipe = op->row->pipe;
    record->dst = 0;
    record->id = 0;
    record->access = cost.gm_write_bytes ? SIM_TIME_ACCESS_WRITE : 0;
    record->bank = (float)cost.bank_cycles;
    record->hand = 0;
    if (op->row->pipe == LEO_PIPE_M || op->row->pipe == LEO_PIPE_FIX) {
        sim_core_mark_hand(core, op, record);
    }
    const uint64_t bytes = cost.gm_read_bytes + cost.gm_write_bytes;
    const struct sim_span *span = bytes && !op->foot->empty ? gm_span(op->foot) : NULL;
    if (!span) {
        sim_time_log_take(&core->log, 1);
        return;
    }
    record->kind = SIM_TIME_OP_GM;
    record->access |= span->touch & SIM_TOUCH_NO_L2 ? SIM_TIME_ACCESS_NO_L2 : 0;
    struct sim_time_gm *gm = &place[1].gm;
    gm->bytes = bytes;
    gm->request = (uint16_t)cost.gm_request;
    gm->path = (uint16_t)cost.gm_path;
    set_pieces(core, span, gm);
    sim_time_log_take(&core->log, 2);
}

static bool adds_to_gm(const struct sim_core *core, const struct sim_insn *row)
{
    return row->writes_gm && leo_cfg_ctrl_unpack(core->ctrl).atomic != LEO_ATOMIC_NONE;
}

/* What it does depends on how far other cores are. */
static bool meets_others(const struct sim_core *core, const struct sim_insn *row)
{
    return adds_to_gm(core, row) || row->exec == sim_core_cross_set ||
           row->exec == sim_core_cross_wait;
}

static bool issue_unit(struct sim_core *core, struct sim_op *op, const struct sim_insn *row)
{
    if (adds_to_gm(core, row)) {
        // Float additions do not commute: cores that add to global memory do it in the order of
        // their numbers.
        sim_host_pool_wait_turn(core->pool, core->first_turn, core->turn);
    }
    if (!sim_core_execute(core, op)) {
        core->scalar.fault.unit = (enum leo_pipe)row->pipe;
        return false;
    }
    if (core->track) {
        sim_tape_op(core->track, core, op, core->scalar.cycle - core->logged);
    }
    sim_core_log_unit(core, op);
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    if (core->stores && row->writes_gm && !op->foot->empty && dst->low >= LEO_MAP_GM) {
        sim_core_stored(core, dst, (enum leo_pipe)row->pipe);
    }
    return true;
}

bool sim_core_issue(struct sim_scalar *scalar, struct sim_op *op)
{
    struct sim_core *core = scalar->owner;
    const struct sim_insn *row = &core->insns[op->insn];
    if (!sim_core_has(core, op->insn)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0, 0);
    }
    if (core->log.written >= core->log_end || !sim_time_log_reserve(&core->log)) {
        return false; // tried again in the next run
    }
    if (meets_others(core, row) && sim_core_must_wait(core)) {
        return false;
    }
    sim_caches_fetch(&core->caches, op->pc - LEO_MAP_IMAGE);
    if (core->caches.data_missed | core->caches.text_missed) {
        sim_core_log_missed(core);
    }
    // A wait that is tried again was issued before.
    scalar->cycle += core->park == SIM_PARK_NONE ? core->config->scalar_issue : 0;
    return row->cost ? issue_unit(core, op, row) : sim_core_execute(core, op);
}
