/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include "number.h"

struct sim_scale sim_number_scale(uint64_t word)
{
    const unsigned offset = (unsigned)(word >> 37) & 0x1ff;
    return (struct sim_scale){
        .factor = sim_number_float((uint32_t)word & 0xffffe000u),
        .distance = word >> 36 & 1 ? (unsigned)(word >> 32 & 15) + 1 : 0,
        .offset = offset < 256 ? (int)offset : (int)offset - 512,
        .is_signed = word >> 46 & 1,
    };
}

uint16_t sim_number_deq_f16(int32_t value, uint16_t scale)
{
    const float wide = sim_number_int_to_f32(value, LEO_ROUND_RINT);
    return sim_number_f32_to_f16(wide * sim_number_f16_to_f32(scale), LEO_ROUND_RINT);
}

static uint8_t to_byte(float value, int offset, bool is_signed)
{
    // 16 bits hold what an offset of 9 bits can bring back into range.
    const int64_t whole = sim_number_f32_to_int(value, LEO_ROUND_RINT, -32768, 32767) + offset;
    const int64_t low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;
    return (uint8_t)(whole < low ? low : whole > high ? high : whole);
}

uint8_t sim_number_requantize(int32_t value, uint64_t word, bool is_signed)
{
    const struct sim_scale scale = sim_number_scale(word);
    int64_t shifted = value;
    if (scale.distance) { // to 16 bits, half away upwards
        shifted = (shifted + (INT64_C(1) << (scale.distance - 1))) >> scale.distance;
        shifted = shifted < -32768 ? -32768 : shifted > 32767 ? 32767 : shifted;
    }
    return to_byte(sim_number_int_to_f32(shifted, LEO_ROUND_RINT) * scale.factor, scale.offset,
                   is_signed);
}

uint8_t sim_number_quantize(float value, uint64_t word, bool is_signed)
{
    const struct sim_scale scale = sim_number_scale(word);
    return to_byte(value * scale.factor, scale.offset, is_signed);
}
