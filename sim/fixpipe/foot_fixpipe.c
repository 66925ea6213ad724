/* SPDX-License-Identifier: Apache-2.0 */
/* What the output path touches, and its configuration words. docs/hw/cube.md. */
#include "fix.h"

#define MAX_COLUMNS 4095u
#define MAX_ND_ROWS 8192u
#define FB_UNIT     128u /* of CSR fpc */

bool fix_is_per_column(enum leo_quant quant)
{
    return quant == LEO_QUANT_VDEQF16 || quant == LEO_QUANT_VQF32_B8 || quant == LEO_QUANT_VREQ8 ||
           quant == LEO_QUANT_VREQ4 || quant == LEO_QUANT_VQF32_B4 || quant == LEO_QUANT_VDEQS16;
}

/* HW-CUBE-13 */
uint32_t fix_result_bits(enum leo_quant quant)
{
    switch (quant) {
    case LEO_QUANT_NONE:
        break;
    case LEO_QUANT_F32_F16:
    case LEO_QUANT_F32_BF16:
    case LEO_QUANT_DEQF16:
    case LEO_QUANT_VDEQF16:
    case LEO_QUANT_DEQS16:
    case LEO_QUANT_VDEQS16:
        return 16;
    case LEO_QUANT_QF32_B8:
    case LEO_QUANT_VQF32_B8:
    case LEO_QUANT_REQ8:
    case LEO_QUANT_VREQ8:
        return 8;
    case LEO_QUANT_REQ4:
    case LEO_QUANT_VREQ4:
    case LEO_QUANT_QF32_B4:
    case LEO_QUANT_VQF32_B4:
        return 4;
    }
    return 32;
}

/* Which accumulators the conversion reads. */
static bool reads_integers(enum leo_quant quant)
{
    return quant == LEO_QUANT_DEQF16 || quant == LEO_QUANT_VDEQF16 || quant == LEO_QUANT_REQ8 ||
           quant == LEO_QUANT_VREQ8 || quant == LEO_QUANT_REQ4 || quant == LEO_QUANT_VREQ4 ||
           quant == LEO_QUANT_DEQS16 || quant == LEO_QUANT_VDEQS16;
}

static bool unpack_out(struct sim_core *core, const struct sim_op *op,
                       const struct leo_cfg_fix1 *cfg, struct fix *fix)
{
    const bool narrow = op->insn == LEO_INSN_COPY_MATRIX_CC_TO_CBUF_B4;
    if (op->d & LEO_CFG_FIX1_RESERVED || cfg->quant >= LEO_QUANT_COUNT ||
        cfg->relu > FIX_RELU_INTEGER || cfg->unit_flag == 1 ||
        (cfg->split && (cfg->nz2nd || cfg->quant != LEO_QUANT_NONE)) ||
        (cfg->nz2nd && !fix->to_gm)) {
        return mte_bad_config(core, op->d);
    }
    fix->quant = cfg->quant;
    fix->bits = fix_result_bits(fix->quant);
    fix->relu = cfg->relu;
    const bool integers = reads_integers(fix->quant);
    const bool any = fix->quant == LEO_QUANT_NONE; // 32 bits of either kind
    if ((fix->bits == 4) != narrow || (cfg->relu == FIX_RELU_INTEGER && !integers && !any) ||
        (cfg->relu == FIX_RELU_LEAKY && integers)) {
        return mte_bad_config(core, op->d);
    }
    if (integers && cfg->relu == FIX_RELU) {
        fix->relu = FIX_RELU_INTEGER;
    }
    return true;
}

bool fix_unpack(struct sim_core *core, const struct sim_op *op, struct fix *fix)
{
    const struct leo_cfg_fix0 cfg0 = leo_cfg_fix0_unpack(op->c);
    const struct leo_cfg_fix1 cfg1 = leo_cfg_fix1_unpack(op->d);
    const struct leo_cfg_nd_para nd = leo_cfg_nd_para_unpack(core->csr.nd_para);
    fix->to_gm = op->insn == LEO_INSN_COPY_MATRIX_CC_TO_GM;
    if (!unpack_out(core, op, &cfg1, fix)) {
        return false;
    }
    fix->rows = cfg0.m;
    fix->columns = cfg0.n;
    fix->row_major = cfg1.nz2nd;
    fix->width = cfg1.split ? 8 : fix->bits < 16 ? 256 / fix->bits : 16;
    fix->src_column = (uint64_t)cfg1.src_stride * FIX_ROW_FLOATS;
    if (op->c & LEO_CFG_FIX0_RESERVED || fix->columns > MAX_COLUMNS ||
        (cfg1.nz2nd && fix->rows > MAX_ND_ROWS) ||
        (!cfg1.nz2nd && fix->columns % (cfg1.split       ? 8
                                        : fix->bits == 4 ? 64
                                                         : 16) !=
                            0)) {
        return mte_bad_config(core, op->c);
    }
    fix->matrices = 1;
    if (cfg1.nz2nd) {
        fix->width = 16;
        fix->dst_row = (uint64_t)cfg0.dst_stride * fix->bits / 8;
        fix->dst_column = 2 * fix->bits;
        fix->matrices = nd.nd_num ? nd.nd_num : 1;
        fix->src_matrix = nd.src_nd_stride * FIX_FRACTAL_BYTES / sizeof(float);
        fix->dst_matrix = (uint64_t)nd.dst_nd_stride * fix->bits / 8;
    } else {
        fix->dst_row = fix_bytes(fix, fix->width);
        fix->dst_column = (uint64_t)cfg0.dst_stride * MTE_BLOCK_BYTES;
    }
    fix->atomic.combine = NULL;
    if (!fix->to_gm) {
        return true;
    }
    if (!mte_atomic_open(core, fix->bits / 8, &fix->atomic)) {
        return false;
    }
    return !fix->atomic.combine || fix->bits / 8 == fix->atomic.bytes ||
           mte_bad_config(core, core->ctrl);
}

/* Row-major: a piece a row. Fractals: rows of a column of fractals lie side by side; a last column
 * that is not full leaves the rest of its rows. */
static void add_result(struct sim_footprint *foot, const struct sim_op *op, const struct fix *fix)
{
    const enum leo_mem_space space = fix->to_gm ? LEO_MEM_SPACE_GM : LEO_MEM_SPACE_L1;
    const unsigned touch = SIM_TOUCH_WRITE | (fix->atomic.combine ? SIM_TOUCH_ATOMIC : 0);
    const uint32_t whole = fix->columns / fix->width, rest = fix->columns % fix->width;
    const uint16_t align = fix->to_gm ? 1 : MTE_BLOCK_BYTES;
    if (fix->row_major) {
        struct sim_span *dst = sim_footprint_add(foot, SIM_OPERAND_A, space, touch, op->a,
                                                 fix_bytes(fix, fix->columns));
        dst->level[0] = (struct sim_level){fix->matrices, (int64_t)fix->dst_matrix};
        dst->level[1] = (struct sim_level){fix->rows, (int64_t)fix->dst_row};
        sim_span_close(dst);
        return;
    }
    enum sim_operand at = SIM_OPERAND_A;
    if (whole) {
        struct sim_span *dst =
            sim_footprint_add(foot, at, space, touch, op->a, fix->rows * fix->dst_row);
        dst->align = align;
        dst->level[0] = (struct sim_level){whole, (int64_t)fix->dst_column};
        sim_span_close(dst);
        at = SIM_OPERAND_EXTRA;
    }
    if (rest) {
        struct sim_span *dst = sim_footprint_add(
            foot, at, space, touch, op->a + whole * fix->dst_column, fix_bytes(fix, rest));
        dst->align = align;
        dst->level[0] = (struct sim_level){fix->rows, (int64_t)fix->dst_row};
        sim_span_close(dst);
    }
}

bool sim_foot_fix(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct fix fix = {0};
    if (!fix_unpack(core, op, &fix)) {
        return false;
    }
    foot->empty = fix.rows == 0 || fix.columns == 0;
    if (foot->empty) {
        return true;
    }
    // Rows are counted whole; columns behind the last have no effect.
    const unsigned padded = fix.columns % FIX_ROW_FLOATS ? SIM_TOUCH_PADDED : 0;
    struct sim_span *src =
        sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_L0C, SIM_TOUCH_READ | padded, op->b,
                          (uint64_t)fix.rows * FIX_ROW_FLOATS * sizeof(float));
    src->align = FIX_L0C_ALIGN;
    src->level[0] = (struct sim_level){fix.matrices, (int64_t)(fix.src_matrix * sizeof(float))};
    src->level[1] = (struct sim_level){(fix.columns + FIX_ROW_FLOATS - 1) / FIX_ROW_FLOATS,
                                       (int64_t)(fix.src_column * sizeof(float))};
    sim_span_close(src);
    if (fix_is_per_column(fix.quant)) { // in the place of the third operand
        const uint64_t at = (uint64_t)leo_cfg_fpc_unpack(core->csr.fpc).quant * FB_UNIT;
        sim_footprint_add(foot, SIM_OPERAND_C, LEO_MEM_SPACE_FB, SIM_TOUCH_READ, at,
                          fix.columns * sizeof(uint64_t))
            ->align = FB_UNIT;
    }
    add_result(foot, op, &fix);
    return true;
}

bool fix_cr_unpack(struct sim_core *core, const struct sim_op *op, struct fix_cr *cr)
{
    const struct leo_cfg_cr cfg = leo_cfg_cr_unpack(op->c);
    const bool out = op->row->operand[SIM_OPERAND_A] == LEO_INSN_OPERAND_UB;
    *cr = (struct fix_cr){
        .mode = cfg.mode,
        .l0c_bytes = 4,
        .ub_bytes = 4,
        .vector = op->insn == LEO_INSN_COPY_VECTOR_CC_TO_UBUF ||
                  op->insn == LEO_INSN_COPY_VECTOR_UBUF_TO_CC,
    };
    if (op->c & LEO_CFG_CR_RESERVED || cfg.mode >= LEO_CR_COUNT) {
        return mte_bad_config(core, op->c);
    }
    switch (cr->mode) {
    case LEO_CR_NONE:
        return true;
    case LEO_CR_RELU:
        break;
    case LEO_CR_F32_F16:
    case LEO_CR_F32_F16_RELU:
    case LEO_CR_S32_F16:
        cr->ub_bytes = 2;
        break;
    case LEO_CR_F16:
        cr->l0c_bytes = cr->ub_bytes = 2;
        return true;
    case LEO_CR_F16_RELU:
    case LEO_CR_F16_MUL:
        cr->l0c_bytes = cr->ub_bytes = 2;
        break;
    case LEO_CR_F16_F32: // widened on the way out, or on the way in
        *(out ? &cr->l0c_bytes : &cr->ub_bytes) = 2;
        return true;
    case LEO_CR_S32_S8:
    case LEO_CR_S32_U8:
        cr->ub_bytes = 1;
        break;
    }
    return out || mte_bad_config(core, op->c); // the way in converts nothing else
}

/* HW-CUBE-15: bursts of whole fractals, or of their first rows, converted on the way. */
bool sim_foot_cr(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    const bool out = op->row->operand[SIM_OPERAND_A] == LEO_INSN_OPERAND_UB;
    struct fix_cr cr;
    if (!fix_cr_unpack(core, op, &cr)) {
        return false;
    }
    if (op->d & LEO_CFG_BURST_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    foot->empty = cfg.n_burst == 0 || cfg.len_burst == 0;
    const uint64_t fractal = 256u * cr.l0c_bytes, row = 16u * cr.l0c_bytes;
    const uint64_t ub_each = (cr.vector ? 16u : 256u) * cr.ub_bytes;
    // Gaps on the side of L0C are fractals, on that of UB blocks.
    const uint64_t l0c_gap = (out ? cfg.src_gap : cfg.dst_gap) * fractal;
    const uint64_t ub_gap = (uint64_t)(out ? cfg.dst_gap : cfg.src_gap) * MTE_BLOCK_BYTES;
    struct sim_span *l0c =
        sim_footprint_add(foot, out ? SIM_OPERAND_B : SIM_OPERAND_A, LEO_MEM_SPACE_L0C,
                          out ? SIM_TOUCH_READ | SIM_TOUCH_PADDED : SIM_TOUCH_WRITE,
                          out ? op->b : op->a, cr.vector ? row : cfg.len_burst * fractal);
    l0c->align = FIX_L0C_ALIGN;
    l0c->level[0] = (struct sim_level){cfg.n_burst, (int64_t)(cfg.len_burst * fractal + l0c_gap)};
    if (cr.vector) {
        l0c->level[1] = (struct sim_level){cfg.len_burst, (int64_t)fractal};
    }
    sim_span_close(l0c);
    struct sim_span *ub = sim_footprint_add(
        foot, out ? SIM_OPERAND_A : SIM_OPERAND_B, LEO_MEM_SPACE_UB,
        out ? SIM_TOUCH_WRITE : SIM_TOUCH_READ, out ? op->a : op->b, cfg.len_burst * ub_each);
    ub->align = MTE_BLOCK_BYTES;
    ub->level[0] = (struct sim_level){cfg.n_burst, (int64_t)(cfg.len_burst * ub_each + ub_gap)};
    sim_span_close(ub);
    return true;
}

/* 16 values of 32 bits (sid 0), or 16 bits (sid 1), for each fractal. */
bool sim_foot_broadcast(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    if (op->d & LEO_CFG_BURST_RESERVED || cfg.sid > 1) {
        return mte_bad_config(core, op->d);
    }
    const uint64_t bytes = cfg.sid ? 2 : 4;
    foot->empty = cfg.n_burst == 0 || cfg.len_burst == 0;
    struct sim_span *src = sim_footprint_add(foot, SIM_OPERAND_B, LEO_MEM_SPACE_UB, SIM_TOUCH_READ,
                                             op->b, cfg.len_burst * 16 * bytes);
    src->align = MTE_BLOCK_BYTES;
    src->level[0] =
        (struct sim_level){cfg.n_burst, (int64_t)(cfg.len_burst * 16 * bytes +
                                                  (uint64_t)cfg.src_gap * MTE_BLOCK_BYTES)};
    sim_span_close(src);
    struct sim_span *dst = sim_footprint_add(foot, SIM_OPERAND_A, LEO_MEM_SPACE_L0C,
                                             SIM_TOUCH_WRITE, op->a, cfg.len_burst * 256 * bytes);
    dst->align = FIX_L0C_ALIGN;
    dst->level[0] = (struct sim_level){
        cfg.n_burst, (int64_t)((cfg.len_burst + (uint64_t)cfg.dst_gap) * 256 * bytes)};
    sim_span_close(dst);
    return true;
}
