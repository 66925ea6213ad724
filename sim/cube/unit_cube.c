/* SPDX-License-Identifier: Apache-2.0 */
/* Time of mmad: one step of 16 x 16 x (16 of f16) a cycle behind the fill of the pipeline
 * (HW-CUBE-08). */
#include "mad.h"

/** Elements along k of one step of a Cube whose cube_k is 16. [P] vendor's table of the cube's
 * throughput, both architectures */
static const uint8_t step_k[LEO_MAD_COUNT] = {
    [LEO_MAD_F16F32] = 16, [LEO_MAD_F16F16] = 16, [LEO_MAD_BF16F32] = 16, [LEO_MAD_F32F32] = 4,
    [LEO_MAD_HF32F32] = 8, [LEO_MAD_S8S32] = 32,  [LEO_MAD_U8U32] = 32,   [LEO_MAD_U8S32] = 32,
    [LEO_MAD_S4S32] = 64,  [LEO_MAD_F16U2] = 16,
};

static uint32_t steps_of(uint32_t size, uint32_t step)
{
    return (size + step - 1) / step;
}

void sim_unit_cube(const struct sim_core *core, const struct sim_op *op, struct sim_cost *cost)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct sim_config *config = core->config;
    double rate = config->insn[LEO_INSN_MMAD].rate16;
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(core->ctrl);
    unsigned type = cfg.type == LEO_MAD_F32F32 && ctrl.hf32 ? LEO_MAD_HF32F32 : cfg.type;
    unsigned k = type < LEO_MAD_COUNT && step_k[type] ? step_k[type] : 16;
    k *= op->insn == LEO_INSN_MMAD_SP ? 2 : 1; // half of the right matrix is not there
    double steps = (double)steps_of(cfg.m, config->cube_m) *
                   steps_of(cfg.k, k * config->cube_k / 16) * steps_of(cfg.n, config->cube_n);
    *cost = (struct sim_cost){
        .head_cycles = config->mmad_head,
        .busy_cycles = config->mmad_head + (rate > 0 ? steps / rate : steps),
        .overlap_cycles =
            config->mmad_head > config->mmad_gap ? config->mmad_head - config->mmad_gap : 0,
        .work = (uint64_t)cfg.m * cfg.k * cfg.n,
    };
}
