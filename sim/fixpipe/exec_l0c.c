/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the coupled chip between L0C and UB. HW-CUBE-15, HW-CUBE-30 .. HW-CUBE-33. */
#include "fix.h"

#include "core/saturate.h"
#include "number/number.h"
#include "number/quantize.h"

static uint32_t load(const uint8_t *from, uint32_t bytes)
{
    uint32_t bits = 0;
    memcpy(&bits, from, bytes);
    return bits;
}

/** One element on its way out; the frequent modes go by rows. */
static uint32_t convert_out(const struct sim_core *core, enum leo_cr mode, uint32_t bits)
{
    const uint64_t word = core->csr.deqscale;
    switch (mode) {
    case LEO_CR_S32_F16:
        return sim_number_deq_f16((int32_t)bits, (uint16_t)word);
    case LEO_CR_S32_S8:
        return (uint8_t)sim_number_requantize((int32_t)bits, word, 8, true);
    case LEO_CR_S32_U8:
        return (uint8_t)sim_number_requantize((int32_t)bits, word, 8, false);
    case LEO_CR_F16_F32:
        return sim_number_bits(sim_number_f16_to_f32((uint16_t)bits));
    case LEO_CR_F16_RELU:
        return sim_number_f32_to_f16(sim_number_max(sim_number_f16_to_f32((uint16_t)bits), 0.0f),
                                     LEO_ROUND_RINT);
    case LEO_CR_F16_MUL:
        return sim_number_f32_to_f16(sim_number_f16_to_f32((uint16_t)bits) *
                                         sim_number_f16_to_f32((uint16_t)word),
                                     LEO_ROUND_RINT);
    case LEO_CR_NONE:
    case LEO_CR_F16:
    case LEO_CR_F32_F16:
    case LEO_CR_F32_F16_RELU:
    case LEO_CR_RELU:
        break;
    }
    return bits;
}

/** Rows of 16 accumulators to UB, one after the other. */
static void convert_rows(struct sim_core *core, const struct fix_cr *cr, uint8_t *dst,
                         const uint8_t *src, uint32_t rows)
{
    const bool half = cr->mode == LEO_CR_F32_F16 || cr->mode == LEO_CR_F32_F16_RELU;
    const bool relu = cr->mode == LEO_CR_RELU || cr->mode == LEO_CR_F32_F16_RELU;
    if (half || relu || cr->mode == LEO_CR_NONE) {
        core->simd->cube->convert(dst, half ? 32 : 64, (const void *)src, rows, FIX_ROW_FLOATS,
                                  half ? SIM_CUBE_OUT_F16 : SIM_CUBE_OUT_F32, relu);
        return;
    }
    for (uint32_t i = 0; i < rows * FIX_ROW_FLOATS; i++) {
        const uint32_t value =
            convert_out(core, cr->mode, load(src + i * cr->l0c_bytes, cr->l0c_bytes));
        memcpy(dst + i * cr->ub_bytes, &value, cr->ub_bytes);
    }
}

/* Modes that can overflow; the others move, widen, take a maximum or make integers. */
static bool can_overflow(enum leo_cr mode)
{
    return mode == LEO_CR_F32_F16 || mode == LEO_CR_F32_F16_RELU || mode == LEO_CR_F16_MUL ||
           mode == LEO_CR_S32_F16;
}

static void write_rows(struct sim_core *core, const struct fix_cr *cr, uint8_t *dst,
                       const uint8_t *src, uint32_t rows)
{
    convert_rows(core, cr, dst, src, rows);
    if (can_overflow(cr->mode) && sim_core_saturates(core)) {
        sim_core_saturate(core, sim_infinity_of(LEO_DTYPE_F16), dst, rows * (size_t)FIX_ROW_FLOATS,
                          NULL);
    }
}

bool sim_fix_to_ubuf(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    struct fix_cr cr;
    if (!fix_cr_unpack(core, op, &cr)) {
        return false;
    }
    const uint32_t rows = from->bytes / (FIX_ROW_FLOATS * cr.l0c_bytes);
    const uint32_t row_bytes = FIX_ROW_FLOATS * cr.ub_bytes;
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        const uint8_t *src = from->host + i * from->level[0].step;
        uint8_t *dst = to->host + i * to->level[0].step;
        for (uint32_t piece = 0; piece < from->level[1].count; piece++) {
            write_rows(core, &cr, dst + piece * row_bytes, src + piece * from->level[1].step, rows);
        }
    }
    return true;
}

bool sim_fix_from_ubuf(struct sim_core *core, const struct sim_op *op)
{
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    struct fix_cr cr;
    if (!fix_cr_unpack(core, op, &cr)) {
        return false;
    }
    const uint32_t elements = to->bytes / cr.l0c_bytes;
    for (uint32_t i = 0; i < to->level[0].count; i++) {
        for (uint32_t piece = 0; piece < to->level[1].count; piece++) {
            const uint8_t *src =
                from->host + i * from->level[0].step + (uint64_t)piece * elements * cr.ub_bytes;
            uint8_t *dst = to->host + i * to->level[0].step + piece * to->level[1].step;
            for (uint32_t e = 0; e < elements; e++) {
                uint32_t value = load(src + e * cr.ub_bytes, cr.ub_bytes);
                value = cr.mode == LEO_CR_F16_F32
                            ? sim_number_bits(sim_number_f16_to_f32((uint16_t)value))
                            : value;
                memcpy(dst + e * cr.l0c_bytes, &value, cr.l0c_bytes);
            }
        }
    }
    return true;
}

bool sim_fix_broadcast(struct sim_core *core, const struct sim_op *op)
{
    (void)core;
    const struct sim_span *to = &op->foot->span[SIM_OPERAND_A],
                          *from = &op->foot->span[SIM_OPERAND_B];
    const uint32_t row = leo_cfg_burst_unpack(op->d).sid ? 32 : 64; // bytes
    for (uint32_t i = 0; i < to->level[0].count; i++) {
        for (uint32_t at = 0; at < to->bytes; at += row) {
            memcpy(to->host + i * to->level[0].step + at,
                   from->host + i * from->level[0].step + at / (16 * row) * row, row);
        }
    }
    return true;
}
