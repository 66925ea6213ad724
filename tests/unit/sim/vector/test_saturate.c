/* SPDX-License-Identifier: Apache-2.0 */
/* Results that saturate, and their sticky status (HW-NUM-15); words of the scalar unit that only
 * check their operands. */
#include "fake_core.h"
#include "harness.h"

#include <string.h>

static void put(struct fake_core *fake, uint32_t at, const void *values, size_t bytes)
{
    memcpy(fake->core.local[LEO_MEM_SPACE_UB].data + at, values, bytes);
}

static bool run(struct fake_core *fake, struct sim_op op)
{
    fake->core.scalar.fault.code = LEO_FAULT_NONE;
    return sim_core_execute(&fake->core, &op);
}

static void check(struct fake_core *fake, bool on)
{
    static const uint16_t a[] = {0x7bff, 0xfbff, 0x7c00, 0x3c00, 0x7e00, 0xfc00, 0x0001, 0x7bff};
    static const uint16_t b[] = {0x7bff, 0xfbff, 0xfc00, 0x3c00, 0x3c00, 0x3c00, 0x0001, 0x8001};
    static const uint16_t plain[] = {0x7c00, 0xfc00, 0x7e00, 0x4000,
                                     0x7e00, 0xfc00, 0x0002, 0x7bff};
    static const uint16_t stops[] = {0x7bff, 0xfbff, 0x0000, 0x4000,
                                     0x0000, 0xfbff, 0x0002, 0x7bff};
    const struct leo_cfg_ctrl ctrl = {.saturate = on};
    const struct leo_cfg_vec3 cfg = {.repeat = 1,
                                     .dst_blk = 1,
                                     .src0_blk = 1,
                                     .src1_blk = 1,
                                     .dst_rep = 8,
                                     .src0_rep = 8,
                                     .src1_rep = 8,
                                     .dtype = LEO_DTYPE_F16};
    const struct sim_op add = {
        .insn = LEO_INSN_VADD, .a = 0, .b = 1024, .c = 2048, .d = leo_cfg_vec3_pack(&cfg)};
    memset(fake->core.local[LEO_MEM_SPACE_UB].data, 0, 4096);
    put(fake, 1024, a, sizeof(a));
    put(fake, 2048, b, sizeof(b));
    fake_core_reset(fake);
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    fake->core.csr.overflow = 0;
    fake->core.vmask[0] = 0x48; // lanes that stay finite: no status, whatever the others are
    CU_ASSERT_TRUE(run(fake, add));
    CU_ASSERT_EQUAL(fake->core.csr.overflow, 0);
    fake->core.vmask[0] = 0xff;
    CU_ASSERT_TRUE(run(fake, add));
    CU_ASSERT_EQUAL(fake->core.csr.overflow, on);
    CU_ASSERT(memcmp(fake->core.local[LEO_MEM_SPACE_UB].data, on ? stops : plain, sizeof(a)) == 0);
    fake->core.vmask[0] = UINT64_MAX; // at once
    CU_ASSERT_TRUE(run(fake, add));
    CU_ASSERT(memcmp(fake->core.local[LEO_MEM_SPACE_UB].data, on ? stops : plain, sizeof(a)) == 0);
}

static void results_stop_where_asked(void)
{
    static const char *const paths[] = {"generic", "avx2", "avx512"};
    for (unsigned i = 0; i < 3; i++) {
        struct fake_core *fake = fake_core_create(1001, paths[i]);
        if (fake != NULL) {
            check(fake, false);
            check(fake, true);
            fake_core_destroy(fake);
        }
    }
}

static void conversions_stop(void)
{
    struct fake_core *fake = fake_core_create(2201, NULL);
    const float values[] = {1e30f, -1e30f, 3.0f};
    const struct leo_cfg_vcvt cfg = {.repeat = 1,
                                     .dst_blk = 1,
                                     .src_blk = 1,
                                     .dst_rep = 4,
                                     .src_rep = 8,
                                     .dst_type = LEO_DTYPE_F16,
                                     .src_type = LEO_DTYPE_F32};
    const struct leo_cfg_ctrl ctrl = {.saturate = 1};
    const uint16_t want[] = {0x7bff, 0xfbff, 0x4200};
    put(fake, 1024, values, sizeof(values));
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    fake->core.vmask[0] = 7;
    CU_ASSERT_TRUE(run(
        fake,
        (struct sim_op){.insn = LEO_INSN_VCONV, .a = 0, .b = 1024, .d = leo_cfg_vcvt_pack(&cfg)}));
    CU_ASSERT(memcmp(fake->core.local[LEO_MEM_SPACE_UB].data, want, sizeof(want)) == 0);
    CU_ASSERT_EQUAL(fake->core.csr.overflow, 1);
    fake_core_destroy(fake);
}

/* What only repeats an operand, or widens it, keeps infinities and raises nothing. */
static void what_cannot_overflow_keeps_infinities(void)
{
    struct fake_core *fake = fake_core_create(1001, NULL);
    const struct leo_cfg_ctrl ctrl = {.saturate = 1};
    const uint16_t values[] = {0x7c00, 0xfc00, 0x7c00, 0x3c00}, zeros[4] = {0};
    const uint16_t larger[] = {0x7c00, 0x0000, 0x7c00, 0x3c00};
    const uint32_t wide[] = {0x7f800000, 0xff800000, 0x7f800000, 0x3f800000};
    const struct leo_cfg_vec3 cfg = {
        .repeat = 1, .dst_blk = 1, .src0_blk = 1, .src1_blk = 1, .dtype = LEO_DTYPE_F16};
    const struct leo_cfg_vcvt widen = {.repeat = 1,
                                       .dst_blk = 1,
                                       .src_blk = 1,
                                       .dst_type = LEO_DTYPE_F32,
                                       .src_type = LEO_DTYPE_F16};
    put(fake, 1024, values, sizeof(values));
    put(fake, 2048, zeros, sizeof(zeros));
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    fake->core.vmask[0] = 15;
    fake->core.vmask[1] = 0;
    const uint8_t *ub = fake->core.local[LEO_MEM_SPACE_UB].data;
    CU_ASSERT_TRUE(run(
        fake,
        (struct sim_op){
            .insn = LEO_INSN_VMAX, .a = 0, .b = 1024, .c = 2048, .d = leo_cfg_vec3_pack(&cfg)}));
    CU_ASSERT(memcmp(ub, larger, sizeof(larger)) == 0);
    CU_ASSERT_TRUE(
        run(fake, (struct sim_op){
                      .insn = LEO_INSN_VCONV, .a = 0, .b = 1024, .d = leo_cfg_vcvt_pack(&widen)}));
    CU_ASSERT(memcmp(ub, wide, sizeof(wide)) == 0);
    CU_ASSERT_EQUAL(fake->core.csr.overflow, 0);
    fake_core_destroy(fake);
}

static void sums_of_lanes_stop(void)
{
    struct fake_core *fake = fake_core_create(1001, NULL);
    const struct leo_cfg_ctrl ctrl = {.saturate = 1};
    const uint16_t values[] = {0x7bff, 0x7bff, 0x3c00};
    const struct leo_cfg_vred cfg = {
        .repeat = 1, .dst_rep = 1, .src_blk = 1, .src_rep = 8, .dtype = LEO_DTYPE_F16};
    const struct sim_op sum = {
        .insn = LEO_INSN_VCADD, .a = 0, .b = 1024, .d = leo_cfg_vred_pack(&cfg)};
    uint16_t got;
    put(fake, 1024, values, sizeof(values));
    fake->core.ctrl = leo_cfg_ctrl_pack(&ctrl);
    fake->core.vmask[1] = 0;
    fake->core.vmask[0] = 5;
    CU_ASSERT_TRUE(run(fake, sum));
    CU_ASSERT_EQUAL(fake->core.csr.overflow, 0);
    fake->core.vmask[0] = 7;
    CU_ASSERT_TRUE(run(fake, sum));
    memcpy(&got, fake->core.local[LEO_MEM_SPACE_UB].data, sizeof(got));
    CU_ASSERT_EQUAL(got, 0x7bff);
    CU_ASSERT_EQUAL(fake->core.csr.acc_val, 0x7bff);
    CU_ASSERT_EQUAL(fake->core.csr.overflow, 1);
    fake_core_destroy(fake);
}

/* Words with nothing to do still refuse what they do not have. */
static void hints_check_their_operands(void)
{
    struct fake_core *fake = fake_core_create(2201, NULL);
    const uint64_t flag = LEO_PIPE_MTE2 | LEO_PIPE_V << 4 | 3 << 8;
    CU_ASSERT_TRUE(run(fake, (struct sim_op){.insn = LEO_INSN_DCCI, .a = 1}));
    CU_ASSERT_FALSE(run(fake, (struct sim_op){.insn = LEO_INSN_DCCI, .a = 2}));
    CU_ASSERT_TRUE(run(fake, (struct sim_op){.insn = LEO_INSN_DSB, .a = 3}));
    CU_ASSERT_FALSE(run(fake, (struct sim_op){.insn = LEO_INSN_DSB, .a = 4}));
    CU_ASSERT_TRUE(run(fake, (struct sim_op){.insn = LEO_INSN_PRELOAD, .a = 4, .b = 1}));
    CU_ASSERT_FALSE(run(fake, (struct sim_op){.insn = LEO_INSN_HSET_FLAG, .a = 0x1000}));
    CU_ASSERT_FALSE(run(fake, (struct sim_op){.insn = LEO_INSN_HWAIT_FLAG, .a = flag}));
    CU_ASSERT_EQUAL(fake->core.scalar.fault.code, LEO_FAULT_FLAG_NEVER_SET);
    fake_core_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"results_stop_where_asked", results_stop_where_asked},
        {"conversions_stop", conversions_stop},
        {"what_cannot_overflow_keeps_infinities", what_cannot_overflow_keeps_infinities},
        {"sums_of_lanes_stop", sums_of_lanes_stop},
        {"hints_check_their_operands", hints_check_their_operands},
    };
    return leo_test_main("saturate", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
