/* SPDX-License-Identifier: Apache-2.0 */
/* HW-VEC-14: every path of the host gives the bits of the generic one. */
#include "fake_core.h"
#include "harness.h"
#include "simd/simd.h"
#include "simd/simd_vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES 0x10000u
/** Not a multiple of any vector: ends are covered too. */
#define RANDOM_LANES 20011u

static const char *const fast_paths[] = {"avx2", "avx512"};

struct arrays {
    uint32_t *a, *b, *want, *got;
    const struct sim_simd_vector *truth, *path;
};

static bool begin(struct arrays *arrays, const char *name)
{
    const struct sim_simd *generic, *fast;
    if (sim_simd_select(name, &fast) != LEO_OK) {
        printf("\n%s: not on this host ", name);
        return false;
    }
    CU_ASSERT_FATAL(sim_simd_select("generic", &generic) == LEO_OK);
    *arrays = (struct arrays){
        .a = calloc(LANES, 8),
        .b = calloc(LANES, 8),
        .want = calloc(LANES, 8),
        .got = calloc(LANES, 8),
        .truth = generic->vector,
        .path = fast->vector,
    };
    return true;
}

static void finish(struct arrays *arrays)
{
    free(arrays->a);
    free(arrays->b);
    free(arrays->want);
    free(arrays->got);
}

static void clear_results(struct arrays *arrays)
{
    memset(arrays->want, 0x5a, LANES * 8);
    memset(arrays->got, 0x5a, LANES * 8);
}

static bool is_same(const struct arrays *arrays)
{
    return memcmp(arrays->want, arrays->got, LANES * 8) == 0;
}

/** All 65536 patterns once in `a`, in another order in `b`. */
static void fill_f16(struct arrays *arrays)
{
    for (unsigned i = 0; i < LANES; i++) {
        ((uint16_t *)arrays->a)[i] = (uint16_t)i;
        ((uint16_t *)arrays->b)[i] = (uint16_t)(i * 40503u + 77);
    }
}

/** Any bits, near numbers, and the awkward ones. */
static void fill_random(struct arrays *arrays)
{
    static const uint32_t awkward[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00000, 0x7f800001, 0xffbfffff, 0x00000001, 0x807fffff,
                                       0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000, 0x4f000000,
                                       0xcf000000, 0x4effffff, 0x42b17218, 0xc2cff1b5, 0x3effffff};
    uint64_t seed = 99;
    for (unsigned i = 0; i < RANDOM_LANES; i++) {
        const uint64_t random = fake_random(&seed);
        arrays->a[i] = random & 1 ? (uint32_t)(random >> 32)
                                  : 0x3f000000 + ((uint32_t)(random >> 32) & 0x81ffffff);
        arrays->b[i] = random & 2 ? (uint32_t)fake_random(&seed)
                                  : arrays->a[i] ^ ((uint32_t)(random >> 8) & 0x80000003);
        if (random % 8 == 0) {
            arrays->a[i] = awkward[(random >> 8) % 20];
        }
        if (random % 16 < 4) {
            arrays->b[i] = awkward[(random >> 16) % 20];
        }
    }
}

static void check_unary(struct arrays *arrays, enum sim_lane lane, size_t count)
{
    for (unsigned i = 0; i < SIM_UNARY_COUNT; i++) {
        CU_ASSERT((arrays->truth->unary[i][lane] == NULL) ==
                  (arrays->path->unary[i][lane] == NULL));
        if (arrays->truth->unary[i][lane] != NULL) {
            clear_results(arrays);
            arrays->truth->unary[i][lane](arrays->want, arrays->a, count);
            arrays->path->unary[i][lane](arrays->got, arrays->a, count);
            CU_ASSERT(is_same(arrays));
        }
    }
}

/** Distances of shifts: 0 to the lane's width. */
static void distances(struct arrays *arrays, enum sim_lane lane, size_t count)
{
    const bool half = lane == SIM_LANE_S16 || lane == SIM_LANE_U16;
    for (size_t i = 0; i < count; i++) {
        if (half) {
            ((uint16_t *)arrays->b)[i] %= 17;
        } else {
            arrays->b[i] %= 33;
        }
    }
}

static void check_fused(struct arrays *arrays, size_t count, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        clear_results(arrays);
        arrays->truth->fused[i](arrays->want, arrays->a, arrays->b, arrays->b + 7, count);
        arrays->path->fused[i](arrays->got, arrays->a, arrays->b, arrays->b + 7, count);
        CU_ASSERT(is_same(arrays));
    }
}

static void check_pairs(struct arrays *arrays, enum sim_lane lane, size_t count)
{
    for (unsigned i = 0; i < SIM_BINARY_COUNT; i++) {
        if (i == SIM_BINARY_SHL && arrays->truth->binary[i][lane] != NULL) {
            distances(arrays, lane, count); // the last three members shift
        }
        CU_ASSERT((arrays->truth->binary[i][lane] == NULL) ==
                  (arrays->path->binary[i][lane] == NULL));
        if (arrays->truth->binary[i][lane] != NULL) {
            clear_results(arrays);
            arrays->truth->binary[i][lane](arrays->want, arrays->a, arrays->b, count);
            arrays->path->binary[i][lane](arrays->got, arrays->a, arrays->b, count);
            CU_ASSERT(is_same(arrays));
        }
    }
    for (unsigned i = 0; i < LEO_COND_COUNT; i++) {
        CU_ASSERT((arrays->truth->compare[i][lane] == NULL) ==
                  (arrays->path->compare[i][lane] == NULL));
        if (arrays->truth->compare[i][lane] != NULL) {
            clear_results(arrays);
            arrays->truth->compare[i][lane]((uint8_t *)arrays->want, arrays->a, arrays->b, count);
            arrays->path->compare[i][lane]((uint8_t *)arrays->got, arrays->a, arrays->b, count);
            CU_ASSERT(is_same(arrays));
        }
    }
}

static void f16_paths_agree_on_all_inputs(void)
{
    for (size_t path = 0; path < 2; path++) {
        struct arrays arrays;
        if (begin(&arrays, fast_paths[path])) {
            fill_f16(&arrays);
            check_unary(&arrays, SIM_LANE_F16, LANES);
            check_pairs(&arrays, SIM_LANE_F16, LANES);
            check_pairs(&arrays, SIM_LANE_S16, LANES);
            fill_f16(&arrays);
            check_pairs(&arrays, SIM_LANE_U16, LANES);
            check_unary(&arrays, SIM_LANE_U16, LANES);
            finish(&arrays);
        }
    }
}

static void f32_and_s32_paths_agree(void)
{
    for (size_t path = 0; path < 2; path++) {
        struct arrays arrays;
        if (begin(&arrays, fast_paths[path])) {
            fill_random(&arrays);
            check_unary(&arrays, SIM_LANE_F32, RANDOM_LANES);
            check_unary(&arrays, SIM_LANE_S32, RANDOM_LANES);
            check_pairs(&arrays, SIM_LANE_F32, RANDOM_LANES);
            check_pairs(&arrays, SIM_LANE_S32, RANDOM_LANES);
            fill_random(&arrays);
            check_pairs(&arrays, SIM_LANE_U32, RANDOM_LANES);
            finish(&arrays);
        }
    }
}

static void check_axpy(struct arrays *arrays, size_t count, unsigned first, unsigned last)
{
    static const uint32_t scalars[] = {0x3fc03c01, 0x80000000, 0xffc07e00,
                                       0x7f807c00, 0x00010001, 0xbf9db8ff};
    for (unsigned i = first; i <= last; i++) {
        for (size_t scalar = 0; scalar < 6; scalar++) {
            clear_results(arrays);
            arrays->truth->axpy[i](arrays->want, arrays->a, arrays->b, scalars[scalar], count);
            arrays->path->axpy[i](arrays->got, arrays->a, arrays->b, scalars[scalar], count);
            CU_ASSERT(is_same(arrays));
        }
    }
}

static void axpy_select_and_split_agree(void)
{
    for (size_t path = 0; path < 2; path++) {
        struct arrays arrays;
        if (!begin(&arrays, fast_paths[path])) {
            continue;
        }
        fill_f16(&arrays);
        check_axpy(&arrays, LANES, SIM_AXPY_F16, SIM_AXPY_F16);
        check_fused(&arrays, LANES - 16, SIM_FUSED_F16, SIM_FUSED_F16);
        fill_random(&arrays);
        check_axpy(&arrays, RANDOM_LANES, SIM_AXPY_F32, SIM_AXPY_MIXED);
        check_fused(&arrays, RANDOM_LANES, SIM_FUSED_F32, SIM_FUSED_MIXED);
        clear_results(&arrays);
        arrays.truth->select16(arrays.want, (const uint8_t *)arrays.a, arrays.a, arrays.b,
                               RANDOM_LANES);
        arrays.path->select16(arrays.got, (const uint8_t *)arrays.a, arrays.a, arrays.b,
                              RANDOM_LANES);
        CU_ASSERT(is_same(&arrays));
        clear_results(&arrays);
        arrays.truth->select32(arrays.want, (const uint8_t *)arrays.b, arrays.a, arrays.b,
                               RANDOM_LANES);
        arrays.path->select32(arrays.got, (const uint8_t *)arrays.b, arrays.a, arrays.b,
                              RANDOM_LANES);
        CU_ASSERT(is_same(&arrays));
        clear_results(&arrays);
        arrays.truth->split16(arrays.want, arrays.want + LANES, arrays.a, RANDOM_LANES / 2);
        arrays.path->split16(arrays.got, arrays.got + LANES, arrays.a, RANDOM_LANES / 2);
        CU_ASSERT(is_same(&arrays));
        clear_results(&arrays);
        arrays.truth->split32(arrays.want, arrays.want + LANES, arrays.a, RANDOM_LANES / 2);
        arrays.path->split32(arrays.got, arrays.got + LANES, arrays.a, RANDOM_LANES / 2);
        CU_ASSERT(is_same(&arrays));
        finish(&arrays);
    }
}

static void check_conversions(struct arrays *arrays, size_t count, bool only_16_bit)
{
    static const struct {
        enum leo_dtype dst, src;
        bool from_16_bit;
    } pairs[] = {
        {LEO_DTYPE_F32, LEO_DTYPE_F16, true},   {LEO_DTYPE_F32, LEO_DTYPE_BF16, true},
        {LEO_DTYPE_S32, LEO_DTYPE_F16, true},   {LEO_DTYPE_F16, LEO_DTYPE_F32, false},
        {LEO_DTYPE_BF16, LEO_DTYPE_F32, false}, {LEO_DTYPE_F32, LEO_DTYPE_S32, false},
        {LEO_DTYPE_S32, LEO_DTYPE_F32, false},  {LEO_DTYPE_F32, LEO_DTYPE_F32, false},
        {LEO_DTYPE_S8, LEO_DTYPE_F16, true},    {LEO_DTYPE_S64, LEO_DTYPE_F32, false},
        {LEO_DTYPE_U8, LEO_DTYPE_F16, true},    {LEO_DTYPE_S16, LEO_DTYPE_F16, true},
        {LEO_DTYPE_F16, LEO_DTYPE_S16, true},   {LEO_DTYPE_F32, LEO_DTYPE_S16, true},
        {LEO_DTYPE_F16, LEO_DTYPE_S8, true},    {LEO_DTYPE_F16, LEO_DTYPE_U8, true},
        {LEO_DTYPE_S16, LEO_DTYPE_F32, false},  {LEO_DTYPE_S16, LEO_DTYPE_S32, false},
        {LEO_DTYPE_S64, LEO_DTYPE_S32, false},  {LEO_DTYPE_S32, LEO_DTYPE_S64, false},
        {LEO_DTYPE_F32, LEO_DTYPE_S64, false},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        for (unsigned round = 0; round < LEO_ROUND_COUNT && pairs[i].from_16_bit == only_16_bit;
             round++) {
            clear_results(arrays);
            arrays->truth->convert(arrays->want, pairs[i].dst, arrays->a, pairs[i].src, round,
                                   count);
            arrays->path->convert(arrays->got, pairs[i].dst, arrays->a, pairs[i].src, round, count);
            CU_ASSERT(is_same(arrays));
        }
    }
}

static void conversions_agree(void)
{
    for (size_t path = 0; path < 2; path++) {
        struct arrays arrays;
        if (begin(&arrays, fast_paths[path])) {
            fill_f16(&arrays);
            check_conversions(&arrays, LANES, true);
            fill_random(&arrays);
            check_conversions(&arrays, RANDOM_LANES, false);
            finish(&arrays);
        }
    }
}

static void select_knows_its_paths(void)
{
    const struct sim_simd *simd = NULL;
    CU_ASSERT(sim_simd_select(NULL, &simd) == LEO_OK && simd != NULL);
    CU_ASSERT(sim_simd_select("generic", &simd) == LEO_OK && strcmp(simd->name, "generic") == 0);
    CU_ASSERT(sim_simd_select("abacus", &simd) == LEO_ERR_UNSUPPORTED);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"f16_paths_agree_on_all_inputs", f16_paths_agree_on_all_inputs},
        {"f32_and_s32_paths_agree", f32_and_s32_paths_agree},
        {"axpy_select_and_split_agree", axpy_select_and_split_agree},
        {"conversions_agree", conversions_agree},
        {"select_knows_its_paths", select_knows_its_paths},
    };
    return leo_test_main("simd_vector", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
