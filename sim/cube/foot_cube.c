/* SPDX-License-Identifier: Apache-2.0 */
/* What mmad touches: whole fractals of its operands. docs/hw/cube.md. */
#include "mad.h"

#define FRACTAL_BYTES     512u
#define BIAS_ALIGN        64u
#define UNIT_FLAG_UNKNOWN 1u

static bool check_config(struct sim_core *core, enum leo_insn insn, uint64_t word,
                         const struct leo_cfg_mad *cfg)
{
    if (word & LEO_CFG_MAD_RESERVED || cfg->unit_flag == UNIT_FLAG_UNKNOWN ||
        cfg->type >= LEO_MAD_COUNT || (cfg->c_bias && mad_is_half(cfg->type))) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, word, 0);
    }
    if (!leo_insn_has_type(insn, core->config->arch, cfg->type)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, word, 0);
    }
    return true;
}

static void add(struct sim_footprint *foot, enum sim_operand at, enum leo_mem_space space,
                unsigned touch, uint64_t addr, uint64_t bytes, uint16_t align)
{
    sim_footprint_add(foot, at, space, touch, addr, bytes)->align = align;
}

/* `b1`: fractals of B along k. */
static void add_operands(const struct sim_op *op, const struct leo_cfg_mad *config, uint64_t b1,
                         struct sim_footprint *foot)
{
    const struct leo_cfg_mad cfg = *config;
    foot->empty = cfg.m == 0 || cfg.k == 0 || cfg.n == 0;
    const uint64_t m1 = (cfg.m + 15u) / 16, k1 = mad_fractals_of_k(&cfg), n1 = (cfg.n + 15u) / 16;
    const uint64_t row = (uint64_t)cfg.k * mad_operand_bits(cfg.type) / 8;
    const uint64_t a_bytes = mad_is_vector(&cfg)
                                 ? (row + MAD_ROW_BYTES - 1) / MAD_ROW_BYTES * MAD_ROW_BYTES
                                 : m1 * k1 * FRACTAL_BYTES;
    const uint16_t c_bytes = mad_is_half(cfg.type) ? 512 : 1024; // a fractal
    const bool old = !cfg.c_bias && !cfg.c_init;
    // What pads m, k and n to fractals has no effect (decision 9).
    const unsigned padded = SIM_TOUCH_READ | SIM_TOUCH_PADDED;
    add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_L0A, padded, op->b, a_bytes, FRACTAL_BYTES);
    add(foot, SIM_OPERAND_C, LEO_MEM_SPACE_L0B, padded, op->c, b1 * n1 * mad_right_bytes(cfg.type),
        FRACTAL_BYTES);
    // With a bias the upper half of the first operand is its address, so only the lower half is
    // L0C's.
    add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_L0C,
        SIM_TOUCH_WRITE | SIM_TOUCH_PARTLY | (old ? padded : 0),
        cfg.c_bias ? (uint32_t)op->a : op->a, m1 * n1 * c_bytes, c_bytes);
    if (cfg.c_bias && !cfg.c_init) {
        add(foot, SIM_OPERAND_EXTRA, LEO_MEM_SPACE_BT, SIM_TOUCH_READ, op->a >> 32, cfg.n * 4u,
            BIAS_ALIGN);
    }
}

bool sim_foot_mad(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    if (!check_config(core, LEO_INSN_MMAD, op->d, &cfg)) {
        return false;
    }
    add_operands(op, &cfg, mad_fractals_of_k(&cfg), foot);
    return true;
}

/* HW-CUBE-10: half of B's rows are there. */
bool sim_foot_mad_sp(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    if (!check_config(core, LEO_INSN_MMAD_SP, op->d, &cfg)) {
        return false;
    }
    if (cfg.c_bias || mad_is_vector(&cfg)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_GM, op->d, 0);
    }
    add_operands(op, &cfg, mad_sparse_fractals(&cfg), foot);
    return true;
}
