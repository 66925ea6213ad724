/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chip's number formats, from integers alone: no host rounding mode is read or set.
 *
 * Common rules. A NaN result is the canonical quiet NaN. LEO_ROUND_NONE means nearest even.
 * LEO_ROUND_ROUND is nearest, ties away from zero; LEO_ROUND_ODD truncates and sets the last bit if
 * anything was lost. Float targets overflow as in IEEE 754: to infinity when the mode rounds away
 * from zero there, else to the largest finite number. Integer targets saturate, and a NaN becomes
 * 0.
 */
#pragma once

#include <leo/isa_enums.h>
#include <stdint.h>
#include <string.h>

#define SIM_NUMBER_NAN_F16  UINT16_C(0x7e00)
#define SIM_NUMBER_NAN_BF16 UINT16_C(0x7fc0)
#define SIM_NUMBER_NAN_F32  UINT32_C(0x7fc00000)

/** Bits of a float and back. */
static inline uint32_t sim_number_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float sim_number_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/** Any NaN becomes the canonical one. */
static inline float sim_number_canonical(float value)
{
    return value == value ? value : sim_number_float(SIM_NUMBER_NAN_F32);
}

/** Exact widenings. */
float sim_number_f16_to_f32(uint16_t bits);
float sim_number_bf16_to_f32(uint16_t bits);

/** Narrowings to a float format. */
uint16_t sim_number_f32_to_f16(float value, enum leo_round round);
uint16_t sim_number_f32_to_bf16(float value, enum leo_round round);
float sim_number_int_to_f32(int64_t value, enum leo_round round);
uint16_t sim_number_int_to_f16(int64_t value, enum leo_round round);

/** Rounds to an integral value that stays a float; signs of zeros are kept. */
float sim_number_f32_to_integral(float value, enum leo_round round);
/** Rounds to an integer and saturates to [low, high]; NaN gives 0. */
int64_t sim_number_f32_to_int(float value, enum leo_round round, int64_t low, int64_t high);

/**
 * Functions specified as a fixed sequence of IEEE + - * / fma sqrt in f32, so that every host gives
 * the same bits. exp is within 1.1 ulp of the true value and ln within 0.83 (a test measures); sqrt
 * and 1/x are correctly rounded; rsqrt is 1 / sqrt(x), each rounded. The f16 versions are the f32
 * result rounded once.
 */
float sim_number_exp(float x);
float sim_number_ln(float x);
float sim_number_sqrt(float x);
float sim_number_rsqrt(float x);
float sim_number_rec(float x);
/** IEEE maximum and minimum with NaN propagated; max(+0, -0) = +0, min(+0, -0) = -0. */
float sim_number_max(float a, float b);
float sim_number_min(float a, float b);
