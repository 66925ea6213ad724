/* SPDX-License-Identifier: Apache-2.0 */
/* Work put off (core/deferred_mmad.h) against the same instructions done at once: random sequences
 * whose instructions overlap and overwrite each other's buffers. Every buffer, and what the program
 * could have read between, is the same. */
#include "fake_core.h"

#include "core/deferred_mmad.h"
#include <leo/csr.h>

enum { SEQUENCES = 8, STEPS = 120, PLACES = 4 };

/* A core that puts off and one that does not; all else is equal. */
struct pair {
    struct fake *deferred, *eager;
    bool saturate;
};

static void both(struct pair *pair, enum leo_insn insn, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t d)
{
    const enum leo_fault deferred = fake_run(pair->deferred, insn, a, b, c, d),
                         eager = fake_run(pair->eager, insn, a, b, c, d);
    CU_ASSERT_EQUAL(deferred, eager);
}

static uint32_t below(struct pair *pair, uint32_t limit)
{
    return fake_random(pair->deferred) % limit;
}

/* f16 whose sums stay small; now and then one whose sums do not, or are no numbers. */
static void fill_l1(struct pair *pair, bool special)
{
    static const uint16_t odd[] = {0x7bff, 0x7c00, 0xfc00, 0x7e00};
    struct sim_local *l1 = pair->deferred->core.local;
    uint16_t *to = (uint16_t *)(void *)l1[LEO_MEM_SPACE_L1].data;
    for (uint32_t i = 0; i < l1[LEO_MEM_SPACE_L1].bytes / 2; i++) {
        const uint32_t bits = fake_random(pair->deferred);
        to[i] = (uint16_t)((bits & 0x8000) | (0x2000 + bits % 0x1800));
        if (special && bits % 4096 < 4) {
            to[i] = odd[bits % 4];
        }
    }
    memcpy(pair->eager->core.local[LEO_MEM_SPACE_L1].data, to, l1[LEO_MEM_SPACE_L1].bytes);
}

static void open_pair(struct pair *pair, const char *path, uint64_t seed)
{
    struct fake *fakes[2] = {pair->deferred = fake_create(path),
                             pair->eager = fake_create("generic")};
    pair->saturate = seed % 2;
    for (unsigned i = 0; i < 2 && pair->deferred; i++) {
        const struct leo_cfg_ctrl ctrl = {.saturate = pair->saturate};
        fakes[i]->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
        // Old results are numbers, not any bits, of which many are not finite.
        memset(fakes[i]->core.local[LEO_MEM_SPACE_L0C].data, 0,
               fakes[i]->core.local[LEO_MEM_SPACE_L0C].bytes);
    }
    if (pair->deferred) {
        pair->deferred->random += seed * 0x9e3779b97f4a7c15u;
        fill_l1(pair, seed % 3 == 0);
        sim_deferred_begin(&pair->deferred->core);
    }
}

static void compare(const struct pair *pair)
{
    const struct sim_core *deferred = &pair->deferred->core, *eager = &pair->eager->core;
    for (unsigned space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        CU_ASSERT(deferred->local[space].bytes == 0 ||
                  memcmp(deferred->local[space].data, eager->local[space].data,
                         deferred->local[space].bytes) == 0);
    }
    CU_ASSERT_EQUAL(memcmp(pair->deferred->gm, pair->eager->gm, FAKE_GM_SIZE), 0);
    CU_ASSERT_EQUAL(deferred->csr.overflow, eager->csr.overflow);
}

static void close_pair(struct pair *pair)
{
    sim_deferred_end(&pair->deferred->core);
    compare(pair);
    fake_destroy(pair->deferred);
    fake_destroy(pair->eager);
}

/* The k step of a tile, as kernels write it: fractals of A and B, then a product. */
static void step(struct pair *pair, uint32_t l0, uint32_t l1, uint32_t m1, uint32_t k1, uint32_t n1,
                 const struct leo_cfg_mad *cfg, uint64_t c)
{
    const bool turn_a = below(pair, 4) == 0, turn_b = below(pair, 4) != 0;
    for (uint32_t i = 0; i < k1; i++) {
        struct leo_cfg_load2d load = {.base = (uint16_t)(i * m1),
                                      .repeat = (uint8_t)m1,
                                      .src_stride = 1,
                                      .dst_gap = (uint16_t)(k1 - 1),
                                      .dtype = LEO_DTYPE_F16,
                                      .transpose = turn_a};
        both(pair, LEO_INSN_LOAD_CBUF_TO_CA, l0 + i * 512, l1, 0, leo_cfg_load2d_pack(&load));
        load = (struct leo_cfg_load2d){.base = (uint16_t)(m1 * k1 + i),
                                       .repeat = (uint8_t)n1,
                                       .src_stride = (uint16_t)k1,
                                       .dtype = LEO_DTYPE_F16,
                                       .transpose = turn_b};
        both(pair, LEO_INSN_LOAD_CBUF_TO_CB, l0 + i * n1 * 512, l1, 0, leo_cfg_load2d_pack(&load));
    }
    both(pair, LEO_INSN_MMAD, c, l0, l0, leo_cfg_mad_pack(cfg));
}

/* A tile's products one after the other, k whole fractals or not. */
static void tile(struct pair *pair)
{
    const uint32_t m = 1 + below(pair, 70), n = 1 + below(pair, 70), steps = 1 + below(pair, 6);
    const uint32_t m1 = (m + 15) / 16, n1 = (n + 15) / 16;
    const uint64_t c = below(pair, PLACES) * 0x8000;
    const bool ragged = below(pair, 5) == 0, brain = below(pair, 3) == 0,
               bias = below(pair, 4) == 0;
    for (uint32_t i = 0; i < steps; i++) {
        const uint32_t k1 = 1 + below(pair, 4),
                       k = ragged || i + 1 == steps ? k1 * 16 - below(pair, 16) : k1 * 16;
        const uint32_t used = (m1 + n1) * k1 * 512;
        const struct leo_cfg_mad cfg = {.m = (uint16_t)m,
                                        .k = (uint16_t)k,
                                        .n = (uint16_t)n,
                                        .c_bias = i == 0 && bias,
                                        .c_init = i == 0 && !bias && below(pair, 3) != 0,
                                        .gemv_off = 1,
                                        .type = brain ? LEO_MAD_BF16F32 : LEO_MAD_F16F32};
        step(pair, i % 2 * 0x8000, below(pair, (0x20000 - used) / 32) * 32, m1, k1, n1, &cfg,
             cfg.c_bias ? c | (uint64_t)below(pair, 4) << 38 : c);
    }
}

/* Any fractals, up or down, some of them over each other. */
static void load(struct pair *pair)
{
    const struct leo_cfg_load2d cfg = {.base = (uint16_t)(64 + below(pair, 64)),
                                       .repeat = (uint8_t)below(pair, 16),
                                       .src_stride = (uint16_t)below(pair, 4),
                                       .dst_gap = (uint16_t)below(pair, 3),
                                       .dtype = LEO_DTYPE_F16,
                                       .transpose = below(pair, 2),
                                       .decrement = below(pair, 2)};
    both(pair, below(pair, 2) ? LEO_INSN_LOAD_CBUF_TO_CA : LEO_INSN_LOAD_CBUF_TO_CB,
         below(pair, 64) * 512, below(pair, 32) * 32, 0, leo_cfg_load2d_pack(&cfg));
}

/* Over what views see, or beside it. */
static void write_l1(struct pair *pair)
{
    const struct leo_cfg_burst cfg = {.n_burst = (uint16_t)(1 + below(pair, 4)),
                                      .len_burst = (uint16_t)(1 + below(pair, 40)),
                                      .dst_gap = (uint16_t)below(pair, 40)};
    both(pair, LEO_INSN_COPY_UBUF_TO_CBUF, below(pair, 0xe00) * 32, below(pair, 64) * 32, 0,
         leo_cfg_burst_pack(&cfg));
}

static void fill_l0(struct pair *pair)
{
    const struct leo_cfg_create cfg = {
        .repeat = 1, .blocks = (uint16_t)(1 + below(pair, 3)), .dtype = LEO_DTYPE_F16};
    both(pair, below(pair, 2) ? LEO_INSN_CREATE_CA_MATRIX : LEO_INSN_CREATE_CB_MATRIX,
         below(pair, 100) * 512, 0x3c00, 0, leo_cfg_create_pack(&cfg));
}

static void write_bias(struct pair *pair)
{
    const struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = (uint16_t)(1 + below(pair, 8))};
    both(pair, LEO_INSN_COPY_CBUF_TO_BT, below(pair, 4) * 64, below(pair, 0x800) * 32, 0,
         leo_cfg_burst_pack(&cfg));
}

/* Results leave: to GM, where both programs would see them. */
static void store(struct pair *pair)
{
    const struct leo_cfg_fix0 cfg0 = {.m = 16, .n = 16, .dst_stride = 16};
    const struct leo_cfg_fix1 cfg1 = {.src_stride = 16, .nz2nd = 1};
    both(pair, LEO_INSN_COPY_MATRIX_CC_TO_GM, FAKE_GM + below(pair, 200) * 1024,
         below(pair, PLACES) * 0x8000, leo_cfg_fix0_pack(&cfg0), leo_cfg_fix1_pack(&cfg1));
    CU_ASSERT_EQUAL(memcmp(pair->deferred->gm, pair->eager->gm, FAKE_GM_SIZE), 0);
}

/* Products whose operands have to be in L0: of whole numbers, of a vector. */
static void other_product(struct pair *pair)
{
    const bool whole = below(pair, 2);
    const struct leo_cfg_mad cfg = {.m = (uint16_t)(whole ? 1 + below(pair, 40) : 1),
                                    .k = (uint16_t)(1 + below(pair, 60)),
                                    .n = (uint16_t)(1 + below(pair, 40)),
                                    .c_init = 1,
                                    .type = whole ? LEO_MAD_S8S32 : LEO_MAD_F16F32};
    both(pair, LEO_INSN_MMAD, below(pair, PLACES) * 0x8000, below(pair, 16) * 512,
         below(pair, 16) * 512, leo_cfg_mad_pack(&cfg));
}

static void change_ctrl(struct pair *pair)
{
    const struct leo_cfg_ctrl ctrl = {.saturate = below(pair, 2)};
    pair->deferred->core.ctrl = pair->eager->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
}

static void read_overflow(struct pair *pair)
{
    uint64_t deferred = 0, eager = 0;
    pair->deferred->core.scalar.owner = &pair->deferred->core;
    pair->eager->core.scalar.owner = &pair->eager->core;
    CU_ASSERT(sim_core_csr_read(&pair->deferred->core.scalar, LEO_CSR_OVERFLOW, &deferred));
    CU_ASSERT(sim_core_csr_read(&pair->eager->core.scalar, LEO_CSR_OVERFLOW, &eager));
    CU_ASSERT_EQUAL(deferred, eager);
    CU_ASSERT(sim_core_csr_write(&pair->deferred->core.scalar, LEO_CSR_OVERFLOW, 0));
    CU_ASSERT(sim_core_csr_write(&pair->eager->core.scalar, LEO_CSR_OVERFLOW, 0));
}

/* A fault between: what came before it has happened. */
static void fault(struct pair *pair)
{
    const struct leo_cfg_mad cfg = {.m = 16, .k = 16, .n = 16, .type = LEO_MAD_F16F32};
    both(pair, LEO_INSN_MMAD, 0, 0x10000, 0, leo_cfg_mad_pack(&cfg));
}

static void run_sequence(const char *path, uint64_t seed)
{
    static void (*const often[])(struct pair *) = {tile, tile, tile, load, write_l1};
    static void (*const seldom[])(struct pair *) = {
        fill_l0, write_bias, store, other_product, change_ctrl, read_overflow, fault};
    struct pair pair;
    open_pair(&pair, path, seed);
    if (!pair.deferred) {
        fake_destroy(pair.eager);
        return;
    }
    for (unsigned i = 0; i < STEPS; i++) {
        if (below(&pair, 4)) {
            often[below(&pair, sizeof(often) / sizeof(often[0]))](&pair);
        } else {
            seldom[below(&pair, sizeof(seldom) / sizeof(seldom[0]))](&pair);
        }
        if (below(&pair, 32) == 0) { // a run ends, and the next one begins
            sim_deferred_end(&pair.deferred->core);
            compare(&pair);
            sim_deferred_begin(&pair.deferred->core);
        }
    }
    close_pair(&pair);
}

static void sequences_leave_the_same_bits(void)
{
    for (unsigned path = 1; path < 3; path++) { // the generic one puts nothing off
        for (uint64_t seed = 0; seed < SEQUENCES; seed++) {
            run_sequence(fake_paths[path], seed);
        }
    }
}

/* The first product of a chain clamps an infinity; a later one brings the other infinity, which
 * would meet it to make a NaN. */
static void a_chain_clamps_behind_each_product(void)
{
    for (unsigned path = 1; path < 3; path++) {
        struct pair pair;
        open_pair(&pair, fake_paths[path], 1);
        if (!pair.deferred) {
            fake_destroy(pair.eager);
            continue;
        }
        struct fake *fakes[] = {pair.deferred, pair.eager};
        for (unsigned i = 0; i < 2; i++) {
            uint16_t *l1 = (uint16_t *)(void *)fakes[i]->core.local[LEO_MEM_SPACE_L1].data;
            float *c = (float *)(void *)fakes[i]->core.local[LEO_MEM_SPACE_L0C].data;
            for (uint32_t j = 0; j < 4096; j++) {
                l1[j] = 0x3c00;
            }
            l1[0] = 0x7c00;   // k = 0 of the first product: infinity
            l1[512] = 0xfc00; // and of a later one: the other infinity
            c[17] = 1.0f;
        }
        const struct leo_cfg_mad cfg = {
            .m = 16, .k = 16, .n = 16, .gemv_off = 1, .type = LEO_MAD_F16F32};
        for (uint32_t i = 0; i < 4; i++) {
            step(&pair, i % 2 * 0x8000, i * 1024, 1, 1, 1, &cfg, 0);
        }
        close_pair(&pair);
    }
}

/* Four steps of k = 64 are one product for the host, and nothing was moved to L0 for them. */
static void work_is_put_off(void)
{
    for (unsigned path = 1; path < 3; path++) {
        struct pair pair;
        open_pair(&pair, fake_paths[path], 2);
        if (!pair.deferred) {
            fake_destroy(pair.eager);
            continue;
        }
        const struct sim_deferred *deferred = pair.deferred->core.deferred;
        CU_ASSERT_PTR_NOT_NULL_FATAL(deferred);
        const struct leo_cfg_mad cfg = {
            .m = 32, .k = 64, .n = 32, .gemv_off = 1, .type = LEO_MAD_F16F32};
        uint8_t *l0a = fake_copy(pair.deferred->core.local[LEO_MEM_SPACE_L0A].data, 0x10000);
        for (uint32_t i = 0; i < 3; i++) {
            step(&pair, i % 2 * 0x8000, i * 0x2000, 2, 4, 2, &cfg, 0);
            CU_ASSERT_EQUAL(deferred->parts, i + 1);
        }
        step(&pair, 0x8000, 0x6000, 2, 4, 2, &cfg, 0);
        CU_ASSERT_EQUAL(deferred->parts, 0);
        CU_ASSERT_EQUAL(memcmp(l0a, pair.deferred->core.local[LEO_MEM_SPACE_L0A].data, 0x10000), 0);
        free(l0a);
        close_pair(&pair);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"work_is_put_off", work_is_put_off},
        {"sequences_leave_the_same_bits", sequences_leave_the_same_bits},
        {"a_chain_clamps_behind_each_product", a_chain_clamps_behind_each_product},
    };
    return leo_test_main("sim/deferred", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
