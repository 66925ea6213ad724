/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the output path: elements at the conversion's rate, while the bytes go to memory. */
#include "fix.h"

#include <math.h>

#define REQUEST_BYTES 128u /* [P] width of the path to global memory */

static void cost_out(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_fix0 cfg0 = leo_cfg_fix0_unpack(op->c);
    const struct leo_cfg_fix1 cfg1 = leo_cfg_fix1_unpack(op->d);
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    const bool wide = cfg1.quant == LEO_QUANT_NONE;
    const bool to_gm = op->foot->span[SIM_OPERAND_A].space == LEO_MEM_SPACE_GM;
    const uint64_t matrices = op->foot->empty ? 0 : op->foot->span[SIM_OPERAND_B].level[0].count;
    const uint64_t elements = (uint64_t)cfg0.n * cfg0.m * matrices;
    const uint64_t bytes = elements * fix_result_bits(cfg1.quant) / 8;
    double rate = wide && time->rate32 > 0 ? time->rate32 : time->rate16;
    cost->head_cycles = time->head;
    cost->busy_cycles = rate > 0 ? (double)elements / rate : 0;
    if (to_gm) {
        cost->gm_request = REQUEST_BYTES;
        cost->gm_path = REQUEST_BYTES;
        cost->gm_write_bytes = bytes;
    } else {
        cost->busy_cycles += time->head;
    }
    cost->work = elements;
}

/* Between L0C and UB: bytes on the side of L0C. */
static void cost_l0c(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct sim_span *a = &op->foot->span[SIM_OPERAND_A], *b = &op->foot->span[SIM_OPERAND_B];
    const struct sim_span *l0c = a->space == LEO_MEM_SPACE_L0C ? a : b;
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    uint64_t bytes = (uint64_t)l0c->level[0].count * l0c->level[1].count * l0c->bytes;
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + (time->rate16 > 0 ? ceil((double)bytes / time->rate16) : 0);
    cost->work = bytes;
}

void sim_unit_fixpipe(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    if (op->row->pipe == LEO_PIPE_FIX) {
        cost_out(core, op, cost);
    } else {
        cost_l0c(core, op, cost);
    }
}
