/* SPDX-License-Identifier: Apache-2.0 */
/* img2col of both versions, squares of fractals transposed, fractals from global memory, fills:
 * over random legal operands, against the definitions. Ids: docs/hw/dma.md. */
#include "fake_core.h"

#define L1  LEO_MEM_SPACE_L1
#define L0A LEO_MEM_SPACE_L0A
#define L0B LEO_MEM_SPACE_L0B
#define UB  LEO_MEM_SPACE_UB

static unsigned below(struct fake *fake, unsigned limit)
{
    return fake_random(fake) % limit;
}

struct shape {
    unsigned width, height, pad[4]; /* l r t b */
    unsigned stride_w, stride_h, filter_w, filter_h, dilation_w, dilation_h, groups;
    unsigned out_w, out_h;
};

static struct shape random_shape(struct fake *fake)
{
    for (;;) {
        struct shape s = {.width = 1 + below(fake, 12),
                          .height = 1 + below(fake, 9),
                          .stride_w = 1 + below(fake, 3),
                          .stride_h = 1 + below(fake, 3),
                          .filter_w = 1 + below(fake, 4),
                          .filter_h = 1 + below(fake, 3),
                          .dilation_w = 1 + below(fake, 2),
                          .dilation_h = 1 + below(fake, 2),
                          .groups = 1 + below(fake, 3)};
        for (unsigned i = 0; i < 4; i++) {
            s.pad[i] = below(fake, 3);
        }
        const int w =
            (int)(s.width + s.pad[0] + s.pad[1]) - (int)((s.filter_w - 1) * s.dilation_w + 1);
        const int h =
            (int)(s.height + s.pad[2] + s.pad[3]) - (int)((s.filter_h - 1) * s.dilation_h + 1);
        if (w >= 0 && h >= 0) {
            s.out_w = (unsigned)w / s.stride_w + 1;
            s.out_h = (unsigned)h / s.stride_h + 1;
            return s;
        }
    }
}

static uint64_t map_word(const struct shape *s)
{
    const struct leo_cfg_fmatrix cfg = {(uint16_t)s->width, (uint16_t)s->height,
                                        (uint8_t)s->pad[0], (uint8_t)s->pad[1],
                                        (uint8_t)s->pad[2], (uint8_t)s->pad[3]};
    return leo_cfg_fmatrix_pack(&cfg);
}

/* One element of the virtual matrix: 0 beyond it, padding, or of the map. HW-DMA-40 */
static uint32_t element(const struct fake *fake, const struct shape *s, const uint8_t *map,
                        unsigned row, unsigned column, unsigned bytes)
{
    const unsigned c0 = 32 / bytes, c = column % c0;
    const unsigned kw = column / c0 % s->filter_w, kh = column / c0 / s->filter_w % s->filter_h;
    const unsigned group = column / c0 / s->filter_w / s->filter_h;
    uint32_t value = 0;
    if (row >= s->out_w * s->out_h || group >= s->groups) {
        return 0;
    }
    const int h = (int)(row / s->out_w * s->stride_h + kh * s->dilation_h) - (int)s->pad[2];
    const int w = (int)(row % s->out_w * s->stride_w + kw * s->dilation_w) - (int)s->pad[0];
    if (h < 0 || w < 0 || h >= (int)s->height || w >= (int)s->width) {
        memcpy(&value, &fake->core.csr.padding, bytes);
        return value;
    }
    memcpy(&value,
           map + ((group * s->height + (unsigned)h) * s->width + (unsigned)w) * 32 + c * bytes,
           bytes);
    return value;
}

/* The same of a map of four channels without gaps: columns are [kh, kw, 4]. HW-DMA-47 */
static uint32_t element_of_few(const struct fake *fake, const struct shape *s, const uint8_t *map,
                               unsigned row, unsigned column, unsigned bytes)
{
    const unsigned place = column / 4;
    uint32_t value = 0;
    if (row >= s->out_w * s->out_h || place >= s->filter_w * s->filter_h) {
        return 0;
    }
    const int h =
        (int)(row / s->out_w * s->stride_h + place / s->filter_w * s->dilation_h) - (int)s->pad[2];
    const int w =
        (int)(row % s->out_w * s->stride_w + place % s->filter_w * s->dilation_w) - (int)s->pad[0];
    const bool inside = h >= 0 && w >= 0 && h < (int)s->height && w < (int)s->width;
    memcpy(&value,
           inside ? map + (((unsigned)h * s->width + (unsigned)w) * 4 + column % 4) * bytes
                  : (const uint8_t *)&fake->core.csr.padding,
           bytes);
    return value;
}

static void second(struct fake *fake)
{
    const struct shape s = random_shape(fake);
    const unsigned code = below(fake, 3), bytes = 1u << code, c0 = 32 / bytes;
    const bool right = below(fake, 2), transpose = !right && bytes == 2 && below(fake, 2);
    const unsigned kernel = s.filter_w * s.filter_h * s.groups, fmatrix = below(fake, 2);
    const unsigned times = below(fake, 3), along_k = below(fake, 2), step = below(fake, 3);
    const struct leo_cfg_l3d0 at = {.k_ext = (uint16_t)(1 + below(fake, 4 * c0)),
                                    .m_ext = (uint16_t)(1 + below(fake, 40)),
                                    .k_start = (uint16_t)(below(fake, kernel) * c0),
                                    .m_start = (uint16_t)below(fake, 20)};
    const struct leo_cfg_l3d1 cfg = {.stride_w = (uint8_t)s.stride_w,
                                     .stride_h = (uint8_t)s.stride_h,
                                     .filter_w = (uint16_t)s.filter_w,
                                     .filter_h = (uint16_t)s.filter_h,
                                     .dilation_w = (uint8_t)s.dilation_w,
                                     .dilation_h = (uint8_t)s.dilation_h,
                                     .transpose = transpose,
                                     .fmatrix = (uint8_t)fmatrix,
                                     .channels = (uint16_t)(s.groups * c0 - below(fake, c0)),
                                     .element = (uint8_t)code};
    const struct leo_cfg_l3d_rpt again = {(uint16_t)step, (uint8_t)times, (uint8_t)along_k};
    fake->core.csr.padding = fake_random(fake);
    fake->core.csr.fmatrix = fmatrix ? 0 : map_word(&s);
    fake->core.csr.fmatrix_b = fmatrix ? map_word(&s) : 0;
    fake->core.csr.l3d_rpt = leo_cfg_l3d_rpt_pack(&again);
    const unsigned blocks = (at.k_ext + c0 - 1) / c0, rows16 = (at.m_ext + 15u) / 16;
    const unsigned p1 = (at.m_ext + c0 - 1) / c0, n1 = (blocks * c0 + 15) / 16;
    const unsigned fractals = right ? p1 * n1 : blocks * rows16;
    uint8_t *dst = fake->core.local[right ? L0B : L0A].data, *want = fake_copy(dst, 0x10000);
    const uint8_t *map = fake->core.local[L1].data + 64;
    for (unsigned t = 0; t < (times ? times : 1); t++) {
        uint8_t *base = want + 512 + t * fractals * 512;
        memset(base, 0, fractals * 512);
        const unsigned row0 = at.m_start + (along_k ? 0 : t * step * 16);
        const unsigned column0 = at.k_start + (along_k ? t * step * c0 : 0);
        for (unsigned i = 0; i < at.m_ext; i++) {
            for (unsigned j = 0; j < blocks * c0; j++) {
                const uint32_t value = element(fake, &s, map, row0 + i, column0 + j, bytes);
                const unsigned fractal = right       ? i / c0 * n1 + j / 16
                                         : transpose ? j / 16 * rows16 + i / 16
                                                     : i / 16 * blocks + j / c0;
                const unsigned line = right || transpose ? j % 16 : i % 16;
                const unsigned place = right || transpose ? i % c0 : j % c0;
                memcpy(base + fractal * 512 + line * 32 + place * bytes, &value, bytes);
            }
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake,
                             right ? LEO_INSN_IMG2COLV2_CBUF_TO_CB : LEO_INSN_IMG2COLV2_CBUF_TO_CA,
                             512, 64, leo_cfg_l3d0_pack(&at), leo_cfg_l3d1_pack(&cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(dst, want, 0x10000) == 0);
    fake->core.csr.l3d_rpt = 0;
    free(want);
}

static void first(struct fake *fake)
{
    static const enum leo_insn insns[] = {LEO_INSN_IMG2COL_CBUF_TO_CA, LEO_INSN_IMG2COL_CBUF_TO_CB,
                                          LEO_INSN_IMG2COL_CBUF_TO_UB};
    static const unsigned spaces[] = {L0A, L0B, UB};
    struct shape s = random_shape(fake);
    const unsigned which = below(fake, 3), code = below(fake, 3), bytes = 1u << code;
    const unsigned c0 = 32 / bytes, window = below(fake, s.out_w * s.out_h);
    const bool few = below(fake, 2);
    const unsigned in_block = few ? 8 / bytes : 1; // filter elements
    const unsigned place = below(fake, s.filter_w * s.filter_h) / in_block * in_block;
    const unsigned group = few ? 0 : below(fake, s.groups);
    const unsigned kh = place / s.filter_w, kw = place % s.filter_w;
    const struct leo_cfg_i2c0 at = {
        .c1_index = (uint16_t)group,
        .fetch_w = (uint8_t)kw,
        .fetch_h = (uint8_t)kh,
        .left_top_w = (uint16_t)(window % s.out_w * s.stride_w - s.pad[0]),
        .left_top_h = (uint16_t)(window / s.out_w * s.stride_h - s.pad[2])};
    const struct leo_cfg_i2c1 cfg = {.stride_w = (uint8_t)s.stride_w,
                                     .stride_h = (uint8_t)s.stride_h,
                                     .filter_w = (uint8_t)s.filter_w,
                                     .filter_h = (uint8_t)s.filter_h,
                                     .dilation_w = (uint8_t)s.dilation_w,
                                     .dilation_h = (uint8_t)s.dilation_h,
                                     .jump = (uint8_t)(1 + below(fake, 3)),
                                     .repeat_mode = (uint8_t)below(fake, 2),
                                     .repeat = (uint8_t)below(fake, 5),
                                     .csize = few,
                                     .element = (uint8_t)code};
    fake->core.csr.fmatrix = map_word(&s);
    fake->core.csr.padding = fake_random(fake);
    const size_t size = spaces[which] == UB ? 0x8000 : 0x10000;
    uint8_t *dst = fake->core.local[spaces[which]].data, *want = fake_copy(dst, size);
    s.groups = 1000; // the instruction does not know how many there are
    for (unsigned r = 0; r < cfg.repeat; r++) {
        const unsigned row = window + (cfg.repeat_mode ? r * 16 : 0);
        const unsigned block =
            (group * s.filter_h * s.filter_w + place) / in_block + (cfg.repeat_mode ? 0 : r);
        for (unsigned i = 0; i < 16; i++) {
            for (unsigned j = 0; j < c0; j++) {
                const uint32_t value = (few ? element_of_few : element)(
                    fake, &s, fake->core.local[L1].data + 64, row + i, block * c0 + j, bytes);
                const bool turned = which == 1 && bytes == 2;
                memcpy(want + 512 + r * cfg.jump * 512u + (turned ? j : i) * 32 +
                           (turned ? i : j) * bytes,
                       &value, bytes);
            }
        }
    }
    CU_ASSERT_EQUAL(
        fake_run(fake, insns[which], 512, 64, leo_cfg_i2c0_pack(&at), leo_cfg_i2c1_pack(&cfg)),
        LEO_FAULT_NONE);
    CU_ASSERT(memcmp(dst, want, size) == 0);
    free(want);
}

/* HW-DMA-22: squares as matrices. */
static void squares(struct fake *fake)
{
    static const struct {
        unsigned dtype, bits, fractals, side;
    } kinds[] = {{LEO_DTYPE_S4, 4, 4, 64},
                 {LEO_DTYPE_S8, 8, 2, 32},
                 {LEO_DTYPE_F16, 16, 1, 16},
                 {LEO_DTYPE_F32, 32, 2, 16}};
    const unsigned k = below(fake, 4), bits = kinds[k].bits, per_row = 256 / bits;
    const bool right = below(fake, 2);
    const struct leo_cfg_load2d cfg = {.base = (uint16_t)(4 + below(fake, 3)),
                                       .repeat = (uint8_t)below(fake, 4),
                                       .src_stride = (uint16_t)below(fake, 2),
                                       .dst_gap = (uint16_t)(8 + below(fake, 3)),
                                       .dtype = (uint8_t)kinds[k].dtype,
                                       .decrement = (uint8_t)below(fake, 2)};
    const struct leo_cfg_frac gaps = {(uint16_t)below(fake, 2), (uint16_t)below(fake, 2)};
    uint8_t *dst = fake->core.local[right ? L0B : L0A].data, *want = fake_copy(dst, 0x10000);
    const uint8_t *src = fake->core.local[L1].data + 32;
    for (unsigned r = 0; r < cfg.repeat; r++) {
        const unsigned first_in =
            (unsigned)((int)cfg.base + (cfg.decrement ? -1 : 1) * (int)r * (int)cfg.src_stride) *
            kinds[k].fractals;
        for (unsigned i = 0; i < kinds[k].side; i++) {
            for (unsigned j = 0; j < kinds[k].side; j++) { // row i, column j goes to row j
                const unsigned from = bits == 32 ? j / per_row : i / 16;
                const unsigned to = bits == 32 ? i / per_row : j / 16;
                const uint8_t *in = src + (first_in + from * (gaps.src_frac_gap + 1u)) * 512 +
                                    i % 16 * 32 + j % per_row * bits / 8;
                uint8_t *out = want + 512 +
                               (r * (cfg.dst_gap + 1u) + to * (gaps.dst_frac_gap + 1u)) * 512 +
                               j % 16 * 32 + i % per_row * bits / 8;
                if (bits == 4) {
                    const unsigned value = *in >> j % 2 * 4 & 15u;
                    *out = (uint8_t)(i % 2 ? (*out & 15u) | value << 4 : (*out & 240u) | value);
                } else {
                    memcpy(out, in, bits / 8);
                }
            }
        }
    }
    CU_ASSERT_EQUAL(
        fake_run(fake,
                 right ? LEO_INSN_LOAD_CBUF_TO_CB_TRANSPOSE : LEO_INSN_LOAD_CBUF_TO_CA_TRANSPOSE,
                 512, 32, leo_cfg_load2d_pack(&cfg), leo_cfg_frac_pack(&gaps)),
        LEO_FAULT_NONE);
    CU_ASSERT(memcmp(dst, want, 0x10000) == 0);
    free(want);
}

/* HW-DMA-20 from global memory, HW-DMA-23 fills */
static void loads_and_fills(struct fake *fake)
{
    static const struct {
        enum leo_insn load, fill;
        unsigned space, unit;
    } kinds[] = {{LEO_INSN_LOAD_GM_TO_CA, LEO_INSN_CREATE_CA_MATRIX, L0A, 512},
                 {LEO_INSN_LOAD_GM_TO_CB, LEO_INSN_CREATE_CB_MATRIX, L0B, 512},
                 {LEO_INSN_LOAD_GM_TO_CBUF, LEO_INSN_CREATE_CBUF_MATRIX, L1, 32}};
    const unsigned k = below(fake, 3);
    uint8_t *dst = fake->core.local[kinds[k].space].data, *want = fake_copy(dst, 0x10000);
    const struct leo_cfg_load2d cfg = {.base = 10,
                                       .repeat = (uint8_t)below(fake, 9),
                                       .src_stride = (uint16_t)below(fake, 3),
                                       .dst_gap = (uint16_t)below(fake, 3),
                                       .dtype = LEO_DTYPE_F16,
                                       .decrement = (uint8_t)below(fake, 2)};
    for (unsigned i = 0; i < cfg.repeat; i++) {
        const unsigned from = cfg.decrement ? 10 - i * cfg.src_stride : 10 + i * cfg.src_stride;
        if (cfg.decrement && i * cfg.src_stride > 10) {
            free(want);
            return;
        }
        memcpy(want + i * (cfg.dst_gap + 1u) * 512, fake->gm + 8 + from * 512, 512);
    }
    CU_ASSERT_EQUAL(fake_run(fake, kinds[k].load, 0, FAKE_GM + 8, 0, leo_cfg_load2d_pack(&cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(dst, want, 0x10000) == 0);
    const struct leo_cfg_create fill = {.repeat = (uint16_t)below(fake, 4),
                                        .blocks = (uint16_t)below(fake, 4),
                                        .dst_gap = (uint16_t)below(fake, 3),
                                        .dtype = LEO_DTYPE_F32};
    for (unsigned i = 0; i < fill.repeat; i++) {
        for (unsigned at = 0; at < fill.blocks * kinds[k].unit; at += 4) {
            const uint32_t value = 0x3f801234;
            memcpy(want + 1024 + i * (fill.blocks + fill.dst_gap) * kinds[k].unit + at, &value, 4);
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, kinds[k].fill, 1024, 0x3f801234, 0, leo_cfg_create_pack(&fill)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(dst, want, 0x10000) == 0);
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
        fake->core.kind = arch == 1001 ? LEO_CORE_KIND_AICORE : LEO_CORE_KIND_CUBE;
        for (unsigned round = 0; round < rounds; round++) {
            test(fake);
        }
        fake_destroy(fake);
    }
}

static void windows_become_fractals(void)
{
    every_path(2201, 150, second);
    every_path(1001, 100, first);
}

static void squares_and_fills_match(void)
{
    every_path(2201, 60, squares);
    every_path(2201, 60, loads_and_fills);
}

/* HW-DMA-46 */
static void bad_windows_fault(void)
{
    struct fake *fake = fake_create(NULL);
    const struct shape s = {.width = 4, .height = 4, .out_w = 1};
    fake->core.csr.fmatrix = map_word(&s);
    const struct leo_cfg_l3d0 at = {.k_ext = 16, .m_ext = 16};
    const struct leo_cfg_l3d0 odd = {.k_ext = 16, .m_ext = 16, .k_start = 3};
    const struct leo_cfg_l3d0 none = {.k_ext = 0, .m_ext = 16};
    struct leo_cfg_l3d1 cfg = {.stride_w = 1,
                               .stride_h = 1,
                               .filter_w = 3,
                               .filter_h = 3,
                               .dilation_w = 1,
                               .dilation_h = 1,
                               .channels = 16,
                               .element = 1};
    const uint64_t good = leo_cfg_l3d1_pack(&cfg);
    cfg.filter_w = 5;
    const uint64_t wide = leo_cfg_l3d1_pack(&cfg);
    cfg.filter_w = 3;
    cfg.stride_h = 0;
    const uint64_t still = leo_cfg_l3d1_pack(&cfg);
    cfg.stride_h = 1;
    cfg.element = 0;
    cfg.transpose = 1;
    const uint64_t turned = leo_cfg_l3d1_pack(&cfg);
    const struct {
        uint64_t a, b, c, d;
        enum leo_fault want;
    } cases[] = {
        {0, 0, leo_cfg_l3d0_pack(&at), good, LEO_FAULT_NONE},
        {0, 0, leo_cfg_l3d0_pack(&none), still, LEO_FAULT_NONE},
        {0, 0, leo_cfg_l3d0_pack(&at), wide, LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, leo_cfg_l3d0_pack(&at), still, LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, leo_cfg_l3d0_pack(&at), turned, LEO_FAULT_ILLEGAL_CONFIG},
        {0, 0, leo_cfg_l3d0_pack(&odd), good, LEO_FAULT_ILLEGAL_CONFIG},
        {256, 0, leo_cfg_l3d0_pack(&at), good, LEO_FAULT_MISALIGNED_LOCAL},
        {0, 16, leo_cfg_l3d0_pack(&at), good, LEO_FAULT_MISALIGNED_LOCAL},
        {0, 0x20000 - 256, leo_cfg_l3d0_pack(&at), good, LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {0x10000, 0, leo_cfg_l3d0_pack(&at), good, LEO_FAULT_LOCAL_OUT_OF_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_IMG2COLV2_CBUF_TO_CA, cases[i].a, cases[i].b,
                                 cases[i].c, cases[i].d),
                        cases[i].want);
    }
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"windows_become_fractals", windows_become_fractals},
        {"squares_and_fills_match", squares_and_fills_match},
        {"bad_windows_fault", bad_windows_fault},
    };
    return leo_test_main("sim/img2col", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
