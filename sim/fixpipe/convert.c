/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of accumulators by scale words. docs/hw/numbers.md. */
#include "fix.h"

#include "number/number.h"
#include "number/quantize.h"

/** An f32 accumulator after relu. */
static float real_of(const struct fix *fix, float alpha, uint32_t bits)
{
    const float value = sim_number_float(bits);
    if (fix->relu == FIX_RELU) {
        return sim_number_max(value, 0.0f);
    }
    return fix->relu == FIX_RELU_LEAKY ? sim_number_canonical(value < 0 ? value * alpha : value)
                                       : value;
}

static int32_t integer_of(const struct fix *fix, uint32_t bits)
{
    const int32_t value = (int32_t)bits;
    return fix->relu == FIX_RELU_INTEGER && value < 0 ? 0 : value;
}

static uint16_t deq_f16(int32_t value, uint64_t word)
{
    const struct sim_scale scale = sim_number_scale(word);
    return sim_number_f32_to_f16(sim_number_int_to_f32(value, LEO_ROUND_RINT) * scale.factor,
                                 LEO_ROUND_RINT);
}

static uint32_t convert(const struct fix *fix, float alpha, uint32_t bits, uint64_t word)
{
    const bool is_signed = sim_number_scale(word).is_signed;
    switch (fix->quant) {
    case LEO_QUANT_NONE:
        break;
    case LEO_QUANT_F32_F16:
        return sim_number_f32_to_f16(real_of(fix, alpha, bits), LEO_ROUND_RINT);
    case LEO_QUANT_F32_BF16:
        return sim_number_f32_to_bf16(real_of(fix, alpha, bits), LEO_ROUND_RINT);
    case LEO_QUANT_DEQF16:
    case LEO_QUANT_VDEQF16:
        return deq_f16(integer_of(fix, bits), word);
    case LEO_QUANT_DEQS16:
    case LEO_QUANT_VDEQS16:
        return (uint16_t)sim_number_requantize(integer_of(fix, bits), word, 16, true);
    case LEO_QUANT_REQ8:
    case LEO_QUANT_VREQ8:
        return (uint8_t)sim_number_requantize(integer_of(fix, bits), word, 8, is_signed);
    case LEO_QUANT_QF32_B8:
    case LEO_QUANT_VQF32_B8:
        return (uint8_t)sim_number_quantize(real_of(fix, alpha, bits), word, 8, is_signed);
    case LEO_QUANT_REQ4:
    case LEO_QUANT_VREQ4:
        return (uint32_t)sim_number_requantize(integer_of(fix, bits), word, 4, true) & 15u;
    case LEO_QUANT_QF32_B4:
    case LEO_QUANT_VQF32_B4:
        return (uint32_t)sim_number_quantize(real_of(fix, alpha, bits), word, 4, true) & 15u;
    }
    return fix->relu == FIX_RELU_INTEGER ? (uint32_t)integer_of(fix, bits)
           : fix->relu                   ? sim_number_bits(real_of(fix, alpha, bits))
                                         : bits;
}

void fix_convert_row(const struct fix *fix, float alpha, const uint32_t *src, uint32_t columns,
                     const uint8_t *scale, bool each, uint8_t *dst)
{
    for (uint32_t i = 0; i < columns; i++) {
        uint64_t word;
        memcpy(&word, scale + (each ? i * sizeof(word) : 0), sizeof(word));
        const uint32_t value = convert(fix, alpha, src[i], word);
        if (fix->bits == 4) {
            dst[i / 2] = (uint8_t)(i % 2 ? dst[i / 2] | value << 4 : value);
        } else {
            memcpy(dst + i * fix->bits / 8, &value, fix->bits / 8);
        }
    }
}
