/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as fixed sequences of IEEE operations. The SIMD paths repeat the same sequences lane by
 * lane. */
#include "transcend.h"
#include "number.h"

#include <math.h>

/** 2^power for -126 <= power <= 127. */
static float power_of_two(int power)
{
    return sim_number_float((uint32_t)(power + 127) << 23);
}

float sim_number_exp(float x)
{
    if (x != x) {
        return sim_number_float(SIM_NUMBER_NAN_F32);
    }
    // Clamping keeps n small enough for two scalings; the products overflow and underflow by
    // themselves.
    x = x > SIM_EXP_MAX ? SIM_EXP_MAX : x;
    x = x < SIM_EXP_MIN ? SIM_EXP_MIN : x;
    const float n = x * SIM_LOG2E + SIM_ROUND_MAGIC - SIM_ROUND_MAGIC;
    float r = fmaf(n, -SIM_LN2_HIGH, x);
    r = fmaf(n, -SIM_LN2_LOW, r);
    float p = SIM_EXP_C7;
    p = fmaf(p, r, SIM_EXP_C6);
    p = fmaf(p, r, SIM_EXP_C5);
    p = fmaf(p, r, SIM_EXP_C4);
    p = fmaf(p, r, SIM_EXP_C3);
    p = fmaf(p, r, SIM_EXP_C2);
    p = fmaf(p, r * r, r) + 1.0f;
    const int power = (int)n;
    const int half = power >> 1;
    return p * power_of_two(half) * power_of_two(power - half);
}

float sim_number_ln(float x)
{
    if (!(x >= 0)) {
        return sim_number_float(SIM_NUMBER_NAN_F32);
    }
    if (x == 0) {
        return -INFINITY;
    }
    if (x == INFINITY) {
        return x;
    }
    const int small = x < SIM_LEAST_NORMAL;
    const uint32_t bits = sim_number_bits(small ? x * SIM_TWO_23 : x);
    // x = m 2^e with m in [sqrt(1/2), sqrt(2))
    const uint32_t offset = bits - SIM_SQRT_HALF_BITS;
    const float e = (float)((int32_t)offset >> 23) - (small ? 23.0f : 0.0f);
    const float f = sim_number_float((offset & 0x7fffff) + SIM_SQRT_HALF_BITS) - 1.0f;
    float p = SIM_LN_C8;
    p = fmaf(p, f, SIM_LN_C7);
    p = fmaf(p, f, SIM_LN_C6);
    p = fmaf(p, f, SIM_LN_C5);
    p = fmaf(p, f, SIM_LN_C4);
    p = fmaf(p, f, SIM_LN_C3);
    p = fmaf(p, f, SIM_LN_C2);
    p = fmaf(p, f, SIM_LN_C1);
    p = fmaf(p, f, SIM_LN_C0);
    const float z = f * f;
    float y = p * f * z;
    y = fmaf(e, SIM_LN2_LOW, y);
    y = fmaf(z, -0.5f, y);
    return fmaf(e, SIM_LN2_HIGH, f + y);
}

float sim_number_sqrt(float x)
{
    return sim_number_canonical(sqrtf(x));
}

float sim_number_rsqrt(float x)
{
    return sim_number_canonical(1.0f / sqrtf(x));
}

float sim_number_rec(float x)
{
    return sim_number_canonical(1.0f / x);
}

float sim_number_max(float a, float b)
{
    if (a != a || b != b) {
        return sim_number_float(SIM_NUMBER_NAN_F32);
    }
    // equal numbers differ at most in the sign of a zero
    return a == b ? sim_number_float(sim_number_bits(a) & sim_number_bits(b)) : a > b ? a : b;
}

float sim_number_min(float a, float b)
{
    if (a != a || b != b) {
        return sim_number_float(SIM_NUMBER_NAN_F32);
    }
    return a == b ? sim_number_float(sim_number_bits(a) | sim_number_bits(b)) : a < b ? a : b;
}
