/* SPDX-License-Identifier: Apache-2.0 */
/* What the output path touches, and its configuration words. docs/hw/cube.md. */
#include "fix.h"

#define MAX_COLUMNS       4095u
#define MAX_ND_ROWS       8192u
#define ACC_FRACTAL_BYTES UINT64_C(1024) /* 16 x 16 f32 */

/* HW-CUBE-13: what the output path knows of quantisation. */
static bool unpack_out(struct sim_core *core, uint64_t word, const struct leo_cfg_fix1 *cfg,
                       struct fix *fix)
{
    if (word & LEO_CFG_FIX1_RESERVED || cfg->quant >= LEO_QUANT_COUNT || cfg->relu > 1 ||
        cfg->unit_flag == 1 || (cfg->split && (cfg->nz2nd || cfg->quant != LEO_QUANT_NONE))) {
        return mte_bad_config(core, word);
    }
    switch ((int)cfg->quant) {
    case LEO_QUANT_NONE:
        fix->out = SIM_CUBE_OUT_F32;
        break;
    case LEO_QUANT_F32_F16:
        fix->out = SIM_CUBE_OUT_F16;
        break;
    case LEO_QUANT_F32_BF16:
        fix->out = SIM_CUBE_OUT_BF16;
        break;
    default:
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, word, 0);
    }
    fix->element = fix->out == SIM_CUBE_OUT_F32 ? 4 : 2;
    fix->relu = cfg->relu != 0;
    return true;
}

bool fix_unpack(struct sim_core *core, const struct sim_op *op, struct fix *fix)
{
    const struct leo_cfg_fix0 cfg0 = leo_cfg_fix0_unpack(op->c);
    const struct leo_cfg_fix1 cfg1 = leo_cfg_fix1_unpack(op->d);
    if (!unpack_out(core, op->d, &cfg1, fix)) {
        return false;
    }
    fix->rows = cfg0.m;
    fix->columns = cfg0.n;
    fix->row_major = cfg1.nz2nd;
    fix->width = cfg1.split ? 8 : 16;
    fix->src_column = (uint64_t)cfg1.src_stride * FIX_ROW_FLOATS;
    if (op->c & LEO_CFG_FIX0_RESERVED || fix->columns > MAX_COLUMNS ||
        (cfg1.nz2nd && fix->rows > MAX_ND_ROWS) ||
        (!cfg1.nz2nd && fix->columns % fix->width != 0)) {
        return mte_bad_config(core, op->c);
    }
    if (cfg1.nz2nd) {
        fix->dst_row = (uint64_t)cfg0.dst_stride * fix->element;
        fix->dst_column = 16u * fix->element;
    } else {
        fix->dst_row = fix->width * fix->element;
        fix->dst_column = (uint64_t)cfg0.dst_stride * MTE_BLOCK_BYTES;
    }
    if (!mte_atomic_open(core, fix->element, &fix->atomic)) {
        return false;
    }
    return !fix->atomic.combine || fix->element == fix->atomic.bytes ||
           mte_bad_config(core, core->ctrl);
}

bool sim_foot_fix(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct fix fix = {0};
    if (!fix_unpack(core, op, &fix)) {
        return false;
    }
    foot->empty = fix.rows == 0 || fix.columns == 0;
    struct sim_span *src =
        sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_L0C, SIM_TOUCH_READ, op->b,
                          (uint64_t)fix.rows * FIX_ROW_FLOATS * sizeof(float));
    src->align = FIX_L0C_ALIGN;
    src->level[0] = (struct sim_level){(fix.columns + FIX_ROW_FLOATS - 1) / FIX_ROW_FLOATS,
                                       (int64_t)(fix.src_column * sizeof(float))};
    sim_span_close(src);
    // Row-major: a piece a row. Fractals: rows of a column of fractals lie side by side.
    uint64_t bytes = (uint64_t)fix.element * (fix.row_major ? fix.columns : fix.rows * fix.width);
    struct sim_span *dst = sim_footprint_add(
        foot, SIM_OPERAND_A, LEO_MEM_SPACE_GM,
        SIM_TOUCH_WRITE | (fix.atomic.combine ? SIM_TOUCH_ATOMIC : 0), op->a, bytes);
    dst->level[0] = fix.row_major
                        ? (struct sim_level){fix.rows, (int64_t)fix.dst_row}
                        : (struct sim_level){fix.columns / fix.width, (int64_t)fix.dst_column};
    sim_span_close(dst);
    return true;
}

/* HW-CUBE-15: bursts of whole fractals, each converted on its way to UB. */
bool sim_foot_cr(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_cr cr = leo_cfg_cr_unpack(op->c);
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    if (op->c & LEO_CFG_CR_RESERVED || cr.mode >= LEO_CR_COUNT) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_BURST_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    foot->empty = cfg.n_burst == 0 || cfg.len_burst == 0;
    uint64_t src_bytes = cfg.len_burst * ACC_FRACTAL_BYTES;
    uint64_t dst_bytes = fix_cr_halves(cr.mode) ? src_bytes / 2 : src_bytes;
    struct sim_span *src = sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_L0C,
                                             SIM_TOUCH_READ | SIM_TOUCH_PADDED, op->b, src_bytes);
    src->align = FIX_L0C_ALIGN;
    src->level[0] =
        (struct sim_level){cfg.n_burst, (int64_t)(src_bytes + cfg.src_gap * ACC_FRACTAL_BYTES)};
    sim_span_close(src);
    struct sim_span *dst =
        sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_UB, SIM_TOUCH_WRITE, op->a, dst_bytes);
    dst->align = MTE_BLOCK_BYTES;
    dst->level[0] = (struct sim_level){
        cfg.n_burst, (int64_t)(dst_bytes + (uint64_t)cfg.dst_gap * MTE_BLOCK_BYTES)};
    sim_span_close(dst);
    return true;
}
