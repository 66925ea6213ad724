/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/insn.h>

/* unpack then pack must give back every bit that is not reserved; one function a configuration. */
#define ROUND_TRIP(name)                                                                           \
    static uint64_t round_trip_##name(uint64_t word)                                               \
    {                                                                                              \
        const struct leo_cfg_##name cfg = leo_cfg_##name##_unpack(word);                           \
        return leo_cfg_##name##_pack(&cfg);                                                        \
    }

ROUND_TRIP(vec3)
ROUND_TRIP(vec2)
ROUND_TRIP(vcvt)
ROUND_TRIP(vred)
ROUND_TRIP(burst)
ROUND_TRIP(align0)
ROUND_TRIP(align1)
ROUND_TRIP(nz0)
ROUND_TRIP(nz1)
ROUND_TRIP(load2d)
ROUND_TRIP(mad)
ROUND_TRIP(fix0)
ROUND_TRIP(fix1)
ROUND_TRIP(cr)
ROUND_TRIP(flag)
ROUND_TRIP(barrier)

static const struct {
    const char *name;
    uint64_t (*round_trip)(uint64_t word);
    uint64_t reserved;
} configs[] = {
    {"vec3", round_trip_vec3, LEO_CFG_VEC3_RESERVED},
    {"vec2", round_trip_vec2, LEO_CFG_VEC2_RESERVED},
    {"vcvt", round_trip_vcvt, LEO_CFG_VCVT_RESERVED},
    {"vred", round_trip_vred, LEO_CFG_VRED_RESERVED},
    {"burst", round_trip_burst, LEO_CFG_BURST_RESERVED},
    {"align0", round_trip_align0, LEO_CFG_ALIGN0_RESERVED},
    {"align1", round_trip_align1, LEO_CFG_ALIGN1_RESERVED},
    {"nz0", round_trip_nz0, LEO_CFG_NZ0_RESERVED},
    {"nz1", round_trip_nz1, LEO_CFG_NZ1_RESERVED},
    {"load2d", round_trip_load2d, LEO_CFG_LOAD2D_RESERVED},
    {"mad", round_trip_mad, LEO_CFG_MAD_RESERVED},
    {"fix0", round_trip_fix0, LEO_CFG_FIX0_RESERVED},
    {"fix1", round_trip_fix1, LEO_CFG_FIX1_RESERVED},
    {"cr", round_trip_cr, LEO_CFG_CR_RESERVED},
    {"flag", round_trip_flag, LEO_CFG_FLAG_RESERVED},
    {"barrier", round_trip_barrier, LEO_CFG_BARRIER_RESERVED},
};

static void pack_undoes_unpack(void)
{
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        uint64_t word = UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned bit = 0; bit < 64; bit++) {
            const uint64_t one = UINT64_C(1) << bit;
            CU_ASSERT_EQUAL(configs[i].round_trip(one), one & ~configs[i].reserved);
        }
        for (unsigned round = 0; round < 100; round++) {
            word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
            CU_ASSERT_EQUAL(configs[i].round_trip(word), word & ~configs[i].reserved);
        }
    }
}

static void reserved_bits_are_the_gaps(void)
{
    CU_ASSERT_EQUAL(LEO_CFG_VEC3_RESERVED, 0);
    CU_ASSERT_EQUAL(LEO_CFG_LOAD2D_RESERVED, UINT64_C(0xc000000000000000));
    CU_ASSERT_EQUAL(LEO_CFG_MAD_RESERVED, UINT64_C(0x00fffc0000000000));
    CU_ASSERT_EQUAL(LEO_CFG_CR_RESERVED, ~UINT64_C(15));
}

static void fields_are_where_the_table_says(void)
{
    const struct leo_cfg_vec3 vec3 = {.repeat = 1,
                                      .dst_blk = 2,
                                      .src0_blk = 3,
                                      .src1_blk = 4,
                                      .dst_rep = 5,
                                      .src0_rep = 6,
                                      .src1_rep = 7,
                                      .dtype = LEO_DTYPE_F32,
                                      .mod = 9};
    const struct leo_cfg_mad mad = {
        .m = 0xabc, .k = 0xdef, .n = 0x123, .c_init = 1, .type = LEO_MAD_F16F32};
    const struct leo_cfg_align0 align = {
        .n_burst = 5, .dtype = LEO_DTYPE_B16, .len_bytes = 0x12345678, .rpad = 3};
    const struct leo_cfg_flag flag = {.src = LEO_PIPE_MTE2, .dst = LEO_PIPE_V, .event = 3};

    CU_ASSERT_EQUAL(leo_cfg_vec3_pack(&vec3), UINT64_C(0x9107060504030201));
    CU_ASSERT_EQUAL(leo_cfg_mad_pack(&mad), UINT64_C(0x0000010123defabc));
    CU_ASSERT_EQUAL(leo_cfg_align0_pack(&align), UINT64_C(0x030012345678d005));
    CU_ASSERT_EQUAL(leo_cfg_flag_pack(&flag), 0x314);
}

static void pack_takes_the_bits_that_fit(void)
{
    const struct leo_cfg_load2d cfg = {.transpose = 3, .decrement = 0xfe, .dtype = 0xf3};

    CU_ASSERT_EQUAL(leo_cfg_load2d_pack(&cfg), UINT64_C(0x13) << 56);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"pack_undoes_unpack", pack_undoes_unpack},
        {"reserved_bits_are_the_gaps", reserved_bits_are_the_gaps},
        {"fields_are_where_the_table_says", fields_are_where_the_table_says},
        {"pack_takes_the_bits_that_fit", pack_takes_the_bits_that_fit},
    };

    return leo_test_main("isa_config", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
