/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of mmad. docs/hw/cube.md. */
#include "core/core.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

#define FRACTAL_BYTES     512u  /* 16 x 16 f16 */
#define ACC_FRACTAL_BYTES 1024u /* 16 x 16 f32 */
#define BIAS_ALIGN        64u
#define UNIT_FLAG_UNKNOWN 1u

static bool check_config(struct sim_core *core, uint64_t word, const struct leo_cfg_mad *cfg)
{
    if (word & LEO_CFG_MAD_RESERVED || cfg->unit_flag == UNIT_FLAG_UNKNOWN ||
        cfg->type >= LEO_MAD_COUNT) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, word, 0);
    }
    if (cfg->type != LEO_MAD_F16F32) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, word, 0);
    }
    return true;
}

static bool exec_mmad(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    if (!check_config(core, op->d, &cfg)) {
        return false;
    }
    if (cfg.m == 0 || cfg.k == 0 || cfg.n == 0) {
        return true;
    }
    uint64_t m1 = (cfg.m + 15u) / 16, k1 = (cfg.k + 15u) / 16, n1 = (cfg.n + 15u) / 16;
    uint8_t *a =
        sim_core_local(core, LEO_MEM_SPACE_L0A, op->b, m1 * k1 * FRACTAL_BYTES, FRACTAL_BYTES);
    if (!a) {
        return false;
    }
    uint8_t *b =
        sim_core_local(core, LEO_MEM_SPACE_L0B, op->c, k1 * n1 * FRACTAL_BYTES, FRACTAL_BYTES);
    if (!b) {
        return false;
    }
    // With a bias the upper half of the first operand is its address, so only the lower half is
    // L0C's.
    uint64_t c_addr = cfg.c_bias ? (uint32_t)op->a : op->a;
    uint8_t *c = sim_core_local(core, LEO_MEM_SPACE_L0C, c_addr, m1 * n1 * ACC_FRACTAL_BYTES,
                                ACC_FRACTAL_BYTES);
    if (!c) {
        return false;
    }
    uint8_t *bias = NULL;
    if (cfg.c_bias && !cfg.c_init) {
        bias = sim_core_local(core, LEO_MEM_SPACE_BT, op->a >> 32, cfg.n * 4u, BIAS_ALIGN);
        if (!bias) {
            return false;
        }
    }
    // Alignment was checked and buffers start on cache lines; void * says so to the compiler.
    const struct sim_mmad mmad = {
        .c = (void *)c,
        .a = (void *)a,
        .b = (void *)b,
        .bias = (void *)bias,
        .zero = cfg.c_init,
        .m = cfg.m,
        .k = cfg.k,
        .n = cfg.n,
        .scratch = core->scratch,
    };
    core->simd->cube->mmad_f16(&mmad);
    return true;
}

bool sim_exec_cube(struct sim_core *core, const struct sim_op *op)
{
    return op->insn == LEO_INSN_MMAD
               ? exec_mmad(core, op)
               : sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, op->word, 0);
}
