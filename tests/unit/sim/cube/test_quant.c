/* SPDX-License-Identifier: Apache-2.0 */
/* Every conversion of the output path, to global memory and to L1, and the coupled chip's copies
 * between L0C and UB: over random legal operands, against doubles. Ids: docs/hw/cube.md,
 * docs/hw/numbers.md. */
#include "fake_core.h"

#include <math.h>

#define L1  LEO_MEM_SPACE_L1
#define L0C LEO_MEM_SPACE_L0C
#define UB  LEO_MEM_SPACE_UB
#define FB  LEO_MEM_SPACE_FB

static unsigned below(struct fake *fake, unsigned limit)
{
    return fake_random(fake) % limit;
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* f16 and bf16 of a number, nearest, ties to even. */
static uint32_t narrow_float(double value, int fraction, int least, uint32_t infinity, uint32_t nan)
{
    const uint32_t sign = signbit(value) ? (infinity + (1u << fraction)) : 0;
    int exponent;
    if (value != value) {
        return nan;
    }
    if (isinf(value) || value == 0) {
        return sign | (value == 0 ? 0 : infinity);
    }
    frexp(value, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    const double units = rint(ldexp(fabs(value), fraction - exponent));
    const double bits = units + ldexp(exponent - least, fraction);
    return sign | (bits >= infinity ? infinity : (uint32_t)bits);
}

static uint32_t to_half(double value)
{
    return narrow_float(value, 10, -14, 0x7c00, 0x7e00);
}

static double half_of(uint32_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits >> 15 & 1 ? -size : size;
}

struct scale {
    float factor;
    int offset;
    unsigned shift;
    bool is_signed;
};

static uint64_t random_scale(struct fake *fake, struct scale *scale)
{
    const uint32_t bits = 0x3a000000u + (below(fake, 0x400) << 13) + (below(fake, 14) << 23);
    *scale = (struct scale){as_float(bits), (int)below(fake, 512) - 256,
                            below(fake, 2) ? below(fake, 16) + 1 : 0, below(fake, 2)};
    return bits | (uint64_t)(scale->shift ? scale->shift - 1 : 0) << 32 |
           (uint64_t)(scale->shift != 0) << 36 | (uint64_t)((unsigned)scale->offset & 511) << 37 |
           (uint64_t)scale->is_signed << 46;
}

/* Integers of `bits` from a product in f32. */
static int32_t clamp(float product, int offset, unsigned bits, bool is_signed)
{
    const double high = ldexp(1, (int)bits - is_signed) - 1, low = is_signed ? -high - 1 : 0;
    const double whole = product != product ? 0 : rint(fmax(-65536, fmin(65535, (double)product)));
    return (int32_t)fmax(low, fmin(high, fmax(-65536, fmin(65535, whole)) + offset));
}

static int32_t requantize(int32_t value, const struct scale *scale, unsigned bits, bool is_signed)
{
    double x = value;
    if (scale->shift) {
        x = floor((x + ldexp(1, (int)scale->shift - 1)) / ldexp(1, (int)scale->shift));
        x = fmax(-32768, fmin(32767, x));
    }
    return clamp((float)x * scale->factor, scale->offset, bits, is_signed);
}

/* HW-CUBE-13: one accumulator. */
static uint32_t expect(unsigned quant, unsigned relu, float alpha, uint32_t bits,
                       const struct scale *scale)
{
    float real = as_float(bits);
    int32_t integer = (int32_t)bits;
    real = relu == 1               ? (real != real || real > 0 ? real : 0)
           : relu == 2 && real < 0 ? real * alpha
                                   : real;
    integer = relu && integer < 0 ? 0 : integer;
    switch (quant) {
    case LEO_QUANT_F32_F16:
        return to_half((double)real);
    case LEO_QUANT_F32_BF16:
        return narrow_float((double)real, 7, -126, 0x7f80, 0x7fc0);
    case LEO_QUANT_DEQF16:
    case LEO_QUANT_VDEQF16:
        return to_half((double)((float)integer * scale->factor));
    case LEO_QUANT_QF32_B8:
    case LEO_QUANT_VQF32_B8:
        return (uint8_t)clamp(real * scale->factor, scale->offset, 8, scale->is_signed);
    case LEO_QUANT_REQ8:
    case LEO_QUANT_VREQ8:
        return (uint8_t)requantize(integer, scale, 8, scale->is_signed);
    case LEO_QUANT_REQ4:
    case LEO_QUANT_VREQ4:
        return (uint32_t)requantize(integer, scale, 4, true) & 15u;
    case LEO_QUANT_QF32_B4:
    case LEO_QUANT_VQF32_B4:
        return (uint32_t)clamp(real * scale->factor, scale->offset, 4, true) & 15u;
    case LEO_QUANT_DEQS16:
    case LEO_QUANT_VDEQS16:
        return (uint16_t)requantize(integer, scale, 16, true);
    default:
        break;
    }
    if (relu == 3) {
        return (uint32_t)integer;
    }
    uint32_t result = relu ? 0x7fc00000u : bits;
    if (relu && real == real) {
        memcpy(&result, &real, 4);
    }
    return result;
}

static unsigned bits_of(unsigned quant)
{
    static const uint8_t bits[LEO_QUANT_COUNT] = {32, 16, 16, 16, 16, 8,  8, 8,
                                                  8,  4,  4,  4,  4,  16, 16};
    return bits[quant];
}

static void fill_accumulators(struct fake *fake)
{
    for (unsigned i = 0; i < 0x8000; i++) {
        uint32_t bits = fake_random(fake) ^ fake_random(fake) << 16;
        if (i % 3) { // everyday numbers
            const float value = (float)(int32_t)bits * 1e-6f;
            memcpy(&bits, &value, 4);
        } else if (i % 2) {
            bits = (uint32_t)((int32_t)bits >> 14);
        }
        memcpy(fake->core.local[L0C].data + i * 4, &bits, 4);
    }
}

static void output(struct fake *fake)
{
    const unsigned quant = below(fake, LEO_QUANT_COUNT), bits = bits_of(quant);
    const bool integers = quant == LEO_QUANT_DEQF16 || quant == LEO_QUANT_VDEQF16 ||
                          quant == LEO_QUANT_REQ8 || quant == LEO_QUANT_VREQ8 ||
                          quant == LEO_QUANT_REQ4 || quant == LEO_QUANT_VREQ4 ||
                          quant == LEO_QUANT_DEQS16 || quant == LEO_QUANT_VDEQS16;
    const bool each = quant == LEO_QUANT_VDEQF16 || quant == LEO_QUANT_VQF32_B8 ||
                      quant == LEO_QUANT_VREQ8 || quant == LEO_QUANT_VREQ4 ||
                      quant == LEO_QUANT_VQF32_B4 || quant == LEO_QUANT_VDEQS16;
    const bool to_l1 = bits == 4 || below(fake, 2), rows = !to_l1 && below(fake, 2);
    const unsigned relus = integers ? 2 : quant == LEO_QUANT_NONE ? 4 : 3;
    const bool split = quant == LEO_QUANT_NONE && !rows && below(fake, 2);
    struct leo_cfg_fix0 cfg0 = {.m = (uint16_t)(1 + below(fake, 40))};
    cfg0.n = (uint16_t)(rows ? 1 + below(fake, 70) : bits == 4 ? 64 : 16 * (1 + below(fake, 4)));
    const unsigned width = rows ? 16 : split ? 8 : bits < 16 ? 256 / bits : 16;
    cfg0.dst_stride =
        rows ? cfg0.n + below(fake, 9) : (cfg0.m + below(fake, 4)) * width * bits / 256;
    const struct leo_cfg_fix1 cfg1 = {.src_stride = (uint16_t)((cfg0.m + 15) / 16 * 16),
                                      .quant = (uint8_t)quant,
                                      .relu = (uint8_t)below(fake, relus),
                                      .split = split,
                                      .nz2nd = rows};
    const struct leo_cfg_nd_para nd = {rows ? (uint16_t)below(fake, 3) : 0,
                                       (uint16_t)(3 + below(fake, 9)),
                                       (uint16_t)(41 * 79 + below(fake, 99))};
    const float alpha = 0.01f * (float)below(fake, 90);
    struct scale scale[128];
    memcpy(&fake->core.csr.lrelu_alpha, &alpha, 4);
    fake->core.csr.nd_para = leo_cfg_nd_para_pack(&nd);
    fake->core.csr.quant_pre = random_scale(fake, &scale[0]);
    for (unsigned j = 0; j < 128 && each; j++) {
        const uint64_t word = random_scale(fake, &scale[j]);
        memcpy(fake->core.local[FB].data + 256 + j * 8, &word, 8);
    }
    fake->core.csr.fpc = 2 << 8;
    const size_t size = to_l1 ? 0x20000 : FAKE_GM_SIZE;
    uint8_t *dst = to_l1 ? fake->core.local[L1].data : fake->gm, *want = fake_copy(dst, size);
    const unsigned at = to_l1 ? 32 : 11;
    for (unsigned matrix = 0; matrix < (nd.nd_num && rows ? nd.nd_num : 1); matrix++) {
        for (unsigned i = 0; i < cfg0.m; i++) {
            for (unsigned j = 0; j < cfg0.n; j++) {
                uint32_t value;
                memcpy(&value,
                       fake->core.local[L0C].data + 64 +
                           (matrix * nd.src_nd_stride * 256 + j / 16 * cfg1.src_stride * 16 +
                            i * 16 + j % 16) *
                               4,
                       4);
                value = expect(quant, cfg1.relu, alpha, value, &scale[each ? j : 0]);
                uint8_t *to =
                    want + at +
                    (rows ? (matrix * nd.dst_nd_stride + i * cfg0.dst_stride + j) * bits / 8
                          : j / width * cfg0.dst_stride * 32 + (i * width + j % width) * bits / 8);
                if (bits == 4) {
                    *to = (uint8_t)(j % 2 ? (*to & 15u) | value << 4 : (*to & 240u) | value);
                } else {
                    memcpy(to, &value, bits / 8);
                }
            }
        }
    }
    const enum leo_insn insn = bits == 4 ? LEO_INSN_COPY_MATRIX_CC_TO_CBUF_B4
                               : to_l1   ? LEO_INSN_COPY_MATRIX_CC_TO_CBUF
                                         : LEO_INSN_COPY_MATRIX_CC_TO_GM;
    CU_ASSERT_EQUAL(fake_run(fake, insn, to_l1 ? 32 : FAKE_GM + 11, 64, leo_cfg_fix0_pack(&cfg0),
                             leo_cfg_fix1_pack(&cfg1)),
                    LEO_FAULT_NONE);
    if (memcmp(dst, want, size) != 0) {
        fprintf(stderr, "quant %u relu %u l1 %d rows %d split %d m %u n %u\n", quant, cfg1.relu,
                to_l1, rows, split, cfg0.m, cfg0.n);
        CU_FAIL("differs");
    }
    free(want);
}

/* HW-CUBE-15: one element out. */
static uint32_t out_of(const struct fake *fake, unsigned mode, uint32_t bits,
                       const struct scale *scale)
{
    const float real = as_float(bits), factor = (float)half_of((uint16_t)fake->core.csr.deqscale);
    switch (mode) {
    case LEO_CR_F32_F16:
        return to_half((double)real);
    case LEO_CR_F32_F16_RELU:
        return to_half(real != real || real > 0 ? (double)real : 0);
    case LEO_CR_RELU:
        return real != real ? 0x7fc00000u : real > 0 ? bits : 0;
    case LEO_CR_F16_RELU:
        return half_of(bits) != half_of(bits) ? 0x7e00 : half_of(bits) > 0 ? bits : 0;
    case LEO_CR_F16_F32: {
        const float wide = (float)half_of(bits);
        memcpy(&bits, &wide, 4);
        return wide != wide ? 0x7fc00000u : bits;
    }
    case LEO_CR_F16_MUL:
        return to_half((double)((float)half_of(bits) * factor));
    case LEO_CR_S32_F16:
        return to_half((double)((float)(int32_t)bits * factor));
    case LEO_CR_S32_S8:
    case LEO_CR_S32_U8:
        return (uint8_t)requantize((int32_t)bits, scale, 8, mode == LEO_CR_S32_S8);
    default:
        return bits;
    }
}

static void l0c_to_ub(struct fake *fake)
{
    static const uint8_t sizes[LEO_CR_COUNT][2] = {{4, 4}, {4, 2}, {4, 2}, {4, 4}, {2, 2}, {2, 2},
                                                   {2, 4}, {2, 2}, {4, 2}, {4, 1}, {4, 1}};
    const unsigned mode = below(fake, LEO_CR_COUNT), in = sizes[mode][0], out = sizes[mode][1];
    const bool vector = below(fake, 2);
    const unsigned each = vector ? 16 : 256;
    const struct leo_cfg_burst cfg = {.n_burst = (uint16_t)below(fake, 4),
                                      .len_burst = (uint16_t)below(fake, 4),
                                      .src_gap = (uint16_t)below(fake, 3),
                                      .dst_gap = (uint16_t)below(fake, 5)};
    const struct leo_cfg_cr cr = {(uint8_t)mode};
    struct scale scale;
    fake->core.csr.deqscale = random_scale(fake, &scale);
    if (mode != LEO_CR_S32_S8 && mode != LEO_CR_S32_U8) {
        fake->core.csr.deqscale = 0x1400 + below(fake, 0x2000);
    }
    uint8_t *ub = fake->core.local[UB].data, *want = fake_copy(ub, 0x8000);
    for (unsigned i = 0; i < cfg.n_burst; i++) {
        for (unsigned j = 0; j < cfg.len_burst * each; j++) {
            uint32_t bits = 0;
            const unsigned fractal = i * (cfg.len_burst + cfg.src_gap) + j / each;
            memcpy(&bits, fake->core.local[L0C].data + (fractal * 256 + j % each) * in, in);
            bits = out_of(fake, mode, bits, &scale);
            memcpy(want + 32 + i * (cfg.len_burst * each * out + cfg.dst_gap * 32u) + j * out,
                   &bits, out);
        }
    }
    CU_ASSERT_EQUAL(
        fake_run(fake, vector ? LEO_INSN_COPY_VECTOR_CC_TO_UBUF : LEO_INSN_COPY_MATRIX_CC_TO_UBUF,
                 32, 0, leo_cfg_cr_pack(&cr), leo_cfg_burst_pack(&cfg)),
        LEO_FAULT_NONE);
    if (memcmp(ub, want, 0x8000) != 0) {
        fprintf(stderr, "mode %u vector %d\n", mode, vector);
        CU_FAIL("differs");
    }
    free(want);
}

static void ub_to_l0c(struct fake *fake)
{
    static const uint8_t modes[][3] = {
        {LEO_CR_NONE, 4, 4}, {LEO_CR_F16, 2, 2}, {LEO_CR_F16_F32, 2, 4}};
    const unsigned which = below(fake, 3), in = modes[which][1], out = modes[which][2];
    const bool vector = below(fake, 2);
    const unsigned each = vector ? 16 : 256;
    const struct leo_cfg_burst cfg = {.n_burst = (uint16_t)below(fake, 4),
                                      .len_burst = (uint16_t)below(fake, 4),
                                      .src_gap = (uint16_t)below(fake, 5),
                                      .dst_gap = (uint16_t)below(fake, 3)};
    const struct leo_cfg_cr cr = {modes[which][0]};
    uint8_t *l0c = fake->core.local[L0C].data, *want = fake_copy(l0c, 0x20000);
    for (unsigned i = 0; i < cfg.n_burst; i++) {
        for (unsigned j = 0; j < cfg.len_burst * each; j++) {
            uint32_t bits = 0;
            memcpy(&bits,
                   fake->core.local[UB].data + 32 +
                       i * (cfg.len_burst * each * in + cfg.src_gap * 32u) + j * in,
                   in);
            bits =
                modes[which][0] == LEO_CR_F16_F32 ? out_of(fake, LEO_CR_F16_F32, bits, NULL) : bits;
            const unsigned fractal = i * (cfg.len_burst + cfg.dst_gap) + j / each;
            memcpy(want + (fractal * 256 + j % each) * out, &bits, out);
        }
    }
    CU_ASSERT_EQUAL(
        fake_run(fake, vector ? LEO_INSN_COPY_VECTOR_UBUF_TO_CC : LEO_INSN_COPY_MATRIX_UBUF_TO_CC,
                 0, 32, leo_cfg_cr_pack(&cr), leo_cfg_burst_pack(&cfg)),
        LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0c, want, 0x20000) == 0);
    free(want);
}

static void broadcast(struct fake *fake)
{
    const struct leo_cfg_burst cfg = {.sid = (uint8_t)below(fake, 2),
                                      .n_burst = (uint16_t)below(fake, 4),
                                      .len_burst = (uint16_t)below(fake, 4),
                                      .src_gap = (uint16_t)below(fake, 5),
                                      .dst_gap = (uint16_t)below(fake, 3)};
    const unsigned bytes = cfg.sid ? 2 : 4;
    uint8_t *l0c = fake->core.local[L0C].data, *want = fake_copy(l0c, 0x20000);
    for (unsigned i = 0; i < cfg.n_burst; i++) {
        for (unsigned j = 0; j < cfg.len_burst * 256u; j++) {
            memcpy(want + (i * (cfg.len_burst + cfg.dst_gap) * 256u + j) * bytes,
                   fake->core.local[UB].data + 32 +
                       i * (cfg.len_burst * 16 * bytes + cfg.src_gap * 32u) +
                       (j / 256 * 16 + j % 16) * bytes,
                   bytes);
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_BROADCAST_UB_TO_CC, 0, 32, 0, leo_cfg_burst_pack(&cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0c, want, 0x20000) == 0);
    free(want);
}

static void every_path(uint32_t arch, unsigned rounds, void (*test)(struct fake *fake))
{
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        if (!fake) {
            continue;
        }
        fake->config.arch = arch;
        for (unsigned round = 0; round < rounds; round++) {
            fill_accumulators(fake);
            test(fake);
        }
        fake_destroy(fake);
    }
}

static void every_conversion_of_the_fixpipe(void)
{
    every_path(2201, 300, output);
}

static void accumulators_and_ub(void)
{
    every_path(1001, 100, l0c_to_ub);
    every_path(1001, 60, ub_to_l0c);
    every_path(1001, 30, broadcast);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"every_conversion_of_the_fixpipe", every_conversion_of_the_fixpipe},
        {"accumulators_and_ub", accumulators_and_ub},
    };
    return leo_test_main("sim/quant", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
