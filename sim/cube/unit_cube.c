/* SPDX-License-Identifier: Apache-2.0 */
/* Time of mmad: one 16 x 16 x 16 step a cycle behind the fill of the pipeline (HW-CUBE-08). */
#include "core/core.h"

void sim_unit_cube(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct sim_config *config = core->config;
    double rate = config->insn[LEO_INSN_MMAD].rate16;
    double steps = (double)((cfg.m + 15u) / 16) * ((cfg.k + 15u) / 16) * ((cfg.n + 15u) / 16);
    *cost = (struct sim_cost){
        .head_cycles = config->mmad_head,
        .busy_cycles = config->mmad_head + (rate > 0 ? steps / rate : steps),
        .overlap_cycles =
            config->mmad_head > config->mmad_gap ? config->mmad_head - config->mmad_gap : 0,
        .work = (uint64_t)cfg.m * cfg.k * cfg.n,
    };
}
