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

static int32_t narrow(float value, int offset, unsigned bits, bool is_signed)
{
    // Wide enough for what an offset of 9 bits can bring back into range.
    const int64_t whole = sim_number_f32_to_int(value, LEO_ROUND_RINT, -65536, 65535) + offset;
    const int64_t high = (INT64_C(1) << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    return (int32_t)(whole < low ? low : whole > high ? high : whole);
}

int32_t sim_number_requantize(int32_t value, uint64_t word, unsigned bits, bool is_signed)
{
    const struct sim_scale scale = sim_number_scale(word);
    int64_t shifted = value;
    if (scale.distance) { // to 16 bits, half away upwards
        shifted = (shifted + (INT64_C(1) << (scale.distance - 1))) >> scale.distance;
        shifted = shifted < -32768 ? -32768 : shifted > 32767 ? 32767 : shifted;
    }
    return narrow(sim_number_int_to_f32(shifted, LEO_ROUND_RINT) * scale.factor, scale.offset, bits,
                  is_signed);
}

int32_t sim_number_quantize(float value, uint64_t word, unsigned bits, bool is_signed)
{
    const struct sim_scale scale = sim_number_scale(word);
    return narrow(value * scale.factor, scale.offset, bits, is_signed);
}
