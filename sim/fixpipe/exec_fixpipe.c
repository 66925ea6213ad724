/* SPDX-License-Identifier: Apache-2.0 */
/* From L0C out: the fixpipe of the split chip, and the coupled chip's copy to UB. docs/hw/cube.md.
 */
#include "fix.h"

/* Writes rows x columns (columns <= fix->width) of one piece. */
static void write_piece(struct sim_core *core, const struct fix *fix, uint8_t *dst,
                        const float *src, uint32_t rows, uint32_t columns)
{
    if (!fix->atomic.combine) {
        core->simd->cube->convert(dst, fix->dst_row, src, rows, columns, fix->out, fix->relu);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        _Alignas(64) uint8_t line[FIX_ROW_FLOATS * 4];
        core->simd->cube->convert(line, sizeof(line), src + row * FIX_ROW_FLOATS, 1, columns,
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
    struct mte_gm gm;
    mte_gm_open(&gm, core, &op->foot->span[SIM_OPERAND_A]);
    uint32_t step = gm.base ? 16 : 1;
    for (uint32_t row = 0; row < fix->rows; row += step) {
        uint32_t rows = fix->rows - row < step ? fix->rows - row : step;
        for (uint32_t piece = 0; piece < pieces; piece++) {
            uint32_t column = piece * fix->width;
            uint32_t columns =
                fix->columns - column < fix->width ? fix->columns - column : fix->width;
            const float *from =
                src + column / 16 * fix->src_column + (uint64_t)row * FIX_ROW_FLOATS + column % 16;
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

bool sim_fix_to_gm(struct sim_core *core, const struct sim_op *op)
{
    struct fix fix = {0};
    return fix_unpack(core, op, &fix) &&
           write_all(core, op, &fix, (const void *)op->foot->span[SIM_OPERAND_B].host);
}

/* HW-CUBE-15 */
bool sim_fix_to_ubuf(struct sim_core *core, const struct sim_op *op)
{
    const enum leo_cr mode = leo_cfg_cr_unpack(op->c).mode;
    const bool half = fix_cr_halves(mode);
    const bool relu = mode == LEO_CR_RELU || mode == LEO_CR_F32_F16_RELU;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    const uint32_t rows = from->bytes / (FIX_ROW_FLOATS * (uint32_t)sizeof(float));
    uint8_t *dst = to->host;
    const uint8_t *src = from->host;
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        core->simd->cube->convert(dst, half ? 32 : 64, (const void *)src, rows, FIX_ROW_FLOATS,
                                  half ? SIM_CUBE_OUT_F16 : SIM_CUBE_OUT_F32, relu);
        src += from->level[0].step;
        dst += to->level[0].step;
    }
    return true;
}
