/* SPDX-License-Identifier: Apache-2.0 */
/* The ways out of L0C against an element-by-element reference. Ids: docs/hw/cube.md. */
#include "fake_core.h"

#include <math.h>

#define L0C LEO_MEM_SPACE_L0C

/* Rounds by search: the nearest f16, ties to the even one. Slow and independent of any bit trick.
 */
static uint16_t to_half(float value)
{
    if (value != value) {
        return 0x7e00;
    }
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs((double)value);
    if (magnitude >= 65520.0) {
        return sign | 0x7c00;
    }
    int exponent = -14;
    while (exponent < 15 && magnitude >= ldexp(1.0, exponent + 1)) {
        exponent++;
    }
    double scaled = ldexp(magnitude, 10 - exponent), whole = floor(scaled), rest = scaled - whole;
    uint32_t units = (uint32_t)whole;
    units += rest > 0.5 || (rest == 0.5 && units % 2 == 1);
    return sign | (uint16_t)(((uint32_t)(exponent + 14) << 10) + units);
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (value != value) {
        return 0x7fc0;
    }
    uint32_t low = bits & 0xffff, high = bits >> 16;
    return (uint16_t)(high + (low > 0x8000 || (low == 0x8000 && high % 2 == 1)));
}

static void fill_l0c(struct fake *fake)
{
    static const uint32_t special[] = {0x7fc00000, 0x80000000, 0x7f800000, 0xff800000, 0x00000001,
                                       0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x38800000,
                                       0x387fffff, 0x477fe000, 0x3f801000, 0x3f803000, 0x3f808000,
                                       0x7f7fffff, 0xc7800000, 0xb3800000};
    for (unsigned i = 0; i < 0x8000; i++) {
        uint32_t bits = fake_random(fake);
        if (i % 3 == 0) {
            bits = special[bits % (sizeof(special) / sizeof(special[0]))];
        } else {
            bits = (bits & 0x807fffff) | (100 + bits % 50) << 23; // around the range of f16
        }
        memcpy(fake->core.local[L0C].data + i * 4, &bits, 4);
    }
}

static void put(uint8_t *at, float value, unsigned quant, bool relu)
{
    if (relu) {
        value = value != value ? value : value > 0 ? value : 0.0f;
    }
    uint16_t half = quant == LEO_QUANT_F32_F16 ? to_half(value) : to_bf16(value);
    if (quant == LEO_QUANT_NONE) {
        memcpy(at, &value, 4);
    } else {
        memcpy(at, &half, 2);
    }
}

/* HW-CUBE-10 .. HW-CUBE-14 */
static void check_to_gm(struct fake *fake, const struct leo_cfg_fix0 *cfg0,
                        const struct leo_cfg_fix1 *cfg1)
{
    const float *l0c = (const void *)(fake->core.local[L0C].data + 64);
    uint8_t *want = fake_copy(fake->gm, FAKE_GM_SIZE);
    unsigned element = cfg1->quant == LEO_QUANT_NONE ? 4 : 2, width = cfg1->split ? 8 : 16;
    for (unsigned i = 0; i < cfg0->m; i++) {
        for (unsigned j = 0; j < cfg0->n; j++) {
            float value = l0c[(j / 16) * cfg1->src_stride * 16 + i * 16 + j % 16];
            size_t at = cfg1->nz2nd
                            ? (i * cfg0->dst_stride + j) * element
                            : j / width * cfg0->dst_stride * 32 + (i * width + j % width) * element;
            put(want + 10 + at, value, cfg1->quant, cfg1->relu);
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_GM, FAKE_GM + 10, 64,
                             leo_cfg_fix0_pack(cfg0), leo_cfg_fix1_pack(cfg1)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(fake->gm, want, FAKE_GM_SIZE) == 0);
    free(want);
}

static void to_gm(struct fake *fake)
{
    static const uint8_t quants[] = {LEO_QUANT_NONE, LEO_QUANT_F32_F16, LEO_QUANT_F32_BF16};
    static const uint16_t sizes[] = {1, 15, 16, 17, 31, 33, 61};
    fill_l0c(fake);
    for (unsigned q = 0; q < 6; q++) {
        for (size_t i = 0; i < 7; i++) {
            for (size_t j = 0; j < 7; j++) {
                struct leo_cfg_fix0 cfg0 = {
                    .m = sizes[i], .n = sizes[j], .dst_stride = sizes[j] + (uint32_t)i};
                struct leo_cfg_fix1 cfg1 = {
                    .src_stride = (uint16_t)((sizes[i] + 15) / 16 * 16 + (j == 2 ? 3 : 0)),
                    .quant = quants[q % 3],
                    .relu = q / 3,
                    .nz2nd = 1};
                check_to_gm(fake, &cfg0, &cfg1);
            }
            struct leo_cfg_fix0 nz = {.m = sizes[i], .n = 48, .dst_stride = sizes[i] * 2 + 3u};
            struct leo_cfg_fix1 out = {.src_stride = 64, .quant = quants[q % 3], .relu = q / 3};
            check_to_gm(fake, &nz, &out);
            if (q % 3 == 0) {
                nz.n = 40;
                out.split = 1;
                check_to_gm(fake, &nz, &out);
            }
        }
    }
}

static void fixpipe_writes_rows_and_fractals(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        if (fake) {
            to_gm(fake);
            fake_destroy(fake);
        }
    }
}

/* HW-CUBE-16 */
static void fixpipe_adds_when_atomic(void)
{
    struct fake *fake = fake_create("generic");
    float *l0c = (void *)fake->core.local[L0C].data, *gm = (void *)fake->gm;
    for (int i = 0; i < 512; i++) {
        l0c[i] = (float)i - 100.0f;
        gm[i] = 0.5f;
    }
    fake->core.ctrl = 1 << 1;
    const struct leo_cfg_fix0 cfg0 = {.m = 5, .n = 19, .dst_stride = 20};
    struct leo_cfg_fix1 cfg1 = {.src_stride = 16, .relu = 1, .nz2nd = 1};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_GM, FAKE_GM, 0,
                             leo_cfg_fix0_pack(&cfg0), leo_cfg_fix1_pack(&cfg1)),
                    LEO_FAULT_NONE);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 20; j++) {
            float value = l0c[j / 16 * 256 + i * 16 + j % 16];
            CU_ASSERT(gm[i * 20 + j] == (j < 19 ? 0.5f + (value > 0 ? value : 0) : 0.5f));
        }
    }
    cfg1.quant = LEO_QUANT_F32_F16; // f16 results into sums of f32
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_GM, FAKE_GM, 0,
                             leo_cfg_fix0_pack(&cfg0), leo_cfg_fix1_pack(&cfg1)),
                    LEO_FAULT_ILLEGAL_CONFIG);
    fake_destroy(fake);
}

/* HW-CUBE-15 */
static void check_to_ubuf(struct fake *fake, unsigned mode, const struct leo_cfg_burst *cfg)
{
    uint8_t *ub = fake->core.local[LEO_MEM_SPACE_UB].data, *want = fake_copy(ub, 0x8000);
    const float *l0c = (const void *)fake->core.local[L0C].data;
    bool half = mode == LEO_CR_F32_F16 || mode == LEO_CR_F32_F16_RELU;
    bool relu = mode == LEO_CR_RELU || mode == LEO_CR_F32_F16_RELU;
    unsigned element = half ? 2 : 4;
    for (unsigned i = 0; i < cfg->n_burst; i++) {
        for (unsigned j = 0; j < cfg->len_burst * 256u; j++) {
            put(want + 32 + i * (cfg->len_burst * 256u * element + cfg->dst_gap * 32u) +
                    j * element,
                l0c[i * (cfg->len_burst + cfg->src_gap) * 256u + j],
                half ? LEO_QUANT_F32_F16 : LEO_QUANT_NONE, relu);
        }
    }
    const struct leo_cfg_cr cr = {.mode = (uint8_t)mode};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 32, 0, leo_cfg_cr_pack(&cr),
                             leo_cfg_burst_pack(cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(ub, want, 0x8000) == 0);
    free(want);
}

static void copy_to_ubuf_converts_whole_fractals(void)
{
    static const struct leo_cfg_burst shapes[] = {{0, 1, 1, 0, 0}, {0, 3, 2, 5, 1},
                                                  {5, 2, 7, 0, 0}, {0, 5, 1, 3, 4},
                                                  {0, 0, 3, 0, 0}, {0, 3, 0, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        if (!fake) {
            continue;
        }
        fill_l0c(fake);
        for (unsigned mode = 0; mode <= LEO_CR_RELU; mode++) {
            for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
                check_to_ubuf(fake, mode, &shapes[s]);
            }
        }
        fake_destroy(fake);
    }
}

/* HW-CUBE-17 */
static void ways_out_fault(void)
{
    struct fake *fake = fake_create("generic");
    const struct {
        uint64_t a, b;
        struct leo_cfg_fix0 cfg0;
        struct leo_cfg_fix1 cfg1;
        enum leo_fault want;
    } cases[] = {
        {FAKE_GM,
         0,
         {.m = 16, .n = 15, .dst_stride = 16},
         {.src_stride = 16},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 8193, .n = 1, .dst_stride = 1},
         {.src_stride = 16, .nz2nd = 1},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 1, .n = 4096, .dst_stride = 1},
         {.src_stride = 16, .nz2nd = 1},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 1, .n = 8, .dst_stride = 1},
         {.quant = LEO_QUANT_COUNT},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 1, .n = 16, .dst_stride = 1},
         {.quant = LEO_QUANT_REQ4},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 1, .n = 16, .dst_stride = 1},
         {.quant = LEO_QUANT_REQ8, .relu = 2},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM, 0, {.m = 1, .n = 16, .dst_stride = 1}, {.relu = 4}, LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM,
         0,
         {.m = 1, .n = 16, .dst_stride = 1},
         {.split = 1, .nz2nd = 1},
         LEO_FAULT_ILLEGAL_CONFIG},
        {FAKE_GM, 32, {.m = 1, .n = 16, .dst_stride = 1}, {.nz2nd = 1}, LEO_FAULT_MISALIGNED_LOCAL},
        {FAKE_GM, 0x20000 - 64, {.m = 1, .n = 16, .dst_stride = 1}, {.nz2nd = 1}, LEO_FAULT_NONE},
        {FAKE_GM,
         0x20000 - 64,
         {.m = 2, .n = 16, .dst_stride = 1},
         {.nz2nd = 1},
         LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {FAKE_GM + FAKE_GM_SIZE - 64, 0, {.m = 1, .n = 16}, {.nz2nd = 1}, LEO_FAULT_NONE},
        {FAKE_GM + FAKE_GM_SIZE - 63,
         0,
         {.m = 1, .n = 16},
         {.nz2nd = 1},
         LEO_FAULT_GM_OUT_OF_RANGE},
        {FAKE_RO, 0, {.m = 1, .n = 16}, {.nz2nd = 1}, LEO_FAULT_GM_READ_ONLY},
        {0, 0, {.m = 0, .n = 16}, {.nz2nd = 1}, LEO_FAULT_NONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_GM, cases[i].a, cases[i].b,
                                 leo_cfg_fix0_pack(&cases[i].cfg0),
                                 leo_cfg_fix1_pack(&cases[i].cfg1)),
                        cases[i].want);
    }
    const struct leo_cfg_burst one = {.n_burst = 1, .len_burst = 1};
    uint64_t d = leo_cfg_burst_pack(&one);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 0, 0, LEO_CR_COUNT, d),
                    LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 0, 0, 16, d),
                    LEO_FAULT_ILLEGAL_CONFIG);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 0x8000 - 512, 0, 1, d),
                    LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 0x8000 - 512, 0, 0, d),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"fixpipe_writes_rows_and_fractals", fixpipe_writes_rows_and_fractals},
        {"fixpipe_adds_when_atomic", fixpipe_adds_when_atomic},
        {"copy_to_ubuf_converts_whole_fractals", copy_to_ubuf_converts_whole_fractals},
        {"ways_out_fault", ways_out_fault},
    };
    return leo_test_main("sim/fixpipe", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
