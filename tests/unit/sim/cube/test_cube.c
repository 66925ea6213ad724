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

/* What the types mean, from the definition. `half` results are f16, `whole` ones s32. */
static const struct format {
    unsigned a_bits, b_bits; /* of an element */
    bool is_integer, a_signed, b_signed, half;
    uint32_t arch;
} formats[LEO_MAD_COUNT] = {
    [LEO_MAD_F16F32] = {16, 16, false, false, false, false, 2201},
    [LEO_MAD_F16F16] = {16, 16, false, false, false, true, 1001},
    [LEO_MAD_BF16F32] = {16, 16, false, false, false, false, 2201},
    [LEO_MAD_F32F32] = {32, 32, false, false, false, false, 2201},
    [LEO_MAD_HF32F32] = {32, 32, false, false, false, false, 2201},
    [LEO_MAD_S8S32] = {8, 8, true, true, true, false, 2201},
    [LEO_MAD_U8U32] = {8, 8, true, false, false, false, 1001},
    [LEO_MAD_U8S32] = {8, 8, true, false, true, false, 1001},
    [LEO_MAD_S4S32] = {4, 4, true, true, true, false, 2201},
    [LEO_MAD_F16U2] = {16, 2, false, false, false, true, 1001},
};

static unsigned k0_of(unsigned type)
{
    return 256 / formats[type].a_bits;
}

static bool is_vector(const struct leo_cfg_mad *cfg)
{
    return cfg->m == 1 && !cfg->gemv_off;
}

static unsigned k1_of(const struct leo_cfg_mad *cfg)
{
    unsigned k0 = k0_of(cfg->type), k1 = (cfg->k + k0 - 1) / k0;
    return cfg->k_align && k0 == 8 ? (k1 + 1) / 2 * 2 : k1;
}

/* Places of elements, from the definition of ZZ, ZN and NZ. */
static size_t at_a(const struct leo_cfg_mad *s, unsigned i, unsigned p)
{
    unsigned k0 = k0_of(s->type);
    return is_vector(s) ? p : ((i / 16) * k1_of(s) + p / k0) * 16 * k0 + i % 16 * k0 + p % k0;
}

static size_t at_b(const struct leo_cfg_mad *s, unsigned p, unsigned j)
{
    unsigned k0 = k0_of(s->type);
    return ((p / k0) * ((s->n + 15u) / 16) + j / 16) * 16 * k0 + j % 16 * k0 + p % k0;
}

static size_t at_c(const struct leo_cfg_mad *s, unsigned i, unsigned j)
{
    return ((j / 16) * ((s->m + 15u) / 16) + i / 16) * 256 + i % 16 * 16 + j % 16;
}

static float word_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* hf32 keeps 11 bits of the fraction; computed in double, where nothing is lost. */
static float to_hf32(float value, bool to_zero)
{
    if (value != value || isinf(value) || value == 0) {
        return value;
    }
    int exponent;
    frexp((double)value, &exponent);
    exponent = exponent < -125 ? -125 : exponent; // denormals share the least exponent
    double scaled = ldexp(fabs((double)value), 12 - exponent), down = floor(scaled);
    bool up = scaled - down > 0.5 || (scaled - down == 0.5 && !to_zero && fmod(down, 2) != 0);
    return (float)copysign(ldexp(down + up, exponent - 12), (double)value);
}

static float real_at(const uint8_t *from, size_t at, unsigned type, bool to_zero)
{
    uint32_t bits = 0;
    unsigned bytes = formats[type].a_bits / 8;
    memcpy(&bits, from + at * bytes, bytes);
    if (type == LEO_MAD_BF16F32) {
        return word_value(bits << 16);
    }
    if (bytes == 2) {
        return half_value((uint16_t)bits);
    }
    return type == LEO_MAD_HF32F32 ? to_hf32(word_value(bits), to_zero) : word_value(bits);
}

static int64_t integer_at(const uint8_t *from, size_t at, unsigned bits, bool is_signed)
{
    if (bits == 8) {
        return is_signed ? (int64_t)(int8_t)from[at] : from[at];
    }
    int64_t value = at % 2 ? from[at / 2] >> 4 : from[at / 2] & 15;
    return value > 7 ? value - 16 : value;
}

/* The f16 numbers of one sign in order; the one after the largest counts as 65536. */
static double half_size(unsigned bits)
{
    return bits >= 0x7c00 ? 65536.0 : (double)half_value((uint16_t)bits);
}

/* Nearest, even on ties. */
static uint16_t to_half(float value)
{
    double size = fabs((double)value);
    unsigned low = 0, high = 0x7c00;
    while (low < high) { // the last one that is not above
        unsigned middle = (low + high + 1) / 2;
        if (half_size(middle) <= size) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double between = (half_size(low) + half_size(low + 1)) / 2;
    if (low < 0x7c00 && (size > between || (size == between && low % 2))) {
        low++;
    }
    return (uint16_t)(low | (signbit(value) ? 0x8000u : 0));
}

static void fill_operands(struct fake *fake, unsigned type, bool special)
{
    uint8_t *l0a = fake->core.local[LEO_MEM_SPACE_L0A].data;
    uint8_t *l0b = fake->core.local[LEO_MEM_SPACE_L0B].data;
    fake_fill(fake, l0a, 0x10000); // integers take any bits
    fake_fill(fake, l0b, 0x10000);
    for (unsigned i = 0; i < 0x8000 && !formats[type].is_integer; i++) {
        if (formats[type].a_bits == 16 && type != LEO_MAD_BF16F32) {
            uint16_t a = random_half(fake, special), b = random_half(fake, special);
            memcpy(l0a + i * 2, &a, 2);
            memcpy(l0b + i * 2, &b, 2);
        } else if (!special) { // upper halves of everyday numbers, lower ones any bits
            uint16_t a = (uint16_t)(0x3e00 + (fake_random(fake) & 0x81ff));
            uint16_t b = (uint16_t)(0x3e00 + (fake_random(fake) & 0x81ff));
            unsigned step = formats[type].a_bits == 32 ? 4 : 2, at = i * step + step - 2;
            if (at < 0x10000) {
                memcpy(l0a + at, &a, 2);
                memcpy(l0b + at, &b, 2);
            }
        }
    }
    for (unsigned i = 0; i < 0x8000; i++) {
        float c = special && i % 7 == 0 ? (i % 14 ? -0.0f : INFINITY)
                                        : (float)(int32_t)fake_random(fake) * 1e-7f;
        uint16_t half = random_half(fake, special);
        memcpy(fake->core.local[LEO_MEM_SPACE_L0C].data + i * 4, &c, 4);
        if (formats[type].half) {
            memcpy(fake->core.local[LEO_MEM_SPACE_L0C].data + i * 2, &half, 2);
        }
    }
    for (unsigned i = 0; i < 256; i++) {
        float bias = (float)(int32_t)fake_random(fake) * 1e-8f;
        memcpy(fake->core.local[LEO_MEM_SPACE_BT].data + i * 4, &bias, 4);
    }
}

static void expect_integer(const struct fake *fake, const struct leo_cfg_mad *cfg, unsigned i,
                           unsigned j, uint32_t *c, const uint32_t *bias)
{
    const struct format *format = &formats[cfg->type];
    const uint8_t *a = fake->core.local[LEO_MEM_SPACE_L0A].data;
    const uint8_t *b = fake->core.local[LEO_MEM_SPACE_L0B].data;
    int64_t sum = cfg->c_init ? 0 : cfg->c_bias ? bias[j] : *c;
    for (unsigned p = 0; p < cfg->k; p++) {
        sum += integer_at(a, at_a(cfg, i, p), format->a_bits, format->a_signed) *
               integer_at(b, at_b(cfg, p, j), format->b_bits, format->b_signed);
    }
    *c = (uint32_t)(uint64_t)sum;
}

static void expect_real(const struct fake *fake, const struct leo_cfg_mad *cfg, unsigned i,
                        unsigned j, uint8_t *c, const float *bias)
{
    const uint8_t *a = fake->core.local[LEO_MEM_SPACE_L0A].data;
    const uint8_t *b = fake->core.local[LEO_MEM_SPACE_L0B].data;
    const bool to_zero = fake->core.ctrl >> 47 & 1;
    float sum = 0;
    uint16_t half;
    if (formats[cfg->type].half && !cfg->c_init) {
        memcpy(&half, c, 2);
        sum = half_value(half);
    } else if (!cfg->c_init) {
        memcpy(&sum, cfg->c_bias ? (const void *)&bias[j] : (const void *)c, 4);
    }
    for (unsigned p = 0; p < cfg->k; p++) {
        const size_t right = at_b(cfg, p, j);
        sum = fmaf(real_at(a, at_a(cfg, i, p), cfg->type, to_zero),
                   formats[cfg->type].b_bits == 2 ? (float)(b[right / 4] >> right % 4 * 2 & 3)
                                                  : real_at(b, right, cfg->type, to_zero),
                   sum);
    }
    const uint32_t nan = 0x7fc00000u;
    if (formats[cfg->type].half) {
        half = sum != sum ? 0x7e00 : to_half(sum);
        memcpy(c, &half, 2);
    } else {
        memcpy(c, sum != sum ? (const void *)&nan : (const void *)&sum, 4);
    }
}

/* HW-NUM-15. Whether the result was not finite. */
static bool saturate(uint8_t *c, bool half)
{
    const uint32_t infinity = half ? 0x7c00u : 0x7f800000u, sign = half ? 0x8000u : 0x80000000u;
    uint32_t bits = 0;
    memcpy(&bits, c, half ? 2 : 4);
    if ((bits & infinity) != infinity) {
        return false;
    }
    bits = (bits & ~sign) > infinity ? 0 : (bits & sign) | (infinity - 1);
    memcpy(c, &bits, half ? 2 : 4);
    return true;
}

/* What L0C must hold afterwards. */
static void expect(struct fake *fake, const struct leo_cfg_mad *cfg, uint8_t *c, const void *bias,
                   bool *overflow)
{
    const bool stops = leo_cfg_ctrl_unpack(fake->core.ctrl).saturate;
    const unsigned bytes = formats[cfg->type].half ? 2 : 4;
    for (unsigned i = 0; i < cfg->m; i++) {
        for (unsigned j = 0; j < cfg->n; j++) {
            uint8_t *to = c + at_c(cfg, i, j) * bytes;
            if (formats[cfg->type].is_integer) {
                expect_integer(fake, cfg, i, j, (void *)to, bias);
            } else {
                expect_real(fake, cfg, i, j, to, bias);
                *overflow |= stops && saturate(to, formats[cfg->type].half);
            }
        }
    }
}

static void check_mmad(struct fake *fake, const struct leo_cfg_mad *cfg)
{
    uint8_t *l0c = fake->core.local[LEO_MEM_SPACE_L0C].data, *want = fake_copy(l0c, 0x20000);
    uint64_t bias_at = 64;
    struct leo_cfg_ctrl ctrl = leo_cfg_ctrl_unpack(fake->core.ctrl);
    bool overflow = false;
    ctrl.saturate = fake_random(fake) % 2;
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    fake->core.csr.overflow = 0;
    expect(fake, cfg, want, fake->core.local[LEO_MEM_SPACE_BT].data + bias_at, &overflow);
    uint64_t a = cfg->c_bias ? bias_at << 32 : 0;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, a, 0, 0, leo_cfg_mad_pack(cfg)), LEO_FAULT_NONE);
    if (memcmp(l0c, want, 0x20000) != 0) { // rows >= m and columns >= n must keep their value too
        fprintf(stderr, "%s: type %u m %u k %u n %u differs\n", fake->core.simd->name, cfg->type,
                cfg->m, cfg->k, cfg->n);
        CU_FAIL("mmad differs from the reference");
    }
    CU_ASSERT_EQUAL(fake->core.csr.overflow, overflow);
    free(want);
}

static void check_random_shapes(struct fake *fake, unsigned type)
{
    for (unsigned i = 0; i < 12; i++) {
        struct leo_cfg_mad cfg = {.m = (uint16_t)(1 + fake_random(fake) % 70),
                                  .k = (uint16_t)(1 + fake_random(fake) % 90),
                                  .n = (uint16_t)(1 + fake_random(fake) % 70),
                                  .gemv_off = fake_random(fake) % 2,
                                  .k_align = fake_random(fake) % 2,
                                  .c_init = fake_random(fake) % 2,
                                  .type = (uint8_t)type};
        cfg.c_bias = !formats[type].half && fake_random(fake) % 2;
        if (k1_of(&cfg) * 512 * ((cfg.m + 15u) / 16) <= 65536 &&
            k1_of(&cfg) * 512 * ((cfg.n + 15u) / 16) <= 65536) {
            check_mmad(fake, &cfg);
        }
    }
}

static void check_shapes(struct fake *fake, unsigned type, bool special)
{
    static const struct shape shapes[] = {
        {1, 1, 1},     {1, 16, 16},  {16, 1, 1},     {15, 15, 15}, {16, 16, 16},
        {17, 17, 17},  {31, 33, 47}, {33, 31, 17},   {2, 7, 130},  {7, 64, 32},
        {13, 100, 61}, {64, 64, 64}, {128, 64, 256}, {101, 3, 97}, {5, 257, 19},
        {22, 48, 33},  {27, 16, 31}, {40, 500, 9},   {1, 300, 70}, {1, 45, 33},
    };
    fake->config.arch = formats[type].arch;
    fill_operands(fake, type, special);
    check_random_shapes(fake, type);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct leo_cfg_mad cfg = {
            .m = shapes[i].m, .k = shapes[i].k, .n = shapes[i].n, .type = (uint8_t)type};
        cfg.gemv_off = i % 2;
        cfg.k_align = i % 3 == 0;
        const bool large = cfg.m * cfg.k * cfg.n > 1000000;
        const unsigned bytes = k1_of(&cfg) * 512;
        if ((large && (special || type != LEO_MAD_F16F32)) ||
            bytes * ((cfg.m + 15u) / 16) > 65536 || bytes * ((cfg.n + 15u) / 16) > 65536) {
            continue;
        }
        check_mmad(fake, &cfg);
        cfg.c_init = 1;
        check_mmad(fake, &cfg);
        if (formats[type].half) {
            continue; // has no bias
        }
        cfg.c_bias = 1; // zero wins (HW-CUBE-03)
        check_mmad(fake, &cfg);
        cfg.c_init = 0;
        if (cfg.n <= 240) {
            check_mmad(fake, &cfg);
        }
    }
}

/* HW-CUBE-01 .. HW-CUBE-05, HW-CUBE-09, HW-CUBE-20 .. HW-CUBE-22 */
static void mmad_is_a_chain_of_fused_multiply_adds(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        for (unsigned type = 0; fake && type < LEO_MAD_COUNT; type++) {
            fake->core.ctrl = type % 2 ? 0 : UINT64_C(1) << 47;
            check_shapes(fake, type, false);
            check_shapes(fake, type, true);
        }
        if (fake) {
            fake_destroy(fake);
        }
    }
}

/* The control register turns f32f32 into hf32f32. */
static void ctrl_selects_hf32(void)
{
    struct fake *fake = fake_create(NULL);
    fill_operands(fake, LEO_MAD_HF32F32, false);
    const struct leo_cfg_mad f32 = {.m = 20, .k = 30, .n = 40, .c_init = 1, .type = LEO_MAD_F32F32};
    struct leo_cfg_mad hf32 = f32;
    hf32.type = LEO_MAD_HF32F32;
    uint8_t *l0c = fake->core.local[LEO_MEM_SPACE_L0C].data;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&hf32)),
                    LEO_FAULT_NONE);
    uint8_t *want = fake_copy(l0c, 0x20000);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&f32)), LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0c, want, 0x20000) != 0);
    fake->core.ctrl = UINT64_C(1) << 46;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&f32)), LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0c, want, 0x20000) == 0);
    free(want);
    fake_destroy(fake);
}

/* HW-CUBE-04: what lies beyond m, k, n is never read: a NaN there changes nothing. */
static void mmad_does_not_read_padding(void)
{
    for (size_t path = 0; path < 3; path++) {
        struct fake *fake = fake_create(fake_paths[path]);
        if (!fake) {
            continue;
        }
        const struct leo_cfg_mad s = {.m = 18, .k = 21, .n = 20};
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
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&cfg)),
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
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&cfgs[i])),
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
    const struct leo_cfg_mad type = {.m = 16, .k = 16, .n = 16, .type = LEO_MAD_F16F16};
    const struct leo_cfg_mad half = {
        .m = 16, .k = 16, .n = 16, .type = LEO_MAD_F16F16, .c_bias = 1};
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
        {0, 0, 0, leo_cfg_mad_pack(&half), LEO_FAULT_ILLEGAL_CONFIG},
        {UINT64_C(0x3c0) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_NONE},
        {UINT64_C(0x400) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {UINT64_C(0x20) << 32, 0, 0, leo_cfg_mad_pack(&biased), LEO_FAULT_MISALIGNED_LOCAL},
        {UINT64_C(1) << 32, 0, 0, d, LEO_FAULT_LOCAL_OUT_OF_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(
            fake_run(fake, LEO_INSN_MMAD, cases[i].a, cases[i].b, cases[i].c, cases[i].d),
            cases[i].want);
    }
    fake_destroy(fake);
}

/* A product into a place that FIX has given back follows FIX. */
static void a_place_is_free_when_fix_gave_it_back(void)
{
    static const struct sim_insn cube = {.pipe = LEO_PIPE_M}, fix = {.pipe = LEO_PIPE_FIX};
    const struct leo_cfg_mad mad = {.m = 16, .k = 16, .n = 16, .unit_flag = 3};
    const struct leo_cfg_fix1 out = {.unit_flag = 3};
    const struct sim_op product = {
        .insn = LEO_INSN_MMAD, .row = &cube, .d = leo_cfg_mad_pack(&mad)};
    const struct sim_op output = {
        .insn = LEO_INSN_COPY_MATRIX_CC_TO_GM, .row = &fix, .d = leo_cfg_fix1_pack(&out)};
    struct sim_time_record record = {0};
    struct sim_core core = {0};
    sim_core_mark_hand(&core, &product, &record);
    CU_ASSERT_EQUAL(record.hand, SIM_TIME_HAND_MAKE);
    sim_core_mark_hand(&core, &output, &record);
    CU_ASSERT_EQUAL(record.hand, SIM_TIME_HAND_TAKE | SIM_TIME_HAND_RELEASE);
    sim_core_mark_hand(&core, &product, &record);
    CU_ASSERT_EQUAL(record.hand, SIM_TIME_HAND_MAKE | SIM_TIME_HAND_AFTER);
    sim_core_mark_hand(&core, &product, &record); // once is enough
    CU_ASSERT_EQUAL(record.hand, SIM_TIME_HAND_MAKE);
}

/* Element e of column j of the stored half, e counting along k, and its two bits. */
static int stored_at(const uint8_t *values, const uint8_t *index, unsigned n1, unsigned e,
                     unsigned j, unsigned *bits)
{
    const size_t at = ((size_t)e / 32 * n1 + j / 16) * 512 + j % 16 * 32 + e % 32;
    *bits = index[at / 4] >> at % 4 * 2 & 3u;
    return (int8_t)values[at];
}

static void check_sparse(struct fake *fake, const struct leo_cfg_mad *cfg, unsigned fractals)
{
    const unsigned n1 = (cfg->n + 15u) / 16;
    const uint8_t *a = fake->core.local[LEO_MEM_SPACE_L0A].data;
    uint8_t *l0c = fake->core.local[LEO_MEM_SPACE_L0C].data;
    const uint8_t *l1 = fake->core.local[LEO_MEM_SPACE_L1].data;
    enum { VALUES = 1024, INDEX = 0x10000, BASE = 2 };
    const struct leo_cfg_load2d load = {
        .base = BASE, .repeat = (uint8_t)fractals, .src_stride = 1, .dtype = LEO_DTYPE_S8};
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CB_SP, 0, VALUES, INDEX, leo_cfg_load2d_pack(&load)),
        LEO_FAULT_NONE);
    uint32_t *want = (uint32_t *)fake_copy(l0c, 0x20000);
    for (unsigned i = 0; i < cfg->m; i++) {
        for (unsigned j = 0; j < cfg->n; j++) {
            int64_t sum = cfg->c_init ? 0 : want[at_c(cfg, i, j)];
            for (unsigned e = 0; e < (cfg->k + 3u) / 4 * 2; e++) {
                unsigned bits;
                const int value =
                    stored_at(l1 + VALUES + BASE * 512, l1 + INDEX + BASE * 128, n1, e, j, &bits);
                const unsigned p = e / 2 * 4 + (e % 2 ? (bits + 1) % 4 : bits);
                sum += p < cfg->k ? (int64_t)(int8_t)a[at_a(cfg, i, p)] * value : 0;
            }
            want[at_c(cfg, i, j)] = (uint32_t)(uint64_t)sum;
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD_SP, 0, 0, 0, leo_cfg_mad_pack(cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0c, want, 0x20000) == 0);
    free(want);
}

/* HW-CUBE-23, HW-DMA-24: index 0..2 for the first of two elements in a group and 0..2 for the
 * second, as a matrix of which two of four are 0 gives them. */
static void sparse_right_matrices(void)
{
    static const struct shape shapes[] = {{1, 64, 16}, {16, 64, 16}, {17, 100, 33}, {40, 256, 48},
                                          {5, 3, 7},   {33, 67, 20}, {64, 511, 64}};
    for (size_t path = 0; path < 3; path++) {
        struct fake *fake = fake_create(fake_paths[path]);
        for (size_t i = 0; fake && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            struct leo_cfg_mad cfg = {.m = shapes[i].m,
                                      .k = shapes[i].k,
                                      .n = shapes[i].n,
                                      .gemv_off = 1,
                                      .type = LEO_MAD_S8S32};
            fill_operands(fake, LEO_MAD_S8S32, false);
            fake_fill(fake, fake->core.local[LEO_MEM_SPACE_L1].data, 0x10000);
            uint8_t *index = fake->core.local[LEO_MEM_SPACE_L1].data + 0x10000;
            for (unsigned b = 0; b < 0x8000; b++) {
                index[b] = 0;
                for (unsigned pair = 0; pair < 2; pair++) { // first < second
                    const unsigned first = fake_random(fake) % 3;
                    const unsigned second = first + 1 + fake_random(fake) % (3 - first);
                    index[b] |= (uint8_t)((first | (second - 1) << 2) << pair * 4);
                }
            }
            const unsigned fractals = (cfg.k + 63u) / 64 * ((cfg.n + 15u) / 16);
            check_sparse(fake, &cfg, fractals);
            cfg.c_init = 1;
            check_sparse(fake, &cfg, fractals);
        }
        if (fake) {
            fake_destroy(fake);
        }
    }
}

static void sparse_faults(void)
{
    struct fake *fake = fake_create(NULL);
    struct leo_cfg_mad cfg = {.m = 16, .k = 64, .n = 16, .c_init = 1, .type = LEO_MAD_S4S32};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD_SP, 0, 0, 0, leo_cfg_mad_pack(&cfg)),
                    LEO_FAULT_ILLEGAL_INSTRUCTION);
    cfg.type = LEO_MAD_S8S32;
    cfg.c_bias = 1;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD_SP, 0, 0, 0, leo_cfg_mad_pack(&cfg)),
                    LEO_FAULT_ILLEGAL_CONFIG);
    cfg.c_bias = 0;
    cfg.m = 1; // a vector
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_MMAD_SP, 0, 0, 0, leo_cfg_mad_pack(&cfg)),
                    LEO_FAULT_ILLEGAL_CONFIG);
    struct leo_cfg_load2d load = {.repeat = 1, .src_stride = 1, .dtype = LEO_DTYPE_F16};
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CB_SP, 0, 0, 0, leo_cfg_load2d_pack(&load)),
        LEO_FAULT_ILLEGAL_CONFIG);
    load.dtype = LEO_DTYPE_S8;
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CB_SP, 0, 0, 8, leo_cfg_load2d_pack(&load)),
        LEO_FAULT_MISALIGNED_LOCAL);
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"mmad_is_a_chain_of_fused_multiply_adds", mmad_is_a_chain_of_fused_multiply_adds},
        {"ctrl_selects_hf32", ctrl_selects_hf32},
        {"mmad_does_not_read_padding", mmad_does_not_read_padding},
        {"mmad_of_nothing_changes_nothing", mmad_of_nothing_changes_nothing},
        {"a_place_is_free_when_fix_gave_it_back", a_place_is_free_when_fix_gave_it_back},
        {"mmad_faults", mmad_faults},
        {"sparse_right_matrices", sparse_right_matrices},
        {"sparse_faults", sparse_faults},
    };
    return leo_test_main("sim/cube", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
