/* SPDX-License-Identifier: Apache-2.0 */
/* Every data mover against a byte-by-byte reference, on every arithmetic path. Ids: docs/hw/dma.md.
 */
#include "fake_core.h"

#define UB LEO_MEM_SPACE_UB
#define L1 LEO_MEM_SPACE_L1
#define GM LEO_MEM_SPACE_GM
#define BT LEO_MEM_SPACE_BT

static uint8_t *space_data(struct fake *fake, enum leo_mem_space space, size_t *bytes)
{
    *bytes = space == GM ? FAKE_GM_SIZE : fake->core.local[space].bytes;
    return space == GM ? fake->gm : fake->core.local[space].data;
}

static void for_each_path(void (*check)(struct fake *fake))
{
    for (size_t i = 0; i < 3; i++) {
        struct fake *fake = fake_create(fake_paths[i]);
        if (fake) {
            check(fake);
            fake_destroy(fake);
        }
    }
}

struct burst_case {
    enum leo_insn insn;
    enum leo_mem_space src, dst;
    unsigned length_unit, src_unit, dst_unit;
};

static const struct burst_case burst_cases[] = {
    {LEO_INSN_COPY_GM_TO_UBUF, GM, UB, 32, 32, 32},
    {LEO_INSN_COPY_GM_TO_CBUF, GM, L1, 32, 32, 32},
    {LEO_INSN_COPY_UBUF_TO_GM, UB, GM, 32, 32, 32},
    {LEO_INSN_COPY_UBUF_TO_UBUF, UB, UB, 32, 32, 32},
    {LEO_INSN_COPY_UBUF_TO_CBUF, UB, L1, 32, 32, 32},
    {LEO_INSN_COPY_CBUF_TO_UBUF, L1, UB, 32, 32, 32},
    {LEO_INSN_COPY_CBUF_TO_GM, L1, GM, 32, 32, 32},
    {LEO_INSN_COPY_CBUF_TO_BT, L1, BT, 64, 32, 64},
    {LEO_INSN_COPY_CBUF_TO_FBUF, L1, LEO_MEM_SPACE_FB, 128, 32, 128},
    {LEO_INSN_COPY_MATRIX_CBUF_TO_CC, L1, LEO_MEM_SPACE_L0C, 1024, 32, 1024},
};

static void check_burst(struct fake *fake, const struct burst_case *at, uint64_t dst, uint64_t src,
                        const struct leo_cfg_burst *cfg)
{
    size_t src_bytes, dst_bytes;
    uint8_t *from = space_data(fake, at->src, &src_bytes),
            *to = space_data(fake, at->dst, &dst_bytes);
    uint8_t *want = fake_copy(to, dst_bytes), *old = fake_copy(from, src_bytes);
    for (unsigned i = 0; i < cfg->n_burst; i++) {
        for (unsigned j = 0; j < cfg->len_burst * at->length_unit; j++) {
            want[dst + i * (cfg->len_burst * at->length_unit + cfg->dst_gap * at->dst_unit) + j] =
                old[src + i * (cfg->len_burst * at->length_unit + cfg->src_gap * at->src_unit) + j];
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, at->insn, at->dst == GM ? FAKE_GM + dst : dst,
                             at->src == GM ? FAKE_GM + src : src, 0, leo_cfg_burst_pack(cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(to, want, dst_bytes) == 0);
    free(want);
    free(old);
}

/* Any legal burst, at any legal place; inside one buffer apart from its source. */
static void random_burst(struct fake *fake, const struct burst_case *at)
{
    size_t src_bytes, dst_bytes;
    space_data(fake, at->src, &src_bytes);
    space_data(fake, at->dst, &dst_bytes);
    struct leo_cfg_burst cfg;
    uint64_t src_end, dst_end;
    do {
        cfg = (struct leo_cfg_burst){.sid = fake_random(fake) % 16,
                                     .n_burst = (uint16_t)(fake_random(fake) % 9),
                                     .len_burst = (uint16_t)(fake_random(fake) % 20),
                                     .src_gap = (uint16_t)(fake_random(fake) % 40),
                                     .dst_gap = (uint16_t)(fake_random(fake) % 9)};
        const uint64_t bytes = (uint64_t)cfg.len_burst * at->length_unit;
        src_end = cfg.n_burst * (bytes + (uint64_t)cfg.src_gap * at->src_unit);
        dst_end = cfg.n_burst * (bytes + (uint64_t)cfg.dst_gap * at->dst_unit);
    } while (src_end > src_bytes / 2 || dst_end > dst_bytes / 2);
    const uint64_t src_align = at->src == GM ? 1 : 32, dst_align = at->dst == GM ? 1 : at->dst_unit;
    const uint64_t src = fake_random(fake) % (src_bytes / 2 - src_end + 1) / src_align * src_align;
    const uint64_t dst = fake_random(fake) % (dst_bytes / 2 - dst_end + 1) / dst_align * dst_align;
    check_burst(fake, at, dst + dst_bytes / 2, src, &cfg);
}

/* HW-DMA-01, HW-DMA-02 */
static void bursts(struct fake *fake)
{
    for (unsigned i = 0; i < 20 * sizeof(burst_cases) / sizeof(burst_cases[0]); i++) {
        random_burst(fake, &burst_cases[i / 20]);
    }
    static const struct leo_cfg_burst shapes[] = {
        {0, 1, 1, 0, 0},  {3, 1, 16, 5, 7},  {0, 2, 1, 1, 0},  {0, 3, 2, 0, 1}, {0, 5, 3, 2, 1},
        {15, 7, 1, 0, 0}, {0, 2, 9, 1, 2},   {0, 4, 2, 3, 0},  {0, 0, 4, 1, 1}, {0, 4, 0, 1, 1},
        {0, 4, 3, 33, 2}, {0, 20, 1, 40, 0}, {0, 2, 33, 1, 1},
    };
    for (size_t c = 0; c < sizeof(burst_cases) / sizeof(burst_cases[0]); c++) {
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            const struct burst_case *at = &burst_cases[c];
            bool small = at->dst == BT || at->dst == LEO_MEM_SPACE_FB;
            if (small && shapes[s].n_burst * (shapes[s].len_burst + shapes[s].dst_gap) > 16) {
                continue;
            }
            // Global memory at any byte; on chip the buffer's own alignment; UB to UB apart.
            check_burst(fake, at,
                        at->dst == GM ? 12345
                        : small       ? 0
                                      : 4096 + at->dst_unit,
                        at->src == GM ? 777 : 64, &shapes[s]);
        }
    }
}

static void bursts_move_what_the_reference_moves(void)
{
    for_each_path(bursts);
}

/* HW-DMA-06 */
static void atomic(struct fake *fake)
{
    float old[64], added[64];
    for (int i = 0; i < 64; i++) {
        old[i] = (float)i * 0.37f;
        added[i] = 1e6f / (float)(i + 1);
    }
    uint32_t signalling = 0x7f800001u;
    memcpy(&added[3], &signalling, 4);
    memcpy(fake->gm + 6, old, sizeof(old));
    memcpy(fake->core.local[UB].data, added, sizeof(added));
    const struct leo_cfg_burst cfg = {.n_burst = 2, .len_burst = 4};
    fake->core.ctrl = 1 << 1;
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM, FAKE_GM + 6, 0, 0, leo_cfg_burst_pack(&cfg)),
        LEO_FAULT_NONE);
    for (int i = 0; i < 64; i++) {
        float want = old[i] + added[i], got;
        memcpy(&got, fake->gm + 6 + i * 4, 4);
        CU_ASSERT(i == 3 || got == want);
    }
    uint32_t nan;
    memcpy(&nan, fake->gm + 6 + 12, 4);
    CU_ASSERT_EQUAL(nan, 0x7fc00000u);
    const struct leo_cfg_align0 odd = {.n_burst = 1, .dtype = LEO_DTYPE_B8, .len_bytes = 5};
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM_ALIGN, FAKE_GM, 0, leo_cfg_align0_pack(&odd), 0),
        LEO_FAULT_ILLEGAL_CONFIG);
    fake->core.ctrl = 1 << 1 | 9 << 4; // no such type
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM, FAKE_GM, 0, 0, leo_cfg_burst_pack(&cfg)),
        LEO_FAULT_ILLEGAL_CONFIG);
}

static void atomic_writes_add_f32(void)
{
    for_each_path(atomic);
}

/* HW-DMA-07 */
static void overlapping_ub_copy_moves_each_burst_whole(void)
{
    struct fake *fake = fake_create("generic");
    uint8_t *ub = fake->core.local[UB].data, *old = fake_copy(ub, 0x8000);
    const struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 8};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_UBUF, 32, 0, 0, leo_cfg_burst_pack(&cfg)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(ub + 32, old, 256) == 0 && memcmp(ub, old, 32) == 0);
    free(old);
    fake_destroy(fake);
}

/* HW-DMA-11 */
static void check_load_align(struct fake *fake, const struct leo_cfg_align0 *cfg,
                             const struct leo_cfg_align1 *gaps, unsigned element)
{
    uint8_t *ub = fake->core.local[UB].data, *want = fake_copy(ub, 0x8000);
    unsigned left = cfg->lpad * element, right = cfg->rpad * element;
    unsigned block = (left + cfg->len_bytes + right + 31) / 32 * 32;
    for (unsigned i = 0; i < cfg->n_burst && cfg->len_bytes; i++) {
        for (unsigned j = 0; j < block; j++) {
            bool real = j >= left && j < left + cfg->len_bytes;
            want[96 + i * (block + gaps->dst_gap * 32) + j] =
                real ? fake->gm[11 + i * (cfg->len_bytes + gaps->src_gap) + j - left] : 0;
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF_ALIGN, 96, FAKE_GM + 11,
                             leo_cfg_align0_pack(cfg), leo_cfg_align1_pack(gaps)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(ub, want, 0x8000) == 0);
    free(want);
}

/* HW-DMA-12 */
static void check_store_align(struct fake *fake, const struct leo_cfg_align0 *cfg,
                              const struct leo_cfg_align1 *gaps)
{
    const uint8_t *ub = fake->core.local[UB].data;
    uint8_t *want = fake_copy(fake->gm, FAKE_GM_SIZE);
    for (unsigned i = 0; i < cfg->n_burst; i++) {
        for (unsigned j = 0; j < cfg->len_bytes; j++) {
            want[33 + i * (cfg->len_bytes + gaps->dst_gap) + j] =
                ub[32 + i * ((cfg->len_bytes + 31) / 32 * 32 + gaps->src_gap * 32) + j];
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM_ALIGN, FAKE_GM + 33, 32,
                             leo_cfg_align0_pack(cfg), leo_cfg_align1_pack(gaps)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(fake->gm, want, FAKE_GM_SIZE) == 0);
    free(want);
}

static void aligned(struct fake *fake)
{
    static const uint32_t lengths[] = {0, 1, 2, 15, 17, 31, 32, 33, 62, 64, 101, 257};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (unsigned count = 0; count < 6; count += 1 + count) {
            struct leo_cfg_align0 cfg = {
                .n_burst = (uint16_t)count, .dtype = LEO_DTYPE_B16, .len_bytes = lengths[i]};
            struct leo_cfg_align1 gaps = {.src_gap = (uint32_t)(i * 3),
                                          .dst_gap = (uint32_t)(i % 3)};
            check_load_align(fake, &cfg, &gaps, 2);
            gaps =
                (struct leo_cfg_align1){.src_gap = (uint32_t)(i % 3), .dst_gap = (uint32_t)(i * 5)};
            check_store_align(fake, &cfg, &gaps);
            cfg.lpad = 3;
            cfg.rpad = 16;
            check_load_align(fake, &cfg, &gaps, 2);
        }
    }
}

static void align_copies_pad_in_ub_and_pack_in_gm(void)
{
    for_each_path(aligned);
}

/* HW-DMA-15 */
static void check_nd2nz(struct fake *fake, const struct leo_cfg_nz0 *cfg0,
                        const struct leo_cfg_nz1 *cfg1, unsigned element)
{
    uint8_t *l1 = fake->core.local[L1].data, *want = fake_copy(l1, 0x20000);
    unsigned per_block = 32 / element, blocks = (cfg0->d_value + per_block - 1) / per_block;
    for (unsigned m = 0; m < cfg0->nd_num; m++) {
        for (unsigned row = 0; row < cfg0->n_value; row++) {
            for (unsigned col = 0; col < blocks * per_block; col++) {
                size_t to =
                    64 + (size_t)m * cfg1->dst_nd_stride * element +
                    ((size_t)(col / per_block) * cfg1->dst_c0_stride + row * cfg1->dst_n_stride) *
                        32 +
                    col % per_block * element;
                size_t from =
                    5 + ((size_t)m * cfg0->src_nd_stride + row * cfg1->src_d + col) * element;
                for (unsigned byte = 0; byte < element; byte++) {
                    want[to + byte] = col < cfg0->d_value ? fake->gm[from + byte] : 0;
                }
            }
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_CBUF_ND2NZ, 64, FAKE_GM + 5,
                             leo_cfg_nz0_pack(cfg0), leo_cfg_nz1_pack(cfg1)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l1, want, 0x20000) == 0);
    free(want);
}

static void nd2nz(struct fake *fake)
{
    static const uint16_t sizes[] = {1, 2, 15, 16, 17, 31, 33, 47};
    static const struct {
        uint8_t dtype, element;
    } types[] = {{LEO_DTYPE_B8, 1}, {LEO_DTYPE_F16, 2}, {LEO_DTYPE_F32, 4}};
    for (size_t t = 0; t < 3; t++) {
        for (size_t r = 0; r < sizeof(sizes) / sizeof(sizes[0]); r++) {
            for (size_t c = 0; c < sizeof(sizes) / sizeof(sizes[0]); c++) {
                uint16_t rows = sizes[r], cols = sizes[c],
                         rounded = (uint16_t)((rows + 15) / 16 * 16);
                struct leo_cfg_nz0 cfg0 = {1, types[t].dtype, rows, cols, 0};
                struct leo_cfg_nz1 cfg1 = {(uint16_t)(cols + c), rounded, 1, 0};
                check_nd2nz(fake, &cfg0, &cfg1, types[t].element);
            }
        }
    }
    struct leo_cfg_nz0 many = {3, LEO_DTYPE_F16, 5, 37, 200};
    struct leo_cfg_nz1 wide = {39, 20, 2, 16 * 80};
    check_nd2nz(fake, &many, &wide, 2);
    many.n_value = 0;
    check_nd2nz(fake, &many, &wide, 2);
    many.n_value = 5;
    // What goes to one place: the last one stays.
    for (unsigned zero = 0; zero < 8; zero++) {
        struct leo_cfg_nz1 one = {40, zero & 1 ? 0 : 64, zero & 2 ? 0 : 3, zero & 4 ? 0 : 4096};
        check_nd2nz(fake, &many, &one, 2);
    }
}

static void nd2nz_places_rows_and_fills_tails_with_zeros(void)
{
    for_each_path(nd2nz);
}

/* HW-DMA-20, HW-DMA-21 */
static void check_load2d(struct fake *fake, enum leo_insn insn, const struct leo_cfg_load2d *cfg,
                         uint64_t dst, uint64_t src)
{
    enum leo_mem_space space =
        insn == LEO_INSN_LOAD_CBUF_TO_CA ? LEO_MEM_SPACE_L0A : LEO_MEM_SPACE_L0B;
    uint8_t *l0 = fake->core.local[space].data, *want = fake_copy(l0, 0x10000);
    const uint8_t *l1 = fake->core.local[L1].data;
    for (int i = 0; i < cfg->repeat; i++) {
        int from = cfg->base + (cfg->decrement ? -i : i) * cfg->src_stride;
        for (int row = 0; row < 16; row++) {
            for (int col = 0; col < 16; col++) {
                int at = cfg->transpose ? col * 16 + row : row * 16 + col;
                memcpy(want + dst + i * (cfg->dst_gap + 1) * 512 + at * 2,
                       l1 + src + from * 512 + (row * 16 + col) * 2, 2);
            }
        }
    }
    CU_ASSERT_EQUAL(fake_run(fake, insn, dst, src, 0, leo_cfg_load2d_pack(cfg)), LEO_FAULT_NONE);
    CU_ASSERT(memcmp(l0, want, 0x10000) == 0);
    free(want);
}

static void load2d(struct fake *fake)
{
    for (unsigned transpose = 0; transpose < 2; transpose++) {
        const struct leo_cfg_load2d shapes[] = {
            {0, 1, 0, 0, LEO_DTYPE_F16, (uint8_t)transpose, 0},
            {3, 5, 1, 0, LEO_DTYPE_F16, (uint8_t)transpose, 0},
            {2, 7, 9, 2, LEO_DTYPE_BF16, (uint8_t)transpose, 0},
            {40, 6, 3, 1, LEO_DTYPE_B16, (uint8_t)transpose, 1},
            {10, 11, 1, 0, LEO_DTYPE_F16, (uint8_t)transpose, 1},
            {1, 4, 0, 3, LEO_DTYPE_S16, (uint8_t)transpose, 0},
            {9, 0, 1, 1, LEO_DTYPE_F16, (uint8_t)transpose, 0},
        };
        for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
            check_load2d(fake, LEO_INSN_LOAD_CBUF_TO_CA, &shapes[s], 512, 32);
            check_load2d(fake, LEO_INSN_LOAD_CBUF_TO_CB, &shapes[s], 1024, 64);
        }
    }
}

static void load2d_moves_and_transposes_fractals(void)
{
    for_each_path(load2d);
}

/* HW-DMA-03, HW-DMA-04 */
static void moves_fault_at_the_first_and_last_byte_outside(void)
{
    struct fake *fake = fake_create("generic");
    const struct leo_cfg_burst one = {.n_burst = 1, .len_burst = 2};
    uint64_t d = leo_cfg_burst_pack(&one), end = FAKE_GM + FAKE_GM_SIZE;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, end - 64, 0, d), LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, end - 63, 0, d),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, FAKE_GM - 1, 0, d),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0x8000 - 64, FAKE_GM, 0, d),
                    LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0x8000 - 32, FAKE_GM, 0, d),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 16, FAKE_GM, 0, d),
                    LEO_FAULT_MISALIGNED_LOCAL);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM, FAKE_RO, 0, 0, d),
                    LEO_FAULT_GM_READ_ONLY);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM, end, 0, 0, 0), LEO_FAULT_NONE);
    // Neither the tail of the last block nor the gap after it is read.
    const struct leo_cfg_align0 bytes = {.n_burst = 1, .dtype = LEO_DTYPE_B8, .len_bytes = 5};
    const struct leo_cfg_align1 gap = {.src_gap = 3};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM_ALIGN, end - 5, 0x8000 - 32,
                             leo_cfg_align0_pack(&bytes), leo_cfg_align1_pack(&gap)),
                    LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_UBUF_TO_GM_ALIGN, end - 4, 0x8000 - 32,
                             leo_cfg_align0_pack(&bytes), leo_cfg_align1_pack(&gap)),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    const struct leo_cfg_load2d load = {
        .base = 0x100, .repeat = 1, .src_stride = 1, .dtype = LEO_DTYPE_F16};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CA, 0, 0, 0, leo_cfg_load2d_pack(&load)),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    const struct leo_cfg_load2d down = {
        .base = 2, .repeat = 4, .src_stride = 1, .dtype = LEO_DTYPE_F16, .decrement = 1};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CA, 0, 0, 0, leo_cfg_load2d_pack(&down)),
                    LEO_FAULT_LOCAL_OUT_OF_RANGE);
    const struct leo_cfg_load2d up = {.base = 0, .repeat = 1, .dtype = LEO_DTYPE_F16};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CB, 256, 0, 0, leo_cfg_load2d_pack(&up)),
                    LEO_FAULT_MISALIGNED_LOCAL);
    const struct leo_cfg_burst bias = {.n_burst = 1, .len_burst = 1};
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_CBUF_TO_BT, 32, 0, 0, leo_cfg_burst_pack(&bias)),
                    LEO_FAULT_MISALIGNED_LOCAL);
    CU_ASSERT_EQUAL(
        fake_run(fake, LEO_INSN_COPY_CBUF_TO_BT, 0x400, 0, 0, leo_cfg_burst_pack(&bias)),
        LEO_FAULT_LOCAL_OUT_OF_RANGE);
    fake_destroy(fake);
}

/* HW-DMA-05 */
static void bursts_across_a_hole_move_until_the_fault(void)
{
    struct fake *fake = fake_create("generic");
    uint8_t *ub = fake->core.local[UB].data, *old = fake_copy(ub, 0x8000);
    // The first burst ends in the first mapping, the second starts in the other one: legal, the gap
    // is never touched.
    const struct leo_cfg_burst over = {.n_burst = 2, .len_burst = 1, .src_gap = 0x40000 / 32};
    uint64_t src = FAKE_RO - 0x40000 - 32;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, src, 0, leo_cfg_burst_pack(&over)),
                    LEO_FAULT_NONE);
    CU_ASSERT(memcmp(ub, fake->gm + (src - FAKE_GM), 32) == 0 &&
              memcmp(ub + 32, fake->ro, 32) == 0);
    const struct leo_cfg_burst into = {.n_burst = 3, .len_burst = 1};
    src = FAKE_GM + FAKE_GM_SIZE - 64;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, src, 0, leo_cfg_burst_pack(&into)),
                    LEO_FAULT_GM_OUT_OF_RANGE);
    CU_ASSERT(memcmp(ub, fake->gm + FAKE_GM_SIZE - 64, 64) == 0 &&
              memcmp(ub + 64, old + 64, 32) == 0);
    free(old);
    fake_destroy(fake);
}

/* HW-DMA-08 */
static void impossible_configurations_fault(void)
{
    struct fake *fake = fake_create("generic");
    const struct leo_cfg_align0 pad = {
        .n_burst = 1, .dtype = LEO_DTYPE_B32, .len_bytes = 4, .lpad = 9};
    const struct leo_cfg_align0 type = {.n_burst = 1, .dtype = 15, .len_bytes = 4};
    const struct leo_cfg_align0 length = {
        .n_burst = 1, .dtype = LEO_DTYPE_B8, .len_bytes = 2097152};
    const struct leo_cfg_align0 *bad[] = {&pad, &type, &length};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_UBUF_ALIGN, 0, FAKE_GM,
                                 leo_cfg_align0_pack(bad[i]), 0),
                        LEO_FAULT_ILLEGAL_CONFIG);
    }
    const struct leo_cfg_load2d load = {.repeat = 1, .dtype = LEO_DTYPE_F32, .transpose = 1};
    uint64_t word = leo_cfg_load2d_pack(&load);
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CA, 0, 0, 0, word),
                    LEO_FAULT_ILLEGAL_CONFIG);
    word = UINT64_C(1) << 63 | UINT64_C(1) << 16;
    CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_LOAD_CBUF_TO_CA, 0, 0, 0, word),
                    LEO_FAULT_ILLEGAL_CONFIG);
    const struct leo_cfg_nz0 rows = {1, LEO_DTYPE_F16, 16385, 1, 0};
    const struct leo_cfg_nz0 good = {2, LEO_DTYPE_F16, 1, 1, 0};
    const struct leo_cfg_nz1 pitch = {1, 16, 1, 0}, none = {0, 16, 1, 0}, odd = {1, 16, 1, 8};
    const struct {
        const struct leo_cfg_nz0 *cfg0;
        const struct leo_cfg_nz1 *cfg1;
        enum leo_fault want;
    } cases[] = {{&rows, &pitch, LEO_FAULT_ILLEGAL_CONFIG},
                 {&good, &none, LEO_FAULT_ILLEGAL_CONFIG},
                 {&good, &odd, LEO_FAULT_MISALIGNED_LOCAL}};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(fake_run(fake, LEO_INSN_COPY_GM_TO_CBUF_ND2NZ, 0, FAKE_GM,
                                 leo_cfg_nz0_pack(cases[i].cfg0), leo_cfg_nz1_pack(cases[i].cfg1)),
                        cases[i].want);
    }
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"bursts_move_what_the_reference_moves", bursts_move_what_the_reference_moves},
        {"atomic_writes_add_f32", atomic_writes_add_f32},
        {"overlapping_ub_copy_moves_each_burst_whole", overlapping_ub_copy_moves_each_burst_whole},
        {"align_copies_pad_in_ub_and_pack_in_gm", align_copies_pad_in_ub_and_pack_in_gm},
        {"nd2nz_places_rows_and_fills_tails_with_zeros",
         nd2nz_places_rows_and_fills_tails_with_zeros},
        {"load2d_moves_and_transposes_fractals", load2d_moves_and_transposes_fractals},
        {"moves_fault_at_the_first_and_last_byte_outside",
         moves_fault_at_the_first_and_last_byte_outside},
        {"bursts_across_a_hole_move_until_the_fault", bursts_across_a_hole_move_until_the_fault},
        {"impossible_configurations_fault", impossible_configurations_fault},
    };
    return leo_test_main("sim/mte", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
