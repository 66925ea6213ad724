/* SPDX-License-Identifier: Apache-2.0 */
/* Time of the output path: elements at the conversion's rate, while the bytes go to memory. */
#include "fix.h"

#include <math.h>

#define REQUEST_BYTES 128u /* [P] width of the path to global memory */

static void cost_to_gm(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_fix0 cfg0 = leo_cfg_fix0_unpack(op->c);
    const struct leo_cfg_fix1 cfg1 = leo_cfg_fix1_unpack(op->d);
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    bool wide = cfg1.quant == LEO_QUANT_NONE;
    uint64_t elements = (uint64_t)cfg0.n * cfg0.m, bytes = elements * (wide ? 4 : 2);
    double rate = wide && time->rate32 > 0 ? time->rate32 : time->rate16;
    cost->head_cycles = time->head;
    cost->busy_cycles = rate > 0 ? (double)elements / rate : 0;
    cost->gm_request = REQUEST_BYTES;
    cost->gm_path = REQUEST_BYTES;
    cost->gm_write_bytes = bytes;
    cost->work = elements;
}

static void cost_to_ubuf(const struct sim_core *core, const struct sim_op *op,
                         struct sim_cost *cost)
{
    const struct sim_span *src = &op->foot->span[SIM_OPERAND_B];
    const struct sim_insn_time *time = &core->config->insn[op->insn];
    uint64_t bytes = (uint64_t)src->level[0].count * src->bytes;
    cost->head_cycles = time->head;
    cost->busy_cycles = time->head + (time->rate16 > 0 ? ceil((double)bytes / time->rate16) : 0);
    cost->work = bytes;
}

void sim_unit_fixpipe(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    if (op->foot->span[SIM_OPERAND_A].space == LEO_MEM_SPACE_GM) {
        cost_to_gm(core, op, cost);
    } else {
        cost_to_ubuf(core, op, cost);
    }
}
