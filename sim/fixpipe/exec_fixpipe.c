/* SPDX-License-Identifier: Apache-2.0 */
/* From L0C out through the fixpipe of the split chip. docs/hw/cube.md. */
#include "fix.h"

#include "core/saturate.h"
#include "number/number.h"

struct writer {
    struct sim_core *core;
    struct fix fix;
    const uint8_t *scale; /**< words of the columns, or one for all */
    bool each;
    float alpha;
    uint32_t infinity;     /**< of the results' type if they saturate; else 0 */
    bool fast;             /**< the host's conversions know it */
    enum sim_cube_out out; /**< then: which */
};

static bool is_fast(const struct fix *fix, enum sim_cube_out *out)
{
    *out = fix->quant == LEO_QUANT_NONE      ? SIM_CUBE_OUT_F32
           : fix->quant == LEO_QUANT_F32_F16 ? SIM_CUBE_OUT_F16
                                             : SIM_CUBE_OUT_BF16;
    return fix->quant <= LEO_QUANT_F32_BF16 && fix->relu <= FIX_RELU;
}

static void convert_plain(const struct writer *writer, const float *src, uint32_t column,
                          uint32_t columns, uint8_t *dst)
{
    if (writer->fast) {
        writer->core->simd->cube->convert(dst, 64, src, 1, columns, writer->out,
                                          writer->fix.relu == FIX_RELU);
        return;
    }
    fix_convert_row(&writer->fix, writer->alpha, (const uint32_t *)src, columns,
                    writer->scale + (writer->each ? column * sizeof(uint64_t) : 0), writer->each,
                    dst);
}

static void convert_row(const struct writer *writer, const float *src, uint32_t column,
                        uint32_t columns, uint8_t *dst)
{
    convert_plain(writer, src, column, columns, dst);
    if (writer->infinity) {
        sim_core_saturate(writer->core, writer->infinity, dst, columns, NULL);
    }
}

/* Writes rows x columns (columns <= 16, of one column of fractals). */
static void write_piece(const struct writer *writer, uint8_t *dst, const float *src,
                        uint32_t column, uint32_t rows, uint32_t columns)
{
    const struct fix *fix = &writer->fix;
    if (writer->fast && !fix->atomic.combine && !writer->infinity) {
        writer->core->simd->cube->convert(dst, fix->dst_row, src, rows, columns, writer->out,
                                          fix->relu == FIX_RELU);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        _Alignas(64) uint8_t line[FIX_ROW_FLOATS * 4];
        convert_row(writer, src + row * FIX_ROW_FLOATS, column, columns, line);
        if (fix->atomic.combine) {
            mte_atomic_write(&fix->atomic, dst + row * fix->dst_row, line, fix_bytes(fix, columns));
        } else {
            memcpy(dst + row * fix->dst_row, line, fix_bytes(fix, columns));
        }
    }
}

/** Where results go: buffer of the core, or global memory. */
struct target {
    uint8_t *host;
    struct mte_gm gm;
};

static uint8_t *target_at(const struct target *target, uint64_t offset, uint64_t bytes)
{
    return target->host ? target->host + offset : mte_gm_at(&target->gm, offset, bytes);
}

/* Sixteen rows at a time across all columns, so that each destination line is finished while it is
 * near. */
static bool write_matrix(const struct writer *writer, const struct target *target, uint64_t offset,
                         const float *src)
{
    const struct fix *fix = &writer->fix;
    const uint32_t at_once = fix->width < 16 ? fix->width : 16;
    const uint32_t step = target->host || target->gm.base ? 16 : 1;
    for (uint32_t row = 0; row < fix->rows; row += step) {
        const uint32_t rows = fix->rows - row < step ? fix->rows - row : step;
        for (uint32_t column = 0; column < fix->columns; column += at_once) {
            const uint32_t left = fix->columns - column, columns = left < at_once ? left : at_once;
            const float *from =
                src + column / 16 * fix->src_column + (uint64_t)row * FIX_ROW_FLOATS + column % 16;
            uint8_t *to = target_at(target,
                                    offset + column / fix->width * fix->dst_column +
                                        fix_bytes(fix, column % fix->width) + row * fix->dst_row,
                                    fix_bytes(fix, columns));
            if (!to) {
                return false;
            }
            write_piece(writer, to, from, column, rows, columns);
        }
    }
    return true;
}

/* A move of accumulators, with or without relu, cannot overflow (HW-NUM-15). */
static uint32_t infinity_of(const struct sim_core *core, enum leo_quant quant)
{
    if (!sim_core_saturates(core)) {
        return 0;
    }
    return quant == LEO_QUANT_F32_BF16 ? sim_infinity_of(LEO_DTYPE_BF16)
           : quant == LEO_QUANT_F32_F16 || quant == LEO_QUANT_DEQF16 || quant == LEO_QUANT_VDEQF16
               ? sim_infinity_of(LEO_DTYPE_F16)
               : 0;
}

bool sim_fix_out(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A];
    struct writer writer = {.core = core,
                            .alpha = sim_number_float((uint32_t)core->csr.lrelu_alpha)};
    if (!fix_unpack(core, op, &writer.fix)) {
        return false;
    }
    writer.fast = is_fast(&writer.fix, &writer.out);
    writer.infinity = infinity_of(core, writer.fix.quant);
    writer.each = fix_is_per_column(writer.fix.quant);
    writer.scale =
        writer.each ? op->foot->span[SIM_OPERAND_C].host : (const uint8_t *)&core->csr.quant_pre;
    struct target target = {.host = dst->host};
    if (writer.fix.to_gm) {
        mte_gm_open(&target.gm, core, dst);
    }
    const float *src = (const void *)op->foot->span[SIM_OPERAND_B].host;
    for (uint32_t i = 0; i < writer.fix.matrices; i++) {
        if (!write_matrix(&writer, &target, i * writer.fix.dst_matrix,
                          src + i * writer.fix.src_matrix)) {
            return false;
        }
    }
    return true;
}
