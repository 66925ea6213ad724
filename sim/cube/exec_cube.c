/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of mmad. docs/hw/cube.md. */
#include "mad.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

bool sim_cube_mmad(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(core->ctrl);
    const struct sim_footprint *foot = op->foot;
    const bool bias = foot->count > SIM_OPERAND_EXTRA;
    const struct sim_mmad mmad = {
        .c = foot->span[SIM_OPERAND_A].host,
        .a = foot->span[SIM_OPERAND_B].host,
        .b = foot->span[SIM_OPERAND_C].host,
        .bias = bias ? foot->span[SIM_OPERAND_EXTRA].host : NULL,
        .zero = cfg.c_init,
        .vector = mad_is_vector(&cfg),
        .to_zero = ctrl.hf32_to_zero,
        .type = cfg.type == LEO_MAD_F32F32 && ctrl.hf32 ? LEO_MAD_HF32F32 : (enum leo_mad)cfg.type,
        .m = cfg.m,
        .k = cfg.k,
        .n = cfg.n,
        .k1 = mad_fractals_of_k(&cfg),
        .scratch = core->scratch,
    };
    core->simd->cube->mmad(&mmad);
    return true;
}
