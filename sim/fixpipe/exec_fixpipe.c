/* SPDX-License-Identifier: Apache-2.0 */
/* From L0C out: the fixpipe of the split chip, and the coupled chip's copy to UB. docs/hw/cube.md.
 */
#include "core/core.h"

#include "mte/mte.h"
#include "simd/simd.h"
#include "simd/simd_cube.h"

#define L0C_ALIGN      64u
#define L0C_ROW_FLOATS 16u
#define MAX_COLUMNS    4095u
#define MAX_ND_ROWS    8192u

struct fix {
    uint32_t rows, columns;
    uint64_t src_column;          /* floats between columns of fractals */
    uint64_t dst_column, dst_row; /* bytes between pieces of `width` columns, and between rows */
    uint32_t width;   /* columns a destination piece holds: 16, or 8 with channel split */
    uint32_t element; /* bytes */
    enum sim_cube_out out;
    bool relu;
    struct mte_atomic atomic;
};

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

static bool unpack(struct sim_core *core, const struct sim_op *op, struct fix *fix)
{
    const struct leo_cfg_fix0 cfg0 = leo_cfg_fix0_unpack(op->c);
    const struct leo_cfg_fix1 cfg1 = leo_cfg_fix1_unpack(op->d);
    if (!unpack_out(core, op->d, &cfg1, fix)) {
        return false;
    }
    fix->rows = cfg0.m;
    fix->columns = cfg0.n;
    fix->width = cfg1.split ? 8 : 16;
    fix->src_column = (uint64_t)cfg1.src_stride * L0C_ROW_FLOATS;
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

/* Writes rows x columns (columns <= fix->width) of one piece. */
static void write_piece(struct sim_core *core, const struct fix *fix, uint8_t *dst,
                        const float *src, uint32_t rows, uint32_t columns)
{
    if (!fix->atomic.combine) {
        core->simd->cube->convert(dst, fix->dst_row, src, rows, columns, fix->out, fix->relu);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        _Alignas(64) uint8_t line[L0C_ROW_FLOATS * 4];
        core->simd->cube->convert(line, sizeof(line), src + row * L0C_ROW_FLOATS, 1, columns,
                                  fix->out, fix->relu);
        mte_atomic_write(&fix->atomic, dst + row * fix->dst_row, line,
                         (uint64_t)columns * fix->element);
    }
}

/* Sixteen rows at a time across all columns, so that each destination line is finished while it is
 * near. */
static bool write_all(struct sim_core *core, const struct sim_op *op, const struct fix *fix,
                      const float *src)
{
    uint32_t pieces = (fix->columns + fix->width - 1) / fix->width;
    uint64_t last_columns = fix->columns - (pieces - 1) * fix->width;
    uint64_t bytes = (pieces - 1) * fix->dst_column + (fix->rows - 1) * fix->dst_row +
                     last_columns * fix->element;
    struct mte_gm gm;
    mte_gm_open(&gm, core, op->a, bytes, true);
    uint32_t step = gm.base ? 16 : 1;
    for (uint32_t row = 0; row < fix->rows; row += step) {
        uint32_t rows = fix->rows - row < step ? fix->rows - row : step;
        for (uint32_t piece = 0; piece < pieces; piece++) {
            uint32_t column = piece * fix->width;
            uint32_t columns =
                fix->columns - column < fix->width ? fix->columns - column : fix->width;
            const float *from =
                src + column / 16 * fix->src_column + (uint64_t)row * L0C_ROW_FLOATS + column % 16;
            uint8_t *to = mte_gm_at(&gm, piece * fix->dst_column + row * fix->dst_row,
                                    (uint64_t)columns * fix->element);
            if (!to) {
                return false;
            }
            write_piece(core, fix, to, from, rows, columns);
        }
    }
    return true;
}

static bool exec_to_gm(struct sim_core *core, const struct sim_op *op)
{
    struct fix fix = {0};
    if (!unpack(core, op, &fix)) {
        return false;
    }
    if (fix.rows == 0 || fix.columns == 0) {
        return true;
    }
    uint64_t floats = (fix.columns - 1) / 16 * fix.src_column + (uint64_t)fix.rows * L0C_ROW_FLOATS;
    const uint8_t *src = sim_core_local(core, LEO_MEM_SPACE_L0C, op->b, floats * 4, L0C_ALIGN);
    return src && write_all(core, op, &fix, (const void *)src);
}

/* HW-CUBE-15: bursts of whole fractals, each converted on its way to UB. */
static bool exec_to_ubuf(struct sim_core *core, const struct sim_op *op)
{
    const struct leo_cfg_cr cr = leo_cfg_cr_unpack(op->c);
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    if (op->c & LEO_CFG_CR_RESERVED || cr.mode >= LEO_CR_COUNT) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_BURST_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    if (cfg.n_burst == 0 || cfg.len_burst == 0) {
        return true;
    }
    bool half = cr.mode == LEO_CR_F32_F16 || cr.mode == LEO_CR_F32_F16_RELU;
    bool relu = cr.mode == LEO_CR_RELU || cr.mode == LEO_CR_F32_F16_RELU;
    uint64_t src_length = cfg.len_burst * UINT64_C(1024),
             dst_length = half ? src_length / 2 : src_length;
    uint64_t src_gap = cfg.src_gap * UINT64_C(1024),
             dst_gap = (uint64_t)cfg.dst_gap * MTE_BLOCK_BYTES;
    const uint8_t *src = sim_core_local(core, LEO_MEM_SPACE_L0C, op->b,
                                        mte_span(cfg.n_burst, src_length, src_gap), L0C_ALIGN);
    if (!src) {
        return false;
    }
    uint8_t *dst = sim_core_local(core, LEO_MEM_SPACE_UB, op->a,
                                  mte_span(cfg.n_burst, dst_length, dst_gap), MTE_BLOCK_BYTES);
    if (!dst) {
        return false;
    }
    for (uint32_t i = 0; i < cfg.n_burst; i++) {
        core->simd->cube->convert(dst, half ? 32 : 64, (const void *)src, cfg.len_burst * 16u, 16,
                                  half ? SIM_CUBE_OUT_F16 : SIM_CUBE_OUT_F32, relu);
        src += src_length + src_gap;
        dst += dst_length + dst_gap;
    }
    return true;
}

bool sim_exec_fixpipe(struct sim_core *core, const struct sim_op *op)
{
    switch ((int)op->insn) {
    case LEO_INSN_COPY_MATRIX_CC_TO_GM:
        return exec_to_gm(core, op);
    case LEO_INSN_COPY_MATRIX_CC_TO_UBUF:
        return exec_to_ubuf(core, op);
    default:
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_GM, op->word, 0);
    }
}
