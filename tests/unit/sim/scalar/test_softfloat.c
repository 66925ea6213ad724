/* SPDX-License-Identifier: Apache-2.0 */
/* Against the host's own arithmetic where it has the format; all modes and formats are compared
 * with QEMU in tests/insn. */
#include "harness.h"
#include "scalar/softfloat.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS = 100000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? sim_float_nan(SIM_FLOAT_D) : bits;
}

static uint32_t single_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? (uint32_t)sim_float_nan(SIM_FLOAT_S) : bits;
}

/** Numbers close to each other, so that they interact; now and then any bits at all. */
static double make_double(uint64_t *seed)
{
    uint64_t r = next_random(seed);
    uint64_t exp = r % 16 == 0   ? next_random(seed) % 2048
                   : r % 16 == 1 ? r >> 8 & 1
                                 : 1000 + next_random(seed) % 50;
    uint64_t bits = (r & (UINT64_MAX >> 12) & ~UINT64_C(15)) | (r & 1) << 63 | exp << 52;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float make_single(uint64_t *seed)
{
    uint64_t r = next_random(seed);
    uint32_t exp = (uint32_t)(r % 16 == 0   ? r >> 40 & 255
                              : r % 16 == 1 ? r >> 40 & 1
                                            : 110 + (r >> 40) % 40);
    uint32_t bits = (uint32_t)(r >> 8 & 0x7fffff) | exp << 23 | (uint32_t)(r & 32) << 26;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void doubles_agree_with_host(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct sim_float_env env = {SIM_RM_RNE, 0};
        double a = make_double(&seed), b = make_double(&seed),
               c = i % 3 ? make_double(&seed) : -a * b;
        uint64_t x = bits_of(a), y = bits_of(b), z = bits_of(c);
        CU_ASSERT_EQUAL_FATAL(sim_float_add(SIM_FLOAT_D, x, y, &env), bits_of(a + b));
        CU_ASSERT_EQUAL_FATAL(sim_float_mul(SIM_FLOAT_D, x, y, &env), bits_of(a * b));
        CU_ASSERT_EQUAL_FATAL(sim_float_div(SIM_FLOAT_D, x, y, &env), bits_of(a / b));
        CU_ASSERT_EQUAL_FATAL(sim_float_sqrt(SIM_FLOAT_D, x, &env), bits_of(sqrt(a)));
        CU_ASSERT_EQUAL_FATAL(sim_float_fma(SIM_FLOAT_D, x, y, z, &env), bits_of(fma(a, b, c)));
        CU_ASSERT_EQUAL_FATAL(sim_float_convert(SIM_FLOAT_S, SIM_FLOAT_D, x, &env),
                              single_bits_of((float)a));
        CU_ASSERT_EQUAL_FATAL(sim_float_lt(SIM_FLOAT_D, x, y, &env), a < b);
    }
}

static void singles_agree_with_host(void)
{
    uint64_t seed = 2;
    for (int i = 0; i < ROUNDS; i++) {
        struct sim_float_env env = {SIM_RM_RNE, 0};
        float a = make_single(&seed), b = make_single(&seed),
              c = i % 3 ? make_single(&seed) : -a * b;
        uint64_t x = single_bits_of(a), y = single_bits_of(b), z = single_bits_of(c);
        CU_ASSERT_EQUAL_FATAL(sim_float_add(SIM_FLOAT_S, x, y, &env), single_bits_of(a + b));
        CU_ASSERT_EQUAL_FATAL(sim_float_mul(SIM_FLOAT_S, x, y, &env), single_bits_of(a * b));
        CU_ASSERT_EQUAL_FATAL(sim_float_div(SIM_FLOAT_S, x, y, &env), single_bits_of(a / b));
        CU_ASSERT_EQUAL_FATAL(sim_float_sqrt(SIM_FLOAT_S, x, &env), single_bits_of(sqrtf(a)));
        CU_ASSERT_EQUAL_FATAL(sim_float_fma(SIM_FLOAT_S, x, y, z, &env),
                              single_bits_of(fmaf(a, b, c)));
        CU_ASSERT_EQUAL_FATAL(sim_float_convert(SIM_FLOAT_D, SIM_FLOAT_S, x, &env),
                              bits_of((double)a));
    }
}

static void every_half_survives_widening(void)
{
    for (uint64_t h = 0; h < 1 << 16; h++) {
        for (enum sim_float_format wide = SIM_FLOAT_S; wide <= SIM_FLOAT_D; wide++) {
            struct sim_float_env env = {SIM_RM_RTZ, 0};
            uint64_t back = sim_float_convert(SIM_FLOAT_H, wide,
                                              sim_float_convert(wide, SIM_FLOAT_H, h, &env), &env);
            bool nan = (h & 0x7fff) > 0x7c00;
            CU_ASSERT_EQUAL(back, nan ? 0x7e00 : h);
            CU_ASSERT_EQUAL(env.flags, nan && !(h & 0x200) ? SIM_FLAG_NV : 0);
        }
    }
}

static void rounding_modes_differ_as_they_should(void)
{
    // 1 + 2^-24 and 1 + 3 * 2^-24: ties in single, even below and above.
    const uint64_t tie[] = {0x3ff0000010000000, 0x3ff0000030000000};
    const uint32_t expected[2][SIM_RM_COUNT] = {
        {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800001, 0x3f800001},
        {0x3f800002, 0x3f800001, 0x3f800001, 0x3f800002, 0x3f800002},
    };
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned rm = 0; rm < SIM_RM_COUNT; rm++) {
            struct sim_float_env env = {(enum sim_float_rm)rm, 0};
            CU_ASSERT_EQUAL(sim_float_convert(SIM_FLOAT_S, SIM_FLOAT_D, tie[i], &env),
                            expected[i][rm]);
            CU_ASSERT_EQUAL(env.flags, SIM_FLAG_NX);
        }
    }
}

static void integers_saturate(void)
{
    struct sim_float_env env = {SIM_RM_RNE, 0};
    CU_ASSERT_EQUAL(sim_float_to_int(SIM_INT_W, SIM_FLOAT_S, 0x7fc00000, &env), INT32_MAX);
    CU_ASSERT_EQUAL(sim_float_to_int(SIM_INT_WU, SIM_FLOAT_S, 0x7f800000, &env), UINT64_MAX);
    CU_ASSERT_EQUAL(sim_float_to_int(SIM_INT_LU, SIM_FLOAT_S, 0xbf800000, &env), 0);
    CU_ASSERT_EQUAL(sim_float_to_int(SIM_INT_L, SIM_FLOAT_S, 0xff800000, &env),
                    (uint64_t)INT64_MIN);
    CU_ASSERT_EQUAL(env.flags, SIM_FLAG_NV);
}

static void host_environment_is_left_alone(void)
{
    struct sim_float_env env = {SIM_RM_RUP, 0};
    feclearexcept(FE_ALL_EXCEPT);
    sim_float_div(SIM_FLOAT_D, bits_of(1), 0, &env);
    sim_float_div(SIM_FLOAT_S, 0x3f800000, 0x40400000, &env);
    CU_ASSERT_EQUAL(env.flags, SIM_FLAG_DZ | SIM_FLAG_NX);
    CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT), 0);
    // Nor does it read it: the same bits under another host mode.
    uint64_t before = sim_float_sqrt(SIM_FLOAT_D, bits_of(2), &env);
    fesetround(FE_DOWNWARD);
    CU_ASSERT_EQUAL(sim_float_sqrt(SIM_FLOAT_D, 0x4000000000000000, &env), before);
    fesetround(FE_TONEAREST);
}

static const struct leo_test tests[] = {
    {"doubles_agree_with_host", doubles_agree_with_host},
    {"singles_agree_with_host", singles_agree_with_host},
    {"every_half_survives_widening", every_half_survives_widening},
    {"rounding_modes_differ_as_they_should", rounding_modes_differ_as_they_should},
    {"integers_saturate", integers_saturate},
    {"host_environment_is_left_alone", host_environment_is_left_alone},
};

int main(int argc, char **argv)
{
    return leo_test_main("scalar softfloat", tests, COUNT_OF(tests), argc, argv);
}
