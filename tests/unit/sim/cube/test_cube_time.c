/* SPDX-License-Identifier: Apache-2.0 */
/* What cube, movers and output path cost with the numbers of the SoC files. Ids: docs/hw/cube.md,
 * docs/hw/dma.md. */
#include "fake_core.h"

#include <leo/soc.h>
#include <math.h>

static struct fake *create(const char *soc)
{
    struct fake *fake = fake_create("generic");
    char error[256] = "";
    CU_ASSERT_EQUAL_FATAL(
        sim_config_parse(leo_isa_soc_text(soc), soc, &fake->config, error, sizeof(error)), LEO_OK);
    return fake;
}

static struct sim_cost cost_of(struct fake *fake, enum leo_insn insn, uint64_t a, uint64_t b,
                               uint64_t c, uint64_t d)
{
    struct sim_op op = {.insn = insn,
                        .a = a,
                        .b = b,
                        .c = c,
                        .d = d,
                        .row = &sim_insns[insn],
                        .foot = &fake->core.foot};
    struct sim_cost cost;
    CU_ASSERT(sim_core_outline(&fake->core, &op, &fake->core.foot));
    sim_core_price(&fake->core, &op, &cost);
    return cost;
}

#define CHECK_NEAR(got, want, share) CU_ASSERT(fabs((got) - (want)) <= (share) * (want))

/* HW-CUBE-08 */
static void mmad_time_holds_the_published_figures(void)
{
    struct fake *fake = create("ascend910b1");
    const struct leo_cfg_mad big = {.m = 128, .k = 64, .n = 256},
                             small = {.m = 64, .k = 64, .n = 64};
    const struct leo_cfg_mad odd = {.m = 17, .k = 1, .n = 33};
    struct sim_cost cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&big));
    CHECK_NEAR(cost.busy_cycles, 575.0, 0.01);                                // A19
    CHECK_NEAR(8 * cost.busy_cycles - 7 * cost.overlap_cycles, 4225.0, 0.01); // A24
    CU_ASSERT_EQUAL(cost.work, 128 * 64 * 256);
    cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&small));
    CHECK_NEAR(cost.busy_cycles, 125.0, 0.01); // A18
    cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, leo_cfg_mad_pack(&odd));
    CU_ASSERT_EQUAL(cost.busy_cycles - cost.head_cycles, 6); // two by one by three steps
    fake_destroy(fake);
}

/* HW-CUBE-08: a Cube of another shape. */
static void mmad_time_follows_the_shape(void)
{
    struct fake *fake = create("ascend910b1");
    const struct leo_cfg_mad mad = {.m = 128, .k = 64, .n = 48};
    const uint64_t word = leo_cfg_mad_pack(&mad);
    struct sim_cost cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, word);
    CU_ASSERT_EQUAL(cost.busy_cycles - cost.head_cycles, 8 * 4 * 3);
    fake->config.cube_n = 32;
    cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, word);
    CU_ASSERT_EQUAL(cost.busy_cycles - cost.head_cycles, 8 * 4 * 2);
    fake->config.cube_m = 64;
    fake->config.cube_k = 32;
    cost = cost_of(fake, LEO_INSN_MMAD, 0, 0, 0, word);
    CU_ASSERT_EQUAL(cost.busy_cycles - cost.head_cycles, 2 * 2 * 2);
    fake_destroy(fake);
}

/* HW-DMA-34 */
static void tile_loads_hold_the_published_figures(void)
{
    struct fake *fake = create("ascend910b1");
    double sum = 0;
    for (int i = 0; i < 12;
         i++) { // 128 x 64 of A in eight instructions, 64 x 256 of B in four, without a gap
        const struct leo_cfg_load2d load = {
            .repeat = i < 8 ? 4 : 16, .src_stride = 1, .dtype = LEO_DTYPE_F16};
        struct sim_cost cost =
            cost_of(fake, i < 8 ? LEO_INSN_LOAD_CBUF_TO_CA : LEO_INSN_LOAD_CBUF_TO_CB, 0, 0, 0,
                    leo_cfg_load2d_pack(&load));
        sum += cost.busy_cycles - (i ? cost.overlap_cycles : 0);
    }
    CHECK_NEAR(sum, 367.0, 0.01); // A20
    fake_destroy(fake);
}

/* HW-DMA-30, HW-DMA-33: how long it takes is the event engine's (test_time_engine.c). */
static void copies_say_what_they_ask_of_the_memory(void)
{
    struct fake *fake = create("ascend910b1");
    const struct leo_cfg_burst tile = {.n_burst = 1, .len_burst = 256},
                               tiny = {.n_burst = 1, .len_burst = 4},
                               rows = {.n_burst = 8, .len_burst = 6, .src_gap = 10};
    struct sim_cost cost =
        cost_of(fake, LEO_INSN_COPY_GM_TO_UBUF, 0, FAKE_GM, 0, leo_cfg_burst_pack(&tile));
    CU_ASSERT(cost.gm_read_bytes == 8192 && cost.gm_write_bytes == 0 && cost.work == 8192);
    CU_ASSERT(cost.gm_request == 256 && cost.gm_path == 128);
    CU_ASSERT(cost.head_cycles == 0 && cost.busy_cycles == 0 && cost.overlap_cycles == 0);
    cost = cost_of(fake, LEO_INSN_COPY_UBUF_TO_GM, FAKE_GM, 0, 0, leo_cfg_burst_pack(&tile));
    CU_ASSERT(cost.gm_write_bytes == 8192 && cost.gm_read_bytes == 0);
    cost = cost_of(fake, LEO_INSN_COPY_GM_TO_CBUF, 0, FAKE_GM, 0, leo_cfg_burst_pack(&tile));
    CU_ASSERT(cost.gm_request == 256 && cost.gm_path == 256);
    cost = cost_of(fake, LEO_INSN_COPY_GM_TO_CBUF, 0, FAKE_GM, 0, leo_cfg_burst_pack(&tiny));
    CU_ASSERT_EQUAL(cost.gm_request, 128);
    cost = cost_of(fake, LEO_INSN_COPY_GM_TO_CBUF, 0, FAKE_GM, 0, leo_cfg_burst_pack(&rows));
    CU_ASSERT_EQUAL(cost.gm_request, 256); // two lines hold 192 bytes
    cost = cost_of(fake, LEO_INSN_COPY_GM_TO_CBUF, 0, FAKE_GM + 32, 0, leo_cfg_burst_pack(&tile));
    CU_ASSERT_EQUAL(cost.gm_request, 128);
    fake_destroy(fake);
}

/* HW-DMA-31 */
static void memory_moves_whole_lines_and_windows(void)
{
    struct fake *fake = create("ascend910b1");
    static const struct {
        uint32_t offset, count, bytes, gap;
        uint64_t moved;
    } cases[] = {
        {256, 2, 640, 128, 2 * 1024},
        {0, 1, 32, 0, 128},
        {0, 4, 128, 384, 4 * 128},
        {0, 64, 2048, 2048, 64 * 2048},
        {2, 1, 2048, 0, 2176},
        {127, 1, 2, 0, 2 * 128},
        {0, 16, 32, 0, 512},
        {0, 3, 100, 28, 3 * 128},
        {0, 0, 8, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct leo_cfg_align0 cfg0 = {.n_burst = (uint16_t)cases[i].count,
                                            .dtype = LEO_DTYPE_B8,
                                            .len_bytes = cases[i].bytes};
        const struct leo_cfg_align1 cfg1 = {.src_gap = cases[i].gap};
        struct sim_cost cost =
            cost_of(fake, LEO_INSN_COPY_GM_TO_UBUF_ALIGN, 0, FAKE_GM + cases[i].offset,
                    leo_cfg_align0_pack(&cfg0), leo_cfg_align1_pack(&cfg1));
        CU_ASSERT_EQUAL(cost.gm_read_bytes, cases[i].moved);
    }
    const struct leo_cfg_nz0 nz0 = {2, LEO_DTYPE_F16, 64, 64, 64};
    const struct leo_cfg_nz1 nz1 = {8192, 64, 1, 0};
    struct sim_cost cost = cost_of(fake, LEO_INSN_COPY_GM_TO_CBUF_ND2NZ, 0, FAKE_GM,
                                   leo_cfg_nz0_pack(&nz0), leo_cfg_nz1_pack(&nz1));
    CU_ASSERT_EQUAL(cost.gm_read_bytes, 2 * 64 * 128);
    const struct sim_span *from = &fake->core.foot.span[SIM_OPERAND_B];
    CU_ASSERT_EQUAL(from->level[0].count * from->level[1].count * from->bytes, 2 * 64 * 128);
    CU_ASSERT_EQUAL(from->level[0].step, 128);
    fake_destroy(fake);
}

/* HW-CUBE-18, HW-DMA-32 */
static void output_and_local_moves_cost_head_and_rate(void)
{
    struct fake *fake = create("ascend910b1");
    const struct leo_cfg_fix0 fix0 = {.m = 128, .n = 256, .dst_stride = 256};
    const struct leo_cfg_fix1 fix1 = {.src_stride = 128, .quant = LEO_QUANT_F32_F16, .nz2nd = 1};
    struct sim_cost cost = cost_of(fake, LEO_INSN_COPY_MATRIX_CC_TO_GM, FAKE_GM, 0,
                                   leo_cfg_fix0_pack(&fix0), leo_cfg_fix1_pack(&fix1));
    CHECK_NEAR(cost.head_cycles + cost.busy_cycles + 125 * 1.85, 970.0, 0.01);
    CU_ASSERT_EQUAL(cost.gm_write_bytes, 65536);
    fake_destroy(fake);
    fake = create("ascend910a");
    const struct leo_cfg_burst burst = {.n_burst = 2, .len_burst = 4};
    const struct sim_insn_time *time = fake->config.insn;
    cost = cost_of(fake, LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 0, 0, 0, leo_cfg_burst_pack(&burst));
    CHECK_NEAR(cost.busy_cycles, time[LEO_INSN_COPY_MATRIX_CC_TO_UBUF].head + 8192.0 / 256, 1e-9);
    cost = cost_of(fake, LEO_INSN_COPY_CBUF_TO_UBUF, 0, 0, 0, leo_cfg_burst_pack(&burst));
    CHECK_NEAR(cost.busy_cycles, time[LEO_INSN_COPY_CBUF_TO_UBUF].head + 256.0 / 128, 1e-9);
    fake_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"mmad_time_holds_the_published_figures", mmad_time_holds_the_published_figures},
        {"mmad_time_follows_the_shape", mmad_time_follows_the_shape},
        {"tile_loads_hold_the_published_figures", tile_loads_hold_the_published_figures},
        {"copies_say_what_they_ask_of_the_memory", copies_say_what_they_ask_of_the_memory},
        {"memory_moves_whole_lines_and_windows", memory_moves_whole_lines_and_windows},
        {"output_and_local_moves_cost_head_and_rate", output_and_local_moves_cost_head_and_rate},
    };
    return leo_test_main("sim/cube_time", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
