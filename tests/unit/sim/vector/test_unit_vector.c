/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the vector unit (HW-VEC-40 HW-VEC-41 HW-VEC-42 HW-VEC-43). */
#include "fake_core.h"
#include "harness.h"

#include <leo/soc.h>
#include <math.h>
#include <string.h>

static struct fake_core *create(const char *soc)
{
    struct sim_config config;
    char error[256];
    const char *text = leo_isa_soc_text(soc);
    CU_ASSERT_FATAL(text != NULL &&
                    sim_config_parse(text, soc, &config, error, sizeof(error)) == LEO_OK);
    struct fake_core *fake = fake_core_create(config.arch, NULL);
    CU_ASSERT_FATAL(fake != NULL);
    fake->config = config;
    return fake;
}

static struct sim_cost cost_of(struct fake_core *fake, const struct sim_op *op)
{
    struct sim_op ready = *op;
    ready.row = &sim_insns[op->insn];
    ready.foot = &fake->core.foot;
    struct sim_cost cost;
    CU_ASSERT(sim_core_outline(&fake->core, &ready, &fake->core.foot));
    sim_core_price(&fake->core, &ready, &cost);
    return cost;
}

static uint64_t binary_cfg(unsigned type, unsigned repeat)
{
    const struct leo_cfg_vec3 cfg = {.repeat = (uint8_t)repeat,
                                     .dst_blk = 1,
                                     .src0_blk = 1,
                                     .src1_blk = 1,
                                     .dst_rep = 8,
                                     .src0_rep = 8,
                                     .src1_rep = 8,
                                     .dtype = (uint8_t)type};
    return leo_cfg_vec3_pack(&cfg);
}

static uint64_t unary_cfg(unsigned type, unsigned repeat, unsigned dst_blk, unsigned dst_rep)
{
    const struct leo_cfg_vec2 cfg = {.repeat = (uint8_t)repeat,
                                     .dst_blk = (uint16_t)dst_blk,
                                     .src_blk = 1,
                                     .dst_rep = (uint8_t)dst_rep,
                                     .src_rep = 8,
                                     .dtype = (uint8_t)type};
    return leo_cfg_vec2_pack(&cfg);
}

static bool is_near(double value, double want, double part)
{
    return fabs(value - want) <= part * want;
}

/** Published: 88.4 cycles where the banks keep the operands apart, 139 where a write meets a read.
 */
static void published_bank_figures_come_out(void)
{
    struct fake_core *fake = create("ascend910b1");
    struct sim_op op = {.insn = LEO_INSN_VADD,
                        .d = binary_cfg(LEO_DTYPE_F32, 64),
                        .b = 0,
                        .c = 0x10100,
                        .a = 0x20000};
    CU_ASSERT(is_near(cost_of(fake, &op).busy_cycles, 88.4, 0.03));
    op.a = 0x4020;
    CU_ASSERT(is_near(cost_of(fake, &op).busy_cycles, 139, 0.03));
    // both sources in the same groups: two cycles a repeat; published as 86 cycles for 32 repeats
    // of f16
    op = (struct sim_op){.insn = LEO_INSN_VADD,
                         .d = binary_cfg(LEO_DTYPE_F16, 32),
                         .b = 0,
                         .c = 0x2000,
                         .a = 0x4000};
    CU_ASSERT(is_near(cost_of(fake, &op).busy_cycles, 86, 0.03));
    fake_core_destroy(fake);
}

/** HW-VEC-40: twice the lanes need twice the buffer. */
static void a_wider_unit_is_faster(void)
{
    struct fake_core *fake = create("ascend910b1");
    struct sim_op op = {.insn = LEO_INSN_VADD,
                        .d = binary_cfg(LEO_DTYPE_F32, 64),
                        .b = 0,
                        .c = 0x10100,
                        .a = 0x20000};
    const double head = cost_of(fake, &op).head_cycles, narrow = cost_of(fake, &op).busy_cycles;
    fake->config.insn[LEO_INSN_VADD].rate32 *= 2;
    CU_ASSERT_DOUBLE_EQUAL(cost_of(fake, &op).busy_cycles, narrow,
                           1e-9); // the buffer is in the way
    CU_ASSERT(cost_of(fake, &op).bank_cycles > 0);
    fake->config.ub_repeats = 2;
    CU_ASSERT_DOUBLE_EQUAL(cost_of(fake, &op).busy_cycles - head, (narrow - head) / 2, 1e-9);
    fake_core_destroy(fake);
}

/** HW-VEC-41: a copy that scatters its blocks over one group writes one block a cycle. */
static void write_conflicts_cost_a_cycle_a_block(void)
{
    struct fake_core *fake = create("ascend910b1");
    const double head = fake->config.insn[LEO_INSN_VCOPY].head;
    struct sim_op op = {
        .insn = LEO_INSN_VCOPY, .a = 0x10000, .d = unary_cfg(LEO_DTYPE_U16, 144, 144, 1)};
    CU_ASSERT(cost_of(fake, &op).busy_cycles == head + 8 * 144);
    op.d = unary_cfg(LEO_DTYPE_U16, 144, 145, 1);
    CU_ASSERT(cost_of(fake, &op).busy_cycles < head + 2 * 144);
    op.d = unary_cfg(LEO_DTYPE_U16, 144, 8, 1);
    CU_ASSERT(is_near(cost_of(fake, &op).busy_cycles, head + 4 * 144, 0.2));
    fake_core_destroy(fake);
}

/** HW-VEC-40: elements over rate, in whole repeats. */
static void repeats_cost_by_the_rates(void)
{
    struct fake_core *fake = create("ascend910b1");
    struct sim_op op = {.insn = LEO_INSN_VEXP, .d = unary_cfg(LEO_DTYPE_F16, 10, 1, 8)};
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 10 * 128 / 32.0);
    CU_ASSERT(cost_of(fake, &op).work == 1280);
    op.d = unary_cfg(LEO_DTYPE_F32, 10, 1, 8);
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 10 * 64 / 32.0);
    fake->core.vmask[0] = 1; // masked lanes save no time
    fake->core.vmask[1] = 0;
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 10 * 64 / 32.0);
    fake->core.ctrl = 1; // counter: 65 elements are two repeats
    fake->core.vmask[0] = 65;
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 2 * 64 / 32.0);
    CU_ASSERT(cost_of(fake, &op).work == 65);
    fake->core.vmask[0] = 0;
    CU_ASSERT(cost_of(fake, &op).busy_cycles == 0);
    fake_core_destroy(fake);
}

static void reductions_and_wide_types_are_slower(void)
{
    struct fake_core *fake = create("ascend910b1");
    const struct leo_cfg_vred red = {
        .repeat = 9, .dst_rep = 1, .src_blk = 1, .src_rep = 8, .dtype = LEO_DTYPE_F32};
    struct sim_op op = {.insn = LEO_INSN_VCADD, .d = leo_cfg_vred_pack(&red)};
    CU_ASSERT(is_near(cost_of(fake, &op).busy_cycles, cost_of(fake, &op).head_cycles + 63, 0.001));
    struct leo_cfg_vcvt cvt = {.repeat = 8, .dst_blk = 1, .src_blk = 1, .dst_rep = 4, .src_rep = 8};
    cvt.dst_type = LEO_DTYPE_F16;
    cvt.src_type = LEO_DTYPE_F32;
    op = (struct sim_op){.insn = LEO_INSN_VCONV, .a = 0x10000, .d = leo_cfg_vcvt_pack(&cvt)};
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 8);
    CU_ASSERT(cost_of(fake, &op).work == 8 * 64);
    cvt.dst_type = LEO_DTYPE_S64;
    cvt.src_type = LEO_DTYPE_S32;
    cvt.dst_rep = 8;
    cvt.src_rep = 4;
    op.d = leo_cfg_vcvt_pack(&cvt);
    CU_ASSERT(cost_of(fake, &op).busy_cycles == cost_of(fake, &op).head_cycles + 8);
    CU_ASSERT(cost_of(fake, &op).work == 8 * 32);
    fake_core_destroy(fake);
}

/** HW-VEC-43: the whole head may hide behind the instruction before. */
static void heads_of_a_chain_overlap(void)
{
    struct fake_core *fake = create("ascend910b1");
    const struct sim_op op = {
        .insn = LEO_INSN_VADD, .d = binary_cfg(LEO_DTYPE_F16, 4), .c = 0x2000, .a = 0x4000};
    const struct sim_cost cost = cost_of(fake, &op);
    CU_ASSERT(cost.overlap_cycles == cost.head_cycles);
    fake_core_destroy(fake);
}

/** The first type, or pair of types of vconv, that the chip has. */
static unsigned first_type(const struct fake_core *fake, enum leo_insn insn)
{
    unsigned type = insn == LEO_INSN_VCONV ? LEO_DTYPE_F32 << 4 | LEO_DTYPE_F16 : 0;
    while (insn != LEO_INSN_VCONV && !leo_insn_has_type(insn, fake->config.arch, type)) {
        type++;
    }
    return type;
}

static void every_instruction_has_a_time_on_every_chip(void)
{
    const char *name;
    for (size_t soc = 0; (name = leo_isa_soc_name(soc)) != NULL; soc++) {
        struct fake_core *fake = create(name);
        for (unsigned insn = 1; insn < LEO_INSN_COUNT; insn++) {
            const struct leo_insn_info *info = leo_insn_info(insn);
            if (leo_insn_has_arch(insn, fake->config.arch) && info->pipe == LEO_PIPE_V &&
                info->config[0] != NULL && info->config[0][0] == 'v') {
                const uint64_t type = first_type(fake, insn);
                const struct sim_op op = {.insn = insn, .d = 1 | type << 56};
                CU_ASSERT(cost_of(fake, &op).busy_cycles > cost_of(fake, &op).head_cycles);
                CU_ASSERT(fake->config.insn[insn].rate16 > 0 && fake->config.insn[insn].rate32 > 0);
            }
        }
        fake_core_destroy(fake);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"published_bank_figures_come_out", published_bank_figures_come_out},
        {"a_wider_unit_is_faster", a_wider_unit_is_faster},
        {"write_conflicts_cost_a_cycle_a_block", write_conflicts_cost_a_cycle_a_block},
        {"repeats_cost_by_the_rates", repeats_cost_by_the_rates},
        {"reductions_and_wide_types_are_slower", reductions_and_wide_types_are_slower},
        {"heads_of_a_chain_overlap", heads_of_a_chain_overlap},
        {"every_instruction_has_a_time_on_every_chip", every_instruction_has_a_time_on_every_chip},
    };
    return leo_test_main("unit_vector", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
