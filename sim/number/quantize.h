/* SPDX-License-Identifier: Apache-2.0 */
/* Scales of integers: of vconv_deq and of the fixpipe. docs/hw/numbers.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * A scale word: bits 31:13 the upper bits of an f32 factor (sign, exponent, 10 bits of fraction),
 * 35:32 distance - 1 of a shift, 36 whether integers are shifted first, 45:37 a signed offset, 46
 * whether the result is signed.
 */
struct sim_scale {
    float factor;
    unsigned distance; /**< 0: no shift */
    int offset;
    bool is_signed;
};

struct sim_scale sim_number_scale(uint64_t word);
/** f16 of value x scale: the integer to f32, times the widened scale, to f16, each rounded to
 * nearest even. */
uint16_t sim_number_deq_f16(int32_t value, uint16_t scale);
/** 4, 8 or 16 bits of an integer: shifted if the word says so, times the factor, rounded to nearest
 * even, plus the offset, saturated. */
int32_t sim_number_requantize(int32_t value, uint64_t word, unsigned bits, bool is_signed);
/** The same of an f32, without the shift. */
int32_t sim_number_quantize(float value, uint64_t word, unsigned bits, bool is_signed);
