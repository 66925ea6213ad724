/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <stdbool.h>

/** A float format: `precision` significant bits, exponent of the least normal number, fields. */
struct format {
    int precision, least_exponent, exponent_bits;
};

static const struct format f16 = {.precision = 11, .least_exponent = -14, .exponent_bits = 5};
static const struct format bf16 = {.precision = 8, .least_exponent = -126, .exponent_bits = 8};
static const struct format f32 = {.precision = 24, .least_exponent = -126, .exponent_bits = 8};

/** Whether a magnitude with last kept bit `odd`, first lost bit `half` and lost rest `sticky` steps
 * up. */
static bool steps_up(bool negative, bool odd, bool half, bool sticky, enum leo_round round)
{
    switch (round) {
    case LEO_ROUND_NONE:
    case LEO_ROUND_RINT:
        return half && (sticky || odd);
    case LEO_ROUND_ROUND:
        return half;
    case LEO_ROUND_FLOOR:
        return negative && (half || sticky);
    case LEO_ROUND_CEIL:
        return !negative && (half || sticky);
    case LEO_ROUND_ODD:
        return !odd && (half || sticky);
    case LEO_ROUND_TRUNC:
        break;
    }
    return false;
}

/** magnitude / 2^shift as an integer. A magnitude of 2^63 or less never overflows. */
static uint64_t shift_rounded(uint64_t magnitude, int shift, bool negative, enum leo_round round)
{
    if (shift <= 0) {
        return magnitude << -shift;
    }
    uint64_t kept = 0;
    bool half = false;
    bool sticky = magnitude != 0;
    if (shift <= 64) {
        kept = shift < 64 ? magnitude >> shift : 0;
        half = (magnitude >> (shift - 1)) & 1;
        sticky = (magnitude & ((UINT64_C(1) << (shift - 1)) - 1)) != 0;
    }
    return kept + steps_up(negative, kept & 1, half, sticky, round);
}

/** Encodes magnitude x 2^exponent. */
static uint32_t encode(const struct format *to, bool negative, uint64_t magnitude, int exponent,
                       enum leo_round round)
{
    const int stored_bits = to->precision - 1;
    const uint32_t sign = (uint32_t)negative << (stored_bits + to->exponent_bits);
    const uint32_t infinity = ((UINT32_C(1) << to->exponent_bits) - 1) << stored_bits;
    if (magnitude == 0) {
        return sign;
    }
    int top = exponent + 63 - __builtin_clzll(magnitude);
    if (top < to->least_exponent) {
        top = to->least_exponent;
    }
    if (top > -to->least_exponent + 1) {
        top = -to->least_exponent + 2; // overflows whatever the rest is
        magnitude = UINT64_C(1) << stored_bits;
        exponent = top - stored_bits;
    }
    const uint64_t rounded =
        shift_rounded(magnitude, top - stored_bits - exponent, negative, round);
    const uint64_t bits = ((uint64_t)(top - to->least_exponent) << stored_bits) + rounded;
    if (bits < infinity) {
        return sign | (uint32_t)bits;
    }
    const bool to_infinity = round == LEO_ROUND_NONE || round == LEO_ROUND_RINT ||
                             round == LEO_ROUND_ROUND ||
                             round == (negative ? LEO_ROUND_FLOOR : LEO_ROUND_CEIL);
    return sign | (to_infinity ? infinity : infinity - 1);
}

static uint32_t widen(uint32_t bits, const struct format *from)
{
    const int stored_bits = from->precision - 1;
    const uint32_t sign = bits >> (stored_bits + from->exponent_bits) << 31;
    const uint32_t field = (bits >> stored_bits) & ((UINT32_C(1) << from->exponent_bits) - 1);
    uint32_t fraction = bits & ((UINT32_C(1) << stored_bits) - 1);
    if (field == (UINT32_C(1) << from->exponent_bits) - 1) {
        return fraction != 0 ? SIM_NUMBER_NAN_F32 : sign | UINT32_C(0x7f800000);
    }
    const uint32_t leading = field != 0 ? UINT32_C(1) << stored_bits : 0;
    const int exponent = (field != 0 ? (int)field - 1 : 0) + from->least_exponent - stored_bits;
    return encode(&f32, sign != 0, leading | fraction, exponent, LEO_ROUND_RINT);
}

float sim_number_f16_to_f32(uint16_t bits)
{
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude - 0x400u < 0x7c00u - 0x400u) { // normal numbers: the common case
        return sim_number_float(((uint32_t)bits & 0x8000u) << 16 |
                                ((magnitude << 13) + ((127u - 15u) << 23)));
    }
    return sim_number_float(widen(bits, &f16));
}

float sim_number_bf16_to_f32(uint16_t bits)
{
    return sim_number_canonical(sim_number_float((uint32_t)bits << 16));
}

/** A finite float as sign, magnitude, exponent. */
static bool unpack(float value, uint64_t *magnitude, int *exponent)
{
    const uint32_t bits = sim_number_bits(value);
    const uint32_t field = (bits >> 23) & 0xff;
    *magnitude = (bits & 0x7fffff) | (field != 0 ? UINT32_C(1) << 23 : 0);
    *exponent = (int)(field != 0 ? field : 1) - 150;
    return bits >> 31;
}

static bool is_infinite(float value)
{
    return (sim_number_bits(value) & 0x7fffffff) == 0x7f800000;
}

uint16_t sim_number_f32_to_f16(float value, enum leo_round round)
{
    const uint32_t bits = sim_number_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t size = bits & 0x7fffffff;
    if (round == LEO_ROUND_RINT && size - 0x38800000 < 0x47800000 - 0x38800000) {
        // 2^-14 to 2^16, the common case: a carry out of the fraction counts the exponent up, to
        // infinity at the end
        return (uint16_t)(sign | (((size + 0xfff + (size >> 13 & 1)) >> 13) - ((127 - 15) << 10)));
    }
    if (value != value) {
        return SIM_NUMBER_NAN_F16;
    }
    if (is_infinite(value)) {
        return value < 0 ? 0xfc00 : 0x7c00;
    }
    uint64_t magnitude;
    int exponent;
    const bool negative = unpack(value, &magnitude, &exponent);
    return (uint16_t)encode(&f16, negative, magnitude, exponent, round);
}

uint16_t sim_number_f32_to_bf16(float value, enum leo_round round)
{
    if (value != value) {
        return SIM_NUMBER_NAN_BF16;
    }
    if (is_infinite(value)) {
        return value < 0 ? 0xff80 : 0x7f80;
    }
    uint64_t magnitude;
    int exponent;
    const bool negative = unpack(value, &magnitude, &exponent);
    return (uint16_t)encode(&bf16, negative, magnitude, exponent, round);
}

static uint64_t magnitude_of(int64_t value)
{
    return value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
}

float sim_number_int_to_f32(int64_t value, enum leo_round round)
{
    return sim_number_float(encode(&f32, value < 0, magnitude_of(value), 0, round));
}

uint16_t sim_number_int_to_f16(int64_t value, enum leo_round round)
{
    return (uint16_t)encode(&f16, value < 0, magnitude_of(value), 0, round);
}

float sim_number_f32_to_integral(float value, enum leo_round round)
{
    uint64_t magnitude;
    int exponent;
    const bool negative = unpack(value, &magnitude, &exponent);
    if (value != value || exponent >= 0) { // NaN, infinity, or integral already
        return sim_number_canonical(value);
    }
    return sim_number_float(encode(
        &f32, negative, shift_rounded(magnitude, -exponent, negative, round), 0, LEO_ROUND_RINT));
}

int64_t sim_number_f32_to_int(float value, enum leo_round round, int64_t low, int64_t high)
{
    if (value != value) {
        return 0;
    }
    uint64_t magnitude;
    int exponent;
    const bool negative = unpack(value, &magnitude, &exponent);
    if (exponent > 63 - 24) { // |value| >= 2^63, infinities too
        return negative ? low : high;
    }
    const int64_t integer = (int64_t)shift_rounded(magnitude, -exponent, negative, round);
    const int64_t rounded = negative ? -integer : integer;
    return rounded < low ? low : rounded > high ? high : rounded;
}
