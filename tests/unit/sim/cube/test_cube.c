/* SPDX-License-Identifier: Apache-2.0 */
/* mmad bit for bit against one fmaf after another. Ids: docs/hw/cube.md. */
#include "fake_core.h"

#include <math.h>

static float half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(1024 + fraction), exponent - 25);
    return half & 0x8000 ? -value : value;
}

static uint16_t random_half(struct fake *fake, bool special)
{
    static const uint16_t specials[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfd01, 0x7c01,
                                        0x0001, 0x8001, 0x03ff, 0x7bff, 0xfbff, 0x3c00, 0xbc00};
    uint32_t r = fake_random(fake);
    if (special && r % 5 == 0) {
        return specials[(r >> 8) % (sizeof(specials) / sizeof(specials[0]))];
    }
    return special ? (uint16_t)(r & 0xbfff) : (uint16_t)(0x2c00 + (r & 0x9fff) % 0x9800);
}

struct shape {
    uint16_t m, k, n;
};

/* Places of elements, from the definition of ZZ, ZN and NZ. */
static size_t at_a(const struct shape *s, unsigned i, unsigned p)
{
    return ((i / 16) * ((s->k + 15u) / 16) + p / 16) * 256 + i % 16 * 16 + p % 16;
}

static size_t at_b(const struct shape *s, unsigned p, unsigned j)
{
    return ((p / 16) * ((s->n + 15u) / 16) + j / 16) * 256 + j % 16 * 16 + p % 16;
}

static size_t at_c(const struct shape *s, unsigned i, unsigned j)
{
    return ((j / 16) * ((s->m + 15u) / 16) + i / 16) * 256 + i % 16 * 16 + j % 16;
}

static void fill_operands(struct fake *fake, bool special)
{
    for (unsigned i = 0; i < 0x8000; i++) {
        uint16_t a = random_half(fake, special), b = random_half(fake, special);
        memcpy(fake->core.local[LEO_MEM_SPACE_L0A].data + i * 2, &a, 2);
        memcpy(fake->core.local[LEO_MEM_SPACE_L0B].data + i * 2, &b, 2);
    }
    for (unsigned i = 0; i < 0x8000; i++) {
        float c = special && i % 7 == 0 ? (i % 14 ? -0.0f : INFINITY)
                                        : (float)(int32_t)fake_random(fake) * 1e-7f;
        memcpy(fake->core.local[LEO_MEM_SPACE_L0C].data + i * 4, &c, 4);
    }
    for (unsigned i = 0; i < 256; i++) {
        float bias = (float)(int32_t)fake_random(fake) * 1e-8f;
        memcpy(fake->core.local[LEO_MEM_SPACE_BT].data + i * 4, &bias, 4);
    }
}

/* What L0C must hold afterwards. */
static void expect(struct fake *fake, const struct leo_cfg_mad *cfg, float *c, const float *bias)
{
    const struct shape s = {cfg->m, cfg->k, cfg->n};
    const uint16_t *a = (const void *)fake->core.local[LEO_MEM_SPACE_L0A].data;
    const uint16_t *b = (const void *)fake->core.local[LEO_MEM_SPACE_L0B].data;
    for (unsigned i = 0; i < s.m; i++) {
        for (unsigned j = 0; j < s.n; j++) {
            float sum = cfg->c_init ? 0.0f : cfg->c_bias ? bias[j] : c[at_c(&s, i, j)];
            for (unsigned p = 0; p < s.k; p++) {
                sum = fmaf(half_value(a[at_a(&s, i, p)]), half_value(b[at_b(&s, p, j)]), sum);
            }
            uint32_t nan = 0x7fc00000u;
            if (sum != sum) {
                memcpy(&sum, &nan, 4);
            }
            c[at_c(&s, i, j)] = sum;
        }
    }
}

static void check_mmad(struct fake *fake, const struct leo_cfg_mad *cfg)
{
    uint8_t *l0c = fake->core.local[LEO_MEM_SPACE_L0C].data, *want = fake_copy(l0c, 0x20000);
    uint64_t bias_at = 64;
    expect(fake, cfg, (void *)want,
           (const void *)(fake->core.local[LEO_MEM_SPACE_BT].data + bias_at));
    uint64_t a = cfg->c_bias ? bias_at << 32 : 0;
    CU_ASSERT_EQUAL(fake_run(fake, sim_exec_cube, LEO_INSN_MMAD, a, 0, 0, leo_cfg_mad_pack(cfg)),
                    LEO_FAULT_NONE);
    if (memcmp(l0c, want, 0x20000) != 0) { // rows >= m and columns >= n must keep their value too
        fprintf(stderr, "%s: m %u k %u n %u differs\n", fake->core.simd->name, cfg->m, cfg->k,
                cfg->n);
        CU_FAIL("mmad differs from the reference");
    }
    free(want);
}

static void check_shapes(struct fake *fake, bool special)
{
    static const struct shape shapes[] = {
        {1, 1, 1},      {1, 16, 16},  {16, 1, 1},   {15, 15, 15}, {16, 16, 16},  {17, 17, 17},
        {31, 33, 47},   {33, 31, 17}, {2, 7, 130},  {7, 64, 32},  {13, 100, 61}, {64, 64, 64},
        {128, 64, 256}, {101, 3, 97}, {5, 257, 19}, {22, 48, 33}, {27, 16, 31},  {40, 500, 9},
    };
    fill_operands(fake, special);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct leo_cfg_mad cfg = {
            .m = shapes[i].m, .k = shapes[i].k, .n = shapes[i].n, .type = LEO_MAD_F16F32};
        if (cfg.m * cfg.k * cfg.n > 1000000 && special) {
            continue;
        }
        check_mmad(fake, &cfg);
        cfg.c_init = 1;
        check_mmad(fake, &cfg);
        cfg.c_bias = 1; // zero wins (HW-CUBE-03)
        check_mmad(fake, &cfg);
        cfg.c_init = 0;
        if (cfg.n <= 240) {
            check_mmad(fake, &cfg);
        }
    }
}

/* HW-CUBE-01 .. HW-CUBE-05 */
static void mmad_is_a_chain_of_fused_multiply_adds(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        if (fake) {
            check_shapes(fake, false);
            check_shapes(fake, true);
            fake_destroy(fake);
        }
    }
}

/* HW-CUBE-04: what lies beyond m, k, n is never read: a NaN there changes nothing. */
static void mmad_does_not_read_padding(void)
{
    for (size_t path = 0; path < 3; path++) {
        struct fake *fake = fake_create(fake_paths[path]);
        if (!fake) {
            continue;
        }
        const struct shape s = {18, 21, 20};
        memset(fake->core.local[LEO_MEM_SPACE_L0A].data, 0x7e, 0x10000);
        memset(fake->core.local[LEO_MEM_SPACE_L0B].data, 0x7e, 0x10000);
        const uint16_t one = 0x3c00;
        for (unsigned p = 0; p < s.k; p++) {
            for (unsigned i = 0; i < 20; i++) {
                if (i < s.m) {
                    memcpy(fake->core.local[LEO_MEM_SPACE_L0A].data + at_a(&s, i, p) * 2, &one, 2);
                }
                memcpy(fake->core.local[LEO_MEM_SPACE_L0B].data + at_b(&s, p, i) * 2, &one, 2);
            }
        }
        const struct leo_cfg_mad cfg = {.m = s.m, .k = s.k, .n = s.n, .c_init = 1};
        CU_ASSERT_EQUAL(
            fake_run(fake, sim_exec_cube, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&cfg)),
            LEO_FAULT_NONE);
        const float *c = (const void *)fake->core.local[LEO_MEM_SPACE_L0C].data;
        for (unsigned i = 0; i < s.m; i++) {
            for (unsigned j = 0; j < s.n; j++) {
                CU_ASSERT(c[at_c(&s, i, j)] == 21.0f);
            }
        }
        fake_destroy(fake);
    }
}

/* HW-CUBE-06 */
static void mmad_of_nothing_changes_nothing(void)
{
    struct fake *fake = fake_create("generic");
    uint8_t *l0c = fake->core.local[LEO_MEM_SPACE_L0C].data, *old = fake_copy(l0c, 0x20000);
    const struct leo_cfg_mad cfgs[] = {{.m = 0, .k = 16, .n = 16, .c_init = 1},
                                       {.m = 16, .k = 0, .n = 16, .c_init = 1},
                                       {.m = 16, .k = 16, .n = 0, .c_init = 1}};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            fake_run(fake, sim_exec_cube, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&cfgs[i])),
            LEO_FAULT_NONE);
    }
    CU_ASSERT(memcmp(l0c, old, 0x20000) == 0);
    free(old);
    fake_destroy(fake);
}

/* HW-CUBE-07 */
static void mmad_faults(void)
{
    struct fake *fake = fake_create("generic");
    const struct leo_cfg_mad good = {.m = 32, .k = 32, .n = 32},
                             biased = {.m = 16, .k = 16, .n = 16, .c_bias = 1};
    const struct leo_cfg_mad flag = {.m = 16, .k = 16, .n = 16, .unit_flag = 1};
    const struct leo_cfg_mad type = {.m = 16, .k = 16, .n = 16, .type = LEO_MAD_S8S32};
    const struct leo_cfg_mad none = {.m = 16, .k = 16, .n = 16, .type = LEO_MAD_COUNT};
    uint64_t d = leo_cfg_mad_pack(&good);
    const struct {
        uint64_t a, b, c, d;
        enum leo_fault want;
    } cases[] = {
        {0x20000 - 4096, 0x10000 - 2048, 0x10000 - 2048, d, LEO_FAULT_NONE},
        {0x20000 - 3072, 0, 0, d, LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {0, 0x10000 - 1536, 0, d, LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {0, 0, 0x10000 - 1536, d, LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {512, 0, 0, d, LEO_FAULT_MISALIGNED_LOCAL},
        {0, 256, 0, d, LEO_FAULT_MISALIGNED_LOCAL},
        {0, 0, 32, d, LEO_FAULT_MISALIGNED_LOCAL},
        {0, 0, 0, d | UINT64_C(1) << 42, LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, 0, leo_cfg_mad_pack(&flag), LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, 0, leo_cfg_mad_pack(&none), LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, 0, leo_cfg_mad_pack(&type), LEO_FAULT_ILLEGAL_INSTRUCTION},
        {UINT64_C(0x3c0) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_NONE},
        {UINT64_C(0x400) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {UINT64_C(0x20) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_MISALIGNED_LOCAL},
        {UINT64_C(1) << 32, 0, 0, d, LEO_FAULT_LOCAL_OUT_OF_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(fake_run(fake, sim_exec_cube, LEO_INSN_MMAD, cases[i].a, cases[i].b,
                                 cases[i].c, cases[i].d),
                        cases[i].want);
    }
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"mmad_is_a_chain_of_fused_multiply_adds", mmad_is_a_chain_of_fused_multiply_adds},
        {"mmad_does_not_read_padding", mmad_does_not_read_padding},
        {"mmad_of_nothing_changes_nothing", mmad_of_nothing_changes_nothing},
        {"mmad_faults", mmad_faults},
    };
    return leo_test_main("sim/cube", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
