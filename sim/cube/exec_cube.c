/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of mmad. docs/hw/cube.md. */
#include "core/core.h"

#include "simd/simd.h"
#include "simd/simd_cube.h"

#define FRACTAL_BYTES     512u
#define ROW_BYTES         32u /* of a fractal */
#define BIAS_ALIGN        64u
#define UNIT_FLAG_UNKNOWN 1u

/** Bits of an element of A and B. */
static unsigned operand_bits(enum leo_mad type)
{
    switch (type) {
    case LEO_MAD_F32F32:
    case LEO_MAD_HF32F32:
        return 32;
    case LEO_MAD_S8S32:
    case LEO_MAD_U8U32:
    case LEO_MAD_U8S32:
        return 8;
    case LEO_MAD_S4S32:
        return 4;
    case LEO_MAD_F16F32:
    case LEO_MAD_F16F16:
    case LEO_MAD_BF16F32:
    case LEO_MAD_F16U2:
        break;
    }
    return 16;
}

static bool check_config(struct sim_core *core, uint64_t word, const struct leo_cfg_mad *cfg)
{
    if (word & LEO_CFG_MAD_RESERVED || cfg->unit_flag == UNIT_FLAG_UNKNOWN ||
        cfg->type >= LEO_MAD_COUNT || (cfg->c_bias && cfg->type == LEO_MAD_F16F16)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, word, 0);
    }
    if (!leo_insn_has_type(LEO_INSN_MMAD, core->config->arch, cfg->type)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, word, 0);
    }
    return true;
}

/** Fractals along k: 16 rows of 32 bytes each. With k_align 32-bit operands come in pairs. */
static uint32_t fractals_of_k(const struct leo_cfg_mad *cfg, unsigned bits)
{
    uint32_t k0 = ROW_BYTES * 8 / bits;
    uint32_t fractals = (cfg->k + k0 - 1) / k0;
    return cfg->k_align && bits == 32 ? (fractals + 1) & ~1u : fractals;
}

/** Finds the operands in their buffers; false: fault. */
static bool map_operands(struct sim_core *core, const struct sim_op *op,
                         const struct leo_cfg_mad *cfg, struct sim_mmad *mmad)
{
    const unsigned bits = operand_bits(cfg->type);
    const uint64_t m1 = (cfg->m + 15u) / 16, n1 = (cfg->n + 15u) / 16;
    const uint64_t a_bytes = mmad->vector
                                 ? (cfg->k * bits / 8 + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES
                                 : m1 * mmad->k1 * FRACTAL_BYTES;
    mmad->a = sim_core_local(core, LEO_MEM_SPACE_L0A, op->b, a_bytes, FRACTAL_BYTES);
    if (!mmad->a) {
        return false;
    }
    mmad->b = sim_core_local(core, LEO_MEM_SPACE_L0B, op->c, mmad->k1 * n1 * FRACTAL_BYTES,
                             FRACTAL_BYTES);
    if (!mmad->b) {
        return false;
    }
    // With a bias the upper half of the first operand is its address, so only the lower half is
    // L0C's.
    const uint64_t c_addr = cfg->c_bias ? (uint32_t)op->a : op->a;
    const unsigned c_bytes = cfg->type == LEO_MAD_F16F16 ? 512 : 1024; // a fractal
    mmad->c = sim_core_local(core, LEO_MEM_SPACE_L0C, c_addr, m1 * n1 * c_bytes, c_bytes);
    if (!mmad->c) {
        return false;
    }
    if (cfg->c_bias && !cfg->c_init) {
        mmad->bias = sim_core_local(core, LEO_MEM_SPACE_BT, op->a >> 32, cfg->n * 4u, BIAS_ALIGN);
        return mmad->bias != NULL;
    }
    return true;
}

static bool exec_mmad(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    const struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(core->ctrl);
    if (!check_config(core, op->d, &cfg)) {
        return false;
    }
    if (cfg.m == 0 || cfg.k == 0 || cfg.n == 0) {
        return true;
    }
    struct sim_mmad mmad = {
        .zero = cfg.c_init,
        .vector = cfg.m == 1 && !cfg.gemv_off,
        .to_zero = ctrl.hf32_to_zero,
        .type = cfg.type == LEO_MAD_F32F32 && ctrl.hf32 ? LEO_MAD_HF32F32 : (enum leo_mad)cfg.type,
        .m = cfg.m,
        .k = cfg.k,
        .n = cfg.n,
        .k1 = fractals_of_k(&cfg, operand_bits(cfg.type)),
        .scratch = core->scratch,
    };
    if (!map_operands(core, op, &cfg, &mmad)) {
        return false;
    }
    core->simd->cube->mmad(&mmad);
    return true;
}

bool sim_exec_cube(struct sim_core *core, const struct sim_op *op)
{
    return op->insn == LEO_INSN_MMAD
               ? exec_mmad(core, op)
               : sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, op->word, 0);
}
